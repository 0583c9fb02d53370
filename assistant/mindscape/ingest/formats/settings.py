"""JSON, YAML, TOML and INI files: the file itself, cut by lines, with the parts that its own headers name."""

from __future__ import annotations

import re

from mindscape.ingest.formats.lines import lines_of
from mindscape.ingest.media_types import INI, TOML, YAML
from mindscape.ingest.parsed import Parsed, Source

_TABLE = re.compile(r"\[\[?\s*([^\[\]]{1,200}?)\s*\]\]?\s*(?:[#;].*)?")
_KEY = re.compile(
    r"(?:\"([^\"]{1,200})\"|'([^']{1,200})'|([^\s#\-\[\]{}&*!|>%@`\"'][^:#]{0,200}?))\s*:(?:\s+[|>&!#].*)?"
)


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; `[table]` headers of TOML and INI, and YAML keys with lines below, open sections."""
    lines = lines_of(source)
    first = 0
    header = {INI: _TABLE, TOML: _TABLE, YAML: _KEY}.get(media_type)
    for number in range(len(lines)) if header else ():
        found = header.fullmatch(lines[number]) if header else None
        if found and lines[number + 1].strip():
            lines.add("code", first, number)
            lines.add_heading(1, next(filter(None, found.groups())), number, number + 1)
            first = number + 1
    lines.add("code", first, len(lines))
    lines.add_urls()
    return lines.parsed(media_type)
