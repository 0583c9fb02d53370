"""reStructuredText: the file itself, with titles, literal blocks, directives, tables and fields."""

from __future__ import annotations

import re
import unicodedata

from mindscape.ingest.formats.lines import (
    Lines,
    add_item,
    cells_header,
    end_of_indented,
    indent,
    lay,
    lines_of,
)
from mindscape.ingest.formats.rows import SEPARATOR
from mindscape.ingest.parsed import Parsed, Source

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+")
_BULLET = re.compile(r"\s*(?:[*+\-•‣⁃]|\(?(?:\d{1,9}|[A-Za-z]|[ivxlcdmIVXLCDM]{1,9}|#)[.)])(?:\s|$)")
_FIELD = re.compile(r"\s*:([^:\s][^:]{0,60}):(?:\s+(.*))?")
_DIRECTIVE = re.compile(r"\s*\.\.\s+(?:\|[^|]+\|\s+)?([\w:-]+)::(?:\s+(.*))?")
_TARGET = re.compile(r"^[ ]*(?:\.\. _[^:\r\n]{1,200}:|__)[ \t]+(\S{1,2000})|<([^<>\s`]{1,2000})>`__?", re.M)
_MARKUP = re.compile(r"\s*\.\.(?:\s|$)")
_EXPLICIT = re.compile(r"\s*\.\.\s+(?:_|\[)")
_DOCTEST = re.compile(r"\s*>>>(?:\s|$)")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+")
_SIMPLE = re.compile(r"\s*=+(?:[ ]+=+)+")
_ROLE = re.compile(
    r":[\w:.+-]{1,40}:`([^`]{1,500})`|(?:\*\*|``|[*`])(\S(?:[^*`]{0,500}\S)?)(?:\*\*|``|`__?|[*`])"
)
_VERBATIM = (
    "code",
    "code-block",
    "sourcecode",
    "parsed-literal",
    "math",
    "raw",
    "literalinclude",
    "highlight",
)
_TABLES = ("csv-table", "list-table", "table")
_AUTHORS = ("author", "authors")
_TAGS = ("tags", "keywords")
_METADATA = {"date": "date", "language": "language", "lang": "language", "summary": "description"}


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; the levels of titles are the order in which their adornments appear."""
    lines = lines_of(source)
    styles: list[tuple[str, bool]] = []
    lay(
        lines,
        (
            lambda held, at: _title(held, at, styles),
            _directive,
            _comment,
            _grid_table,
            _simple_table,
            _literal,
            _doctest,
            _fields,
            _item,
            _quote,
        ),
    )
    for target in _TARGET.findall(lines.decoded.text):
        if not target[1].endswith("_"):
            lines.add_links([target[0] or target[1]])
    lines.add_urls()
    title = lines.metadata.pop("title", None)
    return lines.parsed(media_type, title or next((h.text for h in lines.headings if h.level == 1), None))


def plain(inline: str) -> str:
    """A title's words without roles and marks of emphasis."""
    inline = _ROLE.sub(lambda found: (found[1] or found[2]).partition(" <")[0], inline)
    return re.sub(r"\\(\W)|\\", r"\1", inline).strip()


def _width(line: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in line[:400])


def _title(lines: Lines, at: int, styles: list[tuple[str, bool]]) -> int:
    """A line over a row of one sign, or between two such rows; nothing inside a paragraph."""
    if lines.paragraph >= 0:
        return at
    line, below, last = lines[at], lines[at + 1], lines[at + 2]
    over = bool(_ADORNMENT.fullmatch(line)) and below.strip() != "" and last[:1] == line[:1]
    text, rule = (below, last) if over else (line, below)
    if (not over and text[:1].isspace()) or not _ADORNMENT.fullmatch(rule):
        return _transition(lines, at)
    if (over and last != line) or (len(rule) < 4 and len(rule) < _width(text.strip())):
        return at
    if _ADORNMENT.fullmatch(text.strip()) and len(text.strip()) >= 4:
        return _transition(lines, at)
    style = (rule[0], over)
    if style not in styles:
        styles.append(style)
    lines.add_heading(styles.index(style) + 1, plain(text), at, at + 2 + over)
    return at + 2 + over


def _transition(lines: Lines, at: int) -> int:
    """A row of one sign that stands alone is a line across the page, and no text."""
    rule = _ADORNMENT.fullmatch(lines[at])
    return at + 1 if rule and len(lines[at]) >= 4 and not lines[at + 1] else at


def _body(lines: Lines, at: int) -> int:
    """The line after what is indented below line `at`."""
    return max(at + 1, end_of_indented(lines, at + 1, indent(lines[at]) + 1))


def _directive(lines: Lines, at: int) -> int:
    directive = _DIRECTIVE.match(lines[at])
    if not directive:
        return at
    name, argument = directive[1].lower(), (directive[2] or "").strip()
    if name in _VERBATIM:
        last = _body(lines, at)
        lines.add("code", at, last)
        return last
    if name in _TABLES:
        return _directive_table(lines, at, name, argument)
    return at if lines.paragraph < 0 and argument else at + 1


def _directive_table(lines: Lines, at: int, name: str, caption: str) -> int:
    last = _body(lines, at)
    header = caption
    inside = [lines[number] for number in range(at + 1, last) if lines[number].strip()]
    content = [line for line in inside if not _FIELD.match(line)]
    named = next(
        (field[2] for line in inside if (field := _FIELD.match(line)) and field[1] == "header"), None
    )
    if name == "csv-table" and (named or content):
        header = cells_header(named or content[0], caption, ",").replace('"', "")
    elif name == "list-table":
        row = [line.strip().removeprefix("* ").strip() for line in content]
        end = next((n for n in range(1, len(row)) if content[n].strip().startswith("* ")), len(row))
        header = "\n".join(filter(None, (caption, SEPARATOR.join(cell.lstrip("- ") for cell in row[:end]))))
    elif content and _GRID.fullmatch(content[0]):
        header = _grid_header(content, caption)
    lines.add("table", at, last, header)
    return last


def _comment(lines: Lines, at: int) -> int:
    """A comment, target or footnote; only the last two are text."""
    if not _MARKUP.match(lines[at]) or _DIRECTIVE.match(lines[at]):
        return at
    if lines[at].strip() == ".." and not lines[at + 1]:
        return at + 1
    last = _body(lines, at)
    if _EXPLICIT.match(lines[at]):
        lines.add("paragraph", at, last)
    return last


def _grid_table(lines: Lines, at: int) -> int:
    if not _GRID.fullmatch(lines[at]):
        return at
    last = at
    while lines[last].lstrip()[:1] in ("+", "|") and lines[last]:
        last += 1
    lines.add("table", at, last, _grid_header([lines[number] for number in range(at, last)]))
    return last


def _grid_header(rows: list[str], caption: str = "") -> str:
    rule = next((n for n, row in enumerate(rows) if "=" in row and _GRID.fullmatch(row)), 0)
    above = [row for row in rows[1:rule] if "|" in row and not _GRID.fullmatch(row)]
    lines = [cells_header(re.sub(r"\+[-+=]*\+", "|", row)) for row in above]
    return "\n".join(filter(None, (caption, *lines)))


def _simple_table(lines: Lines, at: int) -> int:
    """Rows between rows of `===`; with three of those, what stands above the second is the header."""
    if not _SIMPLE.fullmatch(lines[at]):
        return at
    borders = [at]
    last = at + 1
    while last < len(lines) and len(borders) < 3:
        if _SIMPLE.fullmatch(lines[last]):
            borders.append(last)
            if not lines[last + 1]:
                break
        last += 1
    if len(borders) < 2:
        return at
    header = " ".join(lines[number] for number in range(at + 1, borders[1])) if len(borders) == 3 else ""
    lines.add("table", at, borders[-1] + 1, cells_header(re.sub(r"\s{2,}", "|", header.strip())))
    return borders[-1] + 1


def _literal(lines: Lines, at: int) -> int:
    """The line that ends with `::`, and the indented lines after it, which are code."""
    if not lines[at].endswith("::") or lines[at + 1].strip():
        return at
    first = at + 1
    while first < len(lines) and not lines[first]:
        first += 1
    last = end_of_indented(lines, first, indent(lines[at]) + 1)
    if last <= first:
        return at
    if lines.paragraph < 0:
        lines.paragraph = lines.starts[at]
    lines.add("code", first, last)
    return last


def _doctest(lines: Lines, at: int) -> int:
    last = at
    while _DOCTEST.match(lines[at]) and lines[last]:
        last += 1
    if last > at:
        lines.add("code", at, last)
    return last


def _fields(lines: Lines, at: int) -> int:
    """A run of `:name: value` lines; in front of all text they are the metadata."""
    if lines.paragraph >= 0 or not _FIELD.match(lines[at]):
        return at
    is_docinfo = all(block.kind == "heading" for block in lines.blocks)
    last = at
    while field := _FIELD.match(lines[last]):
        end = _body(lines, last)
        value = " ".join(
            [field[2] or "", *(lines[number].strip() for number in range(last + 1, end))]
        ).strip()
        if is_docinfo and value:
            _note(lines, field[1].lower(), value)
        last = end
    lines.add("properties", at, last)
    return last


def _note(lines: Lines, name: str, value: str) -> None:
    if name in _AUTHORS:
        names = [plain(part) for part in re.split(r";| - |(?<=\w)\s*\*\s+", value)]
        lines.metadata.setdefault("author", ", ".join(filter(None, names)))
    elif name in _TAGS:
        lines.metadata.setdefault("tags", [tag.strip() for tag in re.split(r"[,;]", value) if tag.strip()])
    elif name == "title":
        lines.metadata.setdefault("title", plain(value))
    elif name in _METADATA:
        lines.metadata.setdefault(_METADATA[name], value)


def _item(lines: Lines, at: int) -> int:
    if lines.paragraph >= 0 or not _BULLET.match(lines[at]):
        return at
    return add_item(lines, at, _BULLET)


def _quote(lines: Lines, at: int) -> int:
    """Indented lines after a blank one."""
    if lines.paragraph >= 0 or not lines[at][:1].isspace():
        return at
    last = at
    while lines[last] and lines[last][:1].isspace() and not lines[last].endswith("::"):
        last += 1
    if last > at:
        lines.add("quote", at, last)
    return last
