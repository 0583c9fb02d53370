"""The paragraphs and tables of OpenDocument XML, with all tracked changes accepted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.flow import Paragraph, Table
from mindscape.ingest.formats.opendocument_styles import Styles
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name

TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
MAX_REPEATED = 1_000_000
"""Characters, in one document, of cells and rows that the file says stand there again."""
MAX_LINKS = 10_000

_NO_TEXT = (
    "tracked-changes forms table-of-content script scripts event-listeners ruby-text note-citation "
    "hidden-text title desc settings binary-data sequence-decls variable-decls user-field-decls "
    "dde-connection-decls illustration-index-source table-index-source object-index-source "
    "user-index-source alphabetical-index-source bibliography-source"
)
_SKIPPED = frozenset(_NO_TEXT.split())
_SPACES = re.compile(r"[ \t\r\n]+")


@dataclass(slots=True)
class Reader:
    """Reads parts of one document, and collects what stands elsewhere than where it is written."""

    styles: Styles
    controls: dict[str, str] = field(default_factory=dict[str, str])
    """What a form field shows, by its id."""
    notes: list[str] = field(default_factory=list[str])
    comments: list[str] = field(default_factory=list[str])
    links: dict[str, None] = field(default_factory=dict[str, None])
    has_hidden: bool = False
    _repeated: int = 0

    def blocks(self, parent: Element) -> list[Paragraph | Table]:
        """Everything under `parent` in the order it reads."""
        found: list[Paragraph | Table] = []
        self._read(parent, found, in_list=False)
        return found

    def shape(self, shape: Element) -> list[Paragraph | Table]:
        """What stands in a text box, a drawn shape or a form field."""
        if local_name(shape) == "control":
            return [Paragraph(self.controls.get(shape.get(DRAW + "control") or "", ""))]
        return self.blocks(shape)

    def _read(self, parent: Element, found: list[Paragraph | Table], in_list: bool) -> None:
        # The XML library has refused anything nested deeper than Python can recurse.
        for child in parent:
            name = local_name(child)
            if name in ("p", "h"):
                self._paragraph(child, name, found, in_list)
            elif name == "table":
                self._table(child, found)
            elif name == "control":
                found += self.shape(child)
            elif name in ("annotation", "notes"):
                self._aside(child, name)
            elif name and not self._leaves_out(child, name):
                self._read(child, found, in_list or name == "list")

    def _paragraph(self, element: Element, name: str, found: list[Paragraph | Table], in_list: bool) -> None:
        style = element.get(TEXT + "style-name")
        pieces: list[str] = []
        boxes: list[Element] = []
        is_hidden = any(
            held.get(TEXT + "is-hidden") == "true" for held in element.iter(TEXT + "hidden-paragraph")
        )
        if is_hidden or self.styles.hides("paragraph", style):
            self.has_hidden = True
            return
        self._inline(element, pieces, boxes)
        text = "".join(pieces)
        level = int(self.styles.heading_level(style))
        if name == "h":
            outline = element.get(TEXT + "outline-level") or ""
            level = int(outline) if outline.isdecimal() and 0 < int(outline[:3]) < 100 else level or 1
        if level:
            found.append(Paragraph(" ".join(text.split()), "heading", level))
        elif in_list:
            found.append(Paragraph(collapsed(text), "item"))
        elif self.styles.is_a(style, "preformatted text", "source code"):
            found.append(Paragraph(text.rstrip(), "code"))
        else:
            is_quote = self.styles.is_a(style, "quotations", "quote", "block text")
            is_caption = self.styles.is_a(style, "caption", "table")
            found.append(
                Paragraph(collapsed(text), "quote" if is_quote else "paragraph", is_caption=is_caption)
            )
        for box in boxes:
            found += self.shape(box)

    def _inline(self, element: Element, pieces: list[str], boxes: list[Element]) -> None:
        pieces.append(_SPACES.sub(" ", element.text or ""))
        for child in element:
            name = local_name(child)
            if name == "s":
                count = child.get(TEXT + "c") or "1"
                pieces.append(" " * (min(int(count[:4]), 200) if count.isdecimal() else 1))
            elif name in ("tab", "line-break"):
                pieces.append("\t" if name == "tab" else "\n")
            elif name in ("note", "annotation"):
                pieces.append(self._aside(child, name))
            elif str(child.tag).startswith(DRAW) and name != "a":
                boxes.append(child)
            elif name and not self._leaves_out(child, name):
                self._inline(child, pieces, boxes)
            pieces.append(_SPACES.sub(" ", child.tail or ""))

    def _leaves_out(self, element: Element, name: str) -> bool:
        """True for what is not text of the document, or is hidden; keeps the address of a link."""
        if name == "a" and len(self.links) < MAX_LINKS:
            address = attribute(element, "href") or ""
            if address and not address.startswith("#"):
                self.links[address] = None
        hidden = (
            name == "span" and self.styles.hides("text", element.get(TEXT + "style-name"))
        ) or element.get(TEXT + "display") == "none"
        hidden = hidden or (name == "hidden-text" and element.get(TEXT + "is-hidden") != "false")
        self.has_hidden = self.has_hidden or hidden
        return hidden or name in _SKIPPED

    def _aside(self, element: Element, name: str) -> str:
        """Keep a note or comment for later; the mark that stands in the text for it."""
        if name == "annotation":
            author = next((collapsed(inner_text(held)) for held in element.iter("{*}creator")), "")
            paragraphs = [held.text for held in self.blocks(element)]
            label = f"Comment by {author[:100]}" if author else "Comment"
            self.comments.append(collapsed(f"[{label}] {' '.join(paragraphs)}"))
            return ""
        kind = (element.get(TEXT + "note-class") or "note").capitalize()
        mark = next((collapsed(inner_text(held)) for held in element.iter("{*}note-citation")), "")
        place = len(self.notes)
        self.notes.append("")
        text = " ".join(held.text for held in self.blocks(element))
        self.notes[place] = collapsed(f"[{' '.join(filter(None, (kind, mark)))}] {text}")
        return f"[{mark}]" if mark else ""

    def _table(self, table: Element, found: list[Paragraph | Table]) -> None:
        rows: list[list[str]] = []
        header_rows = 0
        for row, is_header in _rows(table):
            cells: list[str] = []
            for cell in row:
                if local_name(cell) in ("table-cell", "covered-table-cell"):
                    text = self._cell(cell)
                    cells += [text] * self._times(cell, "columns", len(text))
            while cells and not cells[-1]:
                cells.pop()
            if cells:
                header_rows += is_header
                rows += [cells] * self._times(row, "rows", sum(map(len, cells)))
        if rows:
            width = max(map(len, rows))
            found.append(Table([row + [""] * (width - len(row)) for row in rows], header_rows))

    def _cell(self, cell: Element) -> str:
        if local_name(cell) == "covered-table-cell":
            return ""
        return collapsed(" ".join(held.text for held in self.blocks(cell) if held.text)).replace("\n", " ")

    def _times(self, element: Element, what: str, size: int) -> int:
        """How often a cell or row stands there; once where it would be text without end."""
        count = attribute(element, f"number-{what}-repeated") or "1"
        times = int(count[:9]) if count.isdecimal() else 1
        self._repeated += (times - 1) * (size + 3)
        return times if self._repeated <= MAX_REPEATED else 1


def _rows(table: Element) -> list[tuple[Element, bool]]:
    """The table's own rows, and whether each is one of the header's."""
    found: list[tuple[Element, bool]] = []
    waiting = [(child, False) for child in reversed(table)]
    while waiting:
        element, is_header = waiting.pop()
        name = local_name(element)
        if name == "table-row":
            found.append((element, is_header))
        elif name in ("table-header-rows", "table-rows", "table-row-group"):
            waiting += [(child, is_header or name == "table-header-rows") for child in reversed(element)]
    return found
