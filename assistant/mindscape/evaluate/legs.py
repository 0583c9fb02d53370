"""The ways of finding passages that are measured, each from a question to spans, best first."""

from __future__ import annotations

import asyncio
import difflib
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.conditioned import Where
from mindscape.ask.conditioning import Conditioning
from mindscape.ask.language import keywords
from mindscape.ask.retrieve import POOL, Ranked, retrieve, shorten
from mindscape.errors import UsageError
from mindscape.evaluate.conditions import Conditions
from mindscape.evaluate.library import BATCH, Encoder, Indexed
from mindscape.evaluate.metrics import Span
from mindscape.evaluate.windows import windows
from mindscape_models.embedding import Vectors
from mindscape_storage import contents, documents, nodes, search, summaries
from mindscape_storage.records import Hit, Passage

RRF = 60
"""The usual constant of reciprocal-rank fusion."""
DEFAULT, CONDITIONED = "default", "conditioned"


class Way(NamedTuple):
    """A leg; of `conditioned` also what questions are conditioned on, and with which weight."""

    leg: str
    alpha: float | None = None
    condition: str | None = None

    @property
    def name(self) -> str:
        """In words."""
        return self.leg if self.alpha is None else f"{self.leg} {self.condition} {self.alpha:g}"


class Asked(NamedTuple):
    """A question as search reads it, and its vector (d,)."""

    text: str
    vector: NDArray[np.float32]


class Scored(NamedTuple):
    """Spans with a unit vector each (n, d)."""

    spans: list[Span]
    vectors: Vectors

    def nearest(self, vector: NDArray[np.float32], k: int) -> list[Span]:
        """The `k` spans nearest to a unit vector; ties in their own order."""
        best = np.argsort(-(self.vectors @ vector), kind="stable")[:k]
        return [self.spans[at] for at in best]


class Searched:
    """A library of which questions are asked, with what the baselines need built when one is first used.

    `names` maps a document's path in the library to its id in the set.
    """

    def __init__(
        self, library: Indexed, names: dict[str, str], conditioning: Conditioning | None = None
    ) -> None:
        self._library = library
        self._conn = library.conn
        self._conditions = Conditions(library)
        self._conditioning = conditioning
        self._names = {
            one.content_id: names[one.display]
            for one in documents.list_documents(library.conn)
            if one.content_id is not None
        }

    def ask(self, question: str) -> Asked:
        """A question, ready to be searched with."""
        text = shorten(question)
        return Asked(text, self._library.embedder.encode_queries([text])[0])

    def find(self, way: Way, asked: Asked, k: int) -> list[Span]:
        """The first `k` that a leg finds."""
        if way.alpha is None or way.condition is None:
            return LEGS[way.leg](self, asked, k)
        return self.vector(Asked(asked.text, self._conditions.query(*asked, way.condition, way.alpha)), k)

    def every(self, leg: str, ids: Iterable[str]) -> list[Span]:
        """All spans that a leg could find in these documents."""
        spans = self._windows_by_document if leg == "windows" else self._passages
        return [one for id_ in ids for one in spans.get(id_, ())]

    def words(self, asked: Asked, k: int) -> list[Span]:
        """By BM25 over words."""
        return self._spans([hit.passage_id for hit in self._worded(asked)][:k])

    def vector(self, asked: Asked, k: int) -> list[Span]:
        """By the cosine with the question's vector."""
        return self._spans([hit.passage_id for hit in self._near(asked)][:k])

    def windows(self, asked: Asked, k: int) -> list[Span]:
        """Fixed windows by the cosine with the question's vector."""
        return self._windows.nearest(asked.vector, k)

    def summary(self, asked: Asked, k: int) -> list[Span]:
        """Passages by the cosine of the question with the summary of their lowest node; then in order."""
        return self._summaries.nearest(asked.vector, k)

    def rrf(self, asked: Asked, k: int) -> list[Span]:
        """Words and vector by reciprocal-rank fusion."""
        scores: defaultdict[int, float] = defaultdict(float)
        for hits in (self._worded(asked), self._near(asked)):
            for rank, one in enumerate(hits, 1):
                scores[one.passage_id] += 1 / (RRF + rank)
        return self._spans(sorted(scores, key=lambda id_: (-scores[id_], id_))[:k])

    def sum(self, asked: Asked, k: int) -> list[Span]:
        """What ships, were nothing around the passages."""
        return self._ranked(retrieve(self._conn, *asked, self._library.encoder_id, k, None, ancestors=False))

    def default(self, asked: Asked, k: int) -> list[Span]:
        """What `ask` does, and `search` where the embedder takes no mindscape in."""
        second = None if self._conditioning is None else self._beside(asked, self._conditioning)
        found = retrieve(self._conn, *asked, self._library.encoder_id, k, None, conditioned=second)
        return self._ranked(found)

    def _beside(self, asked: Asked, conditioning: Conditioning) -> NDArray[np.float32]:
        """The question's vector beside what it is about: the only document there is, or a signature."""
        where = Where(self._library.scope, None, self._library.encoder_id, None)
        about = where.about(self._conn, [asked.text], asked.vector[None])
        return asyncio.run(conditioning.condition([asked.text], asked.vector[None], about)).vectors[0]

    def _worded(self, asked: Asked) -> list[Hit]:
        return search.words(self._conn, keywords(asked.text), POOL)

    def _near(self, asked: Asked) -> list[Hit]:
        return search.nearest(self._conn, self._library.encoder_id, asked.vector, POOL)

    def _ranked(self, ranked: Sequence[Ranked]) -> list[Span]:
        return self._spans([one.passage_id for one in ranked])

    def _spans(self, ids: Sequence[int]) -> list[Span]:
        found = contents.passages_by_id(self._conn, ids)
        return [self._span(found[id_]) for id_ in ids]

    def _span(self, passage: Passage) -> Span:
        return self._names[passage.content_id], passage.start, passage.end

    @cached_property
    def _passages(self) -> dict[str, list[Span]]:
        """By document."""
        return {
            name: [self._span(one) for one in contents.passages_of(self._conn, content)]
            for content, name in self._names.items()
        }

    @cached_property
    def _windows_by_document(self) -> dict[str, list[Span]]:
        found: dict[str, list[Span]] = {name: [] for name in self._names.values()}
        for one in self._windows.spans:
            found[one[0]].append(one)
        return found

    @cached_property
    def _windows(self) -> Scored:
        spans: list[Span] = []
        encoded: list[Vectors] = []
        for content, name in self._names.items():
            text = contents.slice_text(self._conn, content, 0, contents.length_of(self._conn, content))
            here = windows(text)
            spans += [(name, start, end) for start, end in here]
            encoded += _encoded(self._library.embedder, [text[start:end] for start, end in here])
        return Scored(spans, np.concatenate(encoded))

    @cached_property
    def _summaries(self) -> Scored:
        """A vector for each passage, that of the summary above it; passages without one are left out."""
        spans: list[Span] = []
        at: list[int] = []
        texts: list[str] = []
        for content, name in self._names.items():
            held = self._passages[name]
            lowest = nodes.nodes_between(self._conn, content, 1, 0, len(held))
            said = summaries.texts_by_key(self._conn, [node.key for node in lowest])
            for node in lowest:
                if said[node.key].strip():
                    below = held[node.first_child : node.end_child]
                    spans += below
                    at += [len(texts)] * len(below)
                    texts.append(said[node.key])
        return Scored(spans, np.concatenate(_encoded(self._library.embedder, texts))[at])


Leg = Callable[[Searched, Asked, int], list[Span]]
LEGS: dict[str, Leg] = {
    "words": Searched.words,
    "vector": Searched.vector,
    "windows": Searched.windows,
    "summary": Searched.summary,
    "rrf": Searched.rrf,
    "sum": Searched.sum,
    DEFAULT: Searched.default,
}


def check_legs(names: Sequence[str]) -> list[str]:
    """The names, each once. Raises UsageError for one that there is not, with the nearest that there is."""
    for name in names:
        check_known("leg", name, [*LEGS, CONDITIONED])
    return list(dict.fromkeys(names))


def check_known(what: str, name: str, known: Sequence[str]) -> None:
    """Raise UsageError for a name that is not among the known, with the nearest that is."""
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"There is no {what} {name!r}. {hint}There are: {', '.join(known)}.")


def _encoded(embedder: Encoder, texts: Sequence[str]) -> list[Vectors]:
    """Vectors of texts, some at a time; one array at least, so that they can be joined."""
    starts = range(0, len(texts), BATCH)
    rows = [embedder.encode_passages(texts[start : start + BATCH]) for start in starts]
    return rows or [np.empty((0, embedder.dimensions), np.float32)]
