"""Where sentences end, in scripts with and without spaces. Spans tile the text exactly.

A small rule set of our own, not a library: the boundaries decide where passages are cut, so they must
never change with a dependency's version, and they must keep every code point.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = re.compile(
    r"""
    (?: (?<=[.!?\u2026]) ["'\u201d\u2019)\]*_]* (?=\s)          # Latin and others: mark, closers, then space
      | [\u3002\uff01\uff1f\uff61\u0964\u0965\u06d4\u061f\u1362\u104b]["'\u201d\u2019\u300d\u300f\uff09)\]]*
      | (?: \r\n | \n | \r ) [^\S\r\n]* (?: \r\n | \n | \r )    # a blank line
    )\s*
    """,
    re.VERBOSE,
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'\u201c\u2018])"
    r"(?:[A-Z]|Mrs?|Ms|Dr|Prof|St|Mt|Jr|Sr|Rev|Hon|Gen|Col|Capt|Lt|Sgt|No|Nr|Vol|Fig|Figs|Eq|Ch|Sec|pp?"
    r"|vs|etc|cf|al|ca|approx|dept|est|Inc|Ltd|Co|Corp|e\.g|i\.e|a\.m|p\.m|z\.B|d\.h|bzw|usw|M|Mme)\.$"
)
_OPENER = re.compile(r"[\"'\u201c\u2018(\[*_]*(.)", re.DOTALL)


def sentences(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the sentences; joined they are the text, trailing white space included."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        if end > start:
            spans.append((start, end))
            start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _ends(text: str) -> Iterator[int]:
    for match in _END.finditer(text):
        if match.end() == 0:
            continue
        mark = text[match.start() - 1 : match.start()]
        if mark in ".!?\u2026" and not _blank_line(match.group()) and _continues(text, match):
            continue
        yield match.end()


def _blank_line(gap: str) -> bool:
    return gap.count("\n") > 1 or gap.count("\r") > 1


def _continues(text: str, match: re.Match[str]) -> bool:
    """True after an abbreviation or an initial, and for any mark that a small letter follows."""
    if _ABBREVIATION.search(text, max(0, match.start() - 12), match.start()):
        return True
    following = _OPENER.match(text, match.end())
    return following is not None and following.group(1).islower()
