"""Tables as text: a row a line, cells apart by a bar."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mindscape.ingest.formats.build import TextBuilder
from mindscape_storage.records import Mark

SEPARATOR = " | "
_YEAR = re.compile(r"(?:FY\s?)?(?:1[5-9]|20)\d\d[A-Z]?")
_NUMBER = re.compile(r"[\s$€£¥%+(−–-]*[\d.,' ]*\d[\d.,' ]*[\s%)]*")


def looks_like_header(cells: Sequence[str]) -> bool:
    """True when a first row can be a header: two cells or more, words or years; the corner may be empty."""
    corner, *others = [cell.strip() for cell in cells] or [""]
    named = [_YEAR.fullmatch(cell) or not _NUMBER.fullmatch(cell) for cell in others if cell]
    if not others or len(named) < len(others) or not all(named):
        return False
    return not corner or not _NUMBER.fullmatch(corner)


def table_block(
    builder: TextBuilder,
    rows: Sequence[Sequence[str]],
    caption: str = "",
    has_header: bool | None = None,
    header_above: str = "",
    header_rows: int = 1,
    numbers: Sequence[int] = (),
) -> str:
    """Add a table; `has_header` None means that the first row's looks decide; a header can have several rows.

    `caption` is added in front as text of its own, `header_above` is one that is in the text already.
    `numbers` are those of the rows in their sheet, and become `line` marks. Returns the header.
    """
    lines = [SEPARATOR.join(cell.replace("\n", " ") for cell in row).strip() for row in rows]
    if has_header is None:
        has_header = len(rows) > 1 and looks_like_header(rows[0])
    header = "\n".join(filter(None, (caption or header_above, *(lines[:header_rows] if has_header else ()))))
    if caption:
        builder.add("paragraph", caption)
    if numbers:
        builder.mark("line", str(numbers[0]))
    builder.add("table", "\n".join(line for line in lines if line), header)
    at = builder.blocks[-1].start if numbers else 0
    for line, number in zip(lines, numbers[1:], strict=False):
        at += len(line) + 1
        builder.marks.append(Mark("line", str(number), at))
    return header
