"""Cut a text into passages whose boundaries depend only on what is written near them.

Sentences (or rows, items, lines of code) are packed within a section. A boundary follows a unit once the
passage has MIN_TOKENS and the hash of that unit says so, or where the next one would pass MAX_TOKENS: so an
edit moves few boundaries, and the passages after it are found again unchanged (content-defined chunking).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import NamedTuple

from mindscape.graphemes import is_boundary
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

MAX_WAITING = 4_000
"""Characters of a region that joins the next: more white space than that stands for itself."""

_WORD = re.compile(r"[^\W\d_]+|\d+|[^\w\s]|_")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_ATOM = re.compile(r"\s{0,200}(?:[^\W\d_]{1,60}|\d{1,60}|[^\w\s]|_)\s{0,200}|\s{1,200}")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|$)\s*")
_SPACE = re.compile(rf"\s{{0,{MAX_CHARACTERS}}}")
_PIECE = 6
"""Letters in one word piece: the rule that stands in for a tokeniser, whatever the embedder."""
_TOKEN = re.compile(rf"[^\W\d_]{{1,{_PIECE}}}|\d{{1,{_PIECE}}}|[^\w\s]|_")
"""One token of a text without characters that are a token each."""


class Region(NamedTuple):
    """Text under one heading that is packed by itself, or the next part of such a text."""

    text: str
    blocks: Sequence[Block]
    """With offsets into `text`."""
    path: tuple[str, ...]
    opens: bool = True
    """False when it goes on with the region before it."""


class _Unit(NamedTuple):
    """The smallest run that is kept whole when it fits."""

    text: str
    tokens: int
    header: str = ""
    breaks_before: bool = False
    """True where a long table or block of code starts: it gets a passage of its own."""


def count_tokens(text: str) -> int:
    """Tokens by the rule shipped with the code: one a character without spaces, else one per 6 letters.

    It never changes with the embedder, so a new embedder never re-cuts text, summaries or citations.
    """
    if text.isascii() or not _UNSPACED.search(text):
        return len(_TOKEN.findall(text))
    total = 0
    for match in _WORD.finditer(text):
        word = match.group()
        unspaced = 0 if word.isascii() else len(_UNSPACED.findall(word))
        total += unspaced + -(-(len(word) - unspaced) // _PIECE)
    return total


def cut(parsed: Parsed) -> Iterator[NewPassage]:
    """Passages in order; their slices joined are `parsed.text`. Nothing for a text of white space only."""
    if not parsed.text.strip():
        return iter(())
    return cut_regions(_regions(parsed.text, parsed.sections, parsed.blocks), parsed.text_like)


def cut_regions(regions: Iterable[Region], text_like: bool) -> Iterator[NewPassage]:
    """Passages of regions that follow each other; joined they are the regions' texts.

    `text_like` numbers lines, which end at LF, CR or CRLF.
    """
    start, line, before = 0, 1, ""
    for ordinal, (text, header, path) in enumerate(_pack(regions)):
        # A CRLF between two passages is one line end, and it is in the second.
        line -= before == "\r" and text[0] == "\n"
        prefix = _shortened(header) if text.strip() else BLANK
        prefix = "" if prefix in text else prefix
        yield NewPassage(ordinal, start, start + len(text), text, line if text_like else None, path, prefix)
        start, before = start + len(text), text[-1]
        line += text.count("\n") + text.count("\r") - text.count("\r\n")


def waits(region: str, length: int, titled: bool) -> bool:
    """Whether a region joins the one after it: it is white space only, or no more than its heading.

    `region` runs from its heading (`titled`: it has one) to the next; `length` includes those that joined it.
    """
    if length > MAX_WAITING:
        return False
    # A Markdown underline counts as part of the heading.
    lines = [line for line in re.split(r"\r\n|\n|\r", region) if line.strip(" \t=-#")]
    return len(lines) <= 1 if titled else not region.strip()


def block_at(block: Block, offset: int) -> Block:
    """The same block in a text that begins `offset` earlier."""
    return Block(block.kind, block.start + offset, block.end + offset, block.header)


def _regions(text: str, sections: Sequence[Section], blocks: Sequence[Block]) -> Iterator[Region]:
    """What stands between one heading and the next, and in front of the first."""
    bounds: list[tuple[int, Section | None]] = [(section.start, section) for section in sections]
    if not bounds or bounds[0][0] > 0:
        bounds.insert(0, (0, None))
    begin = 0
    for index, (start, section) in enumerate(bounds):
        last = index + 1 == len(bounds)
        end = len(text) if last else bounds[index + 1][0]
        region = text[start : min(end, start + MAX_WAITING + 1)]
        if not last and waits(region, end - begin, titled=section is not None):
            continue
        if end > begin:
            yield Region(text[begin:end], _within(blocks, begin, end), section.path if section else ())
            begin = end


def _within(blocks: Sequence[Block], begin: int, end: int) -> list[Block]:
    """The blocks of a region, with offsets into it."""
    found: list[Block] = []
    for index in range(bisect_right(blocks, begin, key=lambda block: block.end), len(blocks)):
        block = blocks[index]
        if block.start >= end:
            break
        kept = Block(block.kind, max(block.start, begin), min(block.end, end), block.header)
        found.append(block_at(kept, -begin))
    return found


def _shortened(header: str) -> str:
    """A header of at most MAX_PREFIX characters: whole cells where there is an edge between them."""
    if len(header) <= MAX_PREFIX:
        return header
    edge = max(header.rfind(mark, 0, MAX_PREFIX) for mark in "|,;\t\n")
    return header[: edge if edge > 0 else MAX_PREFIX].rstrip()


def _units(text: str, blocks: Sequence[Block]) -> Iterator[_Unit]:
    """Units that tile the text: block by block, and prose where there is no block."""
    at = 0
    for block in blocks:
        start = max(block.start, at)
        end = _through_space(text, block.end)
        if end <= start:
            continue
        if start > at:
            yield from _split(text[at:start], sentences)
        yield from _block_units(text[start:end], block)
        at = end
    if at < len(text):
        yield from _split(text[at:], sentences)


def _block_units(text: str, block: Block) -> Iterator[_Unit]:
    """Tables by rows, code and properties by lines, items by sentences, each whole if it fits."""
    if block.kind in ("paragraph", "heading", "quote"):
        yield from _split(text, sentences)
        return
    tokens = count_tokens(text)
    apart = block.kind in ("table", "code") and tokens >= MIN_TOKENS
    if tokens <= MAX_TOKENS and len(text) <= MAX_CHARACTERS:
        yield _Unit(text, tokens, block.header, apart)
        return
    for unit in _split(text, sentences if block.kind == "item" else _lines):
        yield unit._replace(header=block.header, breaks_before=apart)
        apart = False


def _split(text: str, splitter: Callable[[str], list[tuple[int, int]]]) -> Iterator[_Unit]:
    for start, end in splitter(text):
        run = text[start:end]
        tokens = count_tokens(run)
        if tokens <= MAX_TOKENS and end - start <= MAX_CHARACTERS:
            yield _Unit(run, tokens)
        else:
            yield from _hard_split(run)


def _hard_split(run: str) -> Iterator[_Unit]:
    """A run without sentences (a line of two megabytes) cut between words, each piece within the maximum."""
    begin, tokens = 0, 0
    for match in _ATOM.finditer(run):
        at, cost = match.start(), count_tokens(match.group())
        full = tokens + cost > MAX_TOKENS or match.end() - begin > MAX_CHARACTERS
        if full and at > begin:
            cut_at = _last_boundary(run, begin, at)
            left = count_tokens(run[cut_at:at])
            yield _Unit(run[begin:cut_at], tokens - left)
            begin, tokens = cut_at, left
        tokens += cost
    yield _Unit(run[begin:], tokens)


def _last_boundary(run: str, begin: int, end: int) -> int:
    """Up to `end`; `end` itself in white space, and where there is none: a letter under a thousand marks."""
    if run[end].isspace():
        return end
    return next((at for at in range(end, begin, -1) if is_boundary(run, at, begin)), end)


def _pack(regions: Iterable[Region]) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(text, header, path) of the passages: units joined until the hash of one, or the maximum, ends them."""
    parts: list[str] = []
    tokens = size = 0
    header, path = "", ()
    for region in regions:
        if region.opens and parts:
            yield "".join(parts), header, path
            parts, tokens, size, header = [], 0, 0, ""
        path = region.path
        for unit in _units(region.text, region.blocks):
            full = tokens + unit.tokens > MAX_TOKENS or size + len(unit.text) > MAX_CHARACTERS
            if parts and (full or (unit.breaks_before and tokens >= MIN_TOKENS)):
                yield "".join(parts), header, path
                parts, tokens, size, header = [], 0, 0, ""
            parts.append(unit.text)
            tokens, size, header = tokens + unit.tokens, size + len(unit.text), header or unit.header
            if tokens >= MIN_TOKENS and _ends_passage(unit.text, unit.tokens):
                yield "".join(parts), header, path
                parts, tokens, size, header = [], 0, 0, ""
    if parts:
        yield "".join(parts), header, path


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
