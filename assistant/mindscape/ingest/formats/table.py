"""Comma- and tab-separated values: the file itself as one table."""

from __future__ import annotations

import csv
import re

from mindscape.ingest.decode import decode
from mindscape.ingest.formats.rows import looks_like_header
from mindscape.ingest.media_types import TSV
from mindscape.ingest.parsed import Block, Parsed, Source

_SAMPLE = 1 << 16
_LINE_END = re.compile(r"\r\n|\r|\n")


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file, a table whose first row is its header unless it looks like data."""
    decoded = decode(source.data)
    text = decoded.text
    start, end = len(text) - len(text.lstrip("\r\n\t ")), len(text.rstrip())
    header = _header(text[start:end], "\t" if media_type == TSV else None)
    return Parsed(
        text=text,
        media_type=media_type,
        text_like=True,
        blocks=(Block("table", start, end, header),) if start < end else (),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def _header(text: str, delimiter: str | None) -> str:
    """The first row as it stands in the file; empty when it is data."""
    lines = _LINE_END.split(text[:_SAMPLE], maxsplit=20)[:20]
    delimiter = delimiter or max(",;\t|", key=lambda mark: _agreement(lines, mark))
    cells = next(csv.reader(lines[:1], delimiter=delimiter), [])
    return lines[0].strip() if len(lines) > 1 and (looks_like_header(cells)) else ""


def _agreement(lines: list[str], delimiter: str) -> int:
    """How many of the first lines have as many cells as the first, weighted by the cells."""
    cells = [line.count(delimiter) for line in lines]
    return cells[0] * sum(count == cells[0] for count in cells)
