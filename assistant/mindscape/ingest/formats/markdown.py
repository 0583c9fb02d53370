"""Markdown: the file itself, with blocks and sections by the CommonMark line maps, properties and links."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from mindscape.ingest.decode import decode, line_starts
from mindscape.ingest.formats.front_matter import FrontMatter, read_front_matter
from mindscape.ingest.formats.outline import MAX_HEADING, Heading, sections_of
from mindscape.ingest.parsed import Block, BlockKind, Parsed, Source

# Block structure only: inline markup is read where it is needed, in headings.
_BLOCKS = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
_INLINE = MarkdownIt("commonmark")
_WIKILINK = re.compile(r"\[\[([^\[\]|\r\n]{1,500})(?:\|([^\[\]\r\n]{0,500}))?\]\]")
_LINK = re.compile(
    r"\]\(\s{0,9}(?:<([^<>\r\n]{1,2000})>|((?:[^()\s]|\([^()\s]{0,500}\)){1,2000}))"
    r"|<(https?://[^<>\s]{1,2000})>"
    r"|^[ ]{0,3}\[[^\]\[\r\n]{1,200}\]:[ \t]*(\S{1,2000})",
    re.M,
)
_TAG = re.compile(r"(?<![\w&/#\]()])#([\w/-]{0,100}[^\W\d_][\w/-]{0,100})")
_CODE_SPAN = re.compile(r"`[^`\r\n]*`")
_CONTAINERS: dict[str, BlockKind] = {
    "paragraph_open": "paragraph",
    "html_block": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "list_item_open": "item",
    "heading_open": "heading",
}
PART = 1 << 20
"""Code points that are parsed at a time, at least."""
_BOUNDARY = re.compile(r"(?:\r\n|\r(?!\n)|\n)[ \t]*(?:\r\n|\r|\n)(?=#{1,6} |[^\W\d_])")
"""A blank line, and a line that begins a block at the top level if nothing from before goes on."""
_NEXT = "x"
_INSIDE_LISTS = ("code", "table", "quote", "item")


@dataclass(frozen=True, slots=True)
class _Area:
    """Lines `first` up to (not with) `last` that a block owns, unless a later one inside it does."""

    kind: BlockKind
    first: int
    last: int
    level: int = 0
    heading: str = ""


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; front matter is a `properties` block and the metadata."""
    decoded = decode(source.data)
    text = decoded.text
    front = read_front_matter(text)
    areas = _areas(text[front.end :])
    starts = [front.end + start for start in line_starts(text[front.end :])] + [len(text)]
    headings = [
        Heading(area.level, area.heading, _span(text, starts, area.first, area.last)[0])
        for area in areas
        if area.kind == "heading" and area.level
    ]
    blocks = _blocks(text, starts, areas)
    title = front.title or next((h.text for h in headings if h.level == 1), None)
    prose = _without_code(text, front.end, blocks)
    return Parsed(
        text=text,
        media_type=media_type,
        text_like=True,
        blocks=(*_properties(text, front), *blocks),
        sections=sections_of(headings, len(text)),
        title=title,
        encoding=decoded.encoding,
        encoding_confidence=decoded.confidence,
        metadata=_metadata(front, prose),
        links=tuple(_links(prose)),
        warnings=(*decoded.warnings, *front.warnings),
    )


def _areas(text: str) -> list[_Area]:
    """The blocks of a text, parsed part by part, for the parser's tokens take many times its memory."""
    areas: list[_Area] = []
    begin = first = 0
    size = PART
    while begin < len(text):
        boundary = _BOUNDARY.search(text, begin + size)
        end = boundary.end() if boundary else len(text)
        tokens = _BLOCKS.parse(text[begin:end] + (_NEXT if boundary else ""))
        lines = len(line_starts(text[begin:end])) - 1
        if boundary and not _ends_with_paragraph(tokens, lines):
            size *= 2  # a fence or a piece of HTML goes on beyond it
            continue
        areas += _areas_of(tokens[:-3] if boundary else tokens, first)
        begin, first, size = end, first + lines, PART
    return areas


def _ends_with_paragraph(tokens: Sequence[Token], line: int) -> bool:
    """True when the word put on that line, behind a part, is a paragraph by itself: nothing else goes on."""
    last = tokens[-3] if len(tokens) > 2 else None
    return bool(last and last.type == "paragraph_open" and last.level == 0 and last.map == [line, line + 1])


def _areas_of(tokens: Sequence[Token], offset: int) -> list[_Area]:
    """Blocks in document order, containers before what they hold; a quote is one block."""
    areas: list[_Area] = []
    lists = quotes = 0
    for place, token in enumerate(tokens):
        kind = _CONTAINERS.get(token.type)
        if kind and token.map and not quotes and (not lists or kind in _INSIDE_LISTS):
            level, heading = 0, ""
            if kind == "heading":
                level, heading = int(token.tag[1]), plain(tokens[place + 1].content)
                if not heading or len(heading) > MAX_HEADING:
                    level, kind = 0, "paragraph"
            areas.append(_Area(kind, offset + token.map[0], offset + token.map[1], level, heading))
        quotes += token.nesting if token.type.startswith("blockquote") else 0
        lists += token.nesting if token.type.startswith("list_item") else 0
    return areas


def _blocks(text: str, starts: list[int], areas: list[_Area]) -> list[Block]:
    owner = [-1] * (len(starts) - 1)
    for number, area in enumerate(areas):
        owner[area.first : area.last] = [number] * (min(area.last, len(owner)) - area.first)
    blocks: list[Block] = []
    first = 0
    for line in range(1, len(owner) + 1):
        if line < len(owner) and owner[line] == owner[first]:
            continue
        if owner[first] >= 0:
            start, end = _span(text, starts, first, line)
            kind = areas[owner[first]].kind
            if start < end:
                blocks.append(Block(kind, start, end, _header(text[start:end]) if kind == "table" else ""))
        first = line
    return blocks


def _span(text: str, starts: list[int], first: int, last: int) -> tuple[int, int]:
    """Offsets of the lines without the blank ones and the white space around them."""
    run = text[starts[first] : starts[min(last, len(starts) - 1)]]
    kept = len(run.rstrip())
    return starts[first] + min(kept, len(run) - len(run.lstrip())), starts[first] + kept


def _header(table: str) -> str:
    return re.split(r"\r\n|\r|\n", table, maxsplit=1)[0].strip()


def plain(inline: str) -> str:
    """Inline Markdown as the words a reader sees."""
    inline = _WIKILINK.sub(lambda link: link[2] or link[1], inline)
    words: list[str] = []
    for token in _INLINE.parseInline(inline):
        for child in token.children or ():
            if child.type in ("softbreak", "hardbreak"):
                words.append(" ")
            elif child.type != "html_inline":
                words.append(child.content)
    return " ".join("".join(words).split())


def _properties(text: str, front: FrontMatter) -> tuple[Block, ...]:
    end = len(text[: front.end].rstrip())
    return (Block("properties", 0, end),) if front.end and end else ()


def _without_code(text: str, start: int, blocks: list[Block]) -> str:
    """The text where links and tags count."""
    pieces: list[str] = []
    for block in blocks:
        if block.kind == "code":
            pieces.append(text[start : block.start])
            start = block.end
    return _CODE_SPAN.sub(" ", "".join([*pieces, text[start:]]))


def _metadata(front: FrontMatter, prose: str) -> dict[str, Any]:
    metadata = dict(front.metadata)
    tags = [*metadata.get("tags", []), *(tag.strip("/-") for tag in _TAG.findall(prose))]
    if tags:
        metadata["tags"] = list(dict.fromkeys(tags))
    return metadata


def _links(prose: str) -> list[str]:
    found = [(link.start(), link[1].strip()) for link in _WIKILINK.finditer(prose)]
    found += [(link.start(), next(filter(None, link.groups()))) for link in _LINK.finditer(prose)]
    return list(dict.fromkeys(target for _, target in sorted(found)))
