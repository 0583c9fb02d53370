"""Asking: the answer streams, its sources appear, a question can be stopped or fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from textual.content import Content
from textual.widgets import Static

from mindscape.errors import Refused
from mindscape.tui import opening
from mindscape.tui.app import MindscapeApp
from mindscape.tui.screens import place as place_screen
from mindscape.tui.widgets.answer_view import AnswerView
from mindscape.tui.widgets.question_input import QuestionInput
from mindscape.tui.widgets.source_list import SourceList
from mindscape.tui.widgets.source_view import SourceView

from .conftest import END, QUOTE, START, TEXT, FakeDaemon, answer, ask, citation, until


def content(app: MindscapeApp, selector: str) -> Content:
    """What a text widget shows."""
    shown = app.screen.query_one(selector, Static).content
    return shown if isinstance(shown, Content) else Content(str(shown))


def text(app: MindscapeApp, selector: str) -> str:
    return content(app, selector).plain


async def test_an_answer_streams_and_then_shows_its_sources(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.hold = asyncio.Event()
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: text(app, "AnswerView #text") == "It leaves every twenty")
        assert app.screen.query_one(SourceList).option_count == 0
        daemon.hold.set()
        await until(pilot, lambda: bool(daemon.got))
        assert text(app, "AnswerView #question") == "When does the ferry leave?"
        assert text(app, "AnswerView #text") == "It leaves every twenty minutes [1]."
        assert app.screen.query_one(SourceList).option_count == 1
    expected = {"question": "When does the ferry leave?", "scope": None, "mode": "auto", "stream": True}
    assert daemon.asked == [{**expected, "conversation": "new"}]


async def test_the_stage_is_shown_until_the_first_words(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.hold = asyncio.Event()
    daemon.pieces = [{"stage": "reading 6 passages"}]
    async with app.run_test() as pilot:
        await ask(pilot)
        await until(pilot, lambda: text(app, "#stage") == "reading 6 passages…")
        assert app.screen.query_one("#stage").has_class("-up")
        daemon.hold.set()
        await until(pilot, lambda: bool(daemon.got))
        assert not app.screen.query_one("#stage").has_class("-up")


async def test_the_cited_passage_is_marked_in_its_context(app: MindscapeApp, daemon: FakeDaemon) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: text(app, "SourceView #text") == TEXT)
        spans = [(span.start, span.end) for span in content(app, "SourceView #text").spans]
        assert spans == [(START, END), (START, START + len(QUOTE))]
        assert text(app, "#place") == "lisbon.md:5\nTrips > Lisbon"
    assert daemon.got == [f"/library/trips/lisbon.md:0-{END + place_screen.CONTEXT}"]


async def test_a_passage_far_down_is_scrolled_to_with_lines_before_it(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    before = "A line about something else, long enough to be wrapped here and there.\n" * 60
    first = len(before) + 1_000
    assert isinstance(daemon.place, dict)
    daemon.place |= {"text": before + TEXT + before, "start": 1_000}
    daemon.result = answer(citations=[citation(start=first + START, end=first + END)])
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        view = app.screen.query_one(SourceView)
        await until(pilot, lambda: view.scroll_y > 0)
        await pilot.pause()
        widget = view.query_one("#text", Static)
        above = content(app, "SourceView #text")[: len(before) + START]
        row = len(above.wrap(widget.size.width)) - 1
        assert row - view.size.height // 2 < view.scroll_y < row - 2


async def test_a_source_that_cannot_be_read_still_shows_its_quote(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    daemon.place = Refused("The file [b is being indexed.")
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: "being indexed" in text(app, "SourceView #text"))
        assert text(app, "SourceView #text") == f"The file [b is being indexed.\n\n“{QUOTE}”"


async def test_choosing_another_source_reads_it(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.result = answer(citations=[citation(1), citation(2, path="/library/b.pdf", page="12", line=None)])
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: len(daemon.got) == 1)
        app.screen.query_one(SourceList).focus()
        await pilot.press("down")
        await until(pilot, lambda: text(app, "#place").startswith("b.pdf p. 12"))
    assert daemon.got[1].startswith("/library/b.pdf:")


async def test_escape_stops_the_answer_in_the_daemon_too(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.hold = asyncio.Event()
    async with app.run_test() as pilot:
        await ask(pilot)
        await until(pilot, lambda: text(app, "AnswerView #text") == "It leaves every twenty")
        await pilot.press("escape")
        await until(pilot, lambda: daemon.cancelled)
        assert text(app, "AnswerView #text") == "It leaves every twenty"
        assert text(app, "#stage") == "Stopped."
        daemon.hold = None
        await ask(pilot, "again")
        await until(pilot, lambda: bool(daemon.got))


async def test_a_new_question_takes_the_place_of_the_one_under_way(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    daemon.hold = asyncio.Event()
    async with app.run_test() as pilot:
        await ask(pilot, "first")
        await until(pilot, lambda: len(daemon.asked) == 1)
        daemon.hold, daemon.pieces = None, []
        await ask(pilot, "second")
        await until(pilot, lambda: bool(daemon.got))
        assert daemon.cancelled
        assert text(app, "AnswerView #question") == "second"
        assert text(app, "AnswerView #text") == "It leaves every twenty minutes [1]."


async def test_a_refusal_is_shown_as_its_sentence(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.pieces, daemon.result = [], Refused("The model [/] is damaged; 'mindscape doctor' says more.")
    async with app.run_test() as pilot:
        await ask(pilot)
        await until(pilot, lambda: app.screen.query_one("AnswerView #text").has_class("-error"))
        assert text(app, "AnswerView #text") == "The model [/] is damaged; 'mindscape doctor' says more."


async def test_a_failure_midway_keeps_what_was_written(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.result = Refused("The model ran out of memory.")
    async with app.run_test() as pilot:
        await ask(pilot)
        await until(pilot, lambda: text(app, "#stage") == "The model ran out of memory.")
        assert text(app, "AnswerView #text") == "It leaves every twenty"


async def test_what_the_answer_could_not_see_is_said_below_it(app: MindscapeApp, daemon: FakeDaemon) -> None:
    coverage = {"documents": 25, "behind": 3, "without_text": 1, "notes": ["3 documents are being read."]}
    daemon.result = answer(answer="Not in your documents.", answered=False, citations=[], coverage=coverage)
    async with app.run_test() as pilot:
        await ask(pilot)
        await until(pilot, lambda: text(app, "#stage").startswith("3 documents are being"))
        assert text(app, "#stage").endswith("read. 1 document has no text that can be searched.")
        assert app.screen.query_one("AnswerView #text").has_class("-muted")


async def test_without_an_answer_the_closest_passages_are_listed(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    daemon.result = answer(answered=False, citations=[], near=[citation(supported=None)])
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: bool(daemon.got))
        assert app.screen.query_one(SourceList).border_title == "Closest passages (1)"


async def test_a_long_answer_is_followed_until_the_reader_scrolls(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    daemon.hold = asyncio.Event()
    daemon.pieces = [{"token": f"Line {number}.\n"} for number in range(100)]
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        view = app.screen.query_one(AnswerView)
        await until(pilot, lambda: 0 < view.max_scroll_y == view.scroll_y)
        view.focus()
        await pilot.press("home")
        await until(pilot, lambda: view.scroll_y == 0)
        view.append("One more line.\n")
        await pilot.pause()
        await pilot.pause()
        assert view.scroll_y == 0
        daemon.hold.set()


async def test_up_and_down_go_through_the_questions_and_keep_the_draft(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    async with app.run_test() as pilot:
        for question in ("one", "two", "two"):
            await ask(pilot, question)
        line = app.screen.query_one(QuestionInput)
        await pilot.press("d", "up")
        assert line.value == "two"
        await pilot.press("up", "up")
        assert line.value == "one"
        await pilot.press("down", "down", "down")
        assert line.value == "d"


async def test_an_empty_line_asks_nothing_and_a_question_mark_in_one_is_text(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    async with app.run_test() as pilot:
        await pilot.press("space", "enter")
        await ask(pilot, "who?")
        await until(pilot, lambda: bool(daemon.asked))
    assert [params["question"] for params in daemon.asked] == ["who?"]


async def test_open_starts_the_editor_at_the_cited_line(
    app: MindscapeApp, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    note = tmp_path / "lisbon.md"
    note.write_text(TEXT)
    started: list[opening.Opening] = []
    monkeypatch.setattr(place_screen, "launch", started.append)
    monkeypatch.setenv("VISUAL", "code")
    monkeypatch.setattr(app, "suspend", _nothing)
    assert isinstance(daemon.place, dict)
    daemon.place["document"] = {"id": 3, "path": str(note), "title": "Lisbon"}
    async with app.run_test() as pilot:
        await pilot.press("ctrl+o")
        assert not started
        await ask(pilot)
        await until(pilot, lambda: text(app, "SourceView #text") == TEXT)
        await pilot.press("ctrl+o")
        assert started == [opening.Opening(["code", "-g", f"{note}:5"], in_terminal=True)]


class _nothing:  # noqa: N801 - stands for a context manager function
    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return


async def test_questions_share_a_conversation_until_a_new_one_is_begun(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    daemon.result = answer(conversation="c5", rewritten="When does the [b]ferry[/b] leave?")
    async with app.run_test() as pilot:
        for _ in range(2):
            await ask(pilot)
            await until(pilot, lambda: app.screen.query_one(SourceList).option_count == 1)
        await pilot.press("ctrl+n")
        assert app.screen.query_one(AnswerView).has_class("-welcome")
        assert app.screen.query_one(SourceList).option_count == 0
        assert app.focused is app.screen.query_one(QuestionInput)
        await ask(pilot)
        await until(pilot, lambda: app.screen.query_one(SourceList).option_count == 1)
        assert text(app, "#stage").startswith("Understood as: When does the [b]ferry[/b] leave?")
    assert [one["conversation"] for one in daemon.asked] == ["new", "c5", "new"]
