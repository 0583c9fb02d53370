"""The mindscape of any range of a text: the few nodes that cover it exactly, spread to a budget of tokens.

Nodes tile the text, so what is not a node itself (a selection, some chapters, a book up to a bookmark) is
covered by O(log n) of them, and nothing that was made from beyond the range is among them.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar


class Part(Protocol):
    """A node or a passage."""

    @property
    def start(self) -> int:
        """Code points of the text, half open."""
        ...

    @property
    def end(self) -> int:
        """Where the next part starts."""
        ...

    @property
    def tokens(self) -> int:
        """Of its summary, or of a passage's text."""
        ...


P = TypeVar("P", bound=Part)


class Cut(NamedTuple, Generic[P]):
    """Parts in the order of the text."""

    parts: list[P]
    tokens: int
    whole: bool
    """Whether they tile the range; False: even its cover exceeds the budget, and small parts are left out."""


def cover(
    top: P,
    start: int,
    end: int,
    below: Callable[[P], Sequence[P]],
    clip: Callable[[P, int, int], P],
) -> list[P]:
    """The fewest nodes below `top` that tile the range, in order; a passage at an edge is clipped to it.

    At most 2 x fan-in x depth. `below` gives the parts that tile a node, none for a passage; it is called
    only for nodes that reach beyond the range.
    """
    if top.start >= end or top.end <= start:
        return []
    if start <= top.start and top.end <= end:
        return [top]
    parts = below(top)
    if not parts:
        return [clip(top, max(start, top.start), min(end, top.end))]
    return [one for part in parts for one in cover(part, start, end, below, clip)]


def spread(covering: Sequence[P], budget: int, below: Callable[[P], Sequence[P]]) -> Cut[P]:
    """The parts of a cover that fit `budget` tokens: the widest node is opened first, while that fits."""
    tokens = sum(one.tokens for one in covering)
    if tokens > budget:
        return _coarsest(covering, budget)
    done: list[P] = []
    waiting = [_waiting(one) for one in covering]
    heapq.heapify(waiting)
    while waiting:
        *_, widest = heapq.heappop(waiting)
        parts = below(widest)
        more = sum(one.tokens for one in parts) - widest.tokens
        if parts and tokens + more <= budget:
            tokens += more
            for one in parts:
                heapq.heappush(waiting, _waiting(one))
        else:
            done.append(widest)
    return Cut(sorted(done, key=lambda one: one.start), tokens, True)


def _waiting(one: P) -> tuple[int, int, P]:
    """Wide before narrow, then early before late. No two parts start at one place."""
    return one.start - one.end, one.start, one


def _coarsest(covering: Sequence[P], budget: int) -> Cut[P]:
    kept: list[P] = []
    tokens = 0
    for *_, one in sorted(map(_waiting, covering)):
        if tokens + one.tokens <= budget:
            kept.append(one)
            tokens += one.tokens
    return Cut(sorted(kept, key=lambda one: one.start), tokens, False)
