"""Trees on their way through a model: what it is still to write of them, from what, and storing that.

A content's tree is gone through once for each model and prompt. A folder's is gone through again whenever
something below it has changed; what the model says then is mostly there already, under the same keys.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from mindscape.ingest.growth import ContentGrowth, FolderGrowth, Growth
from mindscape.ingest.passages import count_tokens
from mindscape.ingest.refine import Refined, Said, refine, written
from mindscape.ingest.summarise import Missing, child_leaves, derive, folder_nodes_over, in_order, label
from mindscape_storage import contents, counters, folders, nodes, refined, summaries
from mindscape_storage.database import Connection
from mindscape_storage.records import REJECTED, ChangedFolder, Summary


class Refinement(Growth):
    """One tree the extractive summaries of which are there. Reads are made in a snapshot."""

    _how: str
    _told: Sequence[Said]
    _tokens: Sequence[int]
    _refined: Refined | None = None

    def missing(self, connection: Connection) -> Sequence[Missing]:
        """What the model can write now: nothing when all is there, or when it is not wanted any more.

        Nor when an extractive summary is missing, of a tree that is damaged.
        """
        self._refined = None
        if not self.wanted(connection):
            return ()
        base = derive(self._leaves, self.lowest, lambda keys: summaries.digests_by_key(connection, keys))
        if base.missing:
            return ()
        self._refined = refine(
            base,
            self._told,
            self._tokens,
            self.lowest,
            self._how,
            lambda keys: summaries.verdicts_by_key(connection, keys),
        )
        self._derived = self._refined.served
        return self._derived.missing

    def texts_now(self, connection: Connection, missing: Missing) -> list[str] | None:
        """The texts of a node's children; None when it is not wanted any more."""
        return self.texts(connection, missing) if self.wanted(connection) else None

    def finish(self, connection: Connection) -> bool:
        """Store what the model wrote; False when something has changed meanwhile, or is still missing.

        A tree that is damaged is to be made again.
        """
        if self.missing(connection) or not self.wanted(connection):
            return False
        if self._refined is None:
            self._regrow(connection)
            return False
        return self._store(connection, self._refined)

    @abstractmethod
    def _store(self, connection: Connection, told: Refined) -> bool: ...

    @abstractmethod
    def _regrow(self, connection: Connection) -> None: ...


class ContentRefinement(Refinement, ContentGrowth):
    """Of a content."""

    def __init__(self, connection: Connection, content_id: int, how: str) -> None:
        super().__init__(connection, content_id)
        self._how = how
        self._told = [Said(leaf.digest, None, None) for leaf in self._leaves]
        self._tokens = [count_tokens(one.text) for one in contents.passages_of(connection, content_id)]

    def wanted(self, connection: Connection) -> bool:
        """Whether the content is there, with its tree."""
        return super().wanted(connection) and nodes.has_tree(connection, self._content)

    def _store(self, connection: Connection, told: Refined) -> bool:
        models = {(level, ordinal): key for level, ordinal, key in written(told)}
        return refined.set_content(connection, self._content, models)

    def _regrow(self, connection: Connection) -> None:
        nodes.regrow(connection, self._content)


class FolderRefinement(Refinement, FolderGrowth):
    """Of a folder. What its children say must not be about to change."""

    def __init__(self, connection: Connection, folder: ChangedFolder, how: str) -> None:
        super().__init__(connection, folder)
        self._how = how
        self._children = in_order(folders.children_of(connection, folder.id, served=True))
        self._told = [
            Said(leaf.digest, child.key, child.key if child.by_model else None)
            for leaf, child in zip(child_leaves(self._children), self._children, strict=True)
        ]
        self._tokens = [child.tokens + count_tokens(label(child)) for child in self._children]

    def wanted(self, connection: Connection) -> bool:
        """Whether nothing has changed below the folder."""
        return refined.is_unrefined(connection, self._folder)

    def _store(self, connection: Connection, told: Refined) -> bool:
        found = folder_nodes_over(self._children, told.served)
        keys = [key for row in told.models for key in row]
        models = {(node.level, node.first_name): key for node, key in zip(found, keys, strict=True) if key}
        return refined.set_folder(connection, self._folder, models)

    def _regrow(self, connection: Connection) -> None:
        folders.regrow(connection, self._folder.id)


def next_refinement(connection: Connection, how: str, *, upwards: bool) -> Refinement | None:
    """The tree that the model goes through next: a content's, or a folder's if `upwards` and none is left."""
    content = refined.next_content(connection)
    if content is not None:
        return ContentRefinement(connection, content, how)
    folder = refined.next_folder(connection) if upwards else None
    return None if folder is None else FolderRefinement(connection, folder, how)


def store(connection: Connection, growth: Growth, key: bytes, text: str | None, model: str) -> None:
    """Store what `model` wrote, or that it was rejected, if it is still wanted."""
    if growth.wanted(connection):
        made = Summary(key, text or "", count_tokens(text or ""), REJECTED if text is None else model)
        counters.bump(connection, "model_summaries", summaries.add_summaries(connection, [made]))
