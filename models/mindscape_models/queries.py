"""Questions and their mindscapes as token windows, and the two states of a query made one vector.

h_q is the state of the question alone, h_t that of the question with its mindscape S (MiA-RAG, B.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape_models.batches import Read, Window
from mindscape_models.bundle import DecoderSettings, EncoderSettings
from mindscape_models.errors import BundleError
from mindscape_models.tokeniser import Tokeniser

Vectors = NDArray[np.float32]
Task = Literal["passage", "entity"]
Mindscapes = Sequence[Sequence[str]]

QUESTION_TOKENS = 1024
"""Tokens of a question that are read; what follows is not part of its vector."""
MOST_PAIRS = 32
"""Summaries that an encoder reads beside a question; what follows is left out."""
_LEAST_NORM = 1e-6
_LEAST_ROOM = 8
"""Tokens that a decoder must be able to read of a question, and of a mindscape."""


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
        cut = [self._tokeniser.cut(question, QUESTION_TOKENS) for question in questions]
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


class DecoderQueries:
    """Queries of a decoder, as MiA-Emb reads them: one sequence, from which both states are read.

    query_prefix, question, d_q, lead-in, S, d_n, d_c (MiA-RAG, Eq. 5). h_q is the state at d_q, which a
    causal model computes from the question alone; h_t the one at d_n (task `entity`) or d_c (`passage`).
    Where the delimiters stand is known from putting the sequence together. They are not looked for: d_q may
    be the token that a batch is padded with, and a document may hold any of them as text.
    """

    def __init__(self, tokeniser: Tokeniser, settings: EncoderSettings, decoder: DecoderSettings) -> None:
        self._tokeniser = tokeniser
        self._settings = settings
        self._decoder = decoder
        self._d_q = tokeniser.token(decoder.query_delimiter)
        self._d_n = tokeniser.token(decoder.entity_delimiter)
        fixed = (
            settings.query_prefix + decoder.after_question,
            decoder.before_mindscape + decoder.after_mindscape,
        )
        # What does not change with question and S, the three delimiters, and a little for the joints, whose
        # tokens depend on what is joined.
        room = settings.max_tokens - sum(map(len, tokeniser.ids(fixed))) - len(tokeniser.before) - 3 - 8
        if room < 2 * _LEAST_ROOM:
            few = f"The manifest's max_tokens = {settings.max_tokens}"
            raise BundleError(f"{few} leaves no room for a question and its mindscape.")
        # Half of it whatever S is, so that h_q never depends on S; and S is cut before the sequence is put
        # together, so that the delimiters behind it survive.
        self._question_tokens = min(QUESTION_TOKENS, room // 2)
        self._mindscape_tokens = min(settings.mindscape_tokens, room - room // 2)

    def ask(self, questions: Sequence[str], mindscapes: Mindscapes, task: Task) -> Asked:
        """The windows to run: one for each question."""
        asked = Asked([], [[] for _ in questions])
        rows = len(questions)
        for row, (question, summaries) in enumerate(zip(questions, mindscapes, strict=True)):
            alone = self._question(question)
            read = Read(row, len(alone) - 1, len(alone))
            guide = self._mindscape(summaries)
            if not guide:
                asked.windows.append(Window(alone, (read,)))
                continue
            ids = [*alone, *guide, self._d_n, *self._tokeniser.after]
            at = len(ids) - (1 if task == "passage" else 2)
            asked.windows.append(Window(ids, (read, Read(rows, at, at + 1))))
            asked.pairs[row].append(rows)
            rows += 1
        return asked

    def _question(self, question: str) -> list[int]:
        cut = self._tokeniser.cut(question, self._question_tokens)
        text = self._settings.query_prefix + cut + self._decoder.after_question
        return [*self._tokeniser.before, *self._read(text), self._d_q]

    def _mindscape(self, summaries: Sequence[str]) -> list[int]:
        """The lead-in and S, one summary a line; nothing when there is none."""
        lines = "\n".join(line for summary in summaries if (line := summary.strip()))
        cut = self._tokeniser.cut(lines, self._mindscape_tokens)
        if not cut:
            return []
        return self._read(self._decoder.before_mindscape + cut + self._decoder.after_mindscape)

    def _read(self, text: str) -> list[int]:
        """The ids of a text, without the delimiters that it may hold: they are for us to set."""
        [ids] = self._tokeniser.ids([text])
        delimiters = {self._d_q, self._d_n, *self._tokeniser.after}
        return [number for number in ids if number not in delimiters]


def queries_of(tokeniser: Tokeniser, settings: EncoderSettings) -> EncoderQueries | DecoderQueries:
    """How a bundle's questions are read. Raises BundleError when manifest and tokeniser do not fit."""
    if settings.decoder is None:
        return EncoderQueries(tokeniser, settings)
    return DecoderQueries(tokeniser, settings, settings.decoder)


def whole(settings: EncoderSettings, ids: list[int], row: int) -> Window:
    """A window whose tokens all belong to one text, pooled into vector number `row`.

    The mean is a sum here: the length that it would be divided by vanishes when the vector is normalised.
    """
    return Window(ids, (Read(row, 0 if settings.pooling == "mean" else len(ids) - 1, len(ids)),))


def pooled(asked: Asked, vectors: Vectors) -> tuple[Vectors, Vectors]:
    """(h_q, h_t), each (n, d) and of unit length, of unit `vectors` numbered as `asked` says."""
    alone = vectors[: len(asked.pairs)]
    conditioned = alone.copy()
    guided = [i for i, rows in enumerate(asked.pairs) if rows]
    if guided:
        sums = np.stack([vectors[asked.pairs[i]].sum(axis=0) for i in guided])
        conditioned[guided] = unit(sums, instead=alone[guided])
    return alone, conditioned


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
