"""Child processes that answer JSON-RPC over a socket pair: started when needed, restarted when they die."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any

from mindscape.errors import MindscapeError
from mindscape.protocol import MAX_MESSAGE_BYTES, Json
from mindscape.rpc import Peer, PeerGone

log = logging.getLogger(__name__)

STOP_SECONDS = 0.5


class ChildDied(MindscapeError):
    """The process ended in the middle of a call, or was stopped for taking too long."""


class Child:
    """One process. `started` runs after each start, before any other call."""

    def __init__(self, module: str, arguments: list[str]) -> None:
        self.name = module.rpartition(".")[2]
        self._command = [sys.executable, "-P", "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._peer: Peer | None = None
        self._reading: asyncio.Task[None] | None = None
        self._starting = asyncio.Lock()
        self.generation = 0
        """Counts starts, so that a caller can tell that what it had opened in the child is gone."""

    @property
    def running(self) -> bool:
        """Whether the process is there."""
        return self._peer is not None and not self._peer.gone.is_set()

    async def start(self) -> None:
        """Start the process unless it runs."""
        async with self._starting:
            if self.running:
                return
            await self.stop()
            ours, theirs = socket.socketpair()
            with theirs:
                # Spin-waiting threads of OpenMP starve everything else on a small machine.
                environment = {**os.environ, "OMP_WAIT_POLICY": "passive"}
                # Not asyncio's subprocess: its watcher and `kill` race for the exit status on Python 3.11.
                self._process = subprocess.Popen(  # noqa: ASYNC220 - starting takes a millisecond
                    [*self._command, "--fd", str(theirs.fileno())],
                    pass_fds=[theirs.fileno()],
                    env=environment,
                    cwd="/",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                )
            reader, writer = await asyncio.open_unix_connection(sock=ours, limit=MAX_MESSAGE_BYTES)
            self._peer = Peer(reader, writer)
            self._reading = asyncio.create_task(self._peer.run())
            self.generation += 1
            log.info("%s started as process %d", self.name, self._process.pid)

    async def call(
        self,
        method: str,
        params: Json,
        on_stream: Callable[[Json], None] | None = None,
        seconds: float | None = None,
    ) -> Any:
        """Call the child, which must have been started. Raises ChildDied, or the error it answered with.

        After `seconds` the process is killed: a parser or model in native code cannot be stopped otherwise.
        """
        if self._peer is None:
            raise ChildDied(f"The {self.name} is not running.")
        try:
            async with asyncio.timeout(seconds):
                return await self._peer.call(method, params, on_stream)
        except TimeoutError:
            await self.stop(kill=True)
            raise ChildDied(f"It took longer than {seconds:.0f} seconds and was stopped.") from None
        except (PeerGone, ConnectionError) as error:
            raise ChildDied(await self._obituary()) from error

    async def stop(self, *, kill: bool = False) -> None:
        """End the process: closing its socket asks it to, killing makes sure."""
        process, peer, reading = self._process, self._peer, self._reading
        self._process = self._peer = self._reading = None
        if peer is not None and reading is not None:
            peer.close()
            await asyncio.wait([reading], timeout=STOP_SECONDS)
        if process is not None:
            await asyncio.to_thread(_end, process, 0.0 if kill else STOP_SECONDS)

    async def _obituary(self) -> str:
        """How the process ended, as a sentence."""
        process = self._process
        await self.stop()  # it has gone, or is going: this only collects its exit code
        code = process.returncode if process else None
        if code is not None and code < 0:
            name = signal.Signals(-code).name
            hint = " (often: out of memory)" if -code == signal.SIGKILL else ""
            return f"The {self.name} was ended by {name}{hint}."
        return f"The {self.name} stopped unexpectedly (exit code {code})."


def _end(process: subprocess.Popen[bytes], patience: float) -> None:
    """Wait for a process to exit by itself, then make it."""
    try:
        process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


class Pool:
    """A few children of one kind; each serves one caller at a time."""

    def __init__(self, children: list[Child]) -> None:
        self._children = children
        self._free: asyncio.LifoQueue[Child] = asyncio.LifoQueue()
        for child in children:
            self._free.put_nowait(child)

    @contextlib.asynccontextmanager
    async def lend(self) -> AsyncGenerator[Child]:
        """A started child for the time of the block."""
        child = await self._free.get()
        try:
            await child.start()
            yield child
        finally:
            self._free.put_nowait(child)

    async def stop_idle(self) -> None:
        """Stop the children nobody is using."""
        idle: list[Child] = []
        while not self._free.empty():
            idle.append(self._free.get_nowait())
        for child in idle:
            await child.stop()
            self._free.put_nowait(child)

    async def stop(self) -> None:
        """Kill all of them."""
        await asyncio.gather(*(child.stop(kill=True) for child in self._children))
