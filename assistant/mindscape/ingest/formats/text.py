"""Plain text: paragraphs between blank lines, and the chapters of novels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from mindscape.ingest.formats.outline import Heading
from mindscape.ingest.parsed import Parsed, Source
from mindscape.ingest.runs import Window, runs
from mindscape.ingest.stream import Stretch, gathered, stretch

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
    return gathered(source, media_type, stream)


def stream(window: Window, media_type: str) -> Iterator[Stretch]:
    """A stretch for each paragraph."""
    del media_type
    for run, following in pairwise(chain(runs(window), (None,))):
        if run is None:
            continue
        level = _level(run.text)
        # A run of chapter lines with nothing between them is a table of contents.
        is_heading = level and (following is None or _level(following.text) != level)
        heading = Heading(level, " ".join(run.text.split()), run.start) if is_heading else None
        yield stretch(run, "heading" if heading else "paragraph", heading=heading)


def _level(line: str) -> int:
    if len(line) > _MAX_HEADING_LINE or "\n" in line or "\r" in line:
        return 0
    if _PART.fullmatch(line) or _CJK_PART.fullmatch(line):
        return 1
    return 2 if _CHAPTER.fullmatch(line) or _CJK_CHAPTER.fullmatch(line) else 0
