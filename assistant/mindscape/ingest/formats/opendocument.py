"""OpenDocument texts, presentations and drawings: the body as it reads, then notes and comments."""

from __future__ import annotations

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.flow import add_blocks, first_heading
from mindscape.ingest.formats.opendocument_package import parts_of, properties
from mindscape.ingest.formats.opendocument_slides import add_pages
from mindscape.ingest.formats.opendocument_styles import read_styles
from mindscape.ingest.formats.opendocument_text import Reader
from mindscape.ingest.formats.xml import Element, attribute, local_name
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_BODIES = ("text", "presentation", "drawing")


def parse(source: Source, media_type: str) -> Parsed:
    """Headings by outline level, lists, tables by rows; a `page` mark for each slide of a presentation."""
    content, named, meta = parts_of(source.data)
    body = _body(content)
    builder = TextBuilder()
    reader = Reader(read_styles(named, content), _controls(body))
    if local_name(body) == "text":
        _add_edges(named, "header", builder)
        add_blocks(reader.blocks(body), builder)
    else:
        add_pages(body, reader, builder)
    for text in (*reader.notes, *reader.comments):
        builder.add("paragraph", text)
    if local_name(body) == "text":
        _add_edges(named, "footer", builder)
    builder.links.update(reader.links)
    if reader.has_hidden:
        builder.warnings.append("Hidden text was left out.")
    if not builder.blocks and next(body.iter("{*}image"), None) is not None:
        raise ParseFailure(
            Status.NO_TEXT,
            "The document has pictures but no text. Save a version with text to have it indexed.",
        )
    metadata = properties(meta)
    title = metadata.pop("title", None) or first_heading(builder)
    return builder.build(media_type, title, metadata)


def _body(content: Element) -> Element:
    for body in content.iter("{*}body"):
        for held in body:
            if local_name(held) in _BODIES:
                return held
    raise ParseFailure(
        Status.DAMAGED,
        "The file is not an OpenDocument text, presentation or drawing, or it was cut off. Save it again.",
    )


def _controls(body: Element) -> dict[str, str]:
    """What each form field shows: what was filled in, else its label."""
    shown: dict[str, str] = {}
    for form in body.iter("{*}forms"):
        for control in form.iter():
            identity = attribute(control, "id")
            text = next(
                (held for name in ("current-value", "label", "value") if (held := attribute(control, name))),
                "",
            )
            if identity and text:
                shown[identity] = text
    return shown


def _add_edges(named: Element | None, kind: str, builder: TextBuilder) -> None:
    """Headers or footers, each text once: first and even pages have their own."""
    reader = Reader(read_styles(named))
    seen: set[str] = set()
    for master in named.iter("{*}master-styles") if named is not None else ():
        for edge in master.iter(f"{{*}}{kind}", f"{{*}}{kind}-left", f"{{*}}{kind}-first"):
            for block in reader.blocks(edge):
                text = collapsed(block.text)
                if text not in seen and any(letter.isalpha() for letter in text):
                    builder.add("paragraph", text)
                seen.add(text)
