"""The last line: the library and its indexing on the left, the keys of the moment on the right."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import RenderResult
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from mindscape.text import printable
from mindscape.tui.library_state import Indexing, LibraryState
from mindscape.tui.wording import one_line

_BAR = 12


class StatusBar(Widget):
    """One line; the first hints give way where there is no room for all."""

    DEFAULT_CSS = """
    StatusBar { dock: bottom; height: 1; padding: 0 1; background: $surface; color: $text-muted; }
    StatusBar.-lost { background: $error 25%; color: $foreground; }
    """

    state: reactive[LibraryState] = reactive(LibraryState())
    asking: reactive[bool] = reactive(False)

    def __init__(self, hints: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self._hints = hints

    def watch_state(self, state: LibraryState) -> None:
        """A lost daemon is not overlooked."""
        self.set_class(bool(state.lost), "-lost")

    def render(self) -> RenderResult:
        """What fits."""
        left = Content(self.state.sentence)
        if self.state.indexing:
            left = Content.assemble(left, "  ", *_progress(self.state.indexing))
        room = self.size.width - left.cell_length - 2
        right = _fitting([("esc", "stop")] if self.asking else self._hints, room)
        if right is None:
            return left.truncate(max(1, self.size.width), ellipsis=True)
        return Content.assemble(left, " " * (room + 2 - right.cell_length), right)


def _fitting(hints: Sequence[tuple[str, str]], room: int) -> Content | None:
    """As many of the last hints as there is room for."""
    for first in range(len(hints)):
        shown = Content("  ").join(
            Content.assemble((key, "bold $accent"), f" {meaning}") for key, meaning in hints[first:]
        )
        if shown.cell_length <= room:
            return shown
    return None


def _progress(indexing: Indexing) -> tuple[tuple[str, str], ...]:
    """A bar and the numbers."""
    filled = _BAR * indexing.done // max(1, indexing.total)
    what = one_line(printable(indexing.what)) or "indexing"
    return (
        ("━" * filled, "$primary"),
        ("━" * (_BAR - filled), "$panel"),
        (f" {indexing.done:,}/{indexing.total:,} {what}", ""),
    )
