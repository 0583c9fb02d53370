"""What the styles of a DOCX say: which paragraphs are headings, list items and quotations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mindscape.ingest.formats.xml import Element, attribute, local_name, xml_tree

_HEADING = re.compile(
    r"(?:heading|überschrift|titre|título|titolo|kop|rubrik|标题|標題|見出し)\s*([1-9])", re.I
)
_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style; `outline` is 1-based, 0 for none."""

    name: str = ""
    based_on: str = ""
    outline: int = 0
    in_list: bool = False


@dataclass(frozen=True, slots=True)
class Styles:
    """Paragraph styles by id."""

    by_id: dict[str, Style] = field(default_factory=dict[str, Style])

    def heading_level(self, style_id: str, outline: int) -> int:
        """The level of a heading, from 1; 0 for other paragraphs."""
        if outline:
            return outline
        for style in self._lineage(style_id):
            named = _HEADING.fullmatch(style.name) or _HEADING.fullmatch(style_id)
            if named:
                return int(named[1])
            if style.outline:
                return style.outline
            if style.name.casefold() == "title":
                return 1
        named = _HEADING.fullmatch(style_id)
        return int(named[1]) if named else 0

    def is_list(self, style_id: str) -> bool:
        """True for the styles of list items."""
        return any(
            style.in_list or style.name.casefold().startswith("list") for style in self._lineage(style_id)
        )

    def is_quote(self, style_id: str) -> bool:
        """True for the styles of quotations."""
        return any("quote" in style.name.casefold() for style in self._lineage(style_id))

    def _lineage(self, style_id: str) -> list[Style]:
        lineage: list[Style] = []
        while (style := self.by_id.get(style_id)) and len(lineage) < _MAX_ANCESTORS:
            lineage.append(style)
            style_id = style.based_on
        return lineage


def read_styles(data: bytes | None) -> Styles:
    """The styles part, or none at all."""
    if not data:
        return Styles()
    by_id: dict[str, Style] = {}
    for element in xml_tree(data, "styles.xml").iter():
        style_id = attribute(element, "styleId")
        if local_name(element) == "style" and style_id:
            values = {local_name(held): attribute(held, "val") or "" for held in element.iter()}
            by_id[style_id] = Style(
                name=values.get("name", ""),
                based_on=values.get("basedOn", ""),
                outline=outline_level(values.get("outlineLvl")),
                in_list="numPr" in values and not _is_heading_name(values.get("name", "")),
            )
    return Styles(by_id)


def outline_level(value: str | None) -> int:
    """Word counts outline levels from 0, and 9 means body text."""
    return int(value) + 1 if value and value.isdecimal() and int(value) < 9 else 0


def _is_heading_name(name: str) -> bool:
    return _HEADING.fullmatch(name) is not None


def style_values(properties: Element) -> dict[str, str]:
    """The direct settings of a paragraph: name to value; `dropCap` is one of its frame."""
    values: dict[str, str] = {}
    for held in properties.iter():
        values[local_name(held)] = attribute(held, "val") or ""
        if cap := attribute(held, "dropCap"):
            values["dropCap"] = cap
    return values
