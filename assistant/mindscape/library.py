"""The library's file as the daemon uses it: one writer thread, a few readers, never blocking the loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from mindscape_storage.database import Connection, open_reader, open_writer, snapshot, transaction

T = TypeVar("T")

READERS = 3


class Library:
    """Functions of a connection are run here: `read` in a snapshot, `write` in one transaction, in order."""

    def __init__(self, path: Path) -> None:
        """Open, and migrate if need be. Raises StorageError with a sentence."""
        self._path = path
        self._writing = ThreadPoolExecutor(1, "writer")
        self._reading = ThreadPoolExecutor(READERS, "reader")
        self._local = threading.local()
        self._readers: list[Connection] = []
        self._connection = self._writing.submit(open_writer, path).result()

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction of its own; it is committed when this returns."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, self._write, work)

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a snapshot; writes go on meanwhile and are not seen."""
        return await asyncio.get_running_loop().run_in_executor(self._reading, self._read, work)

    async def maintain(self, work: Callable[[Connection], T]) -> T:
        """Run `work` on the writer's connection with no transaction around it."""
        return await asyncio.get_running_loop().run_in_executor(self._writing, lambda: work(self._connection))

    def close(self) -> None:
        """Wait for what is running, then close; later calls fail."""
        self._reading.shutdown(wait=True, cancel_futures=True)
        for connection in self._readers:
            connection.close()
        self._writing.submit(self._connection.close)
        self._writing.shutdown(wait=True)

    def _write(self, work: Callable[[Connection], T]) -> T:
        with transaction(self._connection):
            return work(self._connection)

    def _read(self, work: Callable[[Connection], T]) -> T:
        connection: Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = open_reader(self._path)
            self._local.connection = connection
            self._readers.append(connection)
        with snapshot(connection):
            return work(connection)
