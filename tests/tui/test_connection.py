"""The daemon's coming, its progress, its going, and the keys that need no daemon."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot
from textual.widgets import Static

from mindscape.errors import DaemonUnreachable
from mindscape.tui.app import MindscapeApp
from mindscape.tui.library_state import Indexing
from mindscape.tui.screens.help import HelpScreen
from mindscape.tui.widgets.status_bar import StatusBar

from .conftest import FakeDaemon, ask, until


def status_line(app: MindscapeApp) -> str:
    return str(app.screen.query_one(StatusBar).render())


async def counted(pilot: Pilot[None], app: MindscapeApp) -> None:
    await until(pilot, lambda: app.library.documents is not None)


async def test_the_library_and_its_indexing_are_in_the_last_line(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    daemon.documents = {"total": 25, "searchable": 20}
    async with app.run_test(size=(100, 30)) as pilot:
        await counted(pilot, app)
        assert status_line(app).startswith("25 documents, 20 searchable")
        for done in range(1, 500):
            daemon.progress(done, 500, "embedding [/]")
        await until(pilot, lambda: app.library.indexing == Indexing(499, 500, "embedding [/]"))
        assert "499/500 embedding [/]" in status_line(app)
        daemon.documents = {"total": 25, "searchable": 25}
        daemon.progress(500, 500, "embedding")
        await until(pilot, lambda: app.library.searchable == 25)
        assert app.library.indexing is None
    assert daemon.closed


async def test_an_empty_library_says_how_to_fill_it(app: MindscapeApp, daemon: FakeDaemon) -> None:
    daemon.documents = {"total": 0, "searchable": 0}
    async with app.run_test() as pilot:
        await counted(pilot, app)
        await pilot.pause()
        assert "mindscape add FOLDER" in str(app.screen.query_one("AnswerView #text", Static).content)


async def test_the_end_of_the_daemon_is_said_and_reconnecting_is_offered(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    async with app.run_test(notifications=True) as pilot:
        await counted(pilot, app)
        daemon.die()
        await until(pilot, lambda: app.library.lost == "The daemon stopped.")
        assert "ctrl+r reconnects" in status_line(app)
        await ask(pilot)
        text = app.screen.query_one("AnswerView #text", Static)
        await until(pilot, lambda: text.has_class("-error"))
        await pilot.press("ctrl+r")
        await counted(pilot, app)
        await ask(pilot)
        await until(pilot, lambda: bool(daemon.got))


async def test_a_daemon_that_cannot_be_started_is_said_with_its_reason(daemon: FakeDaemon) -> None:
    attempts = 0

    async def connect() -> FakeDaemon:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise DaemonUnreachable("The library was made by a newer version [b.")
        return daemon

    app = MindscapeApp(connect)
    async with app.run_test(notifications=True) as pilot:
        await until(pilot, lambda: bool(app.library.lost))
        assert app.library.lost == "The library was made by a newer version [b."
        await pilot.press("ctrl+r")
        await counted(pilot, app)


@pytest.mark.parametrize("key", ["question_mark", "f1"])
async def test_the_keys_are_shown_and_put_away(app: MindscapeApp, key: str) -> None:
    async with app.run_test() as pilot:
        await pilot.press(key)
        await until(pilot, lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, HelpScreen))


async def test_q_quits_only_where_no_text_is_typed(app: MindscapeApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("q")
        assert app.is_running
        await pilot.press("tab", "q")
        await until(pilot, lambda: not app.is_running)


async def test_ctrl_q_quits_even_while_typing(app: MindscapeApp) -> None:
    async with app.run_test() as pilot:
        await pilot.press("a", "ctrl+q")
        await until(pilot, lambda: not app.is_running)
