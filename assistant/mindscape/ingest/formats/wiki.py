"""Wiki markup (MediaWiki, Creole, Textile) and Typst: the file itself, with headings, lists, tables, code."""

from __future__ import annotations

import re

from mindscape.ingest.formats.lines import Lines, add_item, cells_header, lay, lines_of
from mindscape.ingest.media_types import TEXTILE, TYPST
from mindscape.ingest.parsed import Parsed, Source

_EQUALS = re.compile(r"(={1,6})\s*([^=\s].*?)\s*=*\s*(?:<!--.*-->)?")
_TEXTILE = re.compile(r"h([1-6])(?:\([^()]*\)|\{[^{}]*\}|\[[^\[\]]*\]|[<>=])*\.\s+(.+)")
_TYPST = re.compile(r"(={1,6})\s+(.+?)(?:\s*<[\w:.-]+>)?")
_BULLET = re.compile(r"\s*(?:[*#;:]+|[-+/](?=\s)|\d+\.(?=\s))(?!\w+\()\s*\S")
_TYPST_BULLET = re.compile(r"\s*(?:[-+]|\d+\.|/)\s+\S")
_FENCES = (
    (re.compile(r"<(pre|nowiki|syntaxhighlight|source|math|code)\b[^<>]*>"), "</{0}>"),
    (re.compile(r"({{{)$"), "}}}}}}"),
    (re.compile(r"(```)"), "```"),
)
_CODE_PARAGRAPH = re.compile(r"(?:bc|pre)(?:\([^()]*\))?(\.\.?) ")
_BLOCK_SIGN = re.compile(r"(?:p|h[1-6]|bq|bc|pre|fn\d+|notextile)(?:\([^()]*\))?\.\.? ")
_LINK = re.compile(r"\[\[([^\[\]|\r\n]{1,500})(?:\|([^\[\]\r\n]{0,500}))?\]\]")
_TEXTILE_LINK = re.compile(r'"([^"\r\n]{1,300})":(\S{1,2000})')
_TAG = re.compile(r"<[^<>]{0,300}>|'{2,5}|\*\*|//|(?<!\w)[_*@](?=\w)|(?<=\w)[_*@](?!\w)")


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; its title is the only heading of the highest level, if there is but one."""
    lines = lines_of(source)
    sign = {TEXTILE: _TEXTILE, TYPST: _TYPST}.get(media_type, _EQUALS)
    bullet = _TYPST_BULLET if media_type == TYPST else _BULLET
    lay(
        lines,
        (
            _fenced,
            lambda held, at: _heading(held, at, sign),
            _wiki_table,
            _rows,
            lambda held, at: add_item(held, at, bullet) if bullet.match(held[at]) else at,
        ),
    )
    lines.add_links([link[1] for link in _LINK.finditer(lines.decoded.text)])
    lines.add_urls()
    tops = [heading.text for heading in lines.headings if heading.level == 1]
    return lines.parsed(media_type, tops[0] if len(tops) == 1 else None)


def _heading(lines: Lines, at: int, sign: re.Pattern[str]) -> int:
    heading = sign.fullmatch(lines[at])
    if not heading:
        return at
    level = int(heading[1]) if heading[1].isdigit() else len(heading[1])
    text = _TEXTILE_LINK.sub(r"\1", _LINK.sub(lambda link: link[2] or link[1], heading[2]))
    lines.add_heading(level, _TAG.sub("", text), at, at + 1)
    return at + 1


def _fenced(lines: Lines, at: int) -> int:
    """Code up to its closing sign, to the blank line for Textile's signs, or to the end of the file."""
    line = lines[at]
    last = at
    if paragraph := _CODE_PARAGRAPH.match(line):
        is_long = paragraph[1] == ".."
        while last < len(lines) and (lines[last] or (is_long and not _BLOCK_SIGN.match(lines[last + 1]))):
            last += 1
        lines.add("code", at, last)
        return last
    for sign, closing in _FENCES:
        if opening := sign.match(line):
            end = closing.format(opening[1])
            if end in line[opening.end() :]:
                return at
            last = at + 1
            while last < len(lines) and end not in lines[last]:
                last += 1
            lines.add("code", at, last + 1)
            return last + 1
    return at


def _wiki_table(lines: Lines, at: int) -> int:
    """A MediaWiki table, from `{|` to `|}`; its header are the cells that start with `!`."""
    if not lines[at].lstrip().startswith("{|"):
        return at
    last = at
    while last < len(lines) and not lines[last].lstrip().startswith("|}"):
        last += 1
    caption = ""
    cells: list[str] = []
    for number in range(at + 1, last):
        line = lines[number].strip()
        if line.startswith("|+"):
            caption = line[2:].rpartition("|")[2].strip()
        elif line.startswith("!"):
            cells += [cell.rpartition("|")[2].strip() for cell in line[1:].split("!!")]
        elif cells and line.startswith("|"):
            break
    lines.add("table", at, last + 1, cells_header("|".join(cells), caption) if cells else caption)
    return last + 1


def _rows(lines: Lines, at: int) -> int:
    """Lines of bars; a header is marked by `|=` or `|_.`."""
    last = at
    while lines[last].startswith("|") and lines[last].count("|") > 1:
        last += 1
    if last == at:
        return at
    first = lines[at]
    is_header = first.startswith(("|=", "|_", "|~"))
    lines.add(
        "table", at, last, cells_header(re.sub(r"\|(?:=|[_<>=~^-]*\.\s)", "|", first)) if is_header else ""
    )
    return last
