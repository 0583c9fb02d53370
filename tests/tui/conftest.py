"""A daemon in memory whose answers a test releases piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from mindscape.errors import DaemonUnreachable, MindscapeError, NotFound
from mindscape.tui.app import MindscapeApp
from mindscape.tui.messages import Json, OnStream
from mindscape.tui.widgets.question_input import QuestionInput

TEXT = (
    "# Lisbon\n\n"
    "The tram 28 climbs from Martim Moniz to Campo de Ourique. "
    "It is crowded from ten in the morning on, so go early.\n\n"
    "The ferry to Cacilhas leaves from Cais do Sodré every twenty minutes. "
    "The crossing takes ten minutes, and the last boat back leaves at half past one.\n\n"
    "In Cacilhas, walk along the quay to the lift. The view from the top is the best of the whole trip.\n"
)
QUOTE = "The ferry to Cacilhas leaves from Cais do Sodré every twenty minutes."
START = TEXT.index("The ferry")
END = TEXT.index("\n\nIn Cacilhas")


def citation(number: int = 1, **changes: Any) -> Json:
    """A citation of the ferry passage."""
    fields: Json = {"n": number, "passage_id": 7, "path": "/library/trips/lisbon.md", "start": START}
    fields |= {"end": END, "page": None, "line": 5, "quote": QUOTE, "supported": True}
    return fields | changes


def answer(**changes: Any) -> Json:
    """The `ask` result about the ferry."""
    fields: Json = {"question": "When?", "answer": "It leaves every twenty minutes [1].", "answered": True}
    fields |= {"mode": "passages", "model": "fake", "citations": [citation()], "signature": [], "steps": []}
    fields |= {"coverage": {"documents": 25, "behind": 0, "without_text": 0}, "ledger": []}
    return fields | changes


class FakeDaemon:
    """Implements `messages.Daemon`."""

    def __init__(self) -> None:
        self.pieces: list[Json] = [{"stage": "searching"}, {"token": "It leaves "}, {"token": "every twenty"}]
        self.result: Json | MindscapeError = answer()
        self.place: Json | MindscapeError = {
            "document": {"id": 3, "path": "/library/trips/lisbon.md", "title": "Lisbon"},
            "start": 0,
            "end": len(TEXT),
            "text": TEXT,
            "page": None,
            "line": 1,
            "heading": "Trips > Lisbon",
        }
        self.documents: Json = {"total": 25, "searchable": 25}
        self.asked: list[Json] = []
        self.got: list[str] = []
        self.nodes: dict[str, Json] = {}
        """By id: the `node` shape, with the ids of its children as "below"; "error" is raised instead."""
        self.read: list[str] = []
        self.hold: asyncio.Event | None = None
        """When set to an event, an answer waits for it after its pieces."""
        self.cancelled = False
        self.closed = False
        self._lost: asyncio.Future[None] | None = None
        self._follow: OnStream | None = None

    async def connect(self) -> FakeDaemon:
        """What the app is given to connect with."""
        return self

    async def call(self, method: str, params: Json | None = None, on_stream: OnStream | None = None) -> Any:
        match method:
            case "subscribe":
                self._follow = on_stream
                self._lost = asyncio.get_running_loop().create_future()
                return await self._lost
            case "status":
                return {"documents": self.documents}
            case "ask":
                return await self._ask(params or {}, on_stream)
            case "get":
                self.got.append((params or {})["place"])
                return self._or_raise(self.place)
            case "tree":
                return self._tree("f0")
            case "node":
                return self._node((params or {})["id"])
            case _:
                raise AssertionError(method)

    async def close(self) -> None:
        self.closed = True

    def die(self) -> None:
        """The process behind the socket has ended."""
        assert self._lost is not None
        self._lost.set_exception(DaemonUnreachable("The daemon stopped."))

    def progress(self, done: int, total: int, what: str) -> None:
        """Tell the subscriber."""
        assert self._follow is not None
        self._follow({"progress": {"done": done, "total": total, "what": what}})

    async def _ask(self, params: Json, on_stream: OnStream | None) -> Any:
        self.asked.append(params)
        assert on_stream is not None
        for piece in self.pieces:
            on_stream(piece)
        try:
            if self.hold is not None:
                await self.hold.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return self._or_raise(self.result)

    def _tree(self, name: str) -> Json:
        """The `tree` shape to a depth of one."""
        if name not in self.nodes:
            raise NotFound(f"There is no {name} any more.")
        self.read.append(name)
        if error := self.nodes[name].get("error"):
            raise error
        below = [{**self.nodes[one], "children": None} for one in self.nodes[name]["below"]]
        return {**self.nodes[name], "children": below}

    def _node(self, name: str) -> Json:
        """The same, with when it was made and its path."""
        shape, path = self._tree(name), [name]
        while above := [one for one, node in self.nodes.items() if path[0] in node["below"]]:
            path = [*above, *path]
        return {"made_at": 1_700_000_000, **shape, "path": [self.nodes[one] for one in path]}

    @staticmethod
    def _or_raise(value: Json | MindscapeError) -> Json:
        if isinstance(value, MindscapeError):
            raise value
        return value


@pytest.fixture
def daemon() -> FakeDaemon:
    return FakeDaemon()


@pytest.fixture
def app(daemon: FakeDaemon) -> MindscapeApp:
    return MindscapeApp(daemon.connect)


async def until(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    """Let the app work until the condition holds; its messages, not time, decide."""
    for _ in range(500):
        if condition():
            return
        await pilot.pause()
    raise AssertionError("the app came to rest in another state")


async def ask(pilot: Pilot[Any], question: str = "When does the ferry leave?") -> None:
    """Put a question on the line and press enter. (Pilot types a key in 50 ms.)"""
    pilot.app.screen.query_one(QuestionInput).value = question
    await pilot.press("enter")
