"""The last line: the library and its indexing on the left, the keys of the moment on the right."""

from __future__ import annotations

from collections.abc import Iterable

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from mindscape.text import printable
from mindscape.tui.library_state import Indexing, LibraryState
from mindscape.tui.wording import one_line

_BAR = 12


class StatusBar(Widget):
    """One line; the hints give way when there is no room."""

    DEFAULT_CSS = """
    StatusBar { dock: bottom; height: 1; padding: 0 1; background: $surface; color: $text-muted; }
    StatusBar.-lost { background: $error 25%; color: $foreground; }
    """

    state: reactive[LibraryState] = reactive(LibraryState())
    asking: reactive[bool] = reactive(False)

    def __init__(self, hints: Iterable[tuple[str, str]]) -> None:
        super().__init__()
        self._hints = tuple(hints)

    def watch_state(self, state: LibraryState) -> None:
        """A lost daemon is not overlooked."""
        self.set_class(bool(state.lost), "-lost")

    def render(self) -> RenderResult:
        """What fits."""
        left = Content(self.state.sentence)
        if self.state.indexing:
            left = Content.assemble(left, "  ", *_progress(self.state.indexing))
        hints = [("esc", "stop")] if self.asking else self._hints
        right = Content("  ").join(
            Content.assemble((key, "bold $accent"), f" {meaning}") for key, meaning in hints
        )
        gap = self.size.width - left.cell_length - right.cell_length
        if gap < 2:
            return left.truncate(max(1, self.size.width), ellipsis=True)
        return Content.assemble(left, " " * gap, right)


def _progress(indexing: Indexing) -> tuple[tuple[str, str], ...]:
    """A bar and the numbers."""
    filled = _BAR * indexing.done // max(1, indexing.total)
    what = one_line(printable(indexing.what)) or "indexing"
    return (
        ("━" * filled, "$primary"),
        ("━" * (_BAR - filled), "$panel"),
        (f" {indexing.done:,}/{indexing.total:,} {what}", ""),
    )
