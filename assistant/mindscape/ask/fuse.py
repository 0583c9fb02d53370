"""Fusion by standardised sums: each leg's scores at mean 0 and deviation 1, weighted, added.

Ranks throw away how much better the first is than the second; raw scores of different legs cannot be added.
Standardised scores can. What a passage inherits from its neighbours and ancestors is added in each leg, at
the leg's weight. Both are measured by tests/quality/measure_path.py.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mindscape.ask.ancestors import Around, Position, Scores


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
    around = Around([(positions or {}).get(id_) for id_ in candidates])
    total = np.zeros(len(candidates))
    for leg in legs:
        scores = _standardised(leg, candidates)
        total += leg.weight * (np.nan_to_num(scores) + around.inherited(scores))
    fused = [
        Fused(id_, score, {leg.name: leg.scores[id_] for leg in legs if id_ in leg.scores})
        for id_, score in zip(candidates, total.tolist(), strict=True)
    ]
    return sorted(fused, key=lambda one: (-one.score, one.id))


def _standardised(leg: Leg, candidates: Sequence[int]) -> Scores:
    """At mean 0 and deviation 1, NaN where the leg knows nothing; all NaN where it prefers none."""
    missing = math.nan if leg.missing is None else leg.missing
    values = np.array([leg.scores.get(id_, missing) for id_ in candidates])
    known = values[~np.isnan(values)]
    if not len(known):
        return values
    mean, deviation = known.mean(), known.std()
    # Below this the differences are rounding: standardising would blow noise up to full size.
    if deviation <= 1e-9 * max(1e-9, np.abs(known).max()):
        return np.full(len(candidates), np.nan)
    return (values - mean) / deviation
