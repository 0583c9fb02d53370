"""A worker process: parses and cuts one file at a time, under limits, and keeps no state between files.

`python -m mindscape.worker --fd N`. Methods: `inspect` reads a file and says what it is; `parse` gives the
first batch of what is in it, `more` each next one: passages, then sections, marks and links, and in the last
one `done`, what is said of it as a whole. So the daemon sets the pace, memory stays flat, and a batch fits
into a message.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import hashlib
import json
import os
import resource
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindscape.errors import MindscapeError
from mindscape.ingest.decode import TextDecoder, detect
from mindscape.ingest.parse import BLANK, media_type_of, parse, says_anything, stream_of
from mindscape.ingest.parsed import Parsed, ParseFailure, ReadLine, Source
from mindscape.ingest.passages import cut
from mindscape.ingest.reading import OpenFile
from mindscape.ingest.stream import Sample, Stream, TextStream, decoded
from mindscape.protocol import Json
from mindscape.rpc import Stream as Reply
from mindscape.rpc import serve_child
from mindscape_storage.records import Status

BATCH_ROWS = 400
BATCH_BYTES = 2 << 20
"""A batch ends once it is this large; its last row is far smaller than what a message may hold beyond it."""
HEAD_BYTES = 4096
OCR_BYTES = 1536 << 20
"""Of address space: what OCR's libraries, models and pictures took at most, measured on dense pages."""

Rows = Iterator[tuple[str, Any]]
"""All that is sent of a file, each row with its kind."""


@dataclass(frozen=True, slots=True)
class LongText:
    """A file that is read in pieces: once for its hash, and once more for its text."""

    file: OpenFile
    media_type: str
    stream: Stream
    sample: bytes
    digest: str
    warnings: tuple[str, ...]

    def rows(self) -> Rows:
        """Passages as they are cut. Raises ParseFailure; PENDING when the file is not what it was before."""
        detected = detect(self.sample, whole=False)
        texts = decoded(self.file.pieces(), detected, TextDecoder(detected))
        if not any(says_anything(text) for text in texts):
            raise ParseFailure(Status.EMPTY, BLANK)
        text = TextStream(self._same_pieces(), detected, self.media_type, self.stream)
        yield from (("passages", dataclasses.astuple(passage)) for passage in text.passages())
        yield from (("sections", dataclasses.astuple(section)) for section in text.sections)
        warnings = [*text.warnings, *self.warnings]
        how = {"encoding": detected.encoding, "encoding_confidence": detected.confidence}
        yield "done", _done(text.length, {**how, "warnings": warnings})

    def _same_pieces(self) -> Iterator[bytes]:
        digest = hashlib.sha256()
        for piece in self.file.pieces():
            digest.update(piece)
            yield piece
        if digest.hexdigest() != self.digest:
            raise ParseFailure(Status.PENDING, f"{self.file.name} changed while it was read.")


class Worker:
    """Holds the file that is being parsed, between its calls."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._file: OpenFile | None = None
        self._held: Source | LongText | None = None
        self._rows: Rows = iter(())
        self._read: Iterator[tuple[int, tuple[ReadLine, ...]]] | None = None

    async def handle(self, method: str, params: Json, reply: Reply) -> Any:
        """Answer the daemon. A file that cannot be indexed is a result with its status, not an error."""
        del reply
        calls = {
            "inspect": self._inspect,
            "recognise": self._recognise,
            "parse": self._parse,
            "more": self._more,
        }
        try:
            return calls[method](params)
        except ParseFailure as failure:
            self._let_go()
            return _said(failure)
        except MemoryError:
            self._let_go()
            why = "It needs more memory than one file may take (parse_memory_mb in config.toml)."
            return _said(ParseFailure(Status.TOO_LARGE, why))

    def _inspect(self, params: Json) -> Json:
        """Read the file once: {"stat", "hash", "media_type"}, or {"stat", "status", "reason"}."""
        self._let_go()
        path = base64.b64decode(params["path_b64"])
        self._file = file = OpenFile(path, self._max_bytes)
        answer: Json = {"stat": list(dataclasses.astuple(file.stat))}
        try:
            head = file.head(HEAD_BYTES)
            if not head and not file.stat.size:
                raise ParseFailure(Status.EMPTY, "The file is empty.")
            target = Path(os.fsdecode(path))
            media_type = media_type_of(target, head)
            if streamed := stream_of(media_type, file.stat.size):
                digest, sample = _hashed(file.pieces())
                self._held = LongText(file, media_type, streamed[0], sample, digest, streamed[1])
            else:
                data = file.read()
                digest = hashlib.sha256(data).hexdigest()
                self._held = Source(target, data)
                file.close()
        except ParseFailure as failure:
            self._let_go()
            return {**answer, **_said(failure)}
        return {**answer, "media_type": media_type, "hash": "sha256:" + digest}

    def _recognise(self, params: Json) -> Json:
        """Let OCR read the next page that says less than it shows: {"page": number}, or {} after the last."""
        del params
        if not isinstance(self._held, Source):
            return {}
        if self._read is None:
            # What it needs takes long to import, and few workers are asked.
            from mindscape.ingest.formats.page_pictures import read_pages

            media_type = media_type_of(self._held.path, self._held.data[:HEAD_BYTES])
            self._read = read_pages(self._held, media_type, _recogniser)
        for number, lines in self._read:
            read = {**self._held.read_pages, number: lines}
            self._held = dataclasses.replace(self._held, read_pages=read)
            return {"page": number}
        return {}

    def _parse(self, params: Json) -> Json:
        """Parse what was inspected: `text_like` and the first batch."""
        held, self._held = self._held, None
        if held is None:
            raise MindscapeError("parse was called before inspect.")
        if isinstance(held, LongText):
            self._rows, text_like = held.rows(), True
        else:
            parsed = parse(held)
            self._rows, text_like = _rows(parsed), parsed.text_like
        return {"text_like": text_like, **self._more(params)}

    def _more(self, params: Json) -> Json:
        """The next batch, rows by kind; the one with `done` is the last."""
        del params
        batch: Json = {}
        count = size = 0
        while count < BATCH_ROWS and size < BATCH_BYTES and (one := next(self._rows, None)):
            kind, row = one
            if kind == "done":
                batch["done"] = row
                self._let_go()
                break
            batch.setdefault(kind, []).append(row)
            count += 1
            # Escaped as ASCII a row is never shorter than as it is sent.
            size += len(json.dumps(row))
        return batch

    def _let_go(self) -> None:
        self._rows, self._held, self._read = iter(()), None, None
        if self._file is not None:
            self._file.close()
            self._file = None


def _recogniser() -> Any:
    """OCR, with memory for its models besides what a file may take. They stay until the worker is stopped."""
    from mindscape.ingest.ocr import recogniser

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return recogniser()


def _rows(parsed: Parsed) -> Rows:
    yield from (("passages", dataclasses.astuple(passage)) for passage in cut(parsed))
    yield from (("sections", dataclasses.astuple(section)) for section in parsed.sections)
    yield from (("marks", dataclasses.astuple(mark)) for mark in parsed.marks)
    yield from (("links", link) for link in parsed.links)
    info = {
        "title": parsed.title,
        "encoding": parsed.encoding,
        "encoding_confidence": parsed.encoding_confidence,
        "metadata": parsed.metadata,
        "warnings": list(parsed.warnings),
    }
    yield "done", _done(len(parsed.text), info)


def _done(length: int, info: Json) -> Json:
    """What is said of a file as a whole: the length of its text in code points, and `ContentInfo`."""
    return {"length": length, "info": info}


def _said(failure: ParseFailure) -> Json:
    return {"status": failure.status.value, "reason": failure.reason}


def _hashed(pieces: Iterable[bytes]) -> tuple[str, bytes]:
    """SHA-256 of a file in pieces, and a sample of its text."""
    digest, sample = hashlib.sha256(), Sample()
    for piece in pieces:
        digest.update(piece)
        sample.add(piece)
    return digest.hexdigest(), sample.data


def main() -> None:
    """Serve the daemon at the other end of the socket pair until it closes."""
    options = argparse.ArgumentParser()
    options.add_argument("--fd", type=int, required=True)
    options.add_argument("--memory-mb", type=int, required=True)
    options.add_argument("--max-file-mb", type=int, required=True)
    given = options.parse_args()
    _limit(resource.RLIMIT_AS, given.memory_mb << 20, room=OCR_BYTES)
    _limit(resource.RLIMIT_CORE, 0)
    os.nice(10)  # indexing never makes the machine feel slow
    serve_child(given.fd, Worker(given.max_file_mb * 1_000_000).handle)


def _limit(kind: int, value: int, room: int = 0) -> None:
    """Limit the process; up to `room` more it may allow itself later."""
    _, hard = resource.getrlimit(kind)
    most = value + room if hard == resource.RLIM_INFINITY else min(value + room, hard)
    resource.setrlimit(kind, (min(value, most), most))


if __name__ == "__main__":
    main()
