"""The paragraphs and tables of a WordprocessingML part, with all tracked changes accepted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.docx_styles import outline_level, style_values
from mindscape.ingest.formats.formula import formula_text
from mindscape.ingest.formats.xml import Element, attribute, local_name

_DELETED = frozenset(("del", "moveFrom", "instrText", "delInstrText", "rPr", "sectPr"))
_TEXTS = {
    "tab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\u2011",
    "softHyphen": "\u00ad",
}
_REFERENCES = ("footnoteReference", "endnoteReference")
_MAX_ALT = 1_000
_FILE_NAME = re.compile(r"\S+\.\w{2,4}")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph's text and what is set on it directly; `outline` is 1-based, 0 for none."""

    text: str
    style: str = ""
    outline: int = 0
    in_list: bool = False
    drops_cap: bool = False
    """It holds only the large first letter of the next paragraph."""


def paragraphs(part: Element) -> Iterator[Paragraph | Element]:
    """Paragraphs and tables (as elements) in document order, whatever they are wrapped in."""
    events = etree.iterwalk(part, events=("start",))
    for _, element in events:
        name = local_name(element)
        if name in _DELETED or _is_fallback(element, name):
            events.skip_subtree()
        elif name == "tbl":
            events.skip_subtree()
            yield element
        elif name == "p":
            events.skip_subtree()
            yield from _paragraph(element)


def _paragraph(element: Element) -> Iterator[Paragraph]:
    """The paragraph, then the text boxes that are anchored in it."""
    pieces: list[str] = []
    boxes: list[Element] = []
    values: dict[str, str] = {}
    events = etree.iterwalk(element, events=("start",))
    for _, held in events:
        name = local_name(held)
        if name in _DELETED or _is_fallback(held, name):
            events.skip_subtree()
        elif name == "pPr":
            values = style_values(held)
            events.skip_subtree()
        elif name == "txbxContent":
            boxes.append(held)
            events.skip_subtree()
        elif name == "t":
            pieces.append(held.text or "")
        elif name in _REFERENCES:
            pieces.append(f"[{attribute(held, 'id') or ''}]")
        elif name == "oMath":
            pieces.append(formula_text(held))
            events.skip_subtree()
        elif name == "docPr":
            pieces.append(_alternative(held))
        else:
            pieces.append(_TEXTS.get(name, ""))
    yield Paragraph(
        "".join(pieces),
        style=values.get("pStyle", ""),
        outline=outline_level(values.get("outlineLvl")),
        in_list="numPr" in values and values.get("numId") != "0",
        drops_cap=values.get("dropCap") in ("drop", "margin"),
    )
    for box in boxes:
        for inner in box.iter("{*}p"):
            yield Paragraph(paragraph_text(inner))


def paragraph_text(element: Element) -> str:
    """The text of one paragraph or of everything under `element`, its paragraphs apart by a space."""
    pieces: list[str] = []
    events = etree.iterwalk(element, events=("start",))
    for _, held in events:
        name = local_name(held)
        if name in _DELETED or name == "pPr" or _is_fallback(held, name):
            events.skip_subtree()
        elif name == "t":
            pieces.append(held.text or "")
        elif name == "oMath":
            pieces.append(formula_text(held))
            events.skip_subtree()
        elif name == "docPr":
            pieces.append(_alternative(held))
        elif name in ("p", "tc"):
            pieces.append(" ")
        else:
            pieces.append(_TEXTS.get(name, ""))
    return "".join(pieces)


def _alternative(properties: Element) -> str:
    """What a picture says to who cannot see it, in brackets: it is not part of the sentence it stands in."""
    text = " ".join((attribute(properties, "descr") or "").split())[:_MAX_ALT]
    return f" [{text}] " if text and not _FILE_NAME.fullmatch(text) else ""


def row_texts(table: Element) -> tuple[list[list[str]], bool]:
    """The rows of a table, merged cells once, and whether its first row is marked as a header."""
    rows: list[list[str]] = []
    has_header = False
    for row in _rows(table):
        properties = {local_name(held) for child in row if local_name(child) == "trPr" for held in child}
        if "del" in properties:
            continue
        has_header = has_header or (not rows and "tblHeader" in properties)
        cells = [_cell(cell) for cell in _cells(row)]
        if any(cells):
            rows.append(cells)
    return rows, has_header


def _rows(table: Element) -> Iterator[Element]:
    """The table's own rows, not those of tables inside its cells."""
    yield from _children(table, "tr", "tc")


def _cells(row: Element) -> Iterator[Element]:
    yield from _children(row, "tc", "tc")


def _children(parent: Element, wanted: str, stop: str) -> Iterator[Element]:
    events = etree.iterwalk(parent, events=("start",))
    for _, element in events:
        name = local_name(element)
        if name in _DELETED:
            events.skip_subtree()
        elif name == wanted:
            events.skip_subtree()
            yield element
        elif name == stop:
            events.skip_subtree()


def _cell(cell: Element) -> str:
    merges = [
        held
        for child in cell
        if local_name(child) == "tcPr"
        for held in child
        if local_name(held) == "vMerge"
    ]
    if any(attribute(merge, "val") in (None, "continue") for merge in merges):
        return ""
    return collapsed(paragraph_text(cell)).replace("\n", " ")


def _is_fallback(element: Element, name: str) -> bool:
    """An older rendering of what stands beside it."""
    if name != "Fallback":
        return False
    parent = element.getparent()
    return parent is not None and any(local_name(child) == "Choice" for child in parent)
