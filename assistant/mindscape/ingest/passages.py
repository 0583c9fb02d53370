"""Cut a text into passages whose boundaries depend only on what is written near them.

Sentences (or rows, items, lines of code) are packed within a section. A boundary follows a unit once the
passage has MIN_TOKENS and the hash of that unit says so, or where the next one would pass MAX_TOKENS: so an
edit moves few boundaries, and the passages after it are found again unchanged (content-defined chunking).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from mindscape.ingest.parsed import Block, Parsed
from mindscape.sentences import sentences
from mindscape_storage.records import NewPassage, Section

MIN_TOKENS = 80
EXPECTED_TOKENS = 160
MAX_TOKENS = 250
MAX_CHARACTERS = 20_000
"""Of a passage: white space costs no tokens, and a file can hold megabytes of it."""
BLANK = "(white space)"
"""In front of a passage that is nothing else, for no embedder has a vector for it."""
MAX_PREFIX = 300
"""Characters of a header that go in front of a passage: a table with a thousand columns has a long one."""

_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ATOM = re.compile(r"\s{0,200}(?:[^\W\d_]{1,60}|\d{1,60}|[^\w\s]|_)\s{0,200}|\s{1,200}")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)\s*")
_SPACE = re.compile(r"\s*")
_PIECE = 6
"""Letters in one word piece: the rule that stands in for a tokeniser, whatever the embedder."""


class _Unit(NamedTuple):
    """The smallest run that is kept whole when it fits."""

    start: int
    end: int
    tokens: int
    header: str
    breaks_before: bool
    """True where a long table or block of code starts: it gets a passage of its own."""


def count_tokens(text: str) -> int:
    """Tokens by the rule shipped with the code: one a character without spaces, else one per 6 letters.

    It never changes with the embedder, so a new embedder never re-cuts text, summaries or citations.
    """
    total = 0
    for match in _WORD.finditer(text):
        word = match.group()
        unspaced = 0 if word.isascii() else len(_UNSPACED.findall(word))
        total += unspaced + -(-(len(word) - unspaced) // _PIECE)
    return total


def cut(parsed: Parsed) -> Iterator[NewPassage]:
    """Passages in order; their slices joined are `parsed.text`. Nothing for a text of white space only."""
    text = parsed.text
    if not text.strip():
        return
    lines = _LineCounter(text) if parsed.text_like else None
    ordinal = 0
    for start, end, section in _regions(text, parsed.sections):
        for a, b, header in _pack(text, _units(text, start, end, parsed.blocks)):
            line = lines.at(a) if lines else None
            prefix = _shortened(header) if text[a:b].strip() else BLANK
            prefix = "" if prefix in text[a:b] else prefix
            yield NewPassage(ordinal, a, b, text[a:b], line, section.path if section else (), prefix)
            ordinal += 1


def _regions(text: str, sections: Sequence[Section]) -> Iterator[tuple[int, int, Section | None]]:
    """What stands between one heading and the next; white space in front of the first heading joins it.

    A heading with nothing of its own under it joins the region that follows.
    """
    bounds: list[tuple[int, Section | None]] = [(s.start, s) for s in sections]
    if not bounds or text[: bounds[0][0]].strip():
        bounds.insert(0, (0, None))
    begin = 0
    for index, (start, section) in enumerate(bounds):
        last = index + 1 == len(bounds)
        end = len(text) if last else bounds[index + 1][0]
        if not last and section is not None and _is_bare(text[start:end]):
            continue
        if end > begin:
            yield begin, end, section
            begin = end


def _is_bare(region: str) -> bool:
    """True when the region is its heading line only (a Markdown underline counts as part of it)."""
    lines = [line for line in re.split(r"\r\n|\n|\r", region) if line.strip(" \t=-#")]
    return len(lines) <= 1


def _shortened(header: str) -> str:
    """A header of at most MAX_PREFIX characters: whole cells where there is an edge between them."""
    if len(header) <= MAX_PREFIX:
        return header
    edge = max(header.rfind(mark, 0, MAX_PREFIX) for mark in "|,;\t\n")
    return header[: edge if edge > 0 else MAX_PREFIX].rstrip()


def _units(text: str, start: int, end: int, blocks: Sequence[Block]) -> Iterator[_Unit]:
    """Units that tile text[start:end]: block by block, and prose where there is no block."""
    at = start
    for index in range(bisect_right(blocks, start, key=lambda block: block.end), len(blocks)):
        block = blocks[index]
        if block.start >= end:
            break
        a = max(block.start, at)
        b = min(_through_space(text, block.end), end)
        if b <= a:
            continue
        if a > at:
            yield from _split(text, at, a, sentences)
        yield from _block_units(text, a, b, block)
        at = b
    if at < end:
        yield from _split(text, at, end, sentences)


def _block_units(text: str, start: int, end: int, block: Block) -> Iterator[_Unit]:
    """Tables by rows, code and properties by lines, items by sentences, each whole if it fits."""
    if block.kind in ("paragraph", "heading", "quote"):
        yield from _split(text, start, end, sentences)
        return
    tokens = count_tokens(text[start:end])
    apart = block.kind in ("table", "code") and tokens >= MIN_TOKENS
    if tokens <= MAX_TOKENS and end - start <= MAX_CHARACTERS:
        yield _Unit(start, end, tokens, block.header, apart)
        return
    splitter = sentences if block.kind == "item" else _lines
    for unit in _split(text, start, end, splitter):
        yield unit._replace(header=block.header, breaks_before=apart and unit.start == start)


def _split(
    text: str, start: int, end: int, splitter: Callable[[str], list[tuple[int, int]]]
) -> Iterator[_Unit]:
    for a, b in splitter(text[start:end]):
        run = text[start + a : start + b]
        tokens = count_tokens(run)
        if tokens <= MAX_TOKENS and b - a <= MAX_CHARACTERS:
            yield _Unit(start + a, start + b, tokens, "", False)
        else:
            yield from _hard_split(run, start + a)


def _hard_split(run: str, offset: int) -> Iterator[_Unit]:
    """A run without sentences (a line of two megabytes) cut between words, each piece within the maximum."""
    begin, tokens = 0, 0
    for match in _ATOM.finditer(run):
        cost = count_tokens(match.group())
        full = tokens + cost > MAX_TOKENS or match.end() - begin > MAX_CHARACTERS
        if full and match.start() > begin:
            yield _Unit(offset + begin, offset + match.start(), tokens, "", False)
            begin, tokens = match.start(), 0
        tokens += cost
    yield _Unit(offset + begin, offset + len(run), tokens, "", False)


def _pack(text: str, units: Iterator[_Unit]) -> Iterator[tuple[int, int, str]]:
    """(start, end, header) of the passages: units joined until the hash of one, or the maximum, ends them."""
    start, end, tokens, header = -1, -1, 0, ""
    for unit in units:
        full = tokens + unit.tokens > MAX_TOKENS or unit.end - start > MAX_CHARACTERS
        if start >= 0 and (full or (unit.breaks_before and tokens >= MIN_TOKENS)):
            yield start, end, header
            start, tokens, header = -1, 0, ""
        if start < 0:
            start = unit.start
        end, tokens, header = unit.end, tokens + unit.tokens, header or unit.header
        if tokens >= MIN_TOKENS and _ends_passage(text[unit.start : unit.end], unit.tokens):
            yield start, end, header
            start, tokens, header = -1, 0, ""
    if start >= 0:
        yield start, end, header


def _ends_passage(unit: str, tokens: int) -> bool:
    """True with probability tokens / (EXPECTED - MIN), decided by what is written and by nothing else."""
    digest = blake2b(unit.strip().encode("utf-8", "replace"), digest_size=8).digest()
    return int.from_bytes(digest, "big") * (EXPECTED_TOKENS - MIN_TOKENS) < tokens << 64


def _lines(text: str) -> list[tuple[int, int]]:
    return [m.span() for m in _LINE.finditer(text) if m.end() > m.start()]


def _through_space(text: str, at: int) -> int:
    """Past the white space that follows, so that a unit ends where the next one begins."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


class _LineCounter:
    """Line numbers (from 1) of increasing offsets; lines end at LF, CR or CRLF."""

    def __init__(self, text: str) -> None:
        self._ends = [match.end() for match in re.finditer(r"\r\n|\n|\r", text)]

    def at(self, offset: int) -> int:
        return bisect_right(self._ends, offset) + 1
