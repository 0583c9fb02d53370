"""What a passage inherits from what stands around it: the best score among its neighbours, and under each
node above it, less the higher it is.

    inherited(p) = BESIDE * best(p and the passages right before and after it)
                 + SHARE * sum over i < n of (1 - RISE) RISE^i best(node i)
                 + (SHARE RISE^n + WHOLE) best(document)

where best(...) is the maximum of a leg's standardised scores among the candidates there, so that no second
index is needed, and nodes 0 to n - 1 stand above p, below the document's top. What these leave of SHARE goes
to the document, so documents with deep trees, flat ones and none yet are measured alike. The neighbours are
there because a node ends somewhere: a passage at its edge has half of its surroundings under another one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SHARE = 0.5
"""Weight of all nodes of a path together, against the passage's own 1."""
RISE = 0.3
"""Weight of a level against the one below it."""
WHOLE = 0.2
"""Weight of the document besides; where there is only one it is the same for all."""
BESIDE = 0.5
"""Weight of the neighbours."""

Scores = NDArray[np.float64]


class Position(NamedTuple):
    """Where a passage stands in the library."""

    path: Sequence[Hashable]
    """What stands above it, lowest first; the document itself last."""
    ordinal: int
    """Its number among the passages of the document."""


class Around:
    """What stands around the candidates of a search: the same for every leg."""

    def __init__(self, positions: Sequence[Position | None]) -> None:
        """Of each candidate; None inherits nothing and gives nothing."""
        known = [
            (candidate, position) for candidate, position in enumerate(positions) if position is not None
        ]
        nodes: dict[Hashable, int] = {}
        above = [
            (candidate, nodes.setdefault(node, len(nodes)), weight)
            for candidate, position in known
            for node, weight in zip(position.path, _weights(len(position.path)), strict=True)
        ]
        self._nodes = len(nodes)
        self._below = np.array([candidate for candidate, _, _ in above], np.intp)
        self._above = np.array([node for _, node, _ in above], np.intp)
        self._weights = np.array([weight for _, _, weight in above])
        at = {(position.path[-1], position.ordinal): candidate for candidate, position in known}
        beside = [[len(positions)] * 3] * len(positions)
        for candidate, (path, ordinal) in known:
            beside[candidate] = [at.get((path[-1], ordinal + step), len(positions)) for step in (-1, 0, 1)]
        self._beside = np.array(beside, np.intp).reshape(-1, 3)

    def inherited(self, scores: Scores) -> Scores:
        """What each candidate inherits (n,), of standardised scores (n,) of one leg, so that average is 0.

        NaN is unknown to the leg: it makes nothing better or worse, and where all are unknown is average.
        """
        found = BESIDE * np.nan_to_num(np.fmax.reduce(np.append(scores, np.nan)[self._beside], axis=1))
        best = np.full(self._nodes, np.nan)
        np.fmax.at(best, self._above, scores[self._below])
        np.add.at(found, self._below, self._weights * np.nan_to_num(best)[self._above])
        return found


@cache
def _weights(length: int) -> tuple[float, ...]:
    """Of the nodes of a path, lowest first; the document's is the last."""
    inner = [SHARE * (1 - RISE) * RISE**level for level in range(length - 1)]
    return (*inner, SHARE * RISE ** (length - 1) + WHOLE)
