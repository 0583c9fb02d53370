"""XML of any kind as text: articles, feeds, patents, outlines, drawings, and values with their names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import islice

from lxml import etree

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.html import tree_of
from mindscape.ingest.formats.html_walk import text_of
from mindscape.ingest.formats.html_walk import walk as walk_html
from mindscape.ingest.formats.outline import MAX_HEADING, Heading
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.formats.xml import Element, inner_text, local_name
from mindscape.ingest.formats.xml_words import (
    ATTRIBUTES,
    BLOCKS,
    CELLS,
    DROPPED,
    FRONT,
    HEADS,
    KINDS,
    MARKUP_INSIDE,
    NO_HEADINGS,
    ONE_LINE,
    PARAGRAPHS,
    PROSE,
    ROWS,
    TABLES,
    TITLES,
)
from mindscape.ingest.parsed import BlockKind

_HTML = re.compile(
    r"</?(?:p|br|div|a|img|[uo]l|li|b|i|strong|em|span|table|t[rd]|h[1-6]|blockquote|font|pre|hr)\b[^<>]*>"
    r"|&(?:#\d{1,6}|#x[\da-f]{1,6}|[a-z]\w{1,30});",
    re.I,
)
_URL = re.compile(r"(?:https?|ftp|mailto|tag|urn):\S+")
_LINK_ATTRIBUTES = ("href", "url", "xmlurl", "htmlurl", "src")
_XHTML = "{http://www.w3.org/1999/xhtml}"
_FORMULAS = ("math", "tex-math")
_TEX_DOCUMENT = re.compile(r"^.*\\begin\{document\}|\\end\{document\}.*$", re.S)
_IN_DRAWINGS = {"tspan", "textpath", "a"}
_MOST_ALTERNATIVES = 8
"""Of one formula."""
_MAX_LINKS = 2_000
_MAX_RECORD = 600
_NOT_IN_RECORDS = TITLES | PROSE | BLOCKS | frozenset(_FORMULAS)
_MAX_LABELLED = 100


@dataclass(slots=True)
class _Open:
    """An element that has not ended."""

    name: str
    is_block: bool
    mixed: bool
    kind: BlockKind
    """Of the blocks in it."""
    is_front: bool
    titled: bool = False


@dataclass(slots=True)
class Walk:
    """Where a walk through a tree stands."""

    builder: TextBuilder
    open: list[_Open] = field(default_factory=list[_Open])
    inline: list[str] = field(default_factory=list[str])
    line: int = 0
    """Of the file, where the text in `inline` begins."""
    titles: int = 0
    """Titles of open elements that are above a heading to come."""
    in_text: int = 0
    """Open elements that hold a run of text."""
    top: int = 0
    """1 once there is a title of the whole document."""

    def add(self, kind: BlockKind, text: str, line: int | None, level: int = 0) -> None:
        """A block, with the line of the file that it is on."""
        if text.strip():
            if line:
                self.builder.mark("line", str(line))
            self.builder.add(kind, text, level=level)

    def flush(self) -> None:
        """What was collected becomes a block."""
        text = "".join(self.inline)
        self.inline.clear()
        kind = self.kind
        self.add(kind, text if kind == "code" else collapsed(text), self.line)

    @property
    def kind(self) -> BlockKind:
        """Of a block here."""
        return self.open[-1].kind if self.open else "paragraph"


def walk_xml(root: Element, builder: TextBuilder) -> None:
    """Add the blocks under `root`, each with a `line` mark."""
    walk = Walk(builder)
    events = etree.iterwalk(root, events=("start", "end"))
    skipped: Element | None = None
    for event, element in events:
        if event == "start":
            if _taken_whole(walk, element):
                skipped = element
                events.skip_subtree()
            else:
                _start(walk, element)
            continue
        if element is not skipped:
            _end(walk)
        if element is not root and element.tail and walk.open and walk.open[-1].mixed:
            _say(walk, element.tail, element)
    walk.flush()


def _start(walk: Walk, element: Element) -> None:
    name = local_name(element).lower()
    above = walk.open[-1] if walk.open else None
    is_block = name in BLOCKS or not walk.in_text
    if is_block:
        walk.flush()
        if len(element):
            _attributes(walk, element, "")
    mixed = not len(element) or _is_mixed(element) or _is_paragraph(element, name)
    is_front = name != "abstract" and (name in FRONT or (above is not None and above.is_front))
    walk.open.append(_Open(name, is_block, mixed, KINDS.get(name, walk.kind), is_front))
    walk.in_text += mixed
    if mixed and element.text:
        _say(walk, element.text, element)


def _end(walk: Walk) -> None:
    if walk.open[-1].is_block:
        walk.flush()
    ended = walk.open.pop()
    walk.titles -= ended.titled
    walk.in_text -= ended.mixed


def _say(walk: Walk, text: str, element: Element) -> None:
    if not walk.inline:
        walk.line = element.sourceline or 0
    walk.inline.append(text if walk.kind == "code" else re.sub(r"\s+", " ", text))


def _taken_whole(walk: Walk, element: Element) -> bool:
    """What is read otherwise than part by part; True when it was, or is left out."""
    name = local_name(element).lower()
    if not name or name in DROPPED:
        return True
    _note_links(walk, element)
    if name in _FORMULAS:
        _formula(walk, element, name)
        return True
    following = element.getnext()
    if name == "label" and following is not None and _is_title(following):
        return True
    if str(element.tag).startswith(_XHTML):
        walk.flush()
        _add_html(walk, element)
        return True
    if walk.in_text and name not in BLOCKS:
        return False
    return (
        _title(walk, element, name)
        or _table(walk, element, name)
        or _one_line(walk, element, name)
        or _record(walk, element)
        or _leaf(walk, element, name)
    )


def _formula(walk: Walk, element: Element, name: str) -> None:
    """Its signs, or its TeX where there is nothing else."""
    parent = element.getparent()
    # The first few children: `len` of an element counts them all, each time.
    around = () if parent is None else islice(parent, _MOST_ALTERNATIVES)
    if name == "tex-math" and any(local_name(held).lower() == "math" for held in around):
        return
    text = _TEX_DOCUMENT.sub("", inner_text(element))
    _say(walk, f" {''.join(text.split()) if name == 'math' else text} ", element)
    if not walk.in_text:
        walk.flush()


def _title(walk: Walk, element: Element, name: str) -> bool:
    if name not in TITLES or not walk.open or any(_is_title(child) for child in element):
        return False
    text = _plain(collapsed(_spoken(element))).replace("\n", " ")
    around = {held.name for held in walk.open[-4:]}
    if not text or len(text) > MAX_HEADING or around & NO_HEADINGS or around & ONE_LINE:
        return False
    parent = walk.open[-1]
    is_front = parent.is_front
    if is_front and walk.top:
        return False
    if label := _label_before(element):
        text = f"{label} {text}"
    above = 0 if is_front else walk.top + walk.titles - parent.titled
    declared = element.get("level") or ""
    deeper = int(declared) - 1 if declared.isdigit() and len(declared) == 1 and declared != "0" else 0
    walk.flush()
    walk.add("heading", text, element.sourceline, above + 1 + deeper)
    walk.top = 1 if is_front else walk.top
    if not is_front and not parent.titled:
        parent.titled = True
        walk.titles += 1
    return True


def _label_before(title: Element) -> str:
    """The number of a section, which stands in front of its title."""
    label = title.getprevious()
    return _spoken(label).strip() if label is not None and local_name(label).lower() == "label" else ""


def _is_title(element: Element) -> bool:
    return local_name(element).lower() in TITLES


def _spoken(element: Element) -> str:
    """The text under an element; notes and formulas in it stay apart."""
    return " ".join(str(piece) for piece in element.itertext()) if len(element) > 3 else inner_text(element)


def _table(walk: Walk, element: Element, name: str) -> bool:
    if name not in TABLES or any(local_name(held).lower() in TABLES for held in element.iterdescendants()):
        return False
    rows: list[list[str]] = []
    is_head: list[bool] = []
    for row in element.iterdescendants():
        if local_name(row).lower() in ROWS:
            cells = [cell for cell in row if local_name(cell).lower() in CELLS]
            texts = [" ".join(collapsed(_cell_text(cell)).split()) for cell in cells]
            if any(texts):
                rows.append(texts)
                is_head.append(_in_head(row, cells))
    if not any(len(row) > 1 for row in rows):
        return False
    walk.flush()
    walk.builder.mark("line", str(element.sourceline or 1))
    heads = next((number for number, head in enumerate(is_head) if not head), len(rows))
    table_block(walk.builder, rows, has_header=True if 0 < heads < len(rows) else None)
    return True


def _cell_text(cell: Element) -> str:
    return " ".join(str(piece) for piece in cell.itertext())


def _in_head(row: Element, cells: list[Element]) -> bool:
    parent = row.getparent()
    above = local_name(parent).lower() if parent is not None else ""
    return above in HEADS or (bool(cells) and all(local_name(cell).lower() in HEADS for cell in cells))


def _one_line(walk: Walk, element: Element, name: str) -> bool:
    if name not in ONE_LINE or not len(element):
        return False
    walk.flush()
    walk.add("paragraph", " ".join(" ".join(map(str, element.itertext())).split()), element.sourceline)
    return True


def _record(walk: Walk, element: Element) -> bool:
    """Several values with a name each, and nothing else: one block, a value a line."""
    names = [local_name(child).lower() for child in element]
    if len(names) < 2 or len(set(names)) < len(names) or set(names) & _NOT_IN_RECORDS:
        return False
    if any(len(child) for child in element) or _is_mixed(element):
        return False
    values = [_value(child) for child in element]
    if sum(map(len, values)) > _MAX_RECORD:
        return False
    walk.flush()
    for child in element:
        _note_links(walk, child)
    shown = [f"{local_name(child)}: {value}" for child, value in zip(element, values, strict=True) if value]
    walk.add("item", "\n".join([*filter(None, [_readable(element)]), *shown]), element.sourceline)
    return True


def _leaf(walk: Walk, element: Element, name: str) -> bool:
    """An element without others in it: its text, escaped HTML as HTML, an address as a link."""
    if len(element):
        return False
    text = element.text or ""
    walk.flush()
    if _URL.fullmatch(text.strip()):
        _add_link(walk, text.strip())
    elif name in MARKUP_INSIDE and _HTML.search(text):
        root = tree_of(text)
        if root is not None:
            walk.builder.mark("line", str(element.sourceline or 1))
            _add_html(walk, root)
    elif KINDS.get(name, walk.kind) == "code":
        walk.add("code", text, element.sourceline)
    elif text.strip():
        walk.add(KINDS.get(name, walk.kind), _labelled(element, name, collapsed(text)), element.sourceline)
    else:
        _attributes(walk, element, local_name(element))
    return True


def _labelled(element: Element, name: str, text: str) -> str:
    """A short value with its name in front; lines of a verse and cells of a list have a name in common."""
    neighbours = (element.getprevious(), element.getnext())
    alike = element.getparent() is None or any(
        other is not None and other.tag == element.tag for other in neighbours
    )
    if len(text) > _MAX_LABELLED or name in PROSE or name in BLOCKS or name in TITLES or alike:
        return text
    return f"{local_name(element)}: {text}"


def _value(element: Element) -> str:
    text = _plain(collapsed(element.text or "")).replace("\n", " ")
    return "" if _URL.fullmatch(text) else text or _readable(element)


def _attributes(walk: Walk, element: Element, label: str) -> None:
    """What the attributes of an element say to people, as an item of its own."""
    if readable := _readable(element):
        shown = f"{label}: {readable}" if label and label.lower() not in ATTRIBUTES else readable
        walk.add("item", shown, element.sourceline)


def _readable(element: Element) -> str:
    if local_name(element).lower() == "link":
        return ""
    held = {
        str(key).rpartition("}")[2].lower(): collapsed(str(value)) for key, value in element.attrib.items()
    }
    values = [held[name] for name in ATTRIBUTES if held.get(name) and not _URL.fullmatch(held[name])]
    return " | ".join(dict.fromkeys(value.replace("\n", " ") for value in values))


def _add_html(walk: Walk, root: Element) -> None:
    """HTML inside of XML: its headings are below those around it."""
    before = len(walk.builder.headings)
    walk_html(root, walk.builder, page=False)
    above = walk.top + walk.titles
    for number, heading in enumerate(walk.builder.headings[before:], start=before):
        walk.builder.headings[number] = Heading(above + heading.level, heading.text, heading.start)


def _plain(text: str) -> str:
    """A title or value without the HTML that was escaped in it."""
    if not _HTML.search(text):
        return text
    root = tree_of(text)
    return text if root is None else collapsed(text_of(root))


def _is_mixed(element: Element) -> bool:
    """Whether text stands between the elements in it."""
    if element.text and element.text.strip():
        return True
    return any(child.tail and child.tail.strip() for child in element)


def _is_paragraph(element: Element, name: str) -> bool:
    names = {local_name(child).lower() for child in element}
    return (name in PARAGRAPHS and not names & BLOCKS) or (name == "text" and names <= _IN_DRAWINGS)


def _note_links(walk: Walk, element: Element) -> None:
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2].lower() in _LINK_ATTRIBUTES:
            _add_link(walk, str(value))


def _add_link(walk: Walk, target: str) -> None:
    if (
        _URL.fullmatch(target)
        and not target.startswith(("tag:", "urn:"))
        and len(walk.builder.links) < _MAX_LINKS
    ):
        walk.builder.links[target] = None
