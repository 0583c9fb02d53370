"""Parsing, type by type, beside the bare library at its bare minimum: the words, and nothing known of them.

A ratio of 1 would mean that headings, sections, pages, tables, links, warnings, the reading order and the
limits against hostile files cost nothing. Both sides read the same bytes in the same run and process.
"""

from __future__ import annotations

import csv
import email
import email.policy
import io
import json
import mailbox
import os
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docx
import lxml.etree
import lxml.html
import pptx
import pypdfium2
from markdown_it import MarkdownIt
from python_calamine import CalamineWorkbook
from striprtf.striprtf import rtf_to_text

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import ParseFailure, Source
from tests.benchmarks.made_files import MAKERS, book
from tests.benchmarks.table import machine

SHARED = Path(os.environ.get("MINDSCAPE_SHARED") or Path(__file__).parents[2].parent / "shared") / "data"
FOLDERS = ("notes", "stress")
ROUNDS = 5
LEAST_BYTES = 200_000
Bare = Callable[[bytes], object]


def _pdf(data: bytes) -> object:
    with pypdfium2.PdfDocument(data) as document:
        return [document[number].get_textpage().get_text_range() for number in range(len(document))]


def _docx(data: bytes) -> object:
    return [paragraph.text for paragraph in docx.Document(io.BytesIO(data)).paragraphs]


def _members(data: bytes, endings: tuple[str, ...], read: Callable[[bytes], object]) -> object:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [read(archive.read(name)) for name in archive.namelist() if name.endswith(endings)]


def _html(data: bytes) -> object:
    page: Any = lxml.html.fromstring(data)
    return page.text_content()


def _xml(data: bytes) -> object:
    return "".join(str(piece) for piece in lxml.etree.fromstring(data).itertext())


def _calamine(data: bytes) -> object:
    workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
    return [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]


def _pptx(data: bytes) -> object:
    slides = pptx.Presentation(io.BytesIO(data)).slides
    shapes: list[Any] = [shape for slide in slides for shape in slide.shapes]
    return [shape.text_frame.text for shape in shapes if shape.has_text_frame]


def _mail(message: Any) -> object:
    body = message.get_body(("plain", "html"))
    return body.get_content() if body else ""


def _mbox(data: bytes) -> object:
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        return [
            _mail(email.message_from_bytes(one.as_bytes(), policy=email.policy.default))
            for one in mailbox.mbox(file.name)
        ]


def _rtf(data: bytes) -> object:
    return rtf_to_text(data.decode("cp1252"))


def _notebook(data: bytes) -> object:
    return ["".join(cell["source"]) for cell in json.loads(data)["cells"]]


BARE: dict[str, tuple[str, Bare]] = {
    "pdf": ("pypdfium2, the text of each page", _pdf),
    "docx": ("python-docx, paragraphs", _docx),
    "odt": ("zipfile and lxml, all text", lambda data: _members(data, ("content.xml",), _xml)),
    "rtf": ("striprtf", _rtf),
    "epub": ("zipfile and lxml, all text", lambda data: _members(data, (".xhtml", ".html"), _html)),
    "html": ("lxml.html, text_content", _html),
    "md": ("markdown-it, parse", lambda data: MarkdownIt("commonmark").parse(data.decode())),
    "txt": ("decode", lambda data: data.decode()),
    "csv": ("csv.reader", lambda data: list(csv.reader(io.StringIO(data.decode())))),
    "xlsx": ("calamine, to_python", _calamine),
    "pptx": ("python-pptx, text frames", _pptx),
    "eml": (
        "email, get_content",
        lambda data: _mail(email.message_from_bytes(data, policy=email.policy.default)),
    ),
    "mbox": ("mailbox and email, get_content", _mbox),
    "ipynb": ("json, sources of cells", _notebook),
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Files of one type, read both ways; times in seconds."""

    ending: str
    what: str
    size: int
    pages: int
    ours: float
    bare: float

    @property
    def ratio(self) -> float:
        """Our time against the bare library's."""
        return self.ours / self.bare


def run() -> list[Measured]:
    """Every type on a file made here, then on the shared folders where there are any."""
    chapters = book()
    made = [_measured(ending, "made", [make(chapters)], ROUNDS) for ending, make in MAKERS.items()]
    return made + [
        found for name in FOLDERS for ending in BARE if (found := _shared(SHARED / name, name, ending))
    ]


def markdown(rows: Iterable[Measured]) -> str:
    """The table."""
    lines = [
        machine(),
        "",
        "| type | files | Mindscape | bare library | time against it |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        bare = f"{_rate(row, row.bare)} ({BARE[row.ending][0]})"
        lines.append(f"| {row.ending} | {row.what} | {_rate(row, row.ours)} | {bare} | {row.ratio:.1f}x |")
    return "\n".join(lines) + "\n"


def _rate(row: Measured, seconds: float) -> str:
    if row.pages:
        return f"{row.pages / seconds:,.0f} pages/s"
    rate = row.size / 1e6 / seconds
    return f"{rate:,.0f} MB/s" if rate >= 10 else f"{rate:.1f} MB/s"


def _shared(folder: Path, name: str, ending: str) -> Measured | None:
    """The files of this type that both sides can read; None where there are too few to time."""
    files = [path.read_bytes() for path in sorted(folder.rglob(f"*.{ending}")) if path.is_file()]
    readable = [data for data in files if _reads(ending, data)]
    return _measured(ending, name, readable, 2) if sum(map(len, readable)) >= LEAST_BYTES else None


def _reads(ending: str, data: bytes) -> bool:
    try:
        _ours(ending, data)
        BARE[ending][1](data)
    except ParseFailure:
        return False
    except Exception:  # noqa: BLE001 - the bare library raises what it likes
        return False
    return True


def _measured(ending: str, name: str, files: list[bytes], rounds: int) -> Measured:
    size = sum(map(len, files))
    pages = sum(len(pypdfium2.PdfDocument(data)) for data in files) if ending == "pdf" else 0
    many = f"{len(files):,} files, " if len(files) > 1 else ""
    pairs = [
        (_time(lambda data: _ours(ending, data), files), _time(BARE[ending][1], files)) for _ in range(rounds)
    ]
    # The best of each: the first round warms up, and others are held up by whatever else runs.
    ours, bare = (min(side) for side in zip(*pairs, strict=True))
    paged = f", {pages:,} pages" if pages else ""
    return Measured(ending, f"{name}: {many}{size / 1e6:,.1f} MB{paged}", size, pages, ours, bare)


def _ours(ending: str, data: bytes) -> object:
    return parse(Source(Path(f"file.{ending}"), data))


def _time(work: Bare, files: list[bytes]) -> float:
    began = time.perf_counter()
    for data in files:
        work(data)
    return time.perf_counter() - began


if __name__ == "__main__":
    print(markdown(run()))
