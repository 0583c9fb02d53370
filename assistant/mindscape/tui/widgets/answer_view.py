"""The answer as it is written: the question, the stage, the text with its [n] marks, what to doubt."""

from __future__ import annotations

import re

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from mindscape.text import printable
from mindscape.tui.messages import Json
from mindscape.tui.wording import EMPTY_LIBRARY, coverage_note, one_line, stage_name

_MARK = re.compile(r"\[\d+\]")
_WELCOME = "Ask a question below.\nThe answer comes with the passages it rests on."


class AnswerView(VerticalScroll):
    """Shows one answer; follows its end until the reader scrolls."""

    DEFAULT_CSS = """
    AnswerView #question { color: $primary; text-style: bold; padding-bottom: 1; }
    AnswerView #question.-none { display: none; }
    AnswerView #text.-muted { color: $text-muted; }
    AnswerView #text.-error { color: $error; }
    AnswerView #stage { color: $text-muted; padding-top: 1; display: none; }
    AnswerView #stage.-up { display: block; }
    AnswerView #stage.-first { padding-top: 0; }
    AnswerView.-welcome { align: center middle; }
    AnswerView.-welcome #text { text-align: center; color: $text-muted; }
    """

    library_is_empty: reactive[bool] = reactive(False)

    def __init__(self) -> None:
        super().__init__(classes="pane -welcome")
        self.border_title = "Answer"
        self.answer = ""
        """The text on show, as it came."""

    def compose(self) -> ComposeResult:
        """Three texts below each other, none of them markup."""
        yield Static(id="question", classes="-none", markup=False)
        yield Static(_WELCOME, id="text", markup=False)
        yield Static(id="stage", markup=False)

    def watch_library_is_empty(self) -> None:
        """Say how to begin, while nothing was asked."""
        if self.has_class("-welcome"):
            self.query_one("#text", Static).update(EMPTY_LIBRARY if self.library_is_empty else _WELCOME)

    def welcome(self) -> None:
        """As before the first question."""
        self._put("")
        self._hide_stage()
        self.query_one("#question").add_class("-none")
        self.add_class("-welcome")
        self.watch_library_is_empty()

    def begin(self, question: str) -> None:
        """A new question: the old answer goes."""
        self.remove_class("-welcome")
        self.anchor(False)
        shown = self.query_one("#question", Static)
        shown.update(Content(printable(question)))
        shown.remove_class("-none")
        self._put("")
        self.show_stage("asking")

    def show_stage(self, stage: str) -> None:
        """What is being done, below what is written."""
        line = self.query_one("#stage", Static)
        line.update(Content(printable(stage_name(stage)) + "…"))
        line.add_class("-up")
        line.set_class(not self.answer, "-first")

    def append(self, piece: str) -> None:
        """The next words."""
        self._put(self.answer + piece)
        self._hide_stage()

    def finish(self, answer: Json) -> None:
        """The checked answer takes the place of what was streamed."""
        self._put(str(answer["answer"]), "" if answer["answered"] else "-muted")
        note = coverage_note(answer.get("coverage") or {})
        if rewritten := answer.get("rewritten"):
            note = f"Understood as: {one_line(str(rewritten))} {note}".rstrip()
        self._close(note)

    def fail(self, reason: str) -> None:
        """Keep what was written, and say why there is no more."""
        if self.answer:
            self._close(reason)
        else:
            self._put(reason, "-error")
            self._hide_stage()

    def stop(self) -> None:
        """The reader had enough."""
        self._close("Stopped.")

    def _close(self, note: str) -> None:
        """A last line below the answer, if there is something to say."""
        self._hide_stage()
        if note:
            line = self.query_one("#stage", Static)
            line.update(Content(printable(note)))
            line.add_class("-up")
            line.set_class(not self.answer, "-first")

    def _hide_stage(self) -> None:
        self.query_one("#stage").remove_class("-up")

    def _put(self, text: str, look: str = "") -> None:
        self.answer = text
        shown = Content(printable(text))
        for mark in _MARK.finditer(shown.plain):
            shown = shown.stylize("bold $accent", mark.start(), mark.end())
        widget = self.query_one("#text", Static)
        widget.update(shown)
        widget.set_class(look == "-muted", "-muted")
        widget.set_class(look == "-error", "-error")
        self.call_after_refresh(self._follow)

    def _follow(self) -> None:
        """Stay at the end once the text is longer than the view: anchored, a short text would sink."""
        if self.max_scroll_y > 0 and not self.is_anchored:
            self.anchor()
