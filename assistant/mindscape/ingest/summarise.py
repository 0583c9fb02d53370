"""Which summaries a tree has, and which of them are still to be made: compares keys, and nothing else.

The key of a summary is a hash of how it is made and of what it is made from: the texts of the passages
under a node, or the summaries of its children. So a change reaches up only as far as summaries differ.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple

from mindscape.ingest.tree import Group, Levels, levels, rank
from mindscape_storage.records import Child, FolderNode, Node
from mindscape_storage.summaries import digest_of

EXTRACTIVE = "extractive"
VERSION = "3"
"""Of the shape, of `extract`, and of what is put into it: another one makes every summary again."""


class Kind(StrEnum):
    """What a summary is made from."""

    PASSAGES = "passages"
    NODES = "nodes"
    CHILDREN = "children"
    """Of a folder: each with its name or title."""
    LISTINGS = "listings"
    """Of groups of a folder's children."""


BUDGETS = {Kind.PASSAGES: 96, Kind.NODES: 128, Kind.CHILDREN: 160, Kind.LISTINGS: 160}
"""Tokens of a summary at most."""


def summary(kind: Kind, children: Sequence[str]) -> str:
    """The summary of a node, made from the texts of its children."""
    # The daemon compares keys; only workers summarise, and what that needs takes long to import.
    from mindscape.ingest.extract import extract
    from mindscape.ingest.overview import listing, merged

    make = {Kind.CHILDREN: listing, Kind.LISTINGS: merged}.get(kind, extract)
    return make(children, BUDGETS[kind])


Known = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
"""From keys to the digests of those summaries that are there."""


class Leaf(NamedTuple):
    """What stands under the lowest nodes: a passage, or a child of a folder."""

    rank: int
    digest: bytes
    start: int = 0
    """Code points of the text, half open, for a passage."""
    end: int = 0
    key: bytes | None = None
    """Of its own summary, which a node without other children takes over."""


class Missing(NamedTuple):
    """A summary to be made, for a node at this place (at others too where the same is said)."""

    level: int
    ordinal: int
    key: bytes


@dataclass(frozen=True, slots=True)
class Derived:
    """The nodes of a tree by level, lowest first: their children, and their keys as far as they are known."""

    levels: Levels
    keys: Sequence[Sequence[bytes | None]]
    missing: Sequence[Missing]
    """What can be made now; nodes above wait for it."""


def kind_of(level: int, lowest: Kind) -> Kind:
    """What the nodes of a level stand over, in a tree over `lowest`."""
    if level == 1:
        return lowest
    return Kind.LISTINGS if lowest is Kind.CHILDREN else Kind.NODES


def passage_leaves(passages: Iterable[tuple[str, tuple[str, ...], int, int]]) -> list[Leaf]:
    """From text, heading path, start and end of each passage of a document.

    The rank of a passage is one more where the next is under another heading path.
    """
    found: list[Leaf] = []
    under: tuple[str, ...] = ()
    for text, heading, start, end in passages:
        if found and heading != under:
            found[-1] = found[-1]._replace(rank=found[-1].rank + 1)
        under = heading
        found.append(Leaf(rank(text), digest_of(text), start, end))
    return found


def in_order(children: Iterable[Child]) -> list[Child]:
    """The children of a folder by their names."""
    return sorted(children, key=lambda child: name_key(child.name))


def name_key(name: bytes) -> tuple[str, bytes]:
    """What names are ordered by: as text in NFC, then as bytes."""
    return unicodedata.normalize("NFC", os.fsdecode(name)), name


def child_leaves(children: Sequence[Child]) -> list[Leaf]:
    """From the children of a folder, in order."""
    return [
        Leaf(rank(name_key(one.name)[0]), hash_of(label(one).encode(), one.digest), key=one.key)
        for one in children
    ]


def label(child: Child) -> str:
    """What a document or folder is called in the summary of the folder it is in."""
    name = os.path.basename(child.name.rstrip(b"/")) or child.name
    stem = name if child.is_folder else os.path.splitext(name)[0]
    return " ".join((child.title or stem.decode("utf-8", "replace")).split())


def child_text(child: Child, summary: str) -> str:
    """What is summarised of a child of a folder."""
    return f"# {label(child)}\n\n{summary}"


def derive(leaves: Sequence[Leaf], lowest: Kind, known: Known) -> Derived:
    """The tree over these leaves, with the keys that follow from the summaries that are there."""
    built = levels([leaf.rank for leaf in leaves])
    digests: list[bytes | None] = [leaf.digest for leaf in leaves]
    # A child alone in one of several groups of a folder is named there like the others.
    below: list[bytes | None] = [leaf.key if len(leaves) == 1 else None for leaf in leaves]
    keys: list[list[bytes | None]] = []
    missing: dict[bytes, Missing] = {}
    for level, groups in enumerate(built, start=1):
        how = f"{EXTRACTIVE}\0{VERSION}\0{kind_of(level, lowest)}".encode()
        below = [_key(how, group, digests, below) for group in groups]
        found = known(key for key in below if key is not None)
        for ordinal, key in enumerate(below):
            if key is not None and key not in found:
                missing.setdefault(key, Missing(level, ordinal, key))
        digests = [None if key is None else found.get(key) for key in below]
        keys.append(below)
    return Derived(built, keys, list(missing.values()))


def nodes_over(leaves: Sequence[Leaf], derived: Derived) -> Iterator[Node]:
    """The nodes of a document. All keys must be known."""
    spans = [(leaf.start, leaf.end) for leaf in leaves]
    for level, groups in enumerate(derived.levels, start=1):
        spans = [(spans[group.first][0], spans[group.end - 1][1]) for group in groups]
        for ordinal, (group, span, key) in enumerate(
            zip(groups, spans, derived.keys[level - 1], strict=True)
        ):
            assert key is not None
            yield Node(level, ordinal, group.first, group.end, *span, key)


def folder_nodes_over(children: Sequence[Child], derived: Derived) -> Iterator[FolderNode]:
    """The nodes of a folder over its children, in order. All keys must be known."""
    names = [(child.name, child.name) for child in children]
    for level, groups in enumerate(derived.levels, start=1):
        names = [(names[group.first][0], names[group.end - 1][1]) for group in groups]
        for (first, last), key in zip(names, derived.keys[level - 1], strict=True):
            assert key is not None
            yield FolderNode(level, first, last, key)


def _key(
    how: bytes, group: Group, digests: Sequence[bytes | None], below: Sequence[bytes | None]
) -> bytes | None:
    if group.end - group.first == 1 and below[group.first] is not None:
        return below[group.first]
    under = digests[group.first : group.end]
    parts = [digest for digest in under if digest is not None]
    return hash_of(how, *parts) if len(parts) == len(under) else None


def hash_of(first: bytes, *digests: bytes) -> bytes:
    """Of something of any length, and of hashes of one length."""
    return blake2b(b"".join(digests), digest_size=32, key=blake2b(first, digest_size=32).digest()).digest()
