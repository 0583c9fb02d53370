"""The mindscape as a tree: nodes are filled in as they are looked at, titles are cut to the width."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.binding import Binding, BindingType
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from mindscape.text import printable
from mindscape.tui.messages import Json
from mindscape.tui.theme import MINDSCAPE
from mindscape.tui.wording import one_line

_STALE = Text(" stale", style=str(MINDSCAPE.warning))


class NodeTree(Tree[Json]):
    """The data of a line is its node as the daemon told it, None before that."""

    DEFAULT_CSS = """
    NodeTree { overflow-x: hidden; scrollbar-gutter: stable; }
    NodeTree > .tree--guides, NodeTree > .tree--guides-selected { color: $panel; text-style: none; }
    NodeTree > .tree--cursor { background: $panel; color: $foreground; text-style: none; }
    NodeTree:focus > .tree--cursor { background: $primary 25%; color: $foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "go_in", "Open", show=False),
        Binding("left", "go_out", "Close", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(Text("Library"), classes="pane")
        self.border_title = "Mindscape"
        self.guide_depth = 2

    def on_mount(self) -> None:
        """Begin at the library, open."""
        self.root.expand()
        self.cursor_line = 0

    def fill(self, at: TreeNode[Json], shape: Json) -> None:
        """Put what is now known of a node there: its label, and its children where they were told."""
        _put(at, shape)
        children: list[Json] | None = shape.get("children")
        if children is None:
            return
        wanted = [str(child["id"]) for child in children]
        kept = [_id(node) for node in at.children if _id(node) in wanted]
        if kept != [name for name in wanted if name in kept]:
            kept = []  # in another order: begin anew
        self._remove([node for node in at.children if _id(node) not in kept], at)
        for place, child in enumerate(children):
            if place == len(at.children) or _id(at.children[place]) != str(child["id"]):
                at.add(Text("…"), before=place)
            _put(at.children[place], child)

    def action_go_in(self) -> None:
        """Open the node; on an open one, go to its first child."""
        if (node := self.cursor_node) is None:
            return
        if node.is_expanded and node.children:
            self.move_cursor(node.children[0])
        elif node.allow_expand:
            node.expand()

    def action_go_out(self) -> None:
        """Close the node; on a closed one, go to the node above."""
        if (node := self.cursor_node) is None:
            return
        if node.is_expanded and node.children:
            node.collapse()
        elif node.parent is not None:
            self.move_cursor(node.parent)

    def render_label(self, node: TreeNode[Json], base_style: Style, style: Style) -> Text:
        """The title in what room there is, and whether its summary is stale."""
        label = super().render_label(node, base_style, style)
        mark = _STALE if node.data and node.data.get("stale") else Text()
        room = self.scrollable_content_region.width - self.guide_depth * _depth(node) - mark.cell_len
        label.truncate(max(2, room), overflow="ellipsis")
        return label.append_text(mark)

    def _remove(self, gone: list[TreeNode[Json]], above: TreeNode[Json]) -> None:
        """Take nodes out; a cursor on or below one goes to the node above."""
        cursor = self.cursor_node
        while cursor is not None and cursor not in gone:
            cursor = cursor.parent
        if cursor is not None:
            self.get_node_at_line(0)  # numbers the lines, if something changed since they were numbered
            self.move_cursor(above)
        for node in gone:
            node.remove()


def _put(node: TreeNode[Json], shape: Json) -> None:
    node.data = shape
    node.allow_expand = shape["kind"] != "passage"
    title = one_line(printable(str(shape["title"]))) or str(shape["kind"])
    node.set_label(Text(title, no_wrap=True))


def _id(node: TreeNode[Json]) -> str:
    return str(node.data["id"]) if node.data else ""


def _depth(node: TreeNode[Json]) -> int:
    depth = 0
    while node.parent is not None:
        node, depth = node.parent, depth + 1
    return depth
