"""Plain text: paragraphs between blank lines, and the chapters of novels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from mindscape.ingest.decode import decode, line_starts
from mindscape.ingest.formats.outline import Heading, sections_of
from mindscape.ingest.parsed import Block, BlockKind, Parsed, Source

_NUMBER = (
    r"(?:[0-9]{1,3}|[IVXLC]{1,7}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:thir|four|fif|six|seven|eigh|nine)teen|twenty(?:-\w+)?|thirty(?:-\w+)?|forty(?:-\w+)?"
    r"|the (?:first|second|third|fourth|fifth|last)|first|second|third|fourth|fifth)"
)
# A line of its own: the word, a number, and at most a short title after a separator.
_PART = re.compile(rf"(?:part|book|volume|act)\s+{_NUMBER}(?:\s*[.:\u2013\u2014-].{{0,80}})?\s*", re.I)
_CHAPTER = re.compile(
    rf"(?:(?:chapter|chapitre|kapitel|cap[ií]tulo|scene)\s+{_NUMBER}(?:\s*[.:\u2013\u2014-].{{0,80}}|\s+(?-i:[A-Z]).{{0,60}})?"
    r"|prologue|epilogue)\.?\s*",
    re.I,
)
_CJK_PART = re.compile(r"第[0-9〇零一二三四五六七八九十百千两]{1,6}[卷部篇](?:\s.{0,40})?")
_CJK_CHAPTER = re.compile(r"第[0-9〇零一二三四五六七八九十百千两]{1,6}[章回节節話话](?:\s.{0,40})?")
_MAX_HEADING_LINE = 120


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file, its paragraphs, and sections where lines like `CHAPTER IV` stand alone."""
    decoded = decode(source.data)
    text = decoded.text
    runs = list(blank_line_runs(text))
    headings = _chapters(text, runs)
    starts = {heading.start for heading in headings}
    return Parsed(
        text=text,
        media_type=media_type,
        text_like=True,
        blocks=tuple(Block(_kind(start in starts), start, end) for start, end in runs),
        sections=sections_of(headings, len(text)),
        encoding=decoded.encoding,
        warnings=decoded.warnings,
    )


def blank_line_runs(text: str) -> Iterator[tuple[int, int]]:
    """Spans of text between blank lines, without the white space around them."""
    starts = [*line_starts(text), len(text)]
    first = last = -1
    for start, end in pairwise(starts):
        if text[start:end].isspace() or start == end:
            if first >= 0:
                yield _trimmed(text, first, last)
            first = -1
        else:
            first = start if first < 0 else first
            last = end
    if first >= 0:
        yield _trimmed(text, first, last)


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    run = text[start:end]
    return start + len(run) - len(run.lstrip()), end - len(run) + len(run.rstrip())


def _kind(is_heading: bool) -> BlockKind:
    return "heading" if is_heading else "paragraph"


def _chapters(text: str, runs: list[tuple[int, int]]) -> list[Heading]:
    levels = [_level(text[start : min(end, start + _MAX_HEADING_LINE + 1)]) for start, end in runs]
    headings: list[Heading] = []
    for number, ((start, end), level) in enumerate(zip(runs, levels, strict=True)):
        # A run of chapter lines with nothing between them is a table of contents.
        followed = levels[number + 1] if number + 1 < len(runs) else 0
        if level and followed != level:
            headings.append(Heading(level, " ".join(text[start:end].split()), start))
    return headings


def _level(line: str) -> int:
    if len(line) > _MAX_HEADING_LINE or "\n" in line or "\r" in line:
        return 0
    if _PART.fullmatch(line) or _CJK_PART.fullmatch(line):
        return 1
    return 2 if _CHAPTER.fullmatch(line) or _CJK_CHAPTER.fullmatch(line) else 0
