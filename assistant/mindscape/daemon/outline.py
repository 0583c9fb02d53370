"""The mindscape as readers see it: nodes with titles and summaries, opened one level at a time.

A view knows how many children it has and reads them when asked, so a tree is as dear as what is shown of it.
Of a node with a single child only the child is shown, unless it is a folder or a document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from mindscape.daemon.places import content_of
from mindscape.errors import NotFound
from mindscape.ingest.passages import count_tokens
from mindscape.ingest.summarise import label, name_key
from mindscape.ingest.tree import Levels, leaves, levels, path, rank
from mindscape.ingest.tree import Node as At
from mindscape_storage import contents, documents, folders, nodes, summaries
from mindscape_storage.database import Connection
from mindscape_storage.folders import LIBRARY
from mindscape_storage.records import NOTHING, Child, Document, Entry, FolderNode, Node, Passage, Told

TITLE = 72
"""Characters of a title that is the beginning of a text."""
UNTOLD = Told("", 0, NOTHING, 0)
BY_TEXT = "text"


@dataclass(frozen=True)
class View:
    """A node as it is shown."""

    id: str
    kind: str
    """library, folder, group (of the children of one), document, section or passage."""
    level: int
    title: str
    told: Told
    stale: bool
    start: int
    """Code points of the document's text, half open; 0 outside documents."""
    end: int
    count: int
    """Of its children."""
    children: Callable[[], list[View]]

    @property
    def tokens(self) -> int:
        """Of the summary, or of a passage's text."""
        return self.told.tokens


class Outline:
    """The views of one snapshot."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn
        self._folders: dict[int, _Folder] = {}

    @cached_property
    def changed(self) -> set[int]:
        """Folders that may not say what is below them."""
        return folders.behind(self._conn)

    def folder(self, folder_id: int) -> View:
        """A folder or the library. Raises NotFound."""
        return self._of(folder_id).view()

    def group(self, folder_id: int, level: int, ordinal: int) -> View:
        """A node over the children of a folder. Raises NotFound."""
        return self._of(folder_id).node(At(level, ordinal))

    def document(self, document_id: int) -> View:
        """The top of a document. Raises NotFound when it is not there or has no text."""
        return Text(self._conn, document_id).view()

    def above(self, folder_id: int) -> list[View]:
        """From the library down to the folder, and the groups between."""
        views = [self.folder(LIBRARY)]
        for (parent, _), (id_, name) in pairwise(self._of(folder_id).chain):
            views += self.groups_above(parent, name)
            views.append(self.folder(id_))
        return views

    def above_document(self, document: Document) -> list[View]:
        """From the library down to the document, itself the last."""
        folder_id = folders.folder_of_document(self._conn, document.id)
        groups = self.groups_above(folder_id, document.path)
        return [*self.above(folder_id), *groups, self.document(document.id)]

    def groups_above(self, folder_id: int, child: bytes) -> list[View]:
        """The groups of a folder's children in which the one with this path stands, without the folder."""
        return self._of(folder_id).above(child if folder_id == LIBRARY else child.rsplit(b"/", 1)[-1])

    def above_group(self, folder_id: int, level: int, ordinal: int) -> list[View]:
        """From the library down to a group, itself the last."""
        last = self.group(folder_id, level, ordinal)
        between = self._of(folder_id).above_node(At(level, ordinal))
        found = [*self.above(folder_id), *between]
        return found if found[-1].id == last.id else [*found, last]

    def _of(self, folder_id: int) -> _Folder:
        if folder_id not in self._folders:
            self._folders[folder_id] = _Folder(self._conn, self, folder_id)
        return self._folders[folder_id]


class _Folder:
    """A folder's children as they are now, grouped as they are to be; summaries as far as they are there."""

    def __init__(self, conn: Connection, outline: Outline, folder_id: int) -> None:
        self.chain = folders.folders_above(conn, folder_id)
        """Ids and paths from the library down to the folder."""
        if not self.chain:
            raise NotFound(f"There is no folder f{folder_id} any more. `mindscape tree` shows what there is.")
        self._conn, self._outline, self._id = conn, outline, folder_id
        entries = folders.entries_of(conn, folder_id, outline.changed)
        self._entries = sorted(entries, key=lambda one: name_key(one.name))
        self._levels: Levels = levels([rank(name_key(one.name)[0]) for one in self._entries])
        stored = folders.folder_nodes_of(conn, folder_id)
        self._stored = {(one.level, one.first_name): one for one in stored}
        self._top: FolderNode | None = stored[-1] if stored else None

    def view(self) -> View:
        """The folder itself."""
        top = At(len(self._levels), 0)
        kind = "library" if self._id == LIBRARY else "folder"
        title = "Library" if self._id == LIBRARY else label(Child(self.chain[-1][1], None, b"", b"", True))
        key = None if self._top is None else self._top.key
        return self._view(f"f{self._id}", kind, title, top, key)

    def node(self, at: At) -> View:
        """One of the groups of its children; the topmost is the folder."""
        if not (0 < at.level <= len(self._levels) and 0 <= at.ordinal < len(self._levels[at.level - 1])):
            raise NotFound(f"There is no node f{self._id}.{at.level}.{at.ordinal}; the folder has changed.")
        if at.level == len(self._levels):
            return self.view()
        first, end = leaves(self._levels, at)
        stored = self._stored.get((at.level, self._entries[first].name))
        names = [_label(self._entries[one]) for one in (first, end - 1)]
        title = names[0] if end - first == 1 else " \u2026 ".join(names)
        key = None if stored is None else stored.key
        return self._view(f"f{self._id}.{at.level}.{at.ordinal}", "group", title, at, key)

    def above(self, name: bytes) -> list[View]:
        """The groups in which a child stands, the widest first."""
        leaf = next((at for at, one in enumerate(self._entries) if one.name == name), None)
        return [] if leaf is None else self._shown(path(self._levels, leaf)[1:-1])

    def above_node(self, at: At) -> list[View]:
        """The groups in which a group stands, itself the last."""
        upwards = path(self._levels, leaves(self._levels, at).first)[at.level : -1]
        return self._shown(upwards)

    def _shown(self, upwards: Sequence[At]) -> list[View]:
        return [self.node(one) for one in reversed(upwards) if self._width(one) > 1]

    def _width(self, at: At) -> int:
        group = self._levels[at.level - 1][at.ordinal]
        return group.end - group.first

    def _view(self, id_: str, kind: str, title: str, at: At, key: bytes | None) -> View:
        told = UNTOLD if key is None else summaries.told_by_key(self._conn, [key]).get(key, UNTOLD)
        stale = (key is None and bool(self._entries)) or self._id in self._outline.changed
        count = self._width(at) if at.level else 0
        return View(id_, kind, at.level, title, told, stale, 0, 0, count, lambda: self._children(at))

    def _children(self, at: At) -> list[View]:
        if not at.level:
            return []
        first, end = self._levels[at.level - 1][at.ordinal]
        return [self._child(At(at.level - 1, ordinal)) for ordinal in range(first, end)]

    def _child(self, at: At) -> View:
        while at.level and self._width(at) == 1:
            at = At(at.level - 1, self._levels[at.level - 1][at.ordinal].first)
        if at.level:
            return self.node(at)
        entry = self._entries[at.ordinal]
        return self._outline.folder(entry.id) if entry.is_folder else self._outline.document(entry.id)


class Text:
    """The nodes and passages of one document. Raises NotFound when it is not there or has no text."""

    def __init__(self, conn: Connection, document_id: int) -> None:
        document = documents.get_document(conn, document_id)
        if document is None:
            raise NotFound(f"There is no document d{document_id} any more. `mindscape ls` lists them.")
        self._conn, self.document, self.content = conn, document, content_of(document)
        self._stale = not nodes.has_tree(conn, self.content)

    def view(self) -> View:
        """The document itself."""
        length = contents.length_of(self._conn, self.content)
        top = nodes.top_of(self._conn, self.content) or Node(0, 0, 0, 0, 0, length, b"")
        title = _label(Entry(self.document.id, self.document.path, self.document.title, False))
        return self._view(f"d{self.document.id}", "document", title, top)

    def node(self, level: int, ordinal: int) -> View:
        """A part of the document; the topmost is the document. Raises NotFound."""
        found = nodes.nodes_between(self._conn, self.content, level, ordinal, ordinal + 1)
        if not found:
            at = f"d{self.document.id}.{level}.{ordinal}"
            raise NotFound(f"There is no node {at} any more; the document may have changed.")
        view = self.view()
        return view if view.level == level else self._sections(found)[0]

    def passage(self, start: int) -> View | None:
        """The passage in which an offset lies; None after the end."""
        found = next(contents.passages_of(self._conn, self.content, start, start + 1), None)
        return None if found is None else self._passages([found])[0]

    def above(self, start: int, end: int) -> list[View]:
        """From the document down to the smallest node over a range of its text."""
        found = [self.view()]
        while inner := [one for one in found[-1].children() if _holds(one, start, end)]:
            found.append(inner[0])
        return found

    def views(self, wanted: Sequence[Node]) -> list[View]:
        """Nodes of this document, each shown as the first below it that has more than one child."""
        opened: list[tuple[Node, Passage | None]] = []
        for one in wanted:
            node, passage = one, None
            while node.level > 1 and node.end_child - node.first_child == 1:
                node = nodes.nodes_between(
                    self._conn, self.content, node.level - 1, node.first_child, node.end_child
                )[0]
            if node.level == 1 and node.end_child - node.first_child == 1:
                passage = next(contents.passages_of(self._conn, self.content, node.start, node.end))
            opened.append((node, passage))
        sections = iter(self._sections([node for node, passage in opened if passage is None]))
        passages = iter(self._passages([passage for _, passage in opened if passage is not None]))
        return [next(sections if passage is None else passages) for _, passage in opened]

    def passages(self, start: int, end: int) -> list[View]:
        """The passages that overlap a range."""
        return self._passages(list(contents.passages_of(self._conn, self.content, start, end)))

    def _children(self, node: Node) -> list[View]:
        if node.level > 1:
            below = (node.level - 1, node.first_child, node.end_child)
            return self.views(nodes.nodes_between(self._conn, self.content, *below))
        return self.passages(node.start, node.end) if node.level else []

    def _sections(self, wanted: Sequence[Node]) -> list[View]:
        spans = [(one.start, one.end) for one in wanted]
        between = nodes.headings_of(self._conn, self.content, spans)
        titles = self._titles([one.start for one in wanted])
        titles |= {start: said for start, ends in between.items() if (said := spanned(*ends))}
        return [
            self._view(f"d{self.document.id}.{one.level}.{one.ordinal}", "section", titles[one.start], one)
            for one in wanted
        ]

    def _passages(self, wanted: Sequence[Passage]) -> list[View]:
        titles = self._titles([one.start for one in wanted])
        return [
            View(
                id=f"p{one.id}",
                kind="passage",
                level=0,
                title=titles.get(one.start) or beginning(one.text),
                told=Told(one.text, count_tokens(one.text), BY_TEXT, 0),
                stale=False,
                start=one.start,
                end=one.end,
                count=0,
                children=list,
            )
            for one in wanted
        ]

    def _view(self, id_: str, kind: str, title: str, node: Node) -> View:
        told = summaries.told_by_key(self._conn, [node.key]).get(node.key, UNTOLD)
        count = node.end_child - node.first_child
        span = (node.start, node.end)
        return View(
            id_, kind, node.level, title, told, self._stale, *span, count, lambda: self._children(node)
        )

    def _titles(self, starts: Sequence[int]) -> dict[int, str]:
        found = nodes.openings(self._conn, self.content, starts)
        return {
            start: " ".join((one.heading or "").split()) or beginning(one.text)
            for start, one in found.items()
        }


def spanned(first: Sequence[str], last: Sequence[str]) -> str | None:
    """The title of what stands under several headings: those it begins and ends under, where they part.

    None for what stands under the same ones.
    """
    if first == last or not first or not last:
        return None
    parted = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    at = min(len(first), len(last)) if parted is None else parted
    ends = [" ".join((path[at] if at < len(path) else path[-1]).split()) for path in (first, last)]
    return " \u2026 ".join(ends)


def beginning(text: str) -> str:
    """The first words of a text, as its title."""
    words = " ".join(text.split())
    if len(words) <= TITLE:
        return words
    head = words[:TITLE]
    return head[: head.rfind(" ")].rstrip(" ,;:") + "\u2026" if " " in head else head + "\u2026"


def _label(entry: Entry) -> str:
    return label(Child(entry.name, entry.title, b"", b"", entry.is_folder))


def _holds(view: View, start: int, end: int) -> bool:
    return view.start <= start and end <= view.end


def clip(view: View, start: int, end: int) -> View:
    """The part of a passage that is in a range; nothing of it, not even the title, is from outside."""
    text = view.told.text[start - view.start : end - view.start]
    told = Told(text, count_tokens(text), BY_TEXT, 0)
    return replace(view, title=beginning(text), told=told, start=start, end=end)
