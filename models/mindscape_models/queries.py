"""Questions and their mindscapes as token windows, and the two states of a query made one vector.

h_q is the state of the question alone, h_t that of the question with its mindscape S (MiA-RAG, B.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape_models.batches import Read, Window
from mindscape_models.bundle import EncoderSettings
from mindscape_models.tokeniser import Tokeniser

Vectors = NDArray[np.float32]
Task = Literal["passage", "entity"]
Mindscapes = Sequence[Sequence[str]]

QUESTION_WINDOWS = 4
"""Windows of a long question that an encoder reads; what follows is not part of its vector."""
MOST_PAIRS = 16
"""Summaries that an encoder reads beside a question; they come best first."""
_LEAST_NORM = 1e-6


class Asked(NamedTuple):
    """Windows of n questions: vector i is h_q of question i, h_t is pooled from the vectors `pairs[i]`."""

    windows: list[Window]
    pairs: list[list[int]]
    """Numbers of vectors, all >= n; none where a question has no mindscape, and its h_t is its h_q."""

    @property
    def rows(self) -> int:
        """Number of vectors read from the windows."""
        return len(self.pairs) + sum(map(len, self.pairs))


class EncoderQueries:
    """Queries of an encoder, whose window is short.

    h_q is the vector of the question alone. Each summary s of S is read in a window of its own together
    with the question (both between the encoder's own special tokens, one segment), as e(question, s), and
    h_t = normalise(sum over s in S of normalise(e(question, s))).
    """

    def __init__(self, tokeniser: Tokeniser, settings: EncoderSettings) -> None:
        self._tokeniser = tokeniser
        self._settings = settings
        self._room = settings.max_tokens - len(tokeniser.before) - 2 * len(tokeniser.after)

    def ask(self, questions: Sequence[str], mindscapes: Mindscapes, task: Task) -> Asked:
        """The windows to run. An encoder has one vector for both tasks."""
        del task
        limit = self._settings.max_tokens
        cut = [self._tokeniser.cut(question, QUESTION_WINDOWS * limit) for question in questions]
        prefixed = [self._settings.query_prefix + question for question in cut]
        windows = [
            whole(self._settings, ids, row)
            for row, parts in enumerate(self._tokeniser.windows(prefixed, limit))
            for ids in parts
        ]
        asked = Asked(windows, [[] for _ in questions])
        rows = len(questions)
        for question, summaries, pairs in zip(prefixed, mindscapes, asked.pairs, strict=True):
            for ids in self._pairs(question, summaries):
                windows.append(whole(self._settings, ids, rows))
                pairs.append(rows)
                rows += 1
        return asked

    def _pairs(self, question: str, summaries: Sequence[str]) -> list[list[int]]:
        """Ids of (question, s) for each s: the question has half of the window at most, s what is left."""
        said = [summary for summary in summaries if summary.strip()][:MOST_PAIRS]
        if not said:
            return []
        short = [self._tokeniser.cut(text, self._room) for text in (question, *said)]
        asked, *each = self._tokeniser.ids(short)
        before, after = self._tokeniser.before, self._tokeniser.after
        start = [*before, *asked[: self._room // 2], *after]
        room = self._settings.max_tokens - len(start) - len(after)
        left, pairs = self._settings.mindscape_tokens, list[list[int]]()
        for ids in each:
            part = ids[: min(room, left)]
            if part:
                pairs.append([*start, *part, *after])
            left -= len(part)
        return pairs


def whole(settings: EncoderSettings, ids: list[int], row: int) -> Window:
    """A window whose tokens all belong to one text, pooled into vector number `row`.

    The mean is a sum here: the length that it would be divided by vanishes when the vector is normalised.
    """
    return Window(ids, (Read(row, 0 if settings.pooling == "mean" else len(ids) - 1, len(ids)),))


def pooled(asked: Asked, vectors: Vectors) -> tuple[Vectors, Vectors]:
    """(h_q, h_t), each (n, d) and of unit length, of unit `vectors` numbered as `asked` says."""
    alone = vectors[: len(asked.pairs)]
    summed = np.empty_like(alone)
    for i, rows in enumerate(asked.pairs):
        summed[i] = vectors[rows or [i]].sum(axis=0)
    return alone, unit(summed, instead=alone)


def fused(h_q: Vectors, h_t: Vectors, delta: float) -> Vectors:
    """q~ = normalise(delta x h_q + (1 - delta) x h_t) of the normalised states (n, d): MiA-RAG, Eq. 11.

    1 - delta is the alpha of MiA-Signature. A published open point: whether the states are normalised
    before they are added; here they are, so that delta says what share each has whatever their lengths.
    """
    h_q, h_t = unit(h_q), unit(h_t)
    return unit(np.asarray(delta * h_q + (1 - delta) * h_t, dtype=np.float32), instead=h_q)


def unit(vectors: Vectors, instead: Vectors | None = None) -> Vectors:
    """Rows (n, d) of length one. A row that has no direction becomes that of `instead`, where it is given."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if instead is None:
        return vectors / norms
    return np.where(norms < _LEAST_NORM, instead, vectors / np.maximum(norms, _LEAST_NORM))
