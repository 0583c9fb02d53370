"""Fusion by standardised sums: each leg's scores at mean 0 and deviation 1, weighted, added.

Ranks throw away how much better the first is than the second; raw scores of different legs cannot be added.
Standardised scores can. What a passage inherits from its neighbours and ancestors is added in each leg, at
the leg's weight. Both are measured by tests/quality/measure_path.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mindscape.ask.ancestors import Position, inherited


@dataclass(frozen=True, slots=True)
class Leg:
    """One way of scoring passages; a candidate it has no score for gets `missing`."""

    name: str
    weight: float
    scores: Mapping[int, float]
    """Raw score of each candidate, higher is better, any scale."""
    missing: float | None = 0.0
    """Raw score of a candidate not in `scores`; None where unknown is not bad: it counts as average."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A candidate with its sum, and the raw scores it came from."""

    id: int
    score: float
    legs: dict[str, float]


def fuse(
    legs: Sequence[Leg], also: Iterable[int] = (), positions: Mapping[int, Position] | None = None
) -> list[Fused]:
    """Every candidate of every leg, and those in `also`, best first; ties by id.

    `positions` says where a candidate stands; one that is not in it inherits nothing.

    Multiplying a leg's scores by a positive factor or adding a constant to them (and to `missing`) changes
    nothing. A leg that gives all candidates the same score adds nothing.
    """
    candidates = sorted({*also, *(id_ for leg in legs for id_ in leg.scores)})
    sums = dict.fromkeys(candidates, 0.0)
    for leg in legs:
        standardised = _standardised(leg, candidates)
        above = inherited(standardised, positions or {})
        for id_ in candidates:
            sums[id_] += leg.weight * (standardised.get(id_, 0.0) + above.get(id_, 0.0))
    fused = [
        Fused(id_, sums[id_], {leg.name: leg.scores[id_] for leg in legs if id_ in leg.scores})
        for id_ in candidates
    ]
    return sorted(fused, key=lambda one: (-one.score, one.id))


def _standardised(leg: Leg, candidates: Sequence[int]) -> dict[int, float]:
    known = {id_: leg.scores.get(id_, leg.missing) for id_ in candidates}
    values = [value for value in known.values() if value is not None]
    if not values:
        return {}
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    # Below this the differences are rounding: standardising would blow noise up to full size.
    if deviation <= 1e-9 * max(1e-9, *(abs(value) for value in values)):
        return {}
    return {id_: (value - mean) / deviation for id_, value in known.items() if value is not None}
