"""One document on its way into the library: what its worker says of it, put together and stored."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mindscape.ingest import ocr
from mindscape.ingest.media_types import PICTURE_ENDINGS
from mindscape.ingest.parse import PARSER_VERSION
from mindscape.protocol import Json
from mindscape_storage import contents, counters, documents
from mindscape_storage.database import Connection
from mindscape_storage.records import ContentInfo, Document, FileStat, Mark, NewPassage, Section, Status

OCR_PARSER_VERSION = f"{PARSER_VERSION}+{ocr.VERSION}"
"""Of a content that OCR has read a part of: folders with and without OCR may hold the same file."""
FLUSH_PASSAGES = 2_000
"""Passages held of a document before they are stored; what is staged is invisible until it is complete."""
HALF_WRITTEN = (Status.EMPTY, Status.DAMAGED)
"""What a file may seem to be while it is still being written, or copied by another program."""
SETTLED_SECONDS = 2.0
"""So long after its last change it is taken at its word; and read again whenever it changes."""

Identity = tuple[str, str, str]
"""Of a content: hash of the bytes, media type, parser version."""


class Unsettled(Exception):
    """The file is changing or has gone: look again after a moment."""

    def __init__(self, reason: str, seconds: float = 0.5) -> None:
        super().__init__(reason)
        self.seconds = seconds


@dataclass(slots=True)
class Reading:
    """A document, what is known of its file so far, and what of that is stored."""

    document: Document
    settle: Callable[[Connection], None]
    """Called in the transaction that settles the document."""
    asked: bool
    """Whether its folder asks for OCR."""
    by_ocr: bool
    """Whether it has it."""
    stat: FileStat
    key: tuple[str, str] | None = None
    """Hash and media type."""
    known: Identity | None = None
    """Under which all that is to be read of it is stored already."""
    pages: int = 0
    """Read by OCR."""
    done: Json | None = None
    failure: Json | None = None
    unsettled: Unsettled | None = None
    settled: bool = False
    _parses: int = 0
    """Not counted yet."""
    _text_like: bool | None = None
    _content: int | None = None
    _passages: list[NewPassage] = field(default_factory=list[NewPassage])
    _places: dict[str, list[Any]] = field(default_factory=lambda: {"sections": [], "marks": [], "links": []})

    @property
    def open(self) -> bool:
        """True while it waits for what the worker will say."""
        return not self.settled and self.unsettled is None

    def inspected(self, seen: Json) -> None:
        """What `inspect` says: {"stat", "hash", "media_type"}, or a status with its reason."""
        self.stat = FileStat(*seen["stat"]) if "stat" in seen else self.stat
        if "status" in seen:
            self.failure = seen
        else:
            self.key = seen["hash"], seen["media_type"]

    def take(self, part: Json) -> None:
        """What a batch says of it."""
        if self._text_like is None:
            self._parses, self._text_like = 1, part.get("text_like", False)
        self._passages += [_passage(row) for row in part.get("passages", ())]
        for kind, held in self._places.items():
            held += part.get(kind, ())
        self.done = part.get("done")
        if "status" in part:
            self.failure = part
        elif self.done and self._content is None and not self._passages:
            self.failure = {"status": Status.EMPTY.value, "reason": "There is no text in it."}

    @property
    def ready(self) -> bool:
        """Whether there is something to `write` now."""
        whole = self.done or self.failure or self.known
        return self.open and (bool(whole) or len(self._passages) >= FLUSH_PASSAGES)

    def look_up(self, connection: Connection) -> None:
        """Find what is stored of the same bytes."""
        if self.key is None or self.failure:
            return
        read, plain = (*self.key, OCR_PARSER_VERSION), (*self.key, PARSER_VERSION)
        content = contents.find_content(connection, *plain)
        if self.by_ocr and contents.find_content(connection, *read) is not None:
            self.known = read
        elif content is not None and not (self.by_ocr and _lacks_text(connection, content)):
            self.known = plain

    def write(self, connection: Connection) -> None:
        """Store what was taken; with the last of it the document is settled, or known to be unsettled."""
        if self._parses:
            counters.bump(connection, "parses")
            self._parses = 0
        if documents.get_document(connection, self.document.id) is None:
            self.drop(connection)
            self._end(connection)
        elif self.known:
            self._point_at_known(connection, self.known)
        elif self.failure:
            self._give_up(connection, Status(self.failure["status"]), self.failure["reason"])
        else:
            self._store(connection)

    def drop(self, connection: Connection) -> None:
        """Delete what is staged."""
        if self._content is not None:
            contents.collect_unused(connection, [self._content])
            self._content = None

    def _store(self, connection: Connection) -> None:
        assert self.key
        if self._content is None:
            identity = (*self.key, OCR_PARSER_VERSION if self.pages else PARSER_VERSION)
            self._content = contents.begin_content(connection, *identity, bool(self._text_like))
        contents.add_passages(connection, self._content, self._passages)
        self._passages = []
        if self.done:
            sections = [Section(*row[:-1], path=tuple(row[-1])) for row in self._places["sections"]]
            marks = [Mark(*row) for row in self._places["marks"]]
            info = _info(self.done["info"], self._places["links"])
            contents.finish_content(connection, self._content, self.done["length"], info, sections, marks)
            self._finish(connection, Status.OK, None, self._content)

    def _point_at_known(self, connection: Connection, known: Identity) -> None:
        content = contents.find_content(connection, *known)
        if content is None:
            self.known = None  # collected meanwhile: it is parsed after all
        else:
            self._finish(connection, Status.OK, None, content)

    def _give_up(self, connection: Connection, status: Status, reason: str) -> None:
        self.drop(connection)
        wait = _unsettled_for(self.stat) if status in HALF_WRITTEN else 0.0
        if status is Status.PENDING:
            self.unsettled = Unsettled(reason)
        elif wait:
            self.unsettled = Unsettled(reason, wait)
        else:
            self._finish(connection, status, reason, None)

    def _finish(
        self, connection: Connection, status: Status, reason: str | None, content: int | None
    ) -> None:
        if self.asked and not self.by_ocr and _needs_ocr(connection, self.document, status, content):
            reason = " ".join(filter(None, (reason, ocr.missing())))
        documents.finish(connection, self.document.id, self.stat, status, reason, content)
        self._end(connection)

    def _end(self, connection: Connection) -> None:
        self.settle(connection)
        self.settled = True


def _lacks_text(connection: Connection, content: int) -> bool:
    return bool(contents.content_info(connection, content).metadata.get("pages_without_text"))


def _needs_ocr(connection: Connection, document: Document, status: Status, content: int | None) -> bool:
    picture = status is Status.UNSUPPORTED and document.display.lower().endswith(PICTURE_ENDINGS)
    return picture or status is Status.NO_TEXT or (content is not None and _lacks_text(connection, content))


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
