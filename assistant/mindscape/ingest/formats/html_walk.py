"""Walk an HTML tree, without recursion, into blocks of text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from lxml import etree

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.formula import formula_text
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.formats.xml import Element, local_name
from mindscape.ingest.parsed import BlockKind

_MAX_LINKS = 10_000
_DROPPED_NAMES = """
script style template noscript svg head iframe object embed applet canvas audio video map
select button input textarea datalist option rt rp noframes
"""
_BLOCK_NAMES = """
address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure
footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section
summary table tbody td tfoot th thead title tr ul caption
"""
_DROPPED = frozenset(_DROPPED_NAMES.split())
_BLOCK = frozenset(_BLOCK_NAMES.split())
_CHROME = frozenset(("nav", "footer", "aside", "dialog", "menu"))
_CHROME_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "dialog", "alertdialog", "complementary", "menu")
)
_CHROME_NAMES = re.compile(r"cookie|consent|gdpr|breadcrumb|skip-?link|share-?buttons|site-?nav", re.I)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.I)
_KINDS: dict[str, BlockKind] = {
    "li": "item",
    "dd": "item",
    "dt": "item",
    "blockquote": "quote",
    "pre": "code",
}
# Not a single space, of which a text is full and which stays as it is.
_SPACES = re.compile(r" [ \t\n\r\f]+|[\t\n\r\f][ \t\n\r\f]*")
_HEADING = re.compile(r"h[1-6]")
_STRUCTURE = ("table", "h1", "h2", "h3", "h4", "ul", "ol", "pre", "blockquote")
_MAX_CELL = 400
_MAX_ALT = 1_000
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)", re.I)


@dataclass(slots=True)
class _Walk:
    builder: TextBuilder
    page: bool
    inline: list[str] = field(default_factory=list[str])
    kinds: list[BlockKind] = field(default_factory=lambda: ["paragraph"])
    level: int = 0
    verbatim: int = 0

    def flush(self) -> None:
        kind = self.kinds[-1]
        text = "".join(self.inline)
        self.inline.clear()
        self.builder.add(kind, text if kind == "code" else collapsed(text), level=self.level)

    def say(self, text: str | None) -> None:
        if text:
            as_it_is = self.verbatim or ("  " not in text and text.isprintable())
            self.inline.append(text if as_it_is else _SPACES.sub(" ", text))

    def start(self, element: Element, tag: str) -> None:
        if tag == "br":
            self.inline.append("\n")
        elif tag == "img":
            self.say(alternative(element))
        elif tag == "a":
            _note_link(element, self.builder)
        if tag not in _BLOCK:
            # A note's number would weld with the word before it.
            self.say("[" if _is_note_reference(element, tag) else None)
        else:
            self.flush()
            if kind := _kind_of(tag):
                self.kinds.append(kind)
                self.level = int(tag[1]) if kind == "heading" else self.level
                self.verbatim += kind == "code"
        self.say(element.text)

    def end(self, element: Element, tag: str) -> None:
        if tag not in _BLOCK:
            self.say("]" if _is_note_reference(element, tag) else None)
        else:
            self.flush()
            if kind := _kind_of(tag):
                self.kinds.pop()
                self.verbatim -= kind == "code"


def walk(root: Element, builder: TextBuilder, page: bool, reach: Callable[[str], None] | None = None) -> None:
    """Add the blocks under `root`; of a web `page`, menus, footers and banners are left out.

    `reach` hears the id of each element that has one, before what is in it is added.
    """
    state = _Walk(builder, page)
    events = etree.iterwalk(root, events=("start", "end", "comment", "pi"))
    skipped: Element | None = None
    for event, element in events:
        tag = tag_of(element)
        if event == "start":
            rows = _data_rows(element) if tag == "table" else None
            left_out = element is not root and _is_left_out(element, tag, page)
            if rows is not None or left_out or tag == "math":
                skipped = element
                events.skip_subtree()
                if rows:
                    state.flush()
                    table_block(builder, rows, collapsed(_caption(element)), _has_header(element))
                elif tag in _BLOCK:
                    state.flush()
                elif not left_out:
                    state.say(formula_text(element))
            else:
                if reach is not None and (name := element.get("id") or element.get("name")):
                    if tag in _BLOCK:
                        state.flush()
                    reach(name)
                state.start(element, tag)
            continue
        if event == "end" and element is not skipped:
            state.end(element, tag)
        if element is not root:
            state.say(element.tail)
    state.flush()


def tag_of(element: Element) -> str:
    """The name in lower case; XHTML may write `m:math` where HTML has `math`."""
    return local_name(element).rpartition(":")[2].lower()


def alternative(image: Element) -> str:
    """What a picture says to who cannot see it, apart from the words around it; empty for a file name."""
    text = collapsed(image.get("alt") or "")[:_MAX_ALT].rstrip()
    figure = next(image.iterancestors("figure"), None)
    caption = None if figure is None else figure.find(".//figcaption")
    if not text or _FILE_NAME.fullmatch(text) or (caption is not None and text in text_of(caption)):
        return ""
    return f" {text} "


def _kind_of(tag: str) -> BlockKind | None:
    return "heading" if _HEADING.fullmatch(tag) else _KINDS.get(tag)


def _is_left_out(element: Element, tag: str, page: bool) -> bool:
    if tag in _DROPPED or element.get("hidden") is not None or element.get("aria-hidden") == "true":
        return True
    if _HIDDEN_STYLE.search(element.get("style") or ""):
        return True
    if not page:
        return False
    if tag in _CHROME or (element.get("role") or "").lower() in _CHROME_ROLES:
        return not (tag == "footer" and _within(element, ("article", "blockquote")))
    name = f"{element.get('id') or ''} {element.get('class') or ''}"
    return tag in ("div", "section", "ul", "p", "a") and bool(_CHROME_NAMES.search(name[:300]))


def _within(element: Element, tags: tuple[str, ...]) -> bool:
    return next(element.iterancestors(*tags), None) is not None


def _is_note_reference(element: Element, tag: str) -> bool:
    if tag != "sup":
        return False
    parent = element.getparent()
    return element.find("a") is not None or (parent is not None and parent.tag == "a")


def _note_link(element: Element, builder: TextBuilder) -> None:
    target = (element.get("href") or "").strip()
    if target and not target.startswith(("#", "javascript:", "data:")) and len(builder.links) < _MAX_LINKS:
        builder.links[target[:2_000]] = None


def _data_rows(table: Element) -> list[list[str]] | None:
    """The rows of a table of data; None for a table that only lays the page out."""
    if any(table.find(f".//{tag}") is not None for tag in _STRUCTURE):
        return None
    rows: list[list[str]] = []
    for row in table.iter("tr"):
        cells = [collapsed(text_of(cell)).replace("\n", " ") for cell in row.iterchildren("td", "th")]
        if any(len(cell) > _MAX_CELL for cell in cells):
            return None
        if any(cells):
            rows.append(cells)
    return rows if any(len(row) > 1 for row in rows) else None


def text_of(element: Element) -> str:
    """The visible text under an element, as one run."""
    pieces: list[str] = []
    events = etree.iterwalk(element, events=("start", "end", "comment", "pi"))
    for event, held in events:
        tag = tag_of(held)
        if event == "start":
            if held is not element and _is_left_out(held, tag, page=False):
                events.skip_subtree()
                continue
            if tag == "math":
                events.skip_subtree()
                pieces.append(formula_text(held))
                continue
            pieces.append(" " if tag in _BLOCK or tag == "br" else "")
            pieces.append(alternative(held) if tag == "img" else held.text or "")
        elif held is not element:
            pieces.append(" " if tag in _BLOCK else "")
            pieces.append(held.tail or "")
    return "".join(pieces)


def _caption(table: Element) -> str:
    caption = table.find("caption")
    return "" if caption is None else text_of(caption)


def _has_header(table: Element) -> bool | None:
    """True when the first row is marked as a header; None when nothing is said."""
    first = next(table.iter("tr"), None)
    if first is None:
        return None
    cells = list(first.iterchildren("td", "th"))
    if _within(first, ("thead",)) or (cells and all(cell.tag == "th" for cell in cells)):
        return True
    return None
