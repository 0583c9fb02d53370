"""Comma- and tab-separated values: the file itself as one table."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator

from mindscape.ingest.formats.rows import looks_like_header
from mindscape.ingest.media_types import TSV
from mindscape.ingest.parsed import Parsed, Source
from mindscape.ingest.runs import Window, runs
from mindscape.ingest.stream import Stretch, gathered, stretch

_LINE_END = re.compile(r"\r\n|\r|\n")


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file, a table whose first row is its header unless it looks like data."""
    return gathered(source, media_type, stream)


def stream(window: Window, media_type: str) -> Iterator[Stretch]:
    """A stretch for as many rows as a run may have, each a table with the same header."""
    header: str | None = None
    for run in runs(window, blank_lines=False):
        if header is None and run.text:
            header = _header(run.text, "\t" if media_type == TSV else None)
        yield stretch(run, "table", header or "")


def _header(text: str, delimiter: str | None) -> str:
    """The first row as it stands in the file; empty when it is data."""
    lines = _LINE_END.split(text, maxsplit=20)[:20]
    delimiter = delimiter or max(",;\t|", key=lambda mark: _agreement(lines, mark))
    cells = next(csv.reader(lines[:1], delimiter=delimiter), [])
    return lines[0].strip() if len(lines) > 1 and (looks_like_header(cells)) else ""


def _agreement(lines: list[str], delimiter: str) -> int:
    """How many of the first lines have as many cells as the first, weighted by the cells."""
    cells = [line.count(delimiter) for line in lines]
    return cells[0] * sum(count == cells[0] for count in cells)
