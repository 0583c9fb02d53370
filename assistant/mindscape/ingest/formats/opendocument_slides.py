"""The slides of an OpenDocument presentation, or the pages of a drawing."""

from __future__ import annotations

import re

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.flow import add_blocks
from mindscape.ingest.formats.opendocument_text import DRAW, Reader
from mindscape.ingest.formats.slide_order import Placed, reading_order
from mindscape.ingest.formats.xml import Element, attribute, local_name

_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)(cm|mm|in|pt)")
_MILLIMETRES = {"cm": 10.0, "mm": 1.0, "in": 25.4, "pt": 25.4 / 72}


def add_pages(body: Element, reader: Reader, builder: TextBuilder) -> None:
    """Each page with a mark: its title as heading, its other shapes, its speaker's notes."""
    hidden: list[str] = []
    for number, page in enumerate(body.iter(DRAW + "page"), 1):
        if reader.styles.hides("drawing-page", page.get(DRAW + "style-name")):
            hidden.append(str(number))
        _add_page(page, number, reader, builder)
    if hidden:
        builder.warnings.append(f"Hidden slides are indexed too: {', '.join(hidden)}.")


def _add_page(page: Element, number: int, reader: Reader, builder: TextBuilder) -> None:
    builder.mark("page", str(number))
    builder.open_section(1, f"Slide {number}")
    shapes = [shape for shape in page if local_name(shape) not in ("", "notes", "forms")]
    titles = [shape for shape in shapes if attribute(shape, "class") == "title"]
    for title in titles:
        text = " ".join(held.text for held in reader.blocks(title))
        builder.add("heading", " ".join(text.split()), level=1)
    for shape in reading_order([_placed(shape) for shape in shapes if shape not in titles]):
        add_blocks(reader.shape(shape), builder)
    for notes in page.iterchildren("{*}notes"):
        for frame in notes.iter(DRAW + "frame"):
            text = " ".join(held.text for held in reader.blocks(frame))
            if text.strip() and attribute(frame, "class") == "notes":
                builder.add("paragraph", collapsed(f"[Notes] {text}"))


def _placed(shape: Element) -> Placed[Element]:
    left, top, width, height = (
        _millimetres(attribute(shape, name)) for name in ("x", "y", "width", "height")
    )
    return Placed(shape, left, top, width, height)


def _millimetres(length: str | None) -> float:
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _MILLIMETRES[match[2]] if match else 0.0
