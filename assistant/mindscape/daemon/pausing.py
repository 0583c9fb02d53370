"""Whether background work may go on: the user can pause it, and heavy work waits while on battery.

Not while others use the machine: whose load that is cannot be told inside a container, and background work
of this daemon and of the next one would hold each other up. There the workers' low priority is what helps.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from mindscape.daemon.progress import Progress
from mindscape.errors import Refused
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape.rpc import Stream
from mindscape_storage import choices

LOOK_SECONDS = 5.0
"""The battery is looked at so often, and only while there is heavy work."""


class Paused(Exception):
    """Work ends here for now; what is left of it is found again when it goes on."""


class Gate:
    """Background work passes here; noticing changes and answering questions do not."""

    def __init__(
        self, library: Library, progress: Progress, on_battery: Callable[[], bool], *, paused: bool
    ) -> None:
        self._library = library
        self._progress = progress
        self._on_battery = on_battery
        self._going = asyncio.Event()
        if not paused:
            self._going.set()
        self._wanted = 0
        self._reconsider = asyncio.Event()
        self._looked = -LOOK_SECONDS
        self._battery = False
        self._held: set[str] = set()

    @property
    def held(self) -> str | None:
        """Why heavy work that is there to be done waits; None when it does not."""
        return "on battery" if self._held else None

    @property
    def paused(self) -> bool:
        """Whether the user paused background work, in this run or an earlier one."""
        return not self._going.is_set()

    async def pause(self) -> None:
        """Begin nothing more until `resume`, through restarts too."""
        await self._library.write(lambda c: choices.set_paused(c, paused=True))
        self._going.clear()
        await self._progress.notify()

    async def resume(self) -> None:
        """Go on."""
        await self._library.write(lambda c: choices.set_paused(c, paused=False))
        self._going.set()
        await self._progress.notify()

    @property
    def is_wanted(self) -> bool:
        """Whether somebody waits for heavy work."""
        return self._wanted > 0

    def reconsider(self) -> None:
        """What is waited for with patience may have changed."""
        self._reconsider.set()

    async def opened(self) -> None:
        """Wait until work is not paused."""
        await self._going.wait()

    def check(self) -> None:
        """Raise Paused while work is."""
        if self.paused:
            raise Paused

    def refuse_if_paused(self) -> None:
        """Raise Refused, for who would wait for work that does not go on."""
        if self.paused:
            raise Refused("Background work is paused, so waiting would not end. To go on: mindscape resume")

    @contextlib.contextmanager
    def wanted(self) -> Generator[None]:
        """Somebody waits for heavy work: it is not held meanwhile."""
        self._wanted += 1
        self._reconsider.set()
        try:
            yield
        finally:
            self._wanted -= 1

    async def heavy(self, work: str) -> bool:
        """Whether this heavy work may begin. False comes after a while, or when that may have changed."""
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._battery, self._looked = await asyncio.to_thread(self._on_battery), now
        if not self._battery or self._wanted:
            await self.nothing_left(work)
            return True
        if work not in self._held:
            self._held.add(work)
            await self._progress.notify()
        await self.patience(LOOK_SECONDS)
        return False

    async def nothing_left(self, work: str) -> None:
        """This work is not held, for there is none or it goes on."""
        if work in self._held:
            self._held.remove(work)
            await self._progress.notify()

    async def patience(self, seconds: float) -> None:
        """Wait so long, or until there is reason to look again; not while somebody waits for heavy work."""
        if self._wanted:
            return
        self._reconsider.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._reconsider.wait()


def methods(gate: Gate) -> dict[str, Callable[[Json, Stream], Awaitable[Any]]]:
    """The methods `pause` and `resume`."""

    async def pause(params: Json, stream: Stream) -> Json:
        del params, stream
        await gate.pause()
        return {"paused": True}

    async def resume(params: Json, stream: Stream) -> Json:
        del params, stream
        await gate.resume()
        return {"paused": False}

    return {"pause": pause, "resume": resume}
