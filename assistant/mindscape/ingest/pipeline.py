"""How a file becomes searchable, and then embedded: the only file that knows the order of the stages.

    scan -> inspect (read and hash) -> recognise (OCR, where asked for) -> parse -> cut -> store -> embed

Each stage's result is committed before the next begins, so a daemon that is killed goes on where it was.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections import defaultdict
from typing import Any, Protocol

from mindscape.ingest import ocr
from mindscape.ingest.media_types import PICTURE_ENDINGS
from mindscape.ingest.parse import PARSER_VERSION
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage import contents, counters, documents, roots
from mindscape_storage.database import Connection
from mindscape_storage.records import ContentInfo, Document, FileStat, Mark, NewPassage, Section, Status

OCR_PARSER_VERSION = f"{PARSER_VERSION}+{ocr.VERSION}"
"""Of a content that OCR has read a part of: folders with and without OCR may hold the same file."""
FLUSH_PASSAGES = 2_000
"""Passages written in one transaction; what is staged is invisible until the content is complete."""


HALF_WRITTEN = (Status.EMPTY, Status.DAMAGED)
"""What a file may seem to be while it is still being written, or copied by another program."""
SETTLED_SECONDS = 2.0
"""So long after its last change it is taken at its word; and read again whenever it changes."""


class Parser(Protocol):
    """A worker process that holds one file at a time."""

    async def __call__(self, method: str, params: Json, /) -> Any:
        """Call `inspect`, `recognise`, `parse` or `more` (see `mindscape.worker`)."""
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
        root = await self._library.read(lambda c: roots.get_root(c, document.root_id))
        asked = root is not None and root.ocr
        by_ocr = asked and ocr.installed()
        key: tuple[str, str] = (seen["hash"], seen["media_type"])
        known = await self._library.read(lambda c: _known(c, key, by_ocr=by_ocr))
        if known is None or not await self._library.write(lambda c: _point_at(c, document.id, stat, known)):
            await self._parse(document, stat, key, parser, by_ocr=by_ocr)
        if asked and not by_ocr:
            await self._library.write(lambda c: _say_that_ocr_is_missing(c, document.id))

    async def _parse(
        self, document: Document, stat: FileStat, key: tuple[str, str], parser: Parser, *, by_ocr: bool
    ) -> None:
        answer: Json = {}
        pages = 0
        while by_ocr and "page" in (answer := await parser("recognise", {})):
            pages += 1
        identity = (*key, OCR_PARSER_VERSION if pages else PARSER_VERSION)
        first = answer if "status" in answer else await parser("parse", {})
        await self._library.write(lambda c: counters.bump(c, "parses"))
        await self._store(document, stat, identity, first, parser)

    async def _store(
        self, document: Document, stat: FileStat, identity: tuple[str, str, str], batch: Json, parser: Parser
    ) -> None:
        """Stage the passages batch by batch; the last transaction completes the content and points at it."""
        content: int | None = None
        text_like = batch.get("text_like", False)
        passages: list[NewPassage] = []
        places: dict[str, list[Any]] = {"sections": [], "marks": [], "links": []}

        def stage(connection: Connection) -> int:
            staged = content or contents.begin_content(connection, *identity, text_like)
            contents.add_passages(connection, staged, passages)
            return staged

        def complete(connection: Connection) -> None:
            staged = stage(connection)
            info = _info(batch["done"]["info"], places["links"])
            sections = [Section(*row[:-1], path=tuple(row[-1])) for row in places["sections"]]
            marks = [Mark(*row) for row in places["marks"]]
            contents.finish_content(connection, staged, batch["done"]["length"], info, sections, marks)
            documents.finish(connection, document.id, stat, Status.OK, None, staged)

        while "status" not in batch:
            passages += [_passage(row) for row in batch.get("passages", ())]
            for kind, held in places.items():
                held += batch.get(kind, ())
            if "done" in batch:
                break
            if len(passages) >= FLUSH_PASSAGES:
                content = await self._library.write(stage)
                passages = []
            batch = await parser("more", {})
        if "done" in batch and content is None and not passages:
            batch = {"status": Status.EMPTY, "reason": "There is no text in it."}
        if "status" in batch:
            await self._give_up(document, stat, batch, staged=content)
        else:
            await self._library.write(complete)

    async def _give_up(
        self, document: Document, stat: FileStat, said: Json, staged: int | None = None
    ) -> None:
        """Nothing of the file is indexed. Raises Unsettled when it was read while it changed."""
        status, reason = Status(said["status"]), said["reason"]
        wait = _unsettled_for(stat) if status in HALF_WRITTEN else 0.0

        def settle(connection: Connection) -> None:
            if not wait:
                documents.finish(connection, document.id, stat, status, reason, None)
            contents.collect_unused(connection, [] if staged is None else [staged])

        await self._library.write(settle)
        if wait:
            raise Unsettled(reason, wait)


def _known(connection: Connection, key: tuple[str, str], *, by_ocr: bool) -> tuple[str, str, str] | None:
    """The identity under which all that is to be read of these bytes is stored already, or None."""
    read, plain = (*key, OCR_PARSER_VERSION), (*key, PARSER_VERSION)
    if by_ocr and contents.find_content(connection, *read) is not None:
        return read
    content = contents.find_content(connection, *plain)
    if content is None or (by_ocr and _lacks_text(connection, content)):
        return None
    return plain


def _lacks_text(connection: Connection, content: int) -> bool:
    return bool(contents.content_info(connection, content).metadata.get("pages_without_text"))


def _say_that_ocr_is_missing(connection: Connection, document_id: int) -> None:
    """Where the folder asks for OCR and the document needs it."""
    found = documents.get_document(connection, document_id)
    if found is None:
        return
    picture = found.status is Status.UNSUPPORTED and found.display.lower().endswith(PICTURE_ENDINGS)
    lacking = found.content_id is not None and _lacks_text(connection, found.content_id)
    if found.status is Status.NO_TEXT or picture or lacking:
        reason = " ".join(filter(None, (found.reason, ocr.missing())))
        documents.finish(connection, document_id, found.stat, found.status, reason, found.content_id)


def _point_at(
    connection: Connection, document_id: int, stat: FileStat, identity: tuple[str, str, str]
) -> bool:
    """Point the document at a known content; False when that was collected meanwhile."""
    content = contents.find_content(connection, *identity)
    if content is None:
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
