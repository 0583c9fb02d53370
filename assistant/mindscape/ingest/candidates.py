"""The sentences of a text that can stand in its summary: markup off, judged by shape, in any language.

What is no prose (headings, rows of tables, code) is kept with a low class, for texts that hold nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mindscape.ingest.markup import leads_away, plain, safe
from mindscape.ingest.passages import MAX_CHARACTERS, count_tokens
from mindscape.sentences import sentences

PROSE, ITEM, FRAGMENT, HEADING, ROW, CODE, ASIDE = range(7)
"""Classes of candidates, the best first. The last are properties of a note, and what only links elsewhere."""

INSIDE, PARAGRAPH, SECTION = range(3)

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts that put no space between words; sentences of them are joined without one."""


class Candidate(NamedTuple):
    """A sentence, or a line that is none, as it would stand in the summary."""

    text: str
    tokens: int
    kind: int
    child: int
    """The ordinal of the child it is from."""
    place: int
    """One of INSIDE, PARAGRAPH and SECTION: what it is the first sentence of."""
    spoken: bool
    """True when it is, or holds, what somebody says: quotation marks are open where it begins or ends."""


_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(?P<title>.*?)[ \t]*#*[ \t]*$")
_UNDERLINE = re.compile(r"[ \t]*(?:={3,}|-{3,}|\*{3,}|_{3,}|(?:[*_-][ \t]+){3,})[ \t]*$")
_ITEM = re.compile(
    r"^[ \t]*(?:[-*+\u2022\u25e6\u25aa\u2013]|\(?\d{1,3}[.)]|\(?[a-z]\))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)"
)
_QUOTE = re.compile(r"^[ \t]*(?:>[ \t]?)+(?:\[![^\]\n]{1,30}\][+-]?)?")
LABEL = re.compile(r"[^\W\d_a-z][\w.' -]{0,40}:\s+(?=\S)")
"""Who speaks, in front of what is said in a transcript; or what an explanation is of."""
_RULE_ROW = re.compile(r"[\s|:+=-]*$")
_PROPERTY = re.compile(r"([\w -]{1,40}):(?:[ \t]+(.*))?$")
_EMPTY = re.compile(r"[\s\[\]{}\"'|>~-]*$|https?://|\.{0,2}/\S*$|null$")
_CODE = re.compile(
    r"[ \t]*(?:[{}()\[\];]+[ \t]*$|</?\w|\$[ \t]+\w|//|/\*|#!|@\w+[({])|.*(?:[{}]|\);|=>|->)[ \t]*$"
)

_TERMINAL = re.compile(
    "[.!?\u2026\u203c\u2047-\u2049\u3002\uff01\uff1f\uff61\uff0e\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u104b\u17d4\u0f0d:;]"
    "[\"'\u201d\u2019\u201c\u2018\xbb\u203a\u300d\u300f\uff09\u300b)\\]*_\\s]*$"
)
_QUOTATION = re.compile('["\u201c\u201d\u201e\xab\xbb\u300c\u300d\u300e\u300f]')
_OPENING = "\u201c\u201e\xab\u300c\u300e"
_INITIALS = re.compile(r"(?<!\w)(?:[^\W\d_]\.){2,}\s*$")
_LETTERS = re.compile(r"[^\W\d_]")
_LEAST_TOKENS = 6
_LEAST_LETTERS = 0.6


def candidates(text: str, child: int) -> Iterator[Candidate]:
    """What the text of a child consists of, in order; at most MAX_CHARACTERS of it are looked at."""
    place = PARAGRAPH if child else SECTION
    for kind, paragraph in _paragraphs(safe(text[:MAX_CHARACTERS])):
        if kind in (PROSE, ITEM) and leads_away(paragraph):
            if line := plain(paragraph):
                yield Candidate(line, count_tokens(line), ASIDE, child, INSIDE, spoken=False)
        elif kind in (PROSE, ITEM):
            for one in _of_prose(paragraph, kind, child):
                yield one._replace(place=place)
                place = INSIDE
        elif line := _row(paragraph) if kind == ROW else plain(paragraph):
            yield Candidate(line, count_tokens(line), kind, child, INSIDE, spoken=False)
        place = SECTION if kind == HEADING else max(place, PARAGRAPH)


def is_whole(text: str) -> bool:
    """True for a text that ends as sentences do."""
    return _TERMINAL.search(text) is not None


def _of_prose(paragraph: str, kind: int, child: int) -> Iterator[Candidate]:
    line = plain(paragraph)
    inside = False
    for start, end in _sentences(line):
        sentence = line[start:end].strip("*_ ")
        began = inside
        marks = _QUOTATION.findall(sentence)
        for mark in marks:
            inside = not inside if mark == '"' else mark in _OPENING
        if tokens := count_tokens(sentence):
            torn = began or inside
            found = FRAGMENT if torn else _kind(sentence, tokens, kind)
            yield Candidate(sentence, tokens, found, child, INSIDE, torn or bool(marks))


def _sentences(line: str) -> Iterator[tuple[int, int]]:
    """Spans of the sentences; what ends with initials ("the U.S.") goes on more often than it ends."""
    begun: int | None = None
    for start, end in sentences(line):
        first = start if begun is None else begun
        if end < len(line) and _INITIALS.search(line, start, end):
            begun = first
            continue
        begun = None
        yield first, end


def _kind(sentence: str, tokens: int, kind: int) -> int:
    """A sentence has an end, enough words, and is made of letters for the greater part.

    What ends with a colon only leads to a list or a quotation; what begins small goes on with something else.
    """
    letters = len(_LETTERS.findall(sentence))
    whole = tokens >= _LEAST_TOKENS and letters >= _LEAST_LETTERS * (len(sentence) - sentence.count(" "))
    torn = sentence[0].islower() or sentence[-1] in ":\uff1a;"
    return kind if whole and is_whole(sentence) and not torn else FRAGMENT


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The text's paragraphs, items, headings, rows and lines of code, with their classes."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fences = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    # A fence that is not closed may have been opened in the passage before: then it tells nothing.
    fenced = {
        at for first, last in zip(fences[::2], fences[1::2], strict=False) for at in range(first, last + 1)
    } | set(fences)
    properties = _front_matter(lines)
    if said := _properties(lines[:properties]):
        yield ASIDE, said
    kind, waiting = PROSE, list[str]()
    for at, line in enumerate(lines):
        if at < properties:
            continue
        line = line if at in fenced else _QUOTE.sub("", line)
        found = _line_kind(line, at in fenced)
        if found is None or found != PROSE or LABEL.match(line):
            if waiting:
                yield kind, "\n".join(waiting)
            waiting = []
            kind = PROSE
        if found is None:
            continue
        if found == HEADING:
            match = _HEADING.match(line)
            yield HEADING, match["title"] if match else line
        elif found == ITEM:
            kind, waiting = ITEM, [_ITEM.sub("", line, count=1)]
        elif found == PROSE:
            waiting.append(line)
        else:
            yield found, line
    if waiting:
        yield kind, "\n".join(waiting)


def _line_kind(line: str, fenced: bool) -> int | None:
    """The class of a line; None for one that only separates."""
    if not line.strip() or _UNDERLINE.match(line) or (fenced and _FENCE.match(line)):
        return None
    if fenced:
        return CODE
    if _HEADING.match(line):
        return HEADING
    if line.lstrip().startswith("|") or line.count("|") > 1 or line.count("\t") > 1:
        return None if _RULE_ROW.match(line) else ROW
    if _ITEM.match(line):
        return ITEM
    if _CODE.match(line) and not _TERMINAL.search(line.rstrip(";")):
        return CODE
    return PROSE


def _front_matter(lines: list[str]) -> int:
    """How many lines at the start are properties of a note: those between two lines of three hyphens."""
    if lines[0].rstrip() != "---":
        return 0
    return next(
        (at + 1 for at, line in enumerate(lines[1:60], start=1) if line.rstrip() in ("---", "...")), 0
    )


def _properties(lines: list[str]) -> str:
    """The properties of a note as one line: "author: Anna; tags: mill, tide". Empty ones, addresses
    and the title go: that is the name of the note."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in lines:
        match = _PROPERTY.match(line)
        name, value = (match[1].strip(), match[2] or "") if match else (name, _ITEM.sub("", line, count=1))
        value = plain(value.strip(" \t'\"[]") if "[[" not in value else value.strip(" \t'\""))
        if name and name != "title" and not _EMPTY.match(value):
            found.setdefault(name, []).append(value)
    return "; ".join(f"{name}: {', '.join(values)}" for name, values in found.items())


def _row(line: str) -> str:
    cells = [plain(cell) for cell in re.split(r"[|\t]", line)]
    return ", ".join(cell for cell in cells if cell)
