"""JSON, YAML, TOML and INI files: the file itself, cut by lines, with the parts that its own headers name."""

from __future__ import annotations

import re

from mindscape.ingest.formats.lines import Lines, lines_of
from mindscape.ingest.media_types import INI, TOML, YAML
from mindscape.ingest.parsed import Parsed, Source

_TABLE = re.compile(r"\[\[?\s*([^\[\]]{1,200}?)\s*\]\]?\s*(?:[#;].*)?")
_KEY = re.compile(
    r"(?:\"([^\"]{1,200})\"|'([^']{1,200})'|([^\s#\-\[\]{}&*!|>%@`\"'][^:#]{0,200}?))\s*:(?:\s+[|>&!#].*)?"
)
_HEADERS = {INI: _TABLE, TOML: _TABLE, YAML: _KEY}
_FEW = 50
_LEAST_LENGTH = 300
"""Code points of a part, on average, where there are many: parts of a line or two are a list of data."""


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; `[table]` headers of TOML and INI, and YAML keys with lines below, open sections."""
    lines = lines_of(source)
    header = _HEADERS.get(media_type)
    parts = _parts(lines, header) if header else []
    titled = len(parts) <= _FEW or len(parts) * _LEAST_LENGTH <= len(lines.decoded.text)
    first = 0
    for number, name in parts:
        lines.add("code", first, number)
        first = number
        if titled:
            lines.add_heading(1, name, number, number + 1)
            first = number + 1
    lines.add("code", first, len(lines))
    lines.add_urls()
    return lines.parsed(media_type)


def _parts(lines: Lines, header: re.Pattern[str]) -> list[tuple[int, str]]:
    """The lines that are headers with something below, and the names in them."""
    found: list[tuple[int, str]] = []
    for number in range(len(lines)):
        match = header.fullmatch(lines[number])
        if match and lines[number + 1]:
            found.append((number, next(filter(None, match.groups()))))
    return found
