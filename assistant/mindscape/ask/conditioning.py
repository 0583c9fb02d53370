"""Conditioning a question: what it is about is encoded and chosen from, then the question beside that."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.conditioned import About, Gathered, Told, by_coverage
from mindscape.errors import Cancelled, MindscapeError
from mindscape.protocol import Json

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


_ALONE = "The question was searched for by itself"

log = logging.getLogger(__name__)


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

    async def condition(self, questions: list[str], vectors: Vectors, about: Sequence[About]) -> Conditioned:
        """Questions (n) with their own vectors (n, d), and what each is about: a mindscape, or a pool.

        Raises what the two calls to the encoder raise.
        """
        pools = [one for one in about if isinstance(one, Gathered)]
        known = await self._encoded([told.text for pool in pools for told in pool.told])
        told = [_told(one, vector, known) for one, vector in zip(about, vectors, strict=True)]
        if any(told):
            vectors = await self._condition(questions, [[one.text for one in each] for each in told])
        return Conditioned(vectors, told)

    async def attempt(
        self, questions: list[str], vectors: Vectors, about: Sequence[About]
    ) -> Conditioned | None:
        """See `condition`; None when the encoder fails: the question is then searched for by itself."""
        try:
            return await self.condition(questions, vectors, about)
        except Cancelled:
            raise
        except MindscapeError as error:
            log.warning("A question was not conditioned: %s", error)
            return None

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


def tell(coverage: Json, conditioned: Conditioned | None) -> None:
    """Say in what covers an answer whether its question was conditioned, and why not."""
    if conditioned is None:
        coverage["notes"].append(f"{_ALONE}: what it is about could not be encoded.")
    elif any(conditioned.told):
        coverage["legs"].append("conditioned")
    else:
        coverage["notes"].append(f"{_ALONE}: nothing here is summarised yet.")


def _told(about: About, question: Vector, known: Mapping[str, Vector]) -> list[Told]:
    if not isinstance(about, Gathered):
        return about
    rows = np.array([known[one.text] for one in about.told], np.float32)
    return by_coverage(about, question, rows.reshape(-1, len(question)))
