"""Trees on their way into the library: what is missing of them, from what it is made, and storing it.

A content's tree is made once, for its passages never change. A folder's is made again whenever something
below it has changed; what it says then is mostly there already, under the same keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mindscape.ingest.passages import count_tokens
from mindscape.ingest.summarise import (
    EXTRACTIVE,
    VERSION,
    Derived,
    Kind,
    Leaf,
    Missing,
    child_leaves,
    child_text,
    derive,
    folder_nodes_over,
    in_order,
    kind_of,
    nodes_over,
    passage_leaves,
)
from mindscape_storage import contents, counters, folders, nodes, summaries
from mindscape_storage.database import Connection
from mindscape_storage.records import NOTHING, ChangedFolder, Child, Summary

CONTENTS = 200
PASSAGES = 5_000
"""Contents whose trees are made together: as many as have so many passages."""
FOLDERS = 200
BATCH_NODES = 64
BATCH_CHARACTERS = 1_000_000
"""Of the texts that one call summarises; a node's own are far fewer."""


class Growth(ABC):
    """One tree. What `missing` found last is what the other methods speak of."""

    lowest: Kind
    _leaves: Sequence[Leaf] = ()
    _derived: Derived = Derived((), (), ())

    def missing(self, connection: Connection) -> Sequence[Missing]:
        """The summaries that can be made now: none when all are there, or when it is not wanted any more."""
        if not self.wanted(connection):
            return ()
        self._derived = derive(
            self._leaves, self.lowest, lambda keys: summaries.digests_by_key(connection, keys)
        )
        return self._derived.missing

    @abstractmethod
    def wanted(self, connection: Connection) -> bool:
        """Whether what the tree stands over is still there as it was."""

    @abstractmethod
    def finish(self, connection: Connection) -> bool:
        """Store the nodes; False when something has changed meanwhile."""

    def texts(self, connection: Connection, missing: Missing) -> list[str] | None:
        """The texts of a node's children; None when one is gone."""
        group = self._derived.levels[missing.level - 1][missing.ordinal]
        if missing.level == 1:
            return self._leaf_texts(connection, *group)
        keys = [key for key in self._derived.keys[missing.level - 2][group.first : group.end] if key]
        found = summaries.texts_by_key(connection, keys)
        return [found[key] for key in keys] if all(key in found for key in keys) else None

    @abstractmethod
    def _leaf_texts(self, connection: Connection, first: int, end: int) -> list[str] | None: ...


class ContentGrowth(Growth):
    """The tree over the passages of a content."""

    lowest = Kind.PASSAGES

    def __init__(self, connection: Connection, content_id: int) -> None:
        self._content = content_id
        self._leaves = passage_leaves(
            (one.text, one.heading, one.start, one.end)
            for one in contents.passages_of(connection, content_id)
        )

    def wanted(self, connection: Connection) -> bool:
        """Whether the content is there."""
        return contents.length_of(connection, self._content) > 0

    def finish(self, connection: Connection) -> bool:
        """Store the nodes; False when the content or a summary is gone."""
        if not self.wanted(connection):
            return False
        made = nodes_over(self._leaves, self._derived)
        return nodes.set_tree(connection, self._content, VERSION, made)

    def _leaf_texts(self, connection: Connection, first: int, end: int) -> list[str] | None:
        texts = nodes.passage_texts(connection, self._content, first, end)
        return texts if len(texts) == end - first else None


class FolderGrowth(Growth):
    """The tree over the children of a folder."""

    lowest = Kind.CHILDREN

    def __init__(self, connection: Connection, folder: ChangedFolder) -> None:
        self._folder = folder
        self._children: Sequence[Child] = in_order(folders.children_of(connection, folder.id))
        self._leaves = child_leaves(self._children)

    def wanted(self, connection: Connection) -> bool:
        """Whether nothing has changed below the folder."""
        return folders.is_unchanged(connection, self._folder)

    def finish(self, connection: Connection) -> bool:
        """Store the nodes; False when something below the folder has changed, or a summary is gone."""
        if not self.wanted(connection):
            return False
        made = folder_nodes_over(self._children, self._derived)
        return folders.set_folder_tree(connection, self._folder, made)

    def _leaf_texts(self, connection: Connection, first: int, end: int) -> list[str] | None:
        children = self._children[first:end]
        found = summaries.texts_by_key(connection, [child.key for child in children])
        if any(child.key not in found for child in children):
            return None
        return [child_text(child, found[child.key]) for child in children]


class Wanted(NamedTuple):
    """A summary to be made: of which tree, at which node, from which texts."""

    growth: Growth
    key: bytes
    kind: Kind
    children: list[str]


def next_contents(connection: Connection) -> list[Growth]:
    """The trees of the next contents that have none, none when all have one."""
    chosen = nodes.without_tree(connection, CONTENTS, PASSAGES)
    return [ContentGrowth(connection, content_id) for content_id in chosen]


def next_folders(connection: Connection) -> list[Growth]:
    """The trees of the deepest folders below which something has changed."""
    chosen = folders.changed_folders(connection, FOLDERS)
    return [FolderGrowth(connection, folder) for folder in chosen]


def missing(connection: Connection, growing: Iterable[Growth]) -> deque[tuple[Growth, Missing]]:
    """What can be made now of these trees, each summary once."""
    found = {one.key: (growth, one) for growth in growing for one in growth.missing(connection)}
    return deque(found.values())


def take(connection: Connection, waiting: deque[tuple[Growth, Missing]]) -> list[Wanted]:
    """The next of what is waiting, as much as is made in one call, with the texts it is made from."""
    taken: list[Wanted] = []
    size = 0
    while waiting and len(taken) < BATCH_NODES and size < BATCH_CHARACTERS:
        growth, one = waiting.popleft()
        if (children := growth.texts(connection, one)) is not None:
            taken.append(Wanted(growth, one.key, kind_of(one.level, growth.lowest), children))
            size += sum(map(len, children))
    return taken


def store(connection: Connection, asked: Sequence[Wanted], texts: Sequence[str | None]) -> int:
    """Store the summaries of what is still there; returns how many were new. None says nothing."""
    made = [
        Summary(one.key, "", 0, NOTHING)
        if text is None
        else Summary(one.key, text, count_tokens(text), EXTRACTIVE)
        for one, text in zip(asked, texts, strict=True)
        if one.growth.wanted(connection)
    ]
    new = summaries.add_summaries(connection, made)
    counters.bump(connection, "extractive", new)
    return new
