"""What a passage inherits from the nodes above it: the best score below each of them, less the higher it is.

    inherited(p) = SHARE * sum over i < n of (1 - RISE) RISE^i best(node i)
                 + (SHARE RISE^n + WHOLE) best(document)

where best(node) is the maximum of a leg's standardised scores among the candidates below it, so that no
second index is needed, and nodes 0 to n - 1 stand above p, below the document's top. What these leave of
SHARE goes to the document, so documents with deep trees, flat ones and none yet are measured alike.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence

Path = Sequence[Hashable]
"""What stands above a passage, lowest first; the document itself last."""

SHARE = 0.5
"""Weight of all nodes of a path together, against the passage's own 1."""
RISE = 0.3
"""Weight of a level against the one below it."""
WHOLE = 0.2
"""Weight of the document besides; where there is only one it is the same for all."""


def inherited(scores: Mapping[int, float], paths: Mapping[int, Path]) -> dict[int, float]:
    """Passage id -> what its ancestors add, for each passage that has any.

    `scores` are standardised scores of one leg, so that average is 0. A passage without one is unknown to the
    leg: it makes no node better or worse, and a node over unknown passages alone is average.
    """
    best: dict[Hashable, float] = {}
    for id_, score in scores.items():
        for node in paths.get(id_, ()):
            if best.get(node, -math.inf) < score:
                best[node] = score
    return {id_: _weighed([best.get(node, 0.0) for node in path]) for id_, path in paths.items() if path}


def _weighed(best: Sequence[float]) -> float:
    *inner, document = best
    left, total = SHARE, 0.0
    for score in inner:
        total += left * (1 - RISE) * score
        left *= RISE
    return total + (left + WHOLE) * document
