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

import math
from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple

SHARE = 0.5
"""Weight of all nodes of a path together, against the passage's own 1."""
RISE = 0.3
"""Weight of a level against the one below it."""
WHOLE = 0.2
"""Weight of the document besides; where there is only one it is the same for all."""
BESIDE = 0.5
"""Weight of the neighbours."""


class Position(NamedTuple):
    """Where a passage stands in the library."""

    path: Sequence[Hashable]
    """What stands above it, lowest first; the document itself last."""
    ordinal: int
    """Its number among the passages of the document."""


def inherited(scores: Mapping[int, float], positions: Mapping[int, Position]) -> dict[int, float]:
    """Passage id -> what it inherits, for each that has a position.

    `scores` are standardised scores of one leg, so that average is 0. A passage without one is unknown to the
    leg: it makes nothing better or worse, and a node over unknown passages alone is average.
    """
    best: dict[Hashable, float] = {}
    for id_, score in scores.items():
        if (position := positions.get(id_)) is not None:
            document = position.path[-1]
            around = ((document, position.ordinal + step) for step in (-1, 0, 1))
            for place in (*position.path, *around):
                if best.get(place, -math.inf) < score:
                    best[place] = score
    return {
        id_: _weighed([best.get(node, 0.0) for node in path]) + BESIDE * best.get((path[-1], ordinal), 0.0)
        for id_, (path, ordinal) in positions.items()
    }


def _weighed(best: Sequence[float]) -> float:
    *inner, document = best
    left, total = SHARE, 0.0
    for score in inner:
        total += left * (1 - RISE) * score
        left *= RISE
    return total + (left + WHOLE) * document
