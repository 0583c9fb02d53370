"""The mindscape: from the library down to a passage, the summary of each node beside it."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from mindscape.errors import MindscapeError, NotFound
from mindscape.tui.library_state import LibraryState
from mindscape.tui.messages import Json, NodeMissed, NodeRead, PlaceFound, SourceRead
from mindscape.tui.screens.place import CONTEXT, Call, PlaceScreen
from mindscape.tui.widgets.node_tree import NodeTree
from mindscape.tui.widgets.node_view import NodeView
from mindscape.tui.widgets.source_view import SourceView
from mindscape.tui.widgets.status_bar import StatusBar
from mindscape.tui.wording import EMPTY_LIBRARY, NO_MINDSCAPE

_HINTS = (("enter", "open"), ("ctrl+o", "editor"), ("esc", "back"), ("ctrl+q", "quit"))


class TreeScreen(PlaceScreen):
    """Owns the node that is shown, and whether a passage is being read."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("ctrl+t", "leave", "Leave"),
        Binding("ctrl+o", "open_node", "Open"),
    ]

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self._node: Json | None = None
        self._library = LibraryState()

    def compose(self) -> ComposeResult:
        """The tree beside the node under its cursor; the text of a passage takes the node's place."""
        with Horizontal(id="body"):
            yield NodeTree()
            yield NodeView()
            yield SourceView()
        yield StatusBar(_HINTS)

    def on_mount(self) -> None:
        """Ready to walk; the tree puts its cursor on the library, which reads it."""
        self.query_one(NodeTree).focus()
        self.watch(self.app, "library", self._show_library)

    def refetch(self) -> None:
        """Read the node under the cursor again, after the library has moved."""
        if (at := self.query_one(NodeTree).cursor_node) is not None:
            self._read(at)

    def _show_library(self, state: LibraryState) -> None:
        self._library = self.query_one(StatusBar).state = state
        if state.connected and self._node is None:
            self.refetch()

    # Walking

    @on(Tree.NodeHighlighted)
    def _read_highlighted(self, event: Tree.NodeHighlighted[Json]) -> None:
        self._read(event.node)

    @on(Tree.NodeExpanded)
    def _read_expanded(self, event: Tree.NodeExpanded[Json]) -> None:
        if event.node.data is not None and not event.node.children:
            self._read_beside(event.node)

    @work(exclusive=True, group="node", exit_on_error=False)
    async def _read(self, at: TreeNode[Json]) -> None:
        await self._fetch(at)

    @work(group="beside", exit_on_error=False)
    async def _read_beside(self, at: TreeNode[Json]) -> None:
        await self._fetch(at)

    async def _fetch(self, at: TreeNode[Json]) -> None:
        """Tell what the daemon knows of a node; of the library, before its id is known, by `tree`."""
        method, params = ("node", {"id": at.data["id"]}) if at.data else ("tree", {"depth": 1})
        try:
            shape: Json = await self.daemon(method, params)
        except MindscapeError as error:
            self.post_message(NodeMissed(at, str(error), gone=isinstance(error, NotFound)))
        else:
            self.post_message(NodeRead(at, shape))

    @on(NodeRead)
    def _show_node(self, message: NodeRead) -> None:
        tree, at = self.query_one(NodeTree), message.at
        if at.parent is not None and at not in at.parent.children:
            return  # taken out meanwhile
        tree.fill(at, message.shape)
        if at is not tree.cursor_node:
            return
        self._node = message.shape
        if at.is_root and not message.shape.get("children"):
            empty = not self._library.documents
            self.query_one(NodeView).show_sentence(EMPTY_LIBRARY if empty else NO_MINDSCAPE)
        elif "path" in message.shape:
            self.query_one(NodeView).show_node(message.shape)
        else:
            self._read(at)

    @on(NodeMissed)
    def _show_miss(self, message: NodeMissed) -> None:
        """Say why; a node that is gone is looked for from the node above, which has others now."""
        at = message.at
        if at is self.query_one(NodeTree).cursor_node:
            self._node = None
            self.query_one(NodeView).show_sentence(message.reason, error=True)
        if message.gone and at.parent is not None and at in at.parent.children:
            self._read_beside(at.parent)

    # Reading

    @on(Tree.NodeSelected)
    def _choose(self, event: Tree.NodeSelected[Json]) -> None:
        if event.node.data and event.node.data["kind"] == "passage":
            self._read_passage(event.node.data, _document_above(event.node))

    @work(exclusive=True, group="source", exit_on_error=False)
    async def _read_passage(self, shape: Json, document: str) -> None:
        start, end = int(shape["start"]), int(shape["end"])
        try:
            exact: Json = await self.daemon("get", {"place": f"{document}:{start}-{end}"})
            around = f"{document}:{max(0, start - CONTEXT)}-{end + CONTEXT}"
            place: Json = await self.daemon("get", {"place": around})
        except MindscapeError as error:
            self.complain(str(error))
            return
        citation = {key: exact[key] for key in ("page", "line", "heading")}
        citation |= {"path": exact["document"]["path"], "start": start, "end": end, "quote": ""}
        self.post_message(SourceRead(citation, place))

    @on(SourceRead)
    def _show_passage(self, message: SourceRead) -> None:
        assert message.place is not None
        self.add_class("-reading")
        view = self.query_one(SourceView)
        view.focus()
        self.call_after_refresh(view.show_place, message.citation, message.place)  # in the room it then has

    def action_back(self) -> None:
        """From the text back to the tree; from the tree back to the questions."""
        if not self.has_class("-reading"):
            self.dismiss()
            return
        self.remove_class("-reading")
        self.query_one(NodeTree).focus()

    def action_leave(self) -> None:
        """Back to the questions."""
        self.dismiss()

    # Opening

    def action_open_node(self) -> None:
        """Open the document at the beginning of the node under the cursor."""
        at = self.query_one(NodeTree).cursor_node
        if at is None or at.data is None or not (document := _document_above(at)):
            self.complain("A folder has no place to open; go down to a document or a passage.")
        else:
            start = int(at.data["start"])
            self._find_place(f"{document}:{start}-{start + 1}")

    @work(exclusive=True, group="open", exit_on_error=False)
    async def _find_place(self, place: str) -> None:
        try:
            found: Json = await self.daemon("get", {"place": place})
        except MindscapeError as error:
            self.complain(str(error))
        else:
            self.post_message(PlaceFound(found))

    @on(PlaceFound)
    def _open_found(self, message: PlaceFound) -> None:
        self.open_place(message.place)


def _document_above(node: TreeNode[Json]) -> str:
    """The id of the document that a node is or belongs to, as a PLACE begins with; empty for a folder."""
    above: TreeNode[Json] | None = node
    while above is not None:
        if above.data and above.data["kind"] == "document":
            return str(above.data["id"]).removeprefix("d")
        above = above.parent
    return ""
