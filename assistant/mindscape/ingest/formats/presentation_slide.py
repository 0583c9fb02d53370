"""The shapes of a PowerPoint slide: text frames, groups, tables, charts and diagrams."""

from __future__ import annotations

from dataclasses import dataclass

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.ooxml import Relation, relation_id
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.presentation_asides import add_chart, diagram_texts
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.formats.slide_order import Placed, reading_order
from mindscape.ingest.formats.xml import Element, attribute, local_name

_SHAPES = ("sp", "grpSp", "graphicFrame", "cxnSp", "AlternateContent")
_TITLES = ("title", "ctrTitle")
_BODIES = ("", "body", "obj")


@dataclass(frozen=True, slots=True)
class SlideReader:
    """Adds one slide to the text; `running` holds the footers that were added already."""

    package: Package
    targets: dict[str, Relation]
    running: set[str]
    builder: TextBuilder

    def add(self, slide: Element) -> None:
        """Append the title as heading, then the other shapes."""
        tree = next(slide.iter("{*}spTree"), None)
        shapes = list(tree) if tree is not None else []
        titles = [shape for shape in shapes if _placeholder(shape) in _TITLES]
        for title in titles:
            self.builder.add("heading", " ".join(" ".join(_paragraphs(title)).split()), level=1)
        self._add_shapes([shape for shape in shapes if shape not in titles])

    def _add_shapes(self, shapes: list[Element]) -> None:
        placed = [_placed(shape) for shape in shapes if local_name(shape) in _SHAPES]
        for shape in reading_order(placed):
            self._add_shape(shape, local_name(shape))

    def _add_shape(self, shape: Element, name: str) -> None:
        if name == "AlternateContent":
            # A newer and an older rendering of the same thing.
            chosen = next(shape.iterchildren("{*}Choice", "{*}Fallback"), None)
            self._add_shapes(list(chosen) if chosen is not None else [])
        elif name == "grpSp":
            self._add_shapes(list(shape))
        elif name == "graphicFrame":
            self._add_frame(shape)
        else:
            self._add_text(shape)

    def _add_text(self, shape: Element) -> None:
        placeholder = _placeholder(shape)
        if placeholder in ("sldNum", "dt"):
            return
        if placeholder in ("ftr", "hdr"):
            text = " ".join(_paragraphs(shape))
            if text not in self.running:
                self.running.add(text)
                self.builder.add("paragraph", text)
            return
        for paragraph in shape.iter("{*}p"):
            is_item = _is_item(paragraph, placeholder)
            self.builder.add("item" if is_item else "paragraph", _text(paragraph))

    def _add_frame(self, frame: Element) -> None:
        for held in frame.iter("{*}tbl", "{*}chart", "{*}relIds"):
            name = local_name(held)
            if name == "tbl":
                self._add_table(held)
                continue
            relation = self.targets.get(relation_id(held, "id" if name == "chart" else "dm"))
            if relation and name == "chart":
                add_chart(self.package, relation.target, self.builder)
            elif relation:
                for text in diagram_texts(self.package, relation.target):
                    self.builder.add("item", text)

    def _add_table(self, table: Element) -> None:
        rows = [[_cell(cell) for cell in row.iterchildren("{*}tc")] for row in table.iterchildren("{*}tr")]
        rows = [row for row in rows if any(row)]
        properties = next(table.iterchildren("{*}tblPr"), None)
        has_header = properties is not None and properties.get("firstRow") in ("1", "true")
        if rows and max(map(len, rows)) > 1:
            table_block(self.builder, rows, has_header=(has_header and len(rows) > 1) or None)
        else:
            for row in rows:
                self.builder.add("paragraph", "\n".join(row))


def _placeholder(shape: Element) -> str | None:
    """The kind of placeholder that a shape fills, None for a shape of its own."""
    for properties in shape.iterchildren("{*}nvSpPr"):
        for held in properties.iter("{*}ph"):
            return attribute(held, "type") or ""
    return None


def _is_item(paragraph: Element, placeholder: str | None) -> bool:
    bullet = ""
    for properties in paragraph.iterchildren("{*}pPr"):
        bullet = next((name for held in properties if (name := local_name(held)).startswith("bu")), "")
        names = {local_name(held) for held in properties}
        if "buNone" in names:
            return False
        if names & {"buChar", "buAutoNum", "buBlip"}:
            return True
    return placeholder in _BODIES and not bullet.startswith("buNone")


def _paragraphs(shape: Element) -> list[str]:
    return [text for paragraph in shape.iter("{*}p") if (text := _text(paragraph))]


def _text(paragraph: Element) -> str:
    """The runs of a paragraph, those of formulas too."""
    pieces: list[str] = []
    for held in paragraph.iter("{*}t", "{*}br"):
        pieces.append("\n" if local_name(held) == "br" else held.text or "")
    return collapsed("".join(pieces).replace("\v", "\n"))


def _cell(cell: Element) -> str:
    if cell.get("hMerge") in ("1", "true") or cell.get("vMerge") in ("1", "true"):
        return ""
    return " ".join(_paragraphs(cell)).replace("\n", " ")


def _placed(shape: Element) -> Placed[Element]:
    """The shape with its box; a shape that takes its place from the layout has none, and is above nothing."""
    for transform in shape.iter("{*}xfrm"):
        values = {
            local_name(held): [_number(held, key) for key in ("x", "y", "cx", "cy")] for held in transform
        }
        left, top, _, _ = values.get("off", [0.0] * 4)
        _, _, width, height = values.get("ext", [0.0] * 4)
        return Placed(shape, left, top, width, height)
    return Placed(shape, 0.0, 0.0, 0.0, 0.0)


def _number(element: Element, name: str) -> float:
    text = element.get(name) or ""
    return float(text) if text.lstrip("-").isdecimal() and len(text) < 16 else 0.0
