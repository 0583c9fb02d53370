"""The model's track: which summaries of a tree a model is to write, and which count of those it wrote.

The tree is that of the extractive summaries. A node's children are told to the model as they are served: in
its own words, or extracted where it was rejected or had nothing to shorten. The key of what it writes is a
hash of which model is asked, how, and of what the children say, so a change reaches up only as far as
summaries differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from mindscape.ingest.summarise import BUDGETS, Derived, Kind, Missing, hash_of, kind_of
from mindscape.ingest.tree import Group
from mindscape_storage.records import Verdict

VERSION = "1"
"""Of how this module chooses what the model is asked; the prompt has a hash of its own."""

Stored = Callable[[Iterable[bytes]], Mapping[bytes, Verdict]]
"""From keys to what is there of them."""


class Said(NamedTuple):
    """What counts of a node, or of a leaf."""

    digest: bytes
    key: bytes | None
    """Of the summary that is served; None for a passage."""
    model: bytes | None
    """Of what the model wrote, be it rejected; None where it was not asked."""


class Refined(NamedTuple):
    """A tree with the keys of what is served of its nodes, and of what the model wrote, by level."""

    served: Derived
    """Keys as far as they are known, and what the model can write now."""
    models: Sequence[Sequence[bytes | None]]


def refine(
    base: Derived, leaves: Sequence[Said], tokens: Sequence[int], lowest: Kind, how: str, stored: Stored
) -> Refined:
    """The model's track over `base`, the keys of which must all be known.

    `tokens` are those of the leaves: a node over leaves that together are no longer than a summary may be
    is not worth a call. `how` names the model and how it is asked.
    """
    totals = [0, *accumulate(tokens)]
    below: list[Said | None] = list(leaves)
    levels: list[list[Said | None]] = []
    missing: dict[bytes, Missing] = {}
    for level, groups in enumerate(base.levels, start=1):
        kind = kind_of(level, lowest)
        stage = f"model\0{VERSION}\0{how}\0{kind}".encode()
        extractive = [key or b"" for key in base.keys[level - 1]]
        asked = [
            None
            if level == 1 and totals[end] - totals[first] <= BUDGETS[kind]
            else _key(stage, below[first:end])
            for first, end in groups
        ]
        found = stored([*extractive, *filter(None, asked)])
        passing = [_passes(group, level, below) for group in groups]
        for ordinal, (key, passes) in enumerate(zip(asked, passing, strict=True)):
            if key is not None and key not in found and not passes:
                missing.setdefault(key, Missing(level, ordinal, key))
        below = [
            below[group.first] if passes else _said(below[group.first : group.end], own, key, found)
            for group, passes, own, key in zip(groups, passing, extractive, asked, strict=True)
        ]
        levels.append(below)
    served = Derived(
        base.levels, [[one and one.key for one in row] for row in levels], list(missing.values())
    )
    return Refined(served, [[one and one.model for one in row] for row in levels])


def _passes(group: Group, level: int, below: Sequence[Said | None]) -> bool:
    """Whether a node takes over what its only child says: as the extractive ones do."""
    if group.end - group.first > 1:
        return False
    leaf = below[group.first]
    return level > 1 or (len(below) == 1 and leaf is not None and leaf.key is not None)


def _key(stage: bytes, children: Sequence[Said | None]) -> bytes | None:
    """None while a child is unknown."""
    known = [child.digest for child in children if child is not None]
    return hash_of(stage, *known) if len(known) == len(children) else None


def _said(
    children: Sequence[Said | None], extractive: bytes, key: bytes | None, found: Mapping[bytes, Verdict]
) -> Said | None:
    if None in children or (key is not None and key not in found):
        return None
    if key is not None and found[key].counts:
        return Said(found[key].digest, key, key)
    return Said(found[extractive].digest, extractive, key)


def written(refined: Refined) -> Iterator[tuple[int, int, bytes]]:
    """Level, ordinal and key of all that the model wrote of the nodes of a tree."""
    for level, row in enumerate(refined.models, start=1):
        for ordinal, key in enumerate(row):
            if key is not None:
                yield level, ordinal, key
