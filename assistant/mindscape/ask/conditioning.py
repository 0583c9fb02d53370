"""Conditioning a question: what it is about is encoded and chosen from, then the question beside that."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.conditioned import Gathered, Told, by_coverage

Vector = NDArray[np.float32]
"""(d,), of unit length."""
Vectors = NDArray[np.float32]
"""(n, d)."""
EncodeFn = Callable[[list[str]], Awaitable[Vectors]]
"""Summaries to unit vectors, as passages are encoded."""
ConditionFn = Callable[[list[str], list[list[str]]], Awaitable[Vectors]]
"""Questions, each with the summaries of its mindscape, to unit vectors."""

KEPT = 4_096
"""Vectors of summaries that are kept in memory: at most 50 are needed a question, and mostly the same."""


class Conditioned(NamedTuple):
    """Questions as their mindscapes make them."""

    vectors: Vectors
    told: list[list[Told]]
    """What each was conditioned on; nothing where there was nothing to tell."""


class Conditioning:
    """An encoder that takes a mindscape in beside the question."""

    def __init__(self, encode: EncodeFn, condition: ConditionFn) -> None:
        self._encode, self._condition = encode, condition
        self._known: OrderedDict[str, Vector] = OrderedDict()

    async def condition(
        self, questions: list[str], vectors: Vectors, about: Sequence[list[Told] | Gathered]
    ) -> Conditioned:
        """Questions (n) with their own vectors (n, d), and what each is about: a mindscape, or a pool.

        Raises what the two calls to the encoder raise.
        """
        pools = [one for one in about if isinstance(one, Gathered)]
        known = await self._encoded([told.text for pool in pools for told in pool.told])
        told = [_told(one, vector, known) for one, vector in zip(about, vectors, strict=True)]
        if any(told):
            vectors = await self._condition(questions, [[one.text for one in each] for each in told])
        return Conditioned(vectors, told)

    async def _encoded(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Text -> vector (d,); only those that are not known are encoded."""
        wanted = dict.fromkeys(texts)
        missing = [text for text in wanted if text not in self._known]
        if missing:
            self._known.update(zip(missing, await self._encode(missing), strict=True))
        for text in wanted:
            self._known.move_to_end(text)
        found = {text: self._known[text] for text in wanted}
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return found


def _told(about: list[Told] | Gathered, question: Vector, known: Mapping[str, Vector]) -> list[Told]:
    if not isinstance(about, Gathered):
        return about
    rows = np.array([known[one.text] for one in about.told], np.float32)
    return by_coverage(about, question, rows.reshape(-1, len(question)))
