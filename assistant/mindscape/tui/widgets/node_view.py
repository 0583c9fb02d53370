"""One node of the mindscape: where it is, what it is, who summarised it, and the summary."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from mindscape.text import printable
from mindscape.tui.messages import Json
from mindscape.tui.wording import breadcrumb, made_note, one_line


class NodeView(VerticalScroll):
    """Shows a node, or a sentence in its place."""

    DEFAULT_CSS = """
    NodeView #crumbs, NodeView #facts { color: $text-muted; }
    NodeView #title { color: $primary; text-style: bold; text-wrap: nowrap; text-overflow: ellipsis; }
    NodeView #facts { padding-bottom: 1; }
    NodeView .-none { display: none; }
    NodeView #summary.-error { color: $error; }
    """

    def __init__(self) -> None:
        super().__init__(classes="pane")
        self.border_title = "Summary"
        self._shown: Json | None = None

    def compose(self) -> ComposeResult:
        """Four texts below each other, none of them markup."""
        for name in ("crumbs", "title", "facts", "summary"):
            yield Static(id=name, markup=False)

    def show_node(self, shape: Json) -> None:
        """The `node` result; the reader stays where they are when it is shown already."""
        if shape == self._shown:
            return
        if self._shown is None or shape["id"] != self._shown["id"]:
            self.scroll_home(animate=False)
        self._shown = shape
        stale = (" · stale: what it tells of has changed", "$warning") if shape.get("stale") else ""
        self._put(
            Content(breadcrumb(shape)),
            Content(one_line(printable(str(shape["title"])))),
            Content.assemble(printable(made_note(shape)), stale),
            Content(printable(str(shape.get("summary") or ""))),
        )

    def show_sentence(self, sentence: str, *, error: bool = False) -> None:
        """What there is to say in place of a node."""
        self._shown = None
        self._put(Content(""), Content(""), Content(""), Content(printable(sentence)), error=error)

    def _put(self, *texts: Content, error: bool = False) -> None:
        for widget, text in zip(self.query(Static), texts, strict=True):
            widget.update(text)
            widget.set_class(not text.plain, "-none")
        self.query_one("#summary").set_class(error, "-error")
