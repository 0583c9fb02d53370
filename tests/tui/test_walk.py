"""The mindscape of a real daemon, walked by keys: from the library to a passage and into its text."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.daemon.harness import Daemon
from textual.pilot import Pilot
from textual.widgets import Static

from mindscape.client.session import Client
from mindscape.tui.app import MindscapeApp
from mindscape.tui.screens.tree import TreeScreen
from mindscape.tui.widgets.node_tree import NodeTree

FERRY = "The ferry to Cacilhas leaves from Cais do Sodré every twenty minutes, and the crossing takes ten."


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Daemon]:
    """A daemon with two folders of documents long enough to have several passages, all summarised."""
    for name in ("boats/ferry.md", "boats/[/] raft.md", "trams/tram.md"):
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parts = [
            f"## Part {part} of {path.stem}\n\n" + f"{FERRY} This is part {part}. " * 12 for part in range(9)
        ]
        path.write_text("\n\n".join(parts))
    daemon = Daemon(tmp_path / "home", workers="1")
    assert daemon.start() == "ready"
    daemon.call("add", paths=[str(tmp_path / "notes")])
    daemon.wait("summarised")
    yield daemon
    daemon.stop()


async def comes(pilot: Pilot[None], condition: Callable[[], bool]) -> None:
    """The daemon is another process: wait for it, not only for the app."""
    async with asyncio.timeout(60):
        while not condition():
            await pilot.pause()


async def test_a_passage_is_reached_from_the_library_and_read(library: Daemon, tmp_path: Path) -> None:
    async def connect() -> Client:
        return await Client.connect(library.paths, start=False)

    app = MindscapeApp(connect)
    async with app.run_test(size=(100, 30)) as pilot:
        await comes(pilot, lambda: app.library.documents == 3)
        await pilot.press("ctrl+t")
        await comes(pilot, lambda: isinstance(app.screen, TreeScreen))
        tree = app.screen.query_one(NodeTree)
        seen: list[str] = []
        while True:
            await comes(pilot, lambda: _is_shown(app, tree))
            assert _summary(app)
            at = tree.cursor_node
            assert at is not None
            assert at.data is not None
            seen.append(at.data["kind"])
            if seen[-1] == "passage":
                break
            await pilot.press(*["right"] * (1 if at.is_expanded else 2))
        assert (seen[0], seen[1], "document" in seen) == ("library", "folder", True)
        await pilot.press("enter")
        text = app.screen.query_one("SourceView #text", Static)
        await comes(pilot, lambda: FERRY in str(text.content))
        (tmp_path / "notes" / "boats" / "[/] raft.md").write_text(
            "A raft needs no harbour and no timetable.\n"
        )
        await asyncio.to_thread(library.wait, "summarised")
        await pilot.press("escape")
        await comes(pilot, lambda: "raft needs no harbour" in _summary(app))


def _summary(app: MindscapeApp) -> str:
    return str(app.screen.query_one("NodeView #summary", Static).content)


def _is_shown(app: MindscapeApp, tree: NodeTree) -> bool:
    """The node under the cursor has been read."""
    node = tree.cursor_node
    return node is not None and node.data is not None and "path" in node.data
