"""What questions are conditioned on where the leg `conditioned` is measured, whatever the bundle says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.conditioned import Gathered, by_coverage, by_rank, gather, mindscape_of
from mindscape.ask.retrieve import retrieve
from mindscape.ask.signature import PASSAGES
from mindscape.evaluate.library import Indexed
from mindscape_models.embedding import Vectors, fused
from mindscape_storage.records import Scope

DOCUMENT, COVERAGE, FIRST = "document", "coverage", "first"
CONDITIONS = (DOCUMENT, COVERAGE, FIRST)
"""The mindscape of the document, where an index holds one; a signature by coverage; First-K."""

Vector = NDArray[np.float32]


class Conditions:
    """Questions asked of a library, each as its mindscape makes it."""

    def __init__(self, library: Indexed) -> None:
        self._library = library
        self._encoded: dict[str, Vector] = {}
        self._states: dict[tuple[str, str], tuple[Vectors, Vectors]] = {}

    def query(self, question: str, vector: Vector, condition: str, alpha: float) -> Vector:
        """The vector (d,) of a question, conditioned by a weight of `alpha`; `vector` is its own."""
        asked = question, condition
        if asked not in self._states:
            told = self._told(question, vector, condition)
            self._states[asked] = self._library.embedder.query_states([question], [told])
        return fused(*self._states[asked], delta=1 - alpha)[0]

    def _told(self, question: str, vector: Vector, condition: str) -> list[str]:
        conn, encoder = self._library.conn, self._library.encoder_id
        if condition == DOCUMENT:
            told = mindscape_of(conn, Scope(document_id=self._library.only))
        else:
            ranked = retrieve(conn, question, vector, encoder, PASSAGES, None)
            pool = gather(conn, ranked, encoder, len(vector), None)
            told = by_rank(pool) if condition == FIRST else by_coverage(pool, vector, self._nodes(pool))
        return [one.text for one in told]

    def _nodes(self, pool: Gathered) -> Vectors:
        """Vectors (N, d) of what its nodes say; each is encoded once."""
        texts = [one.text for one in pool.told]
        if missing := [text for text in dict.fromkeys(texts) if text not in self._encoded]:
            encoded = self._library.embedder.encode_passages(missing)
            self._encoded.update(zip(missing, encoded, strict=True))
        width = self._library.embedder.dimensions
        return np.array([self._encoded[text] for text in texts], np.float32).reshape(-1, width)
