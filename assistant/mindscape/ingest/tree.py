"""The shape of the mindscape: which passages, and which nodes above them, stand together under one node.

Boundaries follow what is written, not where it stands: the rank of a leaf is the number of trailing zero
base-4 digits of the hash of its text (of its name, in a folder), so a quarter of the leaves can end a group
on level 1, a sixteenth on level 2, and so on. An edit therefore moves the few groups around it and the path
from there to the root; all others are found again by their keys (content-defined grouping, as in
content-defined chunking and skip lists).

A node is known by its level and its ordinal there; leaves have level 0.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

LEAST_CHILDREN = 3
MOST_CHILDREN = 12
_DIGITS = 32


class Group(NamedTuple):
    """A node's children: a half-open range of ordinals on the level below (level 1: of leaves)."""

    first: int
    end: int


class Node(NamedTuple):
    """Where a node is: `levels[level - 1][ordinal]`, or the leaf `ordinal` on level 0."""

    level: int
    ordinal: int


Levels = Sequence[Sequence[Group]]
"""What `levels` builds: the groups of level 1 first, the root's last."""


def rank(text: str) -> int:
    """Trailing zero base-4 digits of the text's hash: at least k with probability 4 to the power of -k."""
    number = int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
    return (number & -number).bit_length() - 1 >> 1 if number else _DIGITS


def levels(ranks: Sequence[int]) -> list[list[Group]]:
    """The groups of every level, lowest first, until one holds all leaves; nothing for no leaves.

    A group of level k ends after at least LEAST_CHILDREN children with one whose last leaf has a rank of k or
    more, or after MOST_CHILDREN.
    """
    built: list[list[Group]] = []
    current = list(ranks)
    while len(current) > 1 or (current and not built):
        groups = _grouped(current, len(built) + 1)
        built.append(groups)
        current = [current[group.end - 1] for group in groups]
    return built


def leaves(built: Levels, node: Node) -> Group:
    """The half-open range of leaves below a node; a leaf's own is itself."""
    first, end = node.ordinal, node.ordinal + 1
    for groups in reversed(built[: node.level]):
        first, end = groups[first].first, groups[end - 1].end
    return Group(first, end)


def path(built: Levels, leaf: int) -> list[Node]:
    """The nodes from a leaf (itself the first) up to the root."""
    nodes = [Node(0, leaf)]
    for level, groups in enumerate(built, start=1):
        above = bisect_right(groups, nodes[-1].ordinal, key=lambda group: group.first) - 1
        nodes.append(Node(level, above))
    return nodes


def cut(built: Levels, first: int, end: int) -> list[Node]:
    """The fewest nodes whose leaves are exactly those from `first` to before `end`, in the leaves' order.

    There are O(log n): at most 11 on each side of a level. Of a node and its only child it is the node.
    Raises ValueError for a range that is not within the leaves.
    """
    if not 0 <= first <= end <= (built[0][-1].end if built else 0):
        raise ValueError(f"There are no leaves {first} to {end} in this tree.")
    before: list[Node] = []
    after: list[list[Node]] = []
    for level, groups in enumerate(built):
        above_first = bisect_left(groups, first, key=lambda group: group.first)
        above_end = bisect_right(groups, end, key=lambda group: group.end)
        if above_first >= above_end:
            break
        before.extend(_nodes(level, first, groups[above_first].first))
        after.append(_nodes(level, groups[above_end - 1].end, end))
        first, end = above_first, above_end
    else:
        level = len(built)
    middle = _nodes(level, first, end)
    return [*before, *middle, *(node for side in reversed(after) for node in side)]


def _nodes(level: int, first: int, end: int) -> list[Node]:
    return [Node(level, ordinal) for ordinal in range(first, end)]


def _grouped(ranks: Sequence[int], level: int) -> list[Group]:
    groups: list[Group] = []
    first = 0
    for end, last in enumerate(ranks, start=1):
        size = end - first
        if size == MOST_CHILDREN or (size >= LEAST_CHILDREN and last >= level):
            groups.append(Group(first, end))
            first = end
    if first < len(ranks):
        groups.append(Group(first, len(ranks)))
    return groups
