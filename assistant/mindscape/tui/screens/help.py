"""The keys."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

_KEYS = (
    ("enter", "ask; in the mindscape: open, read a passage"),
    ("esc", "stop the answer; back"),
    ("up, down", "earlier questions; choose a source, a node"),
    ("left, right", "in the mindscape: close, open a node"),
    ("tab", "next pane: question, answer, sources, text"),
    ("ctrl+t", "the mindscape, from the library to a passage"),
    ("ctrl+n", "a new conversation: forget what was asked before"),
    ("ctrl+o", "open the source in your editor or viewer"),
    ("ctrl+r", "reconnect to the daemon"),
    ("? or f1", "these keys (? where no text is typed)"),
    ("ctrl+q", "quit (also q where no text is typed)"),
)


class HelpScreen(ModalScreen[None]):
    """A table of keys over the screen it was asked from."""

    DEFAULT_CSS = """
    HelpScreen { align: center middle; background: $background 60%; }
    HelpScreen > VerticalScroll {
        width: 64; max-width: 100%; height: auto; max-height: 100%;
        border: round $primary; padding: 1 2; background: $surface;
        border-title-color: $primary; border-title-style: bold;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,f1,enter", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """One line a key."""
        lines = [
            Content.assemble((f"{keys:<11}", "bold $accent"), ("  " + meaning, "$foreground"))
            for keys, meaning in _KEYS
        ]
        with VerticalScroll() as box:
            box.border_title = "Keys"
            yield Static(Content("\n").join(lines), markup=False)
