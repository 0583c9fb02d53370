"""AsciiDoc: the file itself, with titles, delimited blocks, tables, lists and attributes."""

from __future__ import annotations

import re

from mindscape.ingest.formats.lines import Lines, lay, lines_of
from mindscape.ingest.formats.rows import SEPARATOR, looks_like_header
from mindscape.ingest.parsed import BlockKind, Parsed, Source

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?")
_UNDERLINE = re.compile(r"([=\-~^+])\1+")
_UNDERLINES = "=-~^+"
_ATTRIBUTE = re.compile(r":([\w!][\w-]*!?):(?:[ \t]+(.*))?")
_PERSON = r"[^\W\d][\w.'’-]*(?: [\w.'’-]+){0,3}(?: <[^<>]{1,200}>)?"
_AUTHOR = re.compile(rf"{_PERSON}(?:; {_PERSON})*")
_REVISION = re.compile(
    r"(?:v\d[\w.]*,?\s*|rev[\w.]*,\s*)?(\d{4}-\d\d-\d\d|\w+ \d{1,2}, \d{4}|\d{1,2} \w+ \d{4}).*"
)
_FENCE = re.compile(r"(-{4,}|\.{4,}|\+{4,}|_{4,}|/{4,}|`{3,})(?:\w.*)?")
_TABLE = re.compile(r"[|!,:]={3,}")
_BETWEEN = re.compile(r"={4,}|\*{4,}|--|\+|'{3,}|<{3,}|(?:ifn?def|ifeval|endif)::.*")
_CAPTION = re.compile(r"\.([^\s.].*)")
_OPTIONS = re.compile(r"\[.*\]")
_BULLET = re.compile(r"\s*(?:\*{1,6}|-|\.{1,6}|\d{1,9}[.)]|[A-Za-z]\.|<[\d.]+>)\s+\S")
_TERM = re.compile(r"\s*\S.{0,200}?(?::{2,4}|;;)(?:\s|$)")
_CELL = re.compile(
    r"(?:^|(?<=[\s|]))(?:\d+[*+]|\.\d+\+|\d+\.\d+\+)?(?:[<^>](?:\.[<^>])?|\.[<^>])?[adehlmsv]?$"
)
_ITEM_ENDS = re.compile(
    rf"{_BULLET.pattern}|{_TERM.pattern}|={{1,6}}\s|\[|\+$|{_FENCE.pattern}|{_TABLE.pattern}"
)
_LINK = re.compile(r"(?:link:|xref:|include::)([^\s\[\]]{1,2000})\[")
_MARKS = re.compile(r"(?<!\w)(\*\*|__|``|[*_`#])(?=\S)([^\r\n]{1,200}?)(?<=\S)\1(?!\w)")
_MACRO = re.compile(
    r"(?:link:|xref:|https?://)[^\s\[\]]{1,500}\[([^\[\]]{1,300})\]|<<[^<>,]{1,200},([^<>]{1,300})>>|\[\[[^\]]*\]\]"
)
_MOST_ABOVE = 4
"""Lines of captions and options between a table and the text above it."""
_FENCED: dict[str, BlockKind] = {"_": "quote", "/": "paragraph"}
_METADATA = {"author": "author", "authors": "author", "revdate": "date", "date": "date", "lang": "language"}
_DESCRIPTION = "description"


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; the document's title is the heading of level 1, attributes are the metadata."""
    lines = lines_of(source)
    ends = _fence_ends(lines)
    lay(
        lines,
        (
            _heading,
            _attributes,
            _table,
            lambda held, at: _fenced(held, at, ends),
            _between,
            _underlined,
            _item,
            _literal,
        ),
    )
    lines.add_links(_LINK.findall(lines.decoded.text))
    lines.add_urls()
    title = lines.metadata.pop("title", None)
    return lines.parsed(media_type, title or next((h.text for h in lines.headings if h.level == 1), None))


def plain(inline: str) -> str:
    """A title's words without macros and marks of emphasis."""
    return _MARKS.sub(r"\2", _MACRO.sub(lambda found: found[1] or found[2] or "", inline)).strip()


def _heading(lines: Lines, at: int) -> int:
    heading = _HEADING.fullmatch(lines[at])
    if not heading or lines.paragraph >= 0:
        return at
    lines.add_heading(len(heading[1]), plain(heading[2]), at, at + 1)
    if len(heading[1]) == 1 and len(lines.headings) == 1:
        return _below_title(lines, at + 1)
    return at + 1


def _below_title(lines: Lines, at: int) -> int:
    """The lines of the author and of the revision, right below the title of the document."""
    last = at
    if lines[last] and _AUTHOR.fullmatch(lines[last]) and not lines[last].endswith((".", "!", "?")):
        people = [re.sub(r"\s*<.*?>", "", part).strip() for part in lines[last].split(";")]
        lines.metadata["author"] = ", ".join(people)
        last += 1
        if revision := _REVISION.fullmatch(lines[last]):
            lines.metadata["date"] = revision[1]
            last += 1
        lines.add("properties", at, last)
    return last


def _underlined(lines: Lines, at: int) -> int:
    """A title with a row of signs below it that is as long."""
    line, rule = lines[at], lines[at + 1]
    if lines.paragraph >= 0 or not rule or not _UNDERLINE.fullmatch(rule) or not re.match(r"\w", line):
        return at
    if len(rule) < 3 or abs(len(rule) - len(line)) > 2:
        return at
    lines.add_heading(_UNDERLINES.index(rule[0]) + 1, plain(line), at, at + 2)
    return at + 2


def _attributes(lines: Lines, at: int) -> int:
    """A run of `:name: value` lines."""
    last = at
    while lines.paragraph < 0 and (attribute := _ATTRIBUTE.fullmatch(lines[last])):
        name, value = attribute[1].lower(), (attribute[2] or "").strip()
        if name in ("keywords", "tags", "page-tags") and value:
            lines.metadata.setdefault("tags", [tag.strip() for tag in value.split(",") if tag.strip()])
        elif name in ("doctitle", "title") and value:
            lines.metadata.setdefault("title", value)
        elif value and (name in _METADATA or name == _DESCRIPTION):
            lines.metadata.setdefault(_METADATA.get(name, name), value)
        last += 1
    if last > at:
        lines.add("properties", at, last)
    return last


def _fence_ends(lines: Lines) -> dict[str, list[int]]:
    """The lines, last one first, on which each delimiter stands, so that none is searched for twice."""
    found: dict[str, list[int]] = {}
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if line[:1] in "-.+_/`|!,:" and (_FENCE.fullmatch(line) or _TABLE.fullmatch(line)):
            found.setdefault(line, []).append(number)
    return found


def _fenced(lines: Lines, at: int, ends: dict[str, list[int]]) -> int:
    """A listing, quotation or comment up to the same delimiter, or to the end of the file."""
    fence = _FENCE.fullmatch(lines[at])
    if not fence or (lines.paragraph >= 0 and fence[1] != lines[at]):
        return at
    places = ends.get(fence[1], [])
    while places and places[-1] <= at:
        places.pop()
    last = places[-1] + 1 if places else len(lines)
    lines.add(_FENCED.get(fence[1][0], "code"), at, last)
    return last


def _between(lines: Lines, at: int) -> int:
    """Delimiters around text that is read like any other, options, captions and comments."""
    line = lines[at]
    if _BETWEEN.fullmatch(line) or _OPTIONS.fullmatch(line):
        return at + 1
    if line.startswith("//") and lines.paragraph < 0:
        return at + 1
    return at


def _table(lines: Lines, at: int) -> int:
    """Rows between two rows of `|===`, or lines of bars; a caption or options may stand above."""
    first = at
    while first - at < _MOST_ABOVE and (_CAPTION.fullmatch(lines[first]) or _OPTIONS.fullmatch(lines[first])):
        first += 1
    fence = lines[first]
    if not _TABLE.fullmatch(fence):
        return at if first > at else _bare_rows(lines, at)
    last = first + 1
    while last < len(lines) and lines[last] != fence:
        last += 1
    above = [lines[number] for number in range(at, first)]
    caption = next((line[1:].strip() for line in above if _CAPTION.fullmatch(line)), "")
    is_named = any("header" in line for line in above)
    lines.add("table", at, last + 1, _header(lines, first + 1, last, caption, is_named))
    return last + 1


def _bare_rows(lines: Lines, at: int) -> int:
    last = at
    while lines[last].startswith("|") and lines[last].count("|") > 1:
        last += 1
    if last - at < 2:
        return at
    lines.add("table", at, last, _header(lines, at, last, "", False))
    return last


def _header(lines: Lines, first: int, last: int, caption: str, is_named: bool) -> str:
    while first < last and not lines[first]:
        first += 1
    if first >= last:
        return caption
    pieces = lines[first].split("|")
    specs, cells = pieces[:-1], [_CELL.sub("", piece).strip() for piece in pieces[1:]]
    followed = first + 1 < last
    if len(cells) == 1 and is_named:
        # One cell a line: the header ends at the blank line.
        end = next((number for number in range(first, last) if not lines[number]), first)
        cells = [lines[number].lstrip("| ") for number in range(first, end)]
    marked = all(spec.endswith("h") for spec in specs)
    if followed and (is_named or marked or looks_like_header(cells)):
        return "\n".join(filter(None, (caption, SEPARATOR.join(filter(None, cells)))))
    return caption


def _item(lines: Lines, at: int) -> int:
    if _BULLET.match(lines[at]) or (lines.paragraph < 0 and _TERM.match(lines[at])):
        return _with_wrapped(lines, at)
    return at


def _with_wrapped(lines: Lines, at: int) -> int:
    """An item goes on, indented or not, up to a blank line or the next item."""
    last = at + 1
    while lines[last] and not _ITEM_ENDS.match(lines[last]):
        last += 1
    lines.add("item", at, last)
    return last


def _literal(lines: Lines, at: int) -> int:
    """Indented lines after a blank one."""
    if lines.paragraph >= 0 or not lines[at][:1].isspace():
        return at
    last = at
    while lines[last]:
        last += 1
    lines.add("code", at, last)
    return last
