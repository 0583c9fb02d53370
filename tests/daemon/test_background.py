"""What is written in the background stands still while a question is answered, and is never stuck."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from mindscape.daemon.children import Child, ChildDied
from mindscape.daemon.models import Models
from mindscape.engine import LEAST_PRIORITY, Engine
from mindscape.protocol import Json
from mindscape_models.bundle import Bundle, open_bundle
from mindscape_models.catalogue import installed_folder
from mindscape_models.generation import default_threads

STARTER = installed_folder() / "smollm2-135m-instruct"
MESSAGES = [{"role": "user", "content": "Count from one to twenty in words."}]
OTHER = [{"role": "user", "content": "Tell a story of a lighthouse and its gulls."}]

real = pytest.mark.skipif(not STARTER.exists(), reason="the starter generator is not installed: run `make`")


class FakeEngine(Child):
    """Notes what it is told; a `write` ends when the test says so."""

    def __init__(self) -> None:
        super().__init__("mindscape.engine", [])
        self.told: list[str] = []
        self.writes: list[asyncio.Future[str]] = []
        self.alive = False
        self.deaf = False
        self.stops = 0

    @property
    def running(self) -> bool:
        return self.alive

    async def start(self) -> None:
        if not self.alive:
            self.alive = True
            self.generation += 1

    async def stop(self, *, kill: bool = False) -> None:
        self.alive = False
        self.stops += 1

    async def call(
        self,
        method: str,
        params: Json,
        on_stream: Callable[[Json], None] | None = None,
        seconds: float | None = None,
    ) -> Any:
        self.told.append(method)
        if method != "write":
            await asyncio.sleep(0)
            if self.deaf:
                raise ChildDied("The engine is not running.")
            return None
        self.writes.append(asyncio.get_running_loop().create_future())
        return {"text": await self.writes[-1]}


class Desk:
    """Models with a fake engine."""

    def __init__(self, folder: Path) -> None:
        self.engine = FakeEngine()
        self.models = Models(self.engine, folder, {})
        self.bundle = Bundle(folder, "writer", "generator", (), "", {}, {}, (), {}, None)

    def write(self) -> asyncio.Task[str]:
        return asyncio.create_task(self.models.write_in_background(self.bundle, MESSAGES, 8))

    async def write_begun(self) -> asyncio.Task[str]:
        task = self.write()
        await settled()
        assert self.engine.told[-1] == "write"
        return task


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


async def settled() -> None:
    """All that can happen without anything from outside has happened."""
    for _ in range(20):
        await asyncio.sleep(0)


async def test_the_first_question_holds_the_writer_and_the_last_to_end_lets_it_go_on(desk: Desk) -> None:
    written = await desk.write_begun()
    with desk.models.interactive():
        with desk.models.interactive():
            await settled()
        await settled()
        assert desk.engine.told == ["write", "hold"]
    await settled()
    assert desk.engine.told == ["write", "hold", "go_on"]
    desk.engine.writes[0].set_result("text")
    assert await written == "text"


async def test_questions_that_follow_at_once_are_told_in_their_order(desk: Desk) -> None:
    await desk.write_begun()
    for _ in range(3):
        with desk.models.interactive():
            pass
    await settled()
    assert desk.engine.told == ["write", *["hold", "go_on"] * 3]


async def test_nothing_is_sent_when_nothing_is_written(desk: Desk) -> None:
    with desk.models.interactive():
        await settled()
    await settled()
    assert desk.engine.told == []


async def test_nothing_begins_to_be_written_while_a_question_is_answered(desk: Desk) -> None:
    with desk.models.interactive():
        written = desk.write()
        await settled()
    with desk.models.interactive():
        await settled()
        assert "write" not in desk.engine.told
    await settled()
    assert "write" in desk.engine.told
    desk.engine.writes[0].set_result("text")
    assert await written == "text"


async def test_a_writer_that_waits_for_an_answer_survives_the_engine_it_waited_with(desk: Desk) -> None:
    with desk.models.interactive():
        written = desk.write()
        await settled()
        desk.engine.alive = False
    await settled()
    assert desk.engine.generation == 2
    desk.engine.writes[0].set_result("text")
    assert await written == "text"


async def test_a_hold_that_fails_disturbs_neither_the_question_nor_what_is_written_next(desk: Desk) -> None:
    written = await desk.write_begun()
    desk.engine.deaf = True
    with desk.models.interactive():
        await settled()
    await settled()
    desk.engine.writes[0].set_exception(ChildDied("The engine was ended by SIGKILL."))
    with pytest.raises(ChildDied, match="SIGKILL"):
        await written
    desk.engine.deaf = False
    again = await desk.write_begun()
    desk.engine.writes[1].set_result("text")
    assert await again == "text"


async def test_a_cancelled_writer_leaves_room_for_the_next(desk: Desk) -> None:
    first = await desk.write_begun()
    second = desk.write()
    await settled()
    assert len(desk.engine.writes) == 1
    first.cancel()
    await settled()
    assert desk.engine.writes[0].cancelled()
    desk.engine.writes[1].set_result("text")
    assert await second == "text"


async def test_the_engine_is_not_idle_while_it_writes(desk: Desk) -> None:
    written = await desk.write_begun()
    await desk.models.stop_if_idle(-1)
    assert desk.engine.stops == 0
    desk.engine.writes[0].set_result("text")
    await written
    await desk.models.stop_if_idle(-1)
    assert desk.engine.stops == 1


# --- with the real engine ---


@pytest.fixture
async def models(tmp_path: Path) -> AsyncIterator[Models]:
    it = Models(Child("mindscape.engine", ["--threads", "0"]), tmp_path, {})
    yield it
    await it.stop()


@pytest.fixture
def starter() -> Bundle:
    return open_bundle(STARTER, verify=False)


def engine_process() -> psutil.Process:
    [process] = [one for one in psutil.Process().children() if "mindscape.engine" in one.cmdline()]
    return process


@real
@pytest.mark.model
async def test_an_answer_overtakes_what_is_written_and_changes_nothing_in_it(
    models: Models, starter: Bundle
) -> None:
    wanted = await models.write_in_background(starter, MESSAGES, 16)
    await models.write_in_background(starter, OTHER, 1)
    await models.open_writer(starter)
    answer = "".join([piece async for piece in models.generate(OTHER, 24)])
    written = asyncio.create_task(models.write_in_background(starter, MESSAGES, 16))
    await settled()
    with models.interactive():
        assert "".join([piece async for piece in models.generate(OTHER, 24)]) == answer
        # Longer than what is written: it could only be ready if it had not been held.
        assert not written.done()
    assert await written == wanted


@real
@pytest.mark.model
async def test_a_cancelled_writer_stops_also_while_it_is_held(models: Models, starter: Bundle) -> None:
    wanted = await models.write_in_background(starter, MESSAGES, 8)
    endless = asyncio.create_task(models.write_in_background(starter, OTHER, 4_000))
    await settled()
    with models.interactive():
        await settled()
        endless.cancel()
        await asyncio.wait([endless])
    assert await asyncio.wait_for(models.write_in_background(starter, MESSAGES, 8), 60) == wanted


@real
@pytest.mark.model
async def test_an_engine_that_dies_while_it_is_held_fails_the_call_and_holds_no_other(
    models: Models, starter: Bundle
) -> None:
    wanted = await models.write_in_background(starter, MESSAGES, 8)
    written = asyncio.create_task(models.write_in_background(starter, OTHER, 4_000))
    await settled()
    with models.interactive():
        await settled()
        engine_process().send_signal(signal.SIGKILL)
        with pytest.raises(ChildDied, match="SIGKILL"):
            await written
    assert await models.write_in_background(starter, MESSAGES, 8) == wanted


@real
@pytest.mark.model
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere priorities belong to whole processes")
async def test_only_what_is_written_in_the_background_has_the_least_priority(
    models: Models, starter: Bundle
) -> None:
    await models.open_writer(starter)
    await models.write_in_background(starter, MESSAGES, 2)
    priorities = [os.getpriority(os.PRIO_PROCESS, thread.id) for thread in engine_process().threads()]
    # Its own thread and those that compute for it.
    assert priorities.count(LEAST_PRIORITY) == default_threads()
    assert set(priorities) == {LEAST_PRIORITY, os.getpriority(os.PRIO_PROCESS, 0)}


@real
@pytest.mark.model
@pytest.mark.skipif(sys.platform != "linux", reason="reads what is mapped from /proc")
async def test_the_weights_are_loaded_once_and_those_of_another_model_are_let_go(tmp_path: Path) -> None:
    async def no_stream(piece: Json) -> None:
        raise AssertionError(piece)

    async def write(bundle: Path) -> str:
        params = {"folder": str(bundle), "messages": MESSAGES, "max_tokens": 4}
        return (await engine.handle("write", params, no_stream))["text"]

    def mapped(bundle: Path) -> int:
        return Path("/proc/self/maps").read_text().count(str(bundle.resolve()))

    other = tmp_path / "other"
    shutil.copytree(STARTER, other)
    engine = Engine(0)
    wanted = await write(other)
    once = mapped(other)
    assert once
    await engine.handle("open_generator", {"folder": str(other)}, no_stream)
    assert mapped(other) == once
    await engine.handle("open_generator", {"folder": str(STARTER)}, no_stream)
    assert await write(STARTER) == wanted
    assert mapped(other) == 0
