"""Text is data: whatever a document, the model or the daemon says is shown, never interpreted."""

from __future__ import annotations

import asyncio

import pytest
from textual import events
from textual.widgets import Static

from mindscape.errors import Refused
from mindscape.text import printable
from mindscape.tui.app import MindscapeApp
from mindscape.tui.widgets.question_input import QuestionInput
from mindscape.tui.widgets.source_list import SourceList

from .conftest import FakeDaemon, answer, ask, citation, until

BOMBS = [
    "[/]",
    "[/x]",
    "[b",
    "[00] foo",
    "[bold red]not styled[/]",
    "[@click=app.quit]click me[/]",
    "[link=file:///etc/passwd]x[/link]",
    "a [1] citation [2]",
    "\\[escaped\\[",
    "[#888888]",
    "[[wikilink]] - [ ] task {var} $x %s {0}",
    "\x1b[2Jclear \x1b]0;title\x07 \x1b]52;c;cHduZWQ=\x07",
    "carriage\rreturn, tab\tstop, nul\x00x, \x9b31m",
    "\u202egnp.exe",
    "👨\u200d👩\u200d👧 Z\u0338\u0321\u0322a\u0337l\u0334g\u0335o ﷺ 漢字カナ مرحبا \u200bzero",
    "x" * 5_000,
]


def shown(app: MindscapeApp, selector: str) -> str:
    return str(app.screen.query_one(selector, Static).content)


@pytest.mark.parametrize("bomb", BOMBS, ids=range(len(BOMBS)))
async def test_every_place_for_text_shows_it_as_it_is(
    app: MindscapeApp, daemon: FakeDaemon, bomb: str
) -> None:
    daemon.pieces = [{"stage": bomb}, *({"token": character} for character in bomb[:200])]
    daemon.result = answer(
        answer=bomb, citations=[citation(path=f"/library/{bomb}.md", quote=bomb, start=0, end=len(bomb))]
    )
    assert isinstance(daemon.place, dict)
    daemon.place |= {"text": bomb, "end": len(bomb), "heading": bomb}
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: app.library.connected)
        daemon.progress(1, 2, bomb)
        app.say(bomb, error=True)
        app.screen.query_one(QuestionInput).value = "a " + printable(bomb)
        await pilot.press("enter")
        await until(pilot, lambda: shown(app, "SourceView #text") == printable(bomb))
        assert shown(app, "AnswerView #text") == printable(bomb)
        prompt = app.screen.query_one(SourceList).get_option_at_index(0).prompt
        assert " ".join(printable(bomb).split())[:40] in str(prompt)
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert app.is_running


@pytest.mark.parametrize("bomb", BOMBS[:7])
async def test_an_error_is_shown_as_it_is(app: MindscapeApp, daemon: FakeDaemon, bomb: str) -> None:
    daemon.pieces, daemon.result = [], Refused(bomb)
    async with app.run_test() as pilot:
        await ask(pilot)
        await until(pilot, lambda: shown(app, "AnswerView #text") == bomb)


async def test_what_is_pasted_becomes_one_line_without_controls(app: MindscapeApp) -> None:
    async with app.run_test() as pilot:
        line = app.screen.query_one(QuestionInput)
        line.post_message(events.Paste("two\r\nlines \x1b[2J"))
        await until(pilot, lambda: line.value != "")
        assert line.value == "two lines \ufffd[2J"


async def test_text_that_looks_like_a_link_cannot_be_clicked(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.pieces, daemon.result = [], answer(answer="[@click=app.quit]click me[/]", citations=[])
    async with app.run_test(size=(80, 24)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: "click me" in shown(app, "AnswerView #text"))
        await pilot.click("AnswerView #text", offset=(20, 0))
        assert app.is_running


@pytest.mark.parametrize("size", [(80, 24), (20, 5), (40, 12), (1, 1), (200, 60)])
async def test_every_size_works_and_may_change_while_an_answer_streams(
    app: MindscapeApp, daemon: FakeDaemon, size: tuple[int, int]
) -> None:
    daemon.hold = asyncio.Event()
    daemon.pieces = [{"token": f"word {number} "} for number in range(50)]
    async with app.run_test(size=(100, 30)) as pilot:
        await ask(pilot)
        await until(pilot, lambda: shown(app, "AnswerView #text").endswith("word 49 "))
        await pilot.resize_terminal(*size)
        await pilot.press("tab", "tab", "tab", "f1", "escape")
        daemon.hold.set()
        await until(pilot, lambda: bool(daemon.got))
        assert app.is_running
