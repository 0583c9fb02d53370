"""What the styles of an OpenDocument file say: what is hidden, a title, a quotation, code, a caption."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mindscape.ingest.formats.xml import Element, attribute

_MAX_ANCESTORS = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A style; `outline` is 1-based, 0 for none."""

    names: tuple[str, ...]
    parent: str
    outline: int
    hidden: bool


@dataclass(frozen=True, slots=True)
class Styles:
    """Styles by family (`paragraph`, `text`, `drawing-page`...) and name."""

    by_name: dict[tuple[str, str], Style] = field(default_factory=dict[tuple[str, str], Style])

    def hides(self, family: str, name: str | None) -> bool:
        """True for a style whose text is not shown."""
        return any(style.hidden for style in self._lineage(family, name))

    def heading_level(self, name: str | None) -> int:
        """The level, from 1, of the paragraphs of a style that makes headings; 0 for others."""
        for style in self._lineage("paragraph", name):
            if style.outline:
                return style.outline
            if "title" in style.names:
                return 1
        return 0

    def is_a(self, name: str | None, *kinds: str) -> bool:
        """True when the paragraph style, or one it is made from, has one of these names (lower case)."""
        return any(kind in style.names for style in self._lineage("paragraph", name) for kind in kinds)

    def _lineage(self, family: str, name: str | None) -> Iterator[Style]:
        for _ in range(_MAX_ANCESTORS):
            style = self.by_name.get((family, name or ""))
            if style is None:
                return
            yield style
            name = style.parent


def read_styles(*roots: Element | None) -> Styles:
    """All styles under the roots; those of the later roots win."""
    by_name: dict[tuple[str, str], Style] = {}
    for root in roots:
        for element in root.iter("{*}style") if root is not None else ():
            name = attribute(element, "name") or ""
            shown = attribute(element, "display-name") or name.replace("_20_", " ")
            outline = attribute(element, "default-outline-level") or ""
            by_name[attribute(element, "family") or "", name] = Style(
                names=(name.casefold(), shown.casefold()),
                parent=attribute(element, "parent-style-name") or "",
                outline=int(outline) if outline.isdecimal() and len(outline) < 3 else 0,
                hidden=any(
                    attribute(held, "display") == "none" or attribute(held, "visibility") == "hidden"
                    for held in element
                ),
            )
    return Styles(by_name)
