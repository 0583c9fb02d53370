"""The mindscape: walked by keys from the library to a passage, whatever its texts say and its size is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from textual.content import Content
from textual.pilot import Pilot
from textual.widgets import Static

from mindscape.errors import NotFound, Refused
from mindscape.text import printable
from mindscape.tui import opening
from mindscape.tui.app import MindscapeApp
from mindscape.tui.screens import place as place_screen
from mindscape.tui.screens.ask import AskScreen
from mindscape.tui.screens.tree import TreeScreen
from mindscape.tui.widgets.node_tree import NodeTree
from mindscape.tui.widgets.source_view import SourceView
from mindscape.tui.widgets.status_bar import StatusBar

from .conftest import END, START, TEXT, FakeDaemon, until
from .test_literal import BOMBS

LIBRARY, FOLDER, BOOK, PASSAGE = "f0", "f1", "d3", "p7"


def node(name: str, kind: str, title: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": name, "kind": kind, "level": 0, "title": title, "summary": f"Of {title}."}
    fields |= {"made_by": "text" if kind == "passage" else "extractive", "tokens": 12, "stale": False}
    return fields | {"start": START, "end": END, "below": []} | changes


@pytest.fixture
def nodes(daemon: FakeDaemon) -> dict[str, dict[str, Any]]:
    """A library of one folder of one document of one section's worth of passages."""
    daemon.nodes = {
        LIBRARY: node(LIBRARY, "library", "Library", below=[FOLDER], start=None, end=None),
        FOLDER: node(FOLDER, "folder", "trips", below=[BOOK], start=None, end=None, stale=True),
        BOOK: node(BOOK, "document", "Lisbon", below=[PASSAGE]),
        PASSAGE: node(PASSAGE, "passage", "The ferry", summary=TEXT[START:END]),
    }
    return daemon.nodes


def shown(app: MindscapeApp, name: str) -> str:
    return str(app.screen.query_one(f"NodeView #{name}", Static).content)


def lines(app: MindscapeApp) -> list[str]:
    """The tree as it is drawn."""
    tree = app.screen.query_one(NodeTree)
    drawn = [tree.render_line(y).text.rstrip() for y in range(tree.size.height)]
    return [line for line in drawn if line]


async def opened(pilot: Pilot[None], app: MindscapeApp) -> None:
    """The mindscape, read."""
    await until(pilot, lambda: app.library.documents is not None)
    await pilot.press("ctrl+t")
    await until(pilot, lambda: isinstance(app.screen, TreeScreen) and bool(shown(app, "summary")))


async def walk_down(pilot: Pilot[None], app: MindscapeApp, *titles: str) -> None:
    for title in titles:
        await pilot.press("right", "right")
        await until(pilot, lambda title=title: shown(app, "title") == title)


@pytest.mark.usefixtures("nodes")
async def test_the_arrows_go_from_the_library_to_a_passage_and_enter_shows_it_in_its_text(
    app: MindscapeApp, daemon: FakeDaemon
) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        assert (shown(app, "title"), shown(app, "summary")) == ("Library", "Of Library.")
        await pilot.press("down")
        await until(pilot, lambda: shown(app, "title") == "trips")
        await walk_down(pilot, app, "Lisbon", "The ferry")
        assert shown(app, "crumbs") == "Library › trips › Lisbon"
        assert shown(app, "facts").startswith("passage · its own text · 20")
        assert shown(app, "summary") == TEXT[START:END]
        await pilot.press("enter")
        text = app.screen.query_one("SourceView #text", Static)
        await until(pilot, lambda: str(text.content) == TEXT)
        assert app.screen.query_one(SourceView).has_focus
        await pilot.press("escape")
        await until(pilot, lambda: app.screen.query_one(NodeTree).has_focus)
        assert not app.screen.query_one(SourceView).display
        await pilot.press("left", "left")
        await until(pilot, lambda: shown(app, "title") == "Lisbon")
        assert [line.split()[-1] for line in lines(app)] == ["Library", "stale", "Lisbon"]
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, AskScreen))
    assert daemon.got == [f"3:{START}-{END}", f"3:0-{END + place_screen.CONTEXT}"]


@pytest.mark.usefixtures("nodes")
async def test_only_what_is_looked_at_is_read(app: MindscapeApp, daemon: FakeDaemon) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("down")
        await until(pilot, lambda: shown(app, "title") == "trips")
        assert set(daemon.read) == {LIBRARY, FOLDER}


@pytest.mark.usefixtures("nodes")
async def test_a_stale_summary_is_marked_until_it_is_made_again(
    app: MindscapeApp, daemon: FakeDaemon, nodes: dict[str, Any]
) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("down")
        await until(pilot, lambda: "stale: what it tells of has changed" in shown(app, "facts"))
        assert lines(app)[1].endswith("trips stale")
        nodes[FOLDER] |= {"stale": False, "summary": "Of other trips."}
        daemon.progress(1, 1, "summarised")
        await until(pilot, lambda: shown(app, "summary") == "Of other trips.")
        assert "stale" not in shown(app, "facts")
        assert lines(app)[1].endswith("trips")


async def test_what_was_changed_meanwhile_is_found_from_the_node_above(
    app: MindscapeApp, daemon: FakeDaemon, nodes: dict[str, Any]
) -> None:
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("down")
        await walk_down(pilot, app, "Lisbon", "The ferry")
        del nodes[PASSAGE]
        nodes["p8"] = node("p8", "passage", "The tram")
        nodes["p9"] = node("p9", "passage", "The lift")
        nodes[BOOK]["below"] = ["p8", "p9"]
        daemon.progress(1, 1, "embedded")
        await until(pilot, lambda: lines(app)[-1].endswith("The lift"))
        await until(pilot, lambda: shown(app, "title") == "Lisbon")
        nodes[BOOK]["below"] = ["p9", "p8"]
        daemon.progress(1, 1, "embedded")
        await until(pilot, lambda: lines(app)[-1].endswith("The tram"))
        assert len(lines(app)) == 5


@pytest.mark.usefixtures("nodes")
async def test_open_starts_the_editor_where_the_node_begins_and_a_folder_is_refused(
    app: MindscapeApp, daemon: FakeDaemon, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    started: list[opening.Opening] = []
    monkeypatch.setattr(place_screen, "launch", started.append)
    monkeypatch.setenv("VISUAL", "ed")
    monkeypatch.setattr(app, "suspend", _nothing)
    (tmp_path / "lisbon.md").write_text(TEXT)
    assert isinstance(daemon.place, dict)
    daemon.place["document"] = {"id": 3, "path": str(tmp_path / "lisbon.md"), "title": "Lisbon"}
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await opened(pilot, app)
        await pilot.press("ctrl+o")
        assert not daemon.got
        await pilot.press("down")
        await walk_down(pilot, app, "Lisbon")
        await pilot.press("ctrl+o")
        await until(pilot, lambda: bool(started))
    assert started[0].command == ["ed", str(tmp_path / "lisbon.md")]
    assert daemon.got == [f"3:{START}-{START + 1}"]


async def test_an_empty_library_says_what_to_do(
    app: MindscapeApp, daemon: FakeDaemon, nodes: dict[str, Any]
) -> None:
    nodes[LIBRARY]["below"] = []
    daemon.documents = {"total": 0, "searchable": 0}
    async with app.run_test(size=(40, 10)) as pilot:
        await opened(pilot, app)
        assert "mindscape add FOLDER" in shown(app, "summary")
        daemon.documents = {"total": 1, "searchable": 0}
        daemon.progress(0, 1, "embedded")
        daemon.progress(1, 1, "embedded")
        await until(pilot, lambda: shown(app, "summary").startswith("Nothing is summarised yet."))
        nodes[LIBRARY]["below"] = [FOLDER]
        daemon.progress(1, 1, "embedded")
        await until(pilot, lambda: shown(app, "summary") == "Of Library.")


@pytest.mark.parametrize("error", [Refused("It [/] is damaged; see 'mindscape doctor'."), NotFound("[b")])
async def test_an_error_is_shown_as_its_sentence(
    app: MindscapeApp, daemon: FakeDaemon, nodes: dict[str, Any], error: Refused | NotFound
) -> None:
    nodes[FOLDER]["error"] = error
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        await pilot.press("down")
        await until(pilot, lambda: shown(app, "summary") == str(error))
        assert app.screen.query_one("NodeView #summary").has_class("-error")


@pytest.mark.usefixtures("nodes")
async def test_it_is_read_again_when_the_daemon_has_come_back(app: MindscapeApp, daemon: FakeDaemon) -> None:
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        await until(pilot, lambda: app.library.documents is not None)
        daemon.die()
        await until(pilot, lambda: bool(app.library.lost))
        await pilot.press("ctrl+t")
        await until(pilot, lambda: isinstance(app.screen, TreeScreen) and "ctrl+r" in shown(app, "summary"))
        await pilot.press("ctrl+r")
        await until(pilot, lambda: shown(app, "summary") == "Of Library.")


async def test_texts_are_shown_and_never_interpreted_at_any_size(
    app: MindscapeApp, nodes: dict[str, Any]
) -> None:
    names = [f"d{number}" for number in range(len(BOMBS))]
    nodes |= {
        name: node(name, "document", bomb, summary=bomb) for name, bomb in zip(names, BOMBS, strict=True)
    }
    nodes[LIBRARY]["below"] = names
    async with app.run_test(size=(100, 30)) as pilot:
        await opened(pilot, app)
        tree = app.screen.query_one(NodeTree)
        for bomb in BOMBS:
            tree.action_cursor_down()
            await until(pilot, lambda bomb=bomb: shown(app, "summary") == printable(bomb))
        assert len(lines(app)) == len(BOMBS) + 1
        assert not any(ord(character) < 32 for line in lines(app) for character in line)
        for size in ((40, 10), (200, 60), (10, 4), (1, 1)):
            await pilot.resize_terminal(*size)
            await pilot.press("up", "enter")
        assert app.is_running


@pytest.mark.parametrize("size", [(40, 10), (200, 60)])
async def test_a_long_title_is_cut_to_the_width(
    app: MindscapeApp, nodes: dict[str, Any], size: tuple[int, int]
) -> None:
    nodes[FOLDER]["title"] = "Journey " * 50
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        tree = app.screen.query_one(NodeTree)
        assert lines(app)[1].endswith("… stale")
        assert len(lines(app)[1]) <= tree.size.width
        assert tree.max_scroll_x == 0


@pytest.mark.usefixtures("nodes")
@pytest.mark.parametrize(("width", "line"), [(44, "25 documents esc back ctrl+q quit"), (20, "25 documents")])
async def test_hints_give_way_where_there_is_no_room(app: MindscapeApp, width: int, line: str) -> None:
    async with app.run_test(size=(width, 10)) as pilot:
        await opened(pilot, app)
        assert str(app.screen.query_one(StatusBar).render()).split() == line.split()


@pytest.mark.parametrize("size", [(40, 10), (100, 30)])
async def test_a_passage_far_down_is_scrolled_to(
    app: MindscapeApp, daemon: FakeDaemon, nodes: dict[str, Any], size: tuple[int, int]
) -> None:
    before = "A line about something else, long enough to be wrapped here and there.\n" * 30
    nodes[PASSAGE] |= {"start": len(before) + START, "end": len(before) + END}
    assert isinstance(daemon.place, dict)
    daemon.place["text"] = before + TEXT + before
    async with app.run_test(size=size) as pilot:
        await opened(pilot, app)
        await pilot.press("down")
        await walk_down(pilot, app, "Lisbon", "The ferry")
        assert app.screen.query_one("NodeView #summary").region.height > 0
        await pilot.press("enter")
        view = app.screen.query_one(SourceView)
        await until(pilot, lambda: view.scroll_y > 0)
        await pilot.pause()
        width = view.query_one("#text").size.width
        row = len(Content((before + TEXT)[: len(before) + START]).wrap(width)) - 1
        assert row - view.size.height <= view.scroll_y <= row


def test_the_mindscape_looks_as_it_should(
    app: MindscapeApp, daemon: FakeDaemon, nodes: dict[str, Any], snap_compare: Callable[..., bool]
) -> None:
    nodes[BOOK]["below"] = [PASSAGE, "p8"]
    nodes[FOLDER]["made_at"] = None  # would be shown in the time zone of the machine
    nodes["p8"] = node("p8", "passage", "In Cacilhas, walk along the quay to the lift, and up to the castle")

    async def run_before(pilot: Pilot[Any]) -> None:
        await opened(pilot, app)
        await pilot.press("down")
        await until(pilot, lambda: shown(app, "title") == "trips")
        await walk_down(pilot, app, "Lisbon")
        await pilot.press("right", "up")
        await until(pilot, lambda: shown(app, "title") == "trips")
        await pilot.wait_for_scheduled_animations()

    assert snap_compare(app, terminal_size=(100, 24), run_before=run_before)


class _nothing:  # noqa: N801 - stands for a context manager function
    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        return
