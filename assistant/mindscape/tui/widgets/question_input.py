"""The line a question is typed on, with the questions asked before."""

from __future__ import annotations

from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType
from textual.widgets import Input

from mindscape.text import printable
from mindscape.tui.messages import QuestionAsked
from mindscape.tui.wording import one_line


class QuestionInput(Input):
    """Posts QuestionAsked. Up and down go through the history; what was being typed is kept."""

    DEFAULT_CSS = """
    QuestionInput {
        border: round $primary 60%; padding: 0 1; background: $background; height: 3;
    }
    QuestionInput:focus { border: round $primary; background-tint: transparent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "older", "Earlier question", show=False),
        Binding("down", "newer", "Later question", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="Ask your documents", select_on_focus=False)
        self.cursor_blink = False
        self._history: list[str] = []
        self._at = 0
        self._draft = ""

    @on(Input.Submitted)
    def _ask(self, event: Input.Submitted) -> None:
        event.stop()
        question = one_line(self.value)
        if not question:
            return
        if not self._history or self._history[-1] != question:
            self._history.append(question)
        self._at = len(self._history)
        self.value = ""
        self.post_message(QuestionAsked(question))

    async def on_key(self, event: events.Key) -> None:
        """On an empty line `?` asks for the keys, not for an answer."""
        if event.character == "?" and not self.value:
            event.stop()
            event.prevent_default()
            await self.run_action("app.help")

    def on_paste(self, event: events.Paste) -> None:
        """Several lines become one; control characters never get in."""
        event.stop()
        event.prevent_default()
        self.insert_text_at_cursor(one_line(printable(event.text)))

    def action_older(self) -> None:
        """The question before this one."""
        self._go(self._at - 1)

    def action_newer(self) -> None:
        """The question after this one, or what was being typed."""
        self._go(self._at + 1)

    def _go(self, to: int) -> None:
        if not 0 <= to <= len(self._history):
            return
        if self._at == len(self._history):
            self._draft = self.value
        self._at = to
        self.value = self._history[to] if to < len(self._history) else self._draft
        self.cursor_position = len(self.value)
