"""How a file becomes searchable, and then embedded: the only file that knows the order of the stages.

    scan -> inspect (read and hash) -> parse -> cut -> store -> embed

Each stage's result is committed before the next begins, so a daemon that is killed goes on where it was.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections import defaultdict
from typing import Any, Protocol

from mindscape.ingest.parse import PARSER_VERSION
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage import contents, counters, documents
from mindscape_storage.database import Connection
from mindscape_storage.records import ContentInfo, Document, FileStat, Mark, NewPassage, Section, Status

FLUSH_PASSAGES = 2_000
"""Passages written in one transaction; what is staged is invisible until the content is complete."""


HALF_WRITTEN = (Status.EMPTY, Status.DAMAGED)
"""What a file may seem to be while it is still being written, or copied by another program."""
SETTLED_SECONDS = 2.0
"""So long after its last change it is taken at its word; and read again whenever it changes."""


class Parser(Protocol):
    """A worker process that holds one file at a time."""

    async def __call__(self, method: str, params: Json, /) -> Any:
        """Call `inspect`, `parse` or `more` (see `mindscape.worker`)."""
        ...


class Unsettled(Exception):
    """The file is changing or has gone: look again after a moment."""

    def __init__(self, reason: str, seconds: float = 0.5) -> None:
        super().__init__(reason)
        self.seconds = seconds


class Indexer:
    """Brings single documents to tier searchable."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._parsing: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def index(self, document_id: int, parser: Parser) -> None:
        """Read, parse, cut and store one document. Raises Unsettled, or what killed the parser."""
        document = await self._library.read(lambda c: documents.get_document(c, document_id))
        if document is None:
            return
        seen = await parser("inspect", {"path_b64": base64.b64encode(document.path).decode()})
        if seen.get("status") == Status.PENDING:
            raise Unsettled(seen["reason"])
        stat = FileStat(*seen["stat"]) if "stat" in seen else document.stat
        if "status" in seen:
            await self._give_up(document, stat, seen)
            return
        key = f"{seen['hash']} {seen['media_type']}"
        # Copies of one file are parsed once: the second waits here and finds the content of the first.
        async with self._parsing[key]:
            await self._index_content(document, stat, seen, parser)
        if not self._parsing[key].locked():
            del self._parsing[key]

    async def _index_content(self, document: Document, stat: FileStat, seen: Json, parser: Parser) -> None:
        identity = (seen["hash"], seen["media_type"], PARSER_VERSION)
        known = await self._library.read(lambda c: contents.find_content(c, *identity))
        if known is not None:
            done = await self._library.write(lambda c: _point_at(c, document.id, stat, known, identity))
            if done:
                return
        parsed = await parser("parse", {})
        await self._library.write(lambda c: counters.bump(c, "parses"))
        if "status" in parsed:
            await self._give_up(document, stat, parsed)
            return
        await self._store(document, stat, identity, parsed, parser)

    async def _store(
        self, document: Document, stat: FileStat, identity: tuple[str, str, str], parsed: Json, parser: Parser
    ) -> None:
        """Stage the passages batch by batch; the last transaction completes the content and points at it."""
        content: int | None = None
        batch: list[NewPassage] = []
        places: dict[str, list[Any]] = {"sections": [], "marks": [], "links": []}

        def stage(connection: Connection) -> int:
            staged = content or contents.begin_content(connection, *identity, parsed["text_like"])
            contents.add_passages(connection, staged, batch)
            return staged

        def complete(connection: Connection) -> None:
            staged = stage(connection)
            info = _info(parsed["info"], places["links"])
            sections = [Section(*row[:-1], path=tuple(row[-1])) for row in places["sections"]]
            marks = [Mark(*row) for row in places["marks"]]
            contents.finish_content(connection, staged, parsed["length"], info, sections, marks)
            documents.finish(connection, document.id, stat, Status.OK, None, staged)

        while rows := await parser("more", {}):
            if "status" in rows:
                await self._give_up(document, stat, rows, staged=content)
                return
            for kind, held in places.items():
                held += rows.get(kind, ())
            batch += [_passage(row) for row in rows.get("passages", ())]
            if len(batch) >= FLUSH_PASSAGES:
                content = await self._library.write(stage)
                batch = []
        if content is None and not batch:
            blank = {"status": Status.EMPTY, "reason": "There is no text in it."}
            await self._give_up(document, stat, blank)
            return
        await self._library.write(complete)

    async def _give_up(
        self, document: Document, stat: FileStat, said: Json, staged: int | None = None
    ) -> None:
        status, reason = Status(said["status"]), said["reason"]
        wait = _unsettled_for(stat) if status in HALF_WRITTEN else 0.0

        def settle(connection: Connection) -> None:
            if not wait:
                documents.finish(connection, document.id, stat, status, reason, None)
            contents.collect_unused(connection, [] if staged is None else [staged])

        await self._library.write(settle)
        if wait:
            raise Unsettled(reason, wait)


def _point_at(
    connection: Connection, document_id: int, stat: FileStat, content: int, identity: tuple[str, str, str]
) -> bool:
    """Point the document at a known content; False when that was collected meanwhile."""
    if contents.find_content(connection, *identity) != content:
        return False
    documents.finish(connection, document_id, stat, Status.OK, None, content)
    return True


def _passage(row: list[Any]) -> NewPassage:
    ordinal, start, end, text, line, heading, prefix = row
    return NewPassage(ordinal, start, end, text, line, tuple(heading), prefix)


def _unsettled_for(stat: FileStat) -> float:
    """Seconds until a file counts as written; a time that lies in the future says nothing."""
    now = time.time()
    changed = (moment / 1e9 for moment in (stat.mtime_ns, stat.ctime_ns))
    return max([0.0, *(moment + SETTLED_SECONDS - now for moment in changed if moment <= now)])


def _info(info: Json, links: list[str]) -> ContentInfo:
    rest: Json = {**info, "warnings": tuple(info["warnings"])}
    return ContentInfo(**rest, links=tuple(links))
