"""The ask screen: a question, its answer as it is written, the sources and the text around them."""

from __future__ import annotations

from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical

from mindscape.errors import MindscapeError
from mindscape.tui.library_state import LibraryState
from mindscape.tui.messages import (
    AnswerFailed,
    AnswerPiece,
    AnswerReady,
    Json,
    QuestionAsked,
    SourceChosen,
    SourceRead,
    StageReached,
)
from mindscape.tui.screens.place import CONTEXT, Call, PlaceScreen
from mindscape.tui.screens.tree import TreeScreen
from mindscape.tui.widgets.answer_view import AnswerView
from mindscape.tui.widgets.question_input import QuestionInput
from mindscape.tui.widgets.source_list import SourceList
from mindscape.tui.widgets.source_view import SourceView
from mindscape.tui.widgets.status_bar import StatusBar

_NEW = "new"
_HINTS = (("ctrl+t", "mindscape"), ("ctrl+o", "open"), ("?", "keys"), ("ctrl+q", "quit"))


class AskScreen(PlaceScreen):
    """Owns the question under way: its number, and the source that is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "Cancel"),
        Binding("ctrl+o", "open_source", "Open"),
        Binding("ctrl+t", "mindscape", "Mindscape"),
        Binding("ctrl+n", "new_conversation", "New conversation"),
    ]

    def __init__(self, call: Call) -> None:
        super().__init__(call, classes="-fresh")
        self._number = 0
        self._asking = False
        self._source: tuple[Json, Json] | None = None
        self._conversation = _NEW

    def compose(self) -> ComposeResult:
        """The answer beside its evidence; the question and the status below."""
        with Horizontal(id="body"):
            yield AnswerView()
            with Vertical(id="evidence"):
                yield SourceList()
                yield SourceView()
        yield QuestionInput()
        yield StatusBar(_HINTS)

    def on_mount(self) -> None:
        """Ready to type; redraw what depends on the library when it changes."""
        self.query_one(QuestionInput).focus()
        self.watch(self.app, "library", self._show_library)

    def _show_library(self, state: LibraryState) -> None:
        self.query_one(StatusBar).state = state
        self.query_one(AnswerView).library_is_empty = state.documents == 0

    # Asking

    @on(QuestionAsked)
    def _begin(self, message: QuestionAsked) -> None:
        self._number += 1
        self._source = None
        self.remove_class("-fresh")
        self._set_asking(True)
        self.query_one(AnswerView).begin(message.question)
        self.query_one(SourceList).show_citations([], "Sources")
        self.query_one(SourceView).clear()
        self._ask(self._number, message.question, self._conversation)

    @work(exclusive=True, group="ask", exit_on_error=False)
    async def _ask(self, number: int, question: str, conversation: str) -> None:
        def take(message: Json) -> None:
            if token := message.get("token"):
                self.post_message(AnswerPiece(number, str(token)))
            elif stage := message.get("stage"):
                self.post_message(StageReached(number, str(stage)))

        params: Json = {"question": question, "scope": None, "mode": "auto", "stream": True}
        params["conversation"] = conversation
        try:
            answer = await self.daemon("ask", params, take)
        except MindscapeError as error:
            self.post_message(AnswerFailed(number, str(error)))
        else:
            self.post_message(AnswerReady(number, answer))

    @on(StageReached)
    def _show_stage(self, message: StageReached) -> None:
        if self._asking and message.number == self._number:
            self.query_one(AnswerView).show_stage(message.stage)

    @on(AnswerPiece)
    def _show_piece(self, message: AnswerPiece) -> None:
        if self._asking and message.number == self._number:
            self.query_one(AnswerView).append(message.text)

    @on(AnswerReady)
    def _show_answer(self, message: AnswerReady) -> None:
        if not self._asking or message.number != self._number:
            return
        self._set_asking(False)
        # One that was deleted meanwhile has no id any more.
        self._conversation = str(message.answer.get("conversation") or _NEW)
        self.query_one(AnswerView).finish(message.answer)
        cited, near = message.answer.get("citations") or [], message.answer.get("near") or []
        self.query_one(SourceList).show_citations(cited or near, "Sources" if cited else "Closest passages")

    @on(AnswerFailed)
    def _show_failure(self, message: AnswerFailed) -> None:
        if self._asking and message.number == self._number:
            self._set_asking(False)
            self.query_one(AnswerView).fail(message.reason)

    def action_cancel(self) -> None:
        """Stop the answer; with none under way, go back to the question."""
        if self._asking:
            self._set_asking(False)
            self.workers.cancel_group(self, "ask")
            self.query_one(AnswerView).stop()
        self.query_one(QuestionInput).focus()

    def action_new_conversation(self) -> None:
        """The next question leans on none of those before."""
        self.action_cancel()
        self._conversation = _NEW
        self.query_one(AnswerView).welcome()
        self.query_one(SourceList).show_citations([], "Sources")
        self.query_one(SourceView).clear()

    def _set_asking(self, asking: bool) -> None:
        self._asking = asking
        self.query_one(StatusBar).asking = asking

    # Sources

    @on(SourceChosen)
    def _read_chosen(self, message: SourceChosen) -> None:
        self._read_source(message.citation)

    @work(exclusive=True, group="source", exit_on_error=False)
    async def _read_source(self, citation: Json) -> None:
        start, end = max(0, int(citation["start"]) - CONTEXT), int(citation["end"]) + CONTEXT
        try:
            place: Json = await self.daemon("get", {"place": f"{citation['path']}:{start}-{end}"})
        except MindscapeError as error:
            self.post_message(SourceRead(citation, None, str(error)))
        else:
            self.post_message(SourceRead(citation, place))

    @on(SourceRead)
    def _show_source(self, message: SourceRead) -> None:
        view = self.query_one(SourceView)
        if message.place is None:
            self._source = None
            view.show_reason(message.citation, message.reason)
        else:
            self._source = message.citation, message.place
            view.show_place(message.citation, message.place)

    def action_open_source(self) -> None:
        """Open the source that is shown, at the cited line or page."""
        if self._source is None:
            self.complain("There is no source to open yet; ask a question first.")
            return
        citation, place = self._source
        self.open_place({**place, "line": citation.get("line"), "page": citation.get("page")})

    # The mindscape

    def action_mindscape(self) -> None:
        """Walk it, and come back here."""
        self.app.push_screen(TreeScreen(self.daemon))
