"""Source code: the file itself, in blocks of the lines that stand together."""

from __future__ import annotations

import re

from mindscape.ingest.decode import decode
from mindscape.ingest.formats.text import blank_line_runs
from mindscape.ingest.parsed import Block, Parsed, Source

_INDENTED = re.compile(r"[ \t]|[)\]}]")


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; a block starts at a line without indentation that follows a blank line."""
    decoded = decode(source.data)
    text = decoded.text
    blocks: list[Block] = []
    for start, end in blank_line_runs(text):
        # Only white space stands between the line's start and the run's.
        if blocks and (_INDENTED.match(text, start) or text[start - 1] in " \t"):
            blocks[-1] = Block("code", blocks[-1].start, end)
        else:
            blocks.append(Block("code", start, end))
    return Parsed(
        text=text,
        media_type=media_type,
        text_like=True,
        blocks=tuple(blocks),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )
