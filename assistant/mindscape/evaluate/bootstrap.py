"""How sure a mean is: 95% intervals from resampling, by document where questions cluster in documents.

Questions about one document share what is hard about it, so resampling single questions would promise too
much. With fewer than FEWEST documents there is too little to draw from, and questions are drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
FEWEST = 5
_AT_A_TIME = 5_000_000


class Estimate(NamedTuple):
    """A mean over `n` questions, and the interval it would fall into 95 times of 100."""

    value: float
    low: float
    high: float
    n: int


def clustered(clusters: Sequence[str]) -> bool:
    """Whether these questions' documents are enough to be drawn instead of questions."""
    return len(set(clusters)) >= FEWEST


def estimate(values: Sequence[float], clusters: Sequence[str], seed: int) -> Estimate:
    """The mean of one value a question; `clusters` holds the document of each. At least one value."""
    if not clustered(clusters):
        clusters = [str(number) for number in range(len(values))]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(clusters))}
    at = np.array([numbers[name] for name in clusters])
    sums = np.zeros(len(numbers))
    counts = np.zeros(len(numbers))
    np.add.at(sums, at, values)
    np.add.at(counts, at, 1.0)
    means = _resampled(sums, counts, seed)
    low, high = np.percentile(means, [2.5, 97.5])
    return Estimate(float(sums.sum() / counts.sum()), float(low), float(high), len(values))


def _resampled(sums: NDArray[np.float64], counts: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """RESAMPLES means, each over as many clusters as there are, drawn with replacement."""
    drawing = np.random.default_rng(seed)
    step = max(1, _AT_A_TIME // len(sums))
    means: list[NDArray[np.float64]] = []
    for start in range(0, RESAMPLES, step):
        drawn = drawing.integers(len(sums), size=(min(step, RESAMPLES - start), len(sums)))
        means.append(sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1))
    return np.concatenate(means)
