"""Where a text may be cut for quoting and placing: pages, blank lines, rows and items; then sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from mindscape.sentences import sentences

Span = tuple[int, int]
"""Half-open, in characters of the text."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_GAP = re.compile(r"(?:\r\n|\n|\r(?!\n))[^\S\r\n]*(?=[\r\n])|\f")
_LISTED = ("-", "*", "+", "|", "#", "\u2022")
_HEADING = re.compile(r"#{1,6}\s")
_NUMBERED = re.compile(r"\s*\d{1,3}[.)]\s")
_STAMPED = re.compile(
    r"""\s*[\[(<]?(?:
    \d{4}[-/.]\d\d[-/.]\d\d             # 2024-03-01, most logs
    | \d{1,2}[./]\d{1,2}[./]\d{2,4}     # 1.3.2024
    | \d{1,2}:\d\d                      # 7:40
    | [A-Z][a-z]{2}[ ]+\d{1,2}[ ]\d\d:  # Mar  1 07:40:12, the system's log
    | \d{1,3}(?:\.\d{1,3}){3}\s         # the address a web server's log begins with
    )""",
    re.VERBOSE,
)


def parts(text: str, breaks: Sequence[int] = (), rows: bool = False) -> list[Span]:
    """What may be quoted as one: paragraphs, rows of tables and logs, items of lists; trimmed, none empty.

    `breaks` are offsets at which a page (or a row of a sheet) begins; no part spans one of them or a blank
    line. With `rows` every line is a part.
    """
    inner = {at for at in breaks if 0 < at < len(text)}
    edges = sorted({0, len(text)} | inner | {gap.end() for gap in _GAP.finditer(text)})
    found = [trimmed(text, *part) for a, b in pairwise(edges) for part in _parts(text, a, b, rows)]
    return [(a, b) for a, b in found if a < b]


def within(text: str, part: Span) -> list[Span]:
    """The sentences of a part, trimmed; none empty."""
    start, end = part
    found = [trimmed(text, start + a, start + b) for a, b in sentences(text[start:end])]
    return [(a, b) for a, b in found if a < b]


def units(text: str, breaks: Sequence[int] = (), rows: bool = False) -> list[Span]:
    """The smallest spans that say something: sentences; with `rows` whole lines."""
    found = parts(text, breaks, rows)
    return found if rows else [unit for part in found for unit in within(text, part)]


def trimmed(text: str, start: int, end: int) -> Span:
    """The span without white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def _parts(text: str, start: int, end: int, rows: bool) -> list[Span]:
    """A block's lines when it is a table or a log, its items when it is a list, else itself, wrapped."""
    lines = [line.span() for line in _LINE.finditer(text, start, end) if line.end() > line.start()]
    if rows or _is_table(text, lines) or _is_log(text, lines):
        return lines
    # A wrapped item is one: a line that does not begin an item goes on with the one above it.
    numbered = bool(lines) and _NUMBERED.match(text, *lines[0]) is not None
    edges = {start, end}
    for a, b in lines:
        if text[a:b].lstrip().startswith(_LISTED) or (numbered and _NUMBERED.match(text, a, b)):
            edges.add(a)
        if _HEADING.match(text, a, b):
            edges.add(b)
    return list(pairwise(sorted(edges)))


def _is_table(text: str, lines: Sequence[Span]) -> bool:
    celled = sum(" | " in text[a:b] or "\t" in text[a:b].strip() for a, b in lines)
    return celled > 1 and 2 * celled >= len(lines)


def _is_log(text: str, lines: Sequence[Span]) -> bool:
    stamped = sum(_STAMPED.match(text, a, b) is not None for a, b in lines)
    return stamped > 1 and 2 * stamped > len(lines)
