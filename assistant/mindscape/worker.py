"""A worker process: parses and cuts one file at a time, under limits, and keeps no state between files.

`python -m mindscape.worker --fd N`. Methods: `inspect` reads a file and says what it is; `parse` parses what
was read and says what it is as a whole; `more` gives the next batch of the rest, which may be long: sections,
marks, links and passages. So the daemon sets the pace, memory stays flat, and a batch fits into a message.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import hashlib
import json
import os
import resource
import stat
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Any

from mindscape.errors import MindscapeError
from mindscape.ingest.parse import media_type_of, parse
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape.ingest.passages import cut
from mindscape.ingest.scan import file_stat
from mindscape.protocol import Json
from mindscape.rpc import Stream, serve_child
from mindscape.text import display_path
from mindscape_storage.records import Status

BATCH_ROWS = 400
BATCH_BYTES = 2 << 20
"""A batch ends once it is this large; its last row is far smaller than what a message may hold beyond it."""
HEAD_BYTES = 4096


class Worker:
    """Holds the file that is being parsed, between its calls."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._source: Source | None = None
        self._rows: Iterator[tuple[str, Any]] = iter(())

    async def handle(self, method: str, params: Json, stream: Stream) -> Any:
        """Answer the daemon. A file that cannot be indexed is a result with its status, not an error."""
        del stream
        calls = {"inspect": self._inspect, "parse": self._parse, "more": self._more}
        try:
            return calls[method](params)
        except ParseFailure as failure:
            return {"status": failure.status.value, "reason": failure.reason}
        except MemoryError:
            return {
                "status": Status.TOO_LARGE.value,
                "reason": "It needs more memory than one file may take (parse_memory_mb in config.toml).",
            }

    def _inspect(self, params: Json) -> Json:
        """Read the file once: {"stat", "hash", "media_type"}, or {"stat", "status", "reason"}."""
        self._source, self._rows = None, iter(())
        path = base64.b64decode(params["path_b64"])
        data, seen = read_file(path, self._max_bytes)
        answer: Json = {"stat": list(dataclasses.astuple(seen))}
        if not data:
            return {**answer, "status": Status.EMPTY.value, "reason": "The file is empty."}
        target = Path(os.fsdecode(path))
        self._source = Source(target, data)
        try:
            answer["media_type"] = media_type_of(target, data[:HEAD_BYTES])
        except ParseFailure as failure:
            return {**answer, "status": failure.status.value, "reason": failure.reason}
        return {**answer, "hash": "sha256:" + hashlib.sha256(data).hexdigest()}

    def _parse(self, params: Json) -> Json:
        """Parse what was read: what is said once of the whole file."""
        del params
        if self._source is None:
            raise MindscapeError("parse was called before inspect.")
        source, self._source = self._source, None
        parsed = parse(source)
        self._rows = _rows(parsed)
        return {
            "length": len(parsed.text),
            "text_like": parsed.text_like,
            "info": {
                "title": parsed.title,
                "encoding": parsed.encoding,
                "metadata": parsed.metadata,
                "warnings": list(parsed.warnings),
            },
        }

    def _more(self, params: Json) -> Json:
        """The next batch, rows by kind (sections, marks, links, passages); an empty one is the end."""
        del params
        batch: Json = {}
        count = size = 0
        while count < BATCH_ROWS and size < BATCH_BYTES and (one := next(self._rows, None)):
            kind, row = one
            batch.setdefault(kind, []).append(row)
            count += 1
            # Escaped as ASCII a row is never shorter than as it is sent.
            size += len(json.dumps(row))
        return batch


def _rows(parsed: Parsed) -> Iterator[tuple[str, Any]]:
    """All that is sent in batches, each with its kind."""
    yield from (("sections", dataclasses.astuple(section)) for section in parsed.sections)
    yield from (("marks", dataclasses.astuple(mark)) for mark in parsed.marks)
    yield from (("links", link) for link in parsed.links)
    yield from (("passages", dataclasses.astuple(passage)) for passage in cut(parsed))


def read_file(path: bytes, max_bytes: int) -> tuple[bytes, Any]:
    """The bytes and what stat says of exactly these bytes. Never blocks on a pipe or follows a link.

    Raises ParseFailure; PENDING as its status means that the file changed meanwhile: try again.
    """
    name = display_path(os.path.basename(path))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise ParseFailure(Status.PENDING, f"{name} is gone.") from None
    except OSError as error:
        why = f"{name} cannot be opened ({error.strerror}). Mend its permissions."
        raise ParseFailure(Status.UNREADABLE, why) from error
    with FileIO(descriptor) as file:
        before = os.fstat(descriptor)
        if not stat.S_ISREG(before.st_mode):
            raise ParseFailure(Status.UNSUPPORTED, f"{name} is not a regular file; it is not read.")
        if before.st_size > max_bytes:
            size = f"{before.st_size / 1e6:.0f} MB"
            why = (
                f"{name} has {size}, more than max_file_mb in config.toml allows ({max_bytes / 1e6:.0f} MB)."
            )
            raise ParseFailure(Status.TOO_LARGE, why)
        return _read_whole(file, before, name), file_stat(before)


def _read_whole(file: FileIO, before: os.stat_result, name: str) -> bytes:
    """All bytes, when they are as many as `before` says; read twice where nothing else tells of a change."""
    data = b""
    for _ in range(2):
        file.seek(0)
        try:
            data = file.readall()
        except OSError as error:
            raise ParseFailure(
                Status.UNREADABLE, f"{name} cannot be read ({error.strerror}). The disk may be failing."
            ) from error
        if file_stat(before) != file_stat(os.fstat(file.fileno())):
            raise ParseFailure(Status.PENDING, f"{name} changed while it was read.")
        if len(data) == before.st_size:
            return data
    raise ParseFailure(
        Status.UNREADABLE,
        f"{name} gives {len(data)} bytes where its size is said to be {before.st_size}: "
        "it is made up as it is read. Copy it to a plain file to have it indexed.",
    )


def main() -> None:
    """Serve the daemon at the other end of the socket pair until it closes."""
    options = argparse.ArgumentParser()
    options.add_argument("--fd", type=int, required=True)
    options.add_argument("--memory-mb", type=int, required=True)
    options.add_argument("--max-file-mb", type=int, required=True)
    given = options.parse_args()
    _limit(resource.RLIMIT_AS, given.memory_mb << 20)
    _limit(resource.RLIMIT_CORE, 0)
    os.nice(10)  # indexing never makes the machine feel slow
    serve_child(given.fd, Worker(given.max_file_mb * 1_000_000).handle)


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    allowed = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (allowed, allowed))


if __name__ == "__main__":
    main()
