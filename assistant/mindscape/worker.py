"""A worker process: parses and cuts a few files at a time, under limits, and keeps nothing of them.

`python -m mindscape.worker --fd N`. Methods, with files named by their number in the last `inspect`:
`inspect` reads files and says what they are; `parse` gives the first batch of what is in some of them, `more`
each next one. A batch is {"files": [...]}, with "last" when it is the last; what it says of a file is
{"file": number} with rows by kind (passages, then sections, marks and links), with `text_like` in the first
part, and in the last `done`, what is said of it as a whole, or a status. So the daemon sets the pace, memory
stays flat, and a batch fits into a message. `summarise` makes summaries from the texts of nodes' children.
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import hashlib
import json
import os
import resource
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from mindscape.ingest.decode import TextDecoder, detect
from mindscape.ingest.parse import BLANK, media_type_of, parse, says_anything, stream_of
from mindscape.ingest.parsed import ParseFailure, ReadLine, Source
from mindscape.ingest.passages import cut
from mindscape.ingest.reading import OpenFile
from mindscape.ingest.stream import Sample, Stream, TextStream, decoded
from mindscape.ingest.summarise import Kind, summary
from mindscape.protocol import Json
from mindscape.rpc import Stream as Reply
from mindscape.rpc import serve_child
from mindscape_storage.records import NewPassage, Status

BATCH_ROWS = 400
BATCH_BYTES = 2 << 20
"""A batch ends once it is this large; its last row is far smaller than what a message may hold beyond it."""
BATCH_SECONDS = 0.5
"""A batch ends after so long: who waits for the first files of many does not wait for the last."""
HEAD_BYTES = 4096
LISTS = ("passages", "sections", "marks", "links")
_PASSAGE = attrgetter(*(field.name for field in dataclasses.fields(NewPassage)))
"""Its values as a tuple; `astuple` copies every one of them."""
OCR_BYTES = 1536 << 20
"""Of address space: what OCR's libraries, models and pictures took at most, measured on dense pages."""

Rows = Iterator[tuple[str, Any]]
"""All that is sent of a file: rows by their kind, one of LISTS, and `facts`, which are said once."""


@dataclass(frozen=True, slots=True)
class LongText:
    """A file that is read in pieces: once for its hash, and once more for its text."""

    path: bytes
    digest: str
    media_type: str
    sample: bytes
    stream: Stream
    warnings: tuple[str, ...]

    def rows(self, max_bytes: int) -> Rows:
        """Passages as they are cut. Raises ParseFailure; PENDING when the file is not what it was before."""
        yield "facts", {"text_like": True}
        detected = detect(self.sample, whole=False)
        with closing(OpenFile(self.path, max_bytes)) as file:
            texts = decoded(file.pieces(), detected, TextDecoder(detected))
            if not any(says_anything(text) for text in texts):
                raise ParseFailure(Status.EMPTY, BLANK)
            text = TextStream(self._same(file), detected, self.media_type, self.stream)
            yield from (("passages", _PASSAGE(passage)) for passage in text.passages())
        yield from (("sections", dataclasses.astuple(section)) for section in text.sections)
        info = {
            "encoding": detected.encoding,
            "encoding_confidence": detected.confidence,
            "warnings": [*text.warnings, *self.warnings],
        }
        yield "facts", _done(text.length, info)

    def _same(self, file: OpenFile) -> Iterator[bytes]:
        digest = hashlib.sha256()
        for piece in file.pieces():
            digest.update(piece)
            yield piece
        if digest.hexdigest() != self.digest:
            raise ParseFailure(Status.PENDING, f"{file.name} changed while it was read.")


class Worker:
    """Holds the files that are being parsed, between its calls."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._held: dict[int, Source | LongText] = {}
        self._rows: Iterator[tuple[int, str, Any]] = iter(())
        self._reads: dict[int, Iterator[tuple[int, tuple[ReadLine, ...]]]] = {}

    async def handle(self, method: str, params: Json, reply: Reply) -> Any:
        """Answer the daemon. A file that cannot be indexed is a result with its status, not an error."""
        del reply
        calls = {
            "inspect": self._inspect,
            "recognise": self._recognise,
            "parse": self._parse,
            "more": self._more,
            "summarise": self._summarise,
        }
        return calls[method](params)

    def _inspect(self, params: Json) -> Json:
        """Read files once: of each {"stat", "hash", "media_type"}, or {"stat", "status", "reason"}."""
        self._held, self._rows, self._reads = {}, iter(()), {}
        paths = [base64.b64decode(path) for path in params["paths_b64"]]
        return {"files": [self._inspect_one(number, path) for number, path in enumerate(paths)]}

    def _inspect_one(self, number: int, path: bytes) -> Json:
        answer: Json = {}
        try:
            with closing(OpenFile(path, self._max_bytes)) as file:
                answer["stat"] = list(dataclasses.astuple(file.stat))
                head = file.head(HEAD_BYTES)
                if not head and not file.stat.size:
                    raise ParseFailure(Status.EMPTY, "The file is empty.")
                target = Path(os.fsdecode(path))
                media_type = media_type_of(target, head)
                if streamed := stream_of(media_type, file.stat.size):
                    digest, sample = _hashed(file.pieces())
                    self._held[number] = LongText(path, digest, media_type, sample, *streamed)
                else:
                    data = file.read()
                    digest = hashlib.sha256(data).hexdigest()
                    self._held[number] = Source(target, data)
        except (ParseFailure, MemoryError) as error:
            return {**answer, **_said(error)}
        return {**answer, "media_type": media_type, "hash": "sha256:" + digest}

    def _recognise(self, params: Json) -> Json:
        """Let OCR read the next page that says less than it shows: {"page": number}, or {} after the last."""
        number = params["file"]
        held = self._held.get(number)
        if not isinstance(held, Source):
            return {}
        try:
            if number not in self._reads:
                # What it needs takes long to import, and few workers are asked.
                from mindscape.ingest.formats.page_pictures import read_pages

                media_type = media_type_of(held.path, held.data[:HEAD_BYTES])
                self._reads[number] = read_pages(held, media_type, _recogniser)
            for page, lines in self._reads[number]:
                self._held[number] = dataclasses.replace(held, read_pages={**held.read_pages, page: lines})
                return {"page": page}
        except (ParseFailure, MemoryError) as error:
            return _said(error)
        return {}

    def _parse(self, params: Json) -> Json:
        """Parse some of what was inspected, each once: the first batch."""
        self._reads = {}
        self._rows = self._rows_of(params["files"])
        return self._more({})

    def _rows_of(self, numbers: list[int]) -> Iterator[tuple[int, str, Any]]:
        for number in numbers:
            held = self._held.pop(number)
            rows = held.rows(self._max_bytes) if isinstance(held, LongText) else _rows(held)
            del held
            try:
                yield from ((number, kind, row) for kind, row in rows)
            except (ParseFailure, MemoryError) as error:
                yield number, "facts", _said(error)

    def _more(self, params: Json) -> Json:
        """The next batch."""
        del params
        parts: dict[int, Json] = {}
        count = size = 0
        end = time.monotonic() + BATCH_SECONDS
        while count < BATCH_ROWS and size < BATCH_BYTES and time.monotonic() < end:
            one = next(self._rows, None)
            if one is None:
                return {"files": list(parts.values()), "last": True}
            number, kind, row = one
            part = parts.setdefault(number, {"file": number})
            if kind in LISTS:
                part.setdefault(kind, []).append(row)
            else:
                part.update(row)
            count += 1
            # Escaped as ASCII a row is never shorter than as it is sent.
            size += len(json.dumps(row))
        return {"files": list(parts.values())}

    def _summarise(self, params: Json) -> Json:
        """{"summaries"} of nodes, given as {"kind", "children": texts}; null where memory fails."""

        def made(node: Json) -> str | None:
            try:
                return summary(Kind(node["kind"]), node["children"])
            except MemoryError:
                return None

        return {"summaries": [made(node) for node in params["nodes"]]}


def _recogniser() -> Any:
    """OCR, with memory for its models besides what a file may take. They stay until the worker is stopped."""
    from mindscape.ingest.ocr import recogniser

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return recogniser()


def _rows(source: Source) -> Rows:
    parsed = parse(source)
    del source
    yield "facts", {"text_like": parsed.text_like}
    yield from (("passages", _PASSAGE(passage)) for passage in cut(parsed))
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
    yield "facts", _done(len(parsed.text), info)


def _done(length: int, info: Json) -> Json:
    """What is said of a file as a whole: the length of its text in code points, and `ContentInfo`."""
    return {"done": {"length": length, "info": info}}


def _said(error: ParseFailure | MemoryError) -> Json:
    """Why a file is not indexed."""
    if isinstance(error, ParseFailure):
        return {"status": error.status.value, "reason": error.reason}
    reason = "It needs more memory than one file may take (parse_memory_mb in config.toml)."
    return {"status": Status.TOO_LARGE.value, "reason": reason}


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
    # A buffer for each core of a large machine would not fit under the limit.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    serve_child(given.fd, Worker(given.max_file_mb * 1_000_000).handle)


def _limit(kind: int, value: int, room: int = 0) -> None:
    """Limit the process; up to `room` more it may allow itself later."""
    _, hard = resource.getrlimit(kind)
    most = value + room if hard == resource.RLIM_INFINITY else min(value + room, hard)
    resource.setrlimit(kind, (min(value, most), most))


if __name__ == "__main__":
    main()
