"""Org files: the file itself, with headlines, drawers, blocks, tables and keywords."""

from __future__ import annotations

import re
from bisect import bisect_right

from mindscape.ingest.formats.lines import Lines, add_item, cells_header, lay, lines_of
from mindscape.ingest.formats.outline import MAX_HEADING
from mindscape.ingest.parsed import BlockKind, Parsed, Source

_HEADLINE = re.compile(r"(\*+)[ \t]+(.*)")
_TODO = re.compile(
    r"(?:TODO|DONE|NEXT|WAIT(?:ING)?|HOLD|STARTED|CANCELL?ED|SOMEDAY|COMMENT|\[#\w\])(?:\s+|$)"
)
_COOKIE = re.compile(r"\s*\[\d*(?:/\d*|%)\]")
_TAGS = re.compile(r"\s+:([\w@#%:]+):$")
_LINK = re.compile(r"\[\[([^\[\]\r\n]{1,2000})\](?:\[([^\[\]\r\n]{1,500})\])?\]")
_EMPHASIS = re.compile(r"(?<![\w\\])([*/_=~+])(?=\S)([^\r\n]{1,200}?)(?<=\S)\1(?!\w)")
_KEYWORD = re.compile(r"\s*#\+([\w-]+):(?:\s+(.*))?", re.I)
_BEGIN = re.compile(r"\s*#\+begin_(\S+)", re.I)
_END = re.compile(r"\s*#\+end_(\S+)", re.I)
_DRAWER = re.compile(r"\s*:([\w-]+):")
_FIXED = re.compile(r"\s*:(?:\s|$)")
_ROW = re.compile(r"\s*\|")
_RULE = re.compile(r"\s*\|-[-+|]*")
_BULLET = re.compile(r"(?:\s*(?:[-+]|(?:\d+|[A-Za-z])[.)])|\s+\*)(?:\s|$)")
_BLOCK_KINDS: dict[str, BlockKind] = {
    "src": "code",
    "example": "code",
    "export": "code",
    "comment": "code",
    "latex": "code",
    "html": "code",
    "quote": "quote",
    "verse": "quote",
}
_METADATA = {"author": "author", "date": "date", "language": "language", "description": "description"}
_TAG_KEYWORDS = ("filetags", "keywords", "tags")


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; `#+` keywords and drawers are `properties` blocks and the metadata."""
    lines = lines_of(source)
    ends = _ends(lines)
    lay(
        lines,
        (
            _headline,
            lambda held, at: _delimited(held, at, ends),
            lambda held, at: _drawer(held, at, ends),
            _table,
            _fixed,
            _item,
        ),
    )
    for target, _ in _LINK.findall(lines.decoded.text):
        lines.add_links([target.removeprefix("file:")])
    lines.add_urls()
    return lines.parsed(media_type, lines.metadata.pop("title", None))


def plain(inline: str) -> str:
    """A headline's words without its marks."""
    return _EMPHASIS.sub(r"\2", _LINK.sub(lambda link: link[2] or link[1], inline)).strip()


def _ends(lines: Lines) -> dict[str, list[int]]:
    """The lines that end a block (or drawer), by its name, so that none is searched for twice."""
    found: dict[str, list[int]] = {}
    for number in range(len(lines)):
        line = lines[number]
        if end := _END.match(line):
            found.setdefault(end[1].lower(), []).append(number)
        elif (drawer := _DRAWER.fullmatch(line)) and drawer[1].lower() == "end":
            found.setdefault(":end:", []).append(number)
        elif _HEADLINE.match(line):
            found.setdefault("*", []).append(number)
    return found


def _after(places: list[int] | None, at: int) -> int | None:
    place = bisect_right(places or [], at)
    return places[place] if places and place < len(places) else None


def _headline(lines: Lines, at: int) -> int:
    headline = _HEADLINE.match(lines[at])
    if not headline:
        return at
    text = headline[2]
    if tags := _TAGS.search(f" {text}"):
        text = f" {text}"[: tags.start()].strip()
        _add_tags(lines, tags[1].split(":"))
    while todo := _TODO.match(text):
        text = text[todo.end() :]
    lines.add_heading(len(headline[1]), plain(_COOKIE.sub("", text)), at, at + 1)
    return at + 1


def _delimited(lines: Lines, at: int, ends: dict[str, list[int]]) -> int:
    begin = _BEGIN.match(lines[at])
    if not begin:
        return _keyword(lines, at)
    kind = _BLOCK_KINDS.get(begin[1].lower())
    end = _after(ends.get(begin[1].lower()), at)
    if kind and end is not None:
        lines.add(kind, at, end + 1)
        return end + 1
    return at + 1


def _keyword(lines: Lines, at: int) -> int:
    """A run of `#+KEY: value` lines; a caption belongs to what follows it."""
    last = at
    while keyword := _KEYWORD.fullmatch(lines[last]):
        name, value = keyword[1].lower(), (keyword[2] or "").strip()
        if name == "caption" and last == at and _ROW.match(lines[at + 1]):
            return _table(lines, at)
        if name == "title":
            lines.metadata["title"] = plain(f"{lines.metadata.get('title', '')} {value}"[:MAX_HEADING])
        elif name in _TAG_KEYWORDS:
            _add_tags(lines, re.split(r"[:,\s]+", value))
        elif name in _METADATA and value:
            lines.metadata.setdefault(_METADATA[name], value.strip("<>[]"))
        last += 1
    if last == at and _END.match(lines[at]):
        return at + 1
    if last > at:
        lines.add("properties", at, last)
    return last


def _drawer(lines: Lines, at: int, ends: dict[str, list[int]]) -> int:
    """A drawer up to its `:END:`, if that comes before the next headline."""
    end = _after(ends.get(":end:"), at) if _DRAWER.fullmatch(lines[at]) else None
    headline = _after(ends.get("*"), at)
    if end is None or (headline is not None and headline < end):
        return at
    lines.add("properties", at, end + 1)
    return end + 1


def _table(lines: Lines, at: int) -> int:
    caption = ""
    first = at
    while keyword := _KEYWORD.fullmatch(lines[first]):
        caption = keyword[2] or "" if keyword[1].lower() == "caption" else caption
        first += 1
    rows = first
    while _ROW.match(lines[rows]):
        rows += 1
    if rows == first:
        return at
    after = rows
    while (keyword := _KEYWORD.fullmatch(lines[after])) and keyword[1].lower() in ("caption", "tblfm"):
        caption = keyword[2] or caption if keyword[1].lower() == "caption" else caption
        after += 1
    lines.add("table", at, after, _header(lines, first, rows, caption))
    return after


def _header(lines: Lines, first: int, last: int, caption: str) -> str:
    """The rows above the first rule, when there are rows below it."""
    first += bool(_RULE.fullmatch(lines[first]))
    rule = next((number for number in range(first, last) if _RULE.fullmatch(lines[number])), last)
    if rule + 1 >= last or rule == first:
        return caption
    return cells_header(lines[rule - 1], caption)


def _fixed(lines: Lines, at: int) -> int:
    last = at
    while _FIXED.match(lines[last]) and lines[last]:
        last += 1
    if last > at:
        lines.add("code", at, last)
    return last


def _item(lines: Lines, at: int) -> int:
    return add_item(lines, at, _ITEM_ENDS) if _BULLET.match(lines[at]) else at


_ITEM_ENDS = re.compile(rf"{_BULLET.pattern}|\*+[ \t]|\s*#\+(?:begin|end)_|\s*\|", re.I)


def _add_tags(lines: Lines, tags: list[str]) -> None:
    kept = [*lines.metadata.get("tags", []), *filter(None, tags)]
    if kept:
        lines.metadata["tags"] = list(dict.fromkeys(kept))
