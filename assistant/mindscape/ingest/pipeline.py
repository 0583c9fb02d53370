"""How files become searchable, and then embedded: the only file that knows the order of the stages.

    scan -> inspect (read and hash) -> recognise (OCR, where asked for) -> parse -> cut -> store -> embed

Each stage's result is committed before the next begins, so a daemon that is killed goes on where it was.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol

from mindscape.errors import MindscapeError
from mindscape.ingest import ocr
from mindscape.ingest.staging import Reading, Unsettled
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage import documents, roots
from mindscape_storage.database import Connection

Settle = Callable[[Connection], None]


class Parser(Protocol):
    """A worker process that holds a few files at a time."""

    async def __call__(self, method: str, params: Json, /) -> Any:
        """Call `inspect`, `recognise`, `parse` or `more` (see `mindscape.worker`)."""
        ...


class Indexer:
    """Brings documents to tier searchable."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._parsing: dict[tuple[str, str], tuple[asyncio.Lock, list[None]]] = {}

    async def index(self, wanted: dict[int, Settle], parser: Parser) -> dict[int, Unsettled]:
        """Read, parse, cut and store documents, a few at a time.

        Each leaves `wanted` with the transaction that settles it, in which its function there is called.
        Returned are those whose files change. Raises what killed the parser.
        """
        readings = await self._library.read(lambda c: _readings(c, wanted))
        gone = [settle for document_id, settle in wanted.items() if document_id not in readings]
        if gone:
            await self._library.write(lambda c: [settle(c) for settle in gone])
        for document_id in wanted.keys() - readings.keys():
            del wanted[document_id]
        await self._index(list(readings.values()), wanted, parser)
        return {one.document.id: one.unsettled for one in readings.values() if one.unsettled}

    async def _index(self, readings: Sequence[Reading], wanted: dict[int, Settle], parser: Parser) -> None:
        paths = [base64.b64encode(one.document.path).decode() for one in readings]
        seen = await parser("inspect", {"paths_b64": paths}) if paths else {"files": []}
        for one, what in zip(readings, seen["files"], strict=True):
            one.inspected(what)
        async with self._alone({one.key for one in readings if one.key}):
            await self._library.read(lambda c: [one.look_up(c) for one in readings])
            await self._write(readings, wanted)
            try:
                await self._parse(readings, wanted, parser)
            except MindscapeError:
                await self._library.write(lambda c: [one.drop(c) for one in readings if one.open])
                raise
            # Copies of what was just parsed.
            await self._library.read(lambda c: [one.look_up(c) for one in readings if one.open])
            await self._write(readings, wanted)

    async def _parse(self, readings: Sequence[Reading], wanted: dict[int, Settle], parser: Parser) -> None:
        """Parse each content once, and store it batch by batch while the next one is made."""
        first = {one.key: number for number, one in reversed([*enumerate(readings)]) if one.open}
        numbers = sorted(first.values())
        for number in numbers:
            await self._recognise(readings[number], number, parser)
        left = [number for number in numbers if not readings[number].failure]
        batch: Json = {"files": [], "last": True}
        if left:
            batch = await parser("parse", {"files": left})
        while True:
            for part in batch["files"]:
                readings[part["file"]].take(part)
            if "last" in batch:
                break
            writing = asyncio.create_task(self._write(readings, wanted))
            try:
                batch = await parser("more", {})
            finally:
                await writing
        await self._write(readings, wanted)

    async def _recognise(self, one: Reading, number: int, parser: Parser) -> None:
        """Let OCR read what has no text, page by page, so that no call takes long."""
        while one.by_ocr:
            answer = await parser("recognise", {"file": number})
            if "status" in answer:
                one.take(answer)
            if "page" not in answer:
                return
            one.pages += 1

    async def _write(self, readings: Sequence[Reading], wanted: dict[int, Settle]) -> None:
        ready = [one for one in readings if one.ready]
        if not ready:
            return
        await self._library.write(lambda c: [one.write(c) for one in ready])
        for one in ready:
            if one.settled:
                del wanted[one.document.id]

    @asynccontextmanager
    async def _alone(self, keys: Collection[tuple[str, str]]) -> AsyncGenerator[None]:
        """Copies of one file are parsed once: the second waits here and finds the content of the first."""
        async with AsyncExitStack() as stack:
            # In one order, so that no two wait for each other.
            for key in sorted(keys):
                lock, users = self._parsing.setdefault(key, (asyncio.Lock(), []))
                users.append(None)
                stack.callback(self._leave, key)
                await stack.enter_async_context(lock)
            yield

    def _leave(self, key: tuple[str, str]) -> None:
        users = self._parsing[key][1]
        users.pop()
        if not users:
            del self._parsing[key]


def _readings(connection: Connection, wanted: dict[int, Settle]) -> dict[int, Reading]:
    """Those that are still there."""
    asking = roots.roots_with_ocr(connection)
    by_ocr = bool(asking) and ocr.installed()
    readings: dict[int, Reading] = {}
    for document_id, settle in wanted.items():
        document = documents.get_document(connection, document_id)
        if document is not None:
            asked = document.root_id in asking
            readings[document_id] = Reading(document, settle, asked, asked and by_ocr, document.stat)
    return readings
