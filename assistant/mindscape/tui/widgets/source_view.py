"""The cited passage in its context: the passage tinted, the quote itself marked."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from mindscape.text import printable
from mindscape.tui.messages import Json
from mindscape.tui.wording import heading_of, one_line, short_path, where

_PASSAGE = "on $accent 18%"
_QUOTED = "bold $accent on $accent 18%"


class SourceView(VerticalScroll):
    """Scrolls to the quote; the reader scrolls on from there."""

    DEFAULT_CSS = """
    SourceView { scrollbar-gutter: stable; }
    SourceView #place {
        dock: top; padding-bottom: 1; text-wrap: nowrap; text-overflow: ellipsis;
        color: $text-muted; background: $background;
    }
    SourceView.-empty #place { display: none; }
    SourceView #text.-reason { color: $error; }
    """

    def __init__(self) -> None:
        super().__init__(classes="pane -empty")
        self.border_title = "Text"

    def compose(self) -> ComposeResult:
        """Where it is, and the text."""
        yield Static(id="place", markup=False)
        yield Static(id="text", markup=False)

    def clear(self) -> None:
        """Nothing is cited yet."""
        self._put(Content(""), Content(""))
        self.add_class("-empty")

    def show_place(self, citation: Json, place: Json) -> None:
        """The `get` result `place` with the citation's range and quote marked."""
        text = printable(str(place["text"]))
        first, last = _within(text, int(citation["start"]), int(citation["end"]), int(place["start"]))
        shown = Content(text).stylize(_PASSAGE, first, last)
        quote = printable(str(citation["quote"]))
        at = text.find(quote, first) if quote else -1
        if at >= 0:
            shown = shown.stylize(_QUOTED, at, at + len(quote))
        heading = heading_of(citation) or heading_of(place)
        self._put(_title(citation, heading), shown)
        self.call_after_refresh(self._show_line_after, text[: first if at < 0 else at])

    def show_reason(self, citation: Json, reason: str) -> None:
        """The text could not be read: the quote as it was stored, and why."""
        self._put(
            _title(citation, ""),
            Content(f"{printable(reason)}\n\n“{printable(str(citation['quote']))}”"),
            reason=True,
        )

    def _put(self, place: Content, text: Content, *, reason: bool = False) -> None:
        self.remove_class("-empty")
        self.query_one("#place", Static).update(place)
        widget = self.query_one("#text", Static)
        widget.update(text)
        widget.set_class(reason, "-reason")
        self.scroll_home(animate=False)

    def _show_line_after(self, before: str) -> None:
        """Put the line after the text `before` a third of the way down."""
        widget = self.query_one("#text", Static)
        rows = len(Content(before).wrap(max(2, widget.size.width))) - 1 if before else 0
        self.scroll_to(y=widget.virtual_region.y + rows - self.size.height // 3, animate=False)


def _title(citation: Json, heading: str) -> Content:
    """File and line; below them the headings, or the folder of a text without any."""
    folder, _, name = str(citation["path"]).rpartition("/")
    below = heading or one_line(short_path(folder))
    return Content(printable(f"{where(name, citation)}\n{below}"))


def _within(text: str, start: int, end: int, offset: int) -> tuple[int, int]:
    """The document's range as a range of `text`, which begins at `offset` of the document."""
    first = min(max(0, start - offset), len(text))
    return first, min(max(first, end - offset), len(text))
