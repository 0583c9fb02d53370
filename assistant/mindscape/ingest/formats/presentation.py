"""PowerPoint presentations: the slides in order, each with its notes and comments."""

from __future__ import annotations

import re

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.flow import first_heading
from mindscape.ingest.formats.ooxml import (
    OLE,
    core_properties,
    is_encrypted,
    part_tree,
    relation_id,
    relations,
)
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.presentation_asides import Comments, notes_text
from mindscape.ingest.formats.presentation_slide import SlideReader
from mindscape.ingest.formats.xml import Element
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_MAIN = "ppt/presentation.xml"
_SLIDE = re.compile(r"ppt/slides/slide(\d{1,6})\.xml")
_MAX_LINKS = 10_000
_UNNAMED = "PowerPoint Presentation"
"""What PowerPoint itself writes where nobody gave a title."""


def parse(source: Source, media_type: str) -> Parsed:
    """A `page` mark and a section for each slide; what of the file is missing is left out with a warning."""
    if source.data.startswith(OLE):
        _refuse_ole(source.data)
    package = Package(source.data, "a PowerPoint presentation")
    main, names = _slides(package)
    builder = TextBuilder()
    comments = Comments(package, main)
    running: set[str] = set()
    hidden: list[str] = []
    read = 0
    for number, name in enumerate(names, 1):
        builder.mark("page", str(number))
        root = _slide(package, name, number, builder)
        if root is not None:
            read += 1
            hidden += [str(number)] if root.get("show") in ("0", "false") else []
            _add_slide(package, name, root, number, running, builder)
            comments.add(name, builder)
    _refuse_without_text(package, builder, read)
    if hidden:
        builder.warnings.append(f"Hidden slides are indexed too: {', '.join(hidden)}.")
    metadata = core_properties(package)
    title = metadata.pop("title", _UNNAMED)
    if title == _UNNAMED:
        title = first_heading(builder)
    return builder.build(media_type, title, metadata)


def _refuse_ole(data: bytes) -> None:
    if is_encrypted(data):
        raise ParseFailure(Status.PROTECTED, "The presentation needs a password. Save a copy without one.")
    raise ParseFailure(
        Status.UNSUPPORTED,
        "The file is an older PowerPoint presentation under a new name. Save it as PPTX in PowerPoint.",
    )


def _slides(package: Package) -> tuple[str, list[str]]:
    """The main part and the slides in their order: by the main part, else by their numbers."""
    kinds, is_presentation = relations(package, "").values(), False
    for main in (*(relation.target for relation in kinds if relation.kind == "officeDocument"), _MAIN):
        root = part_tree(package, main)
        if root is not None:
            is_presentation = is_presentation or root.find("{*}sldMasterIdLst") is not None
            targets = relations(package, main)
            # Not those of its sections, which name the same slides once more.
            ids = [relation_id(held) for held in root.iterfind("{*}sldIdLst/{*}sldId")]
            names = [targets[held].target if held in targets else held for held in ids]
            if names:
                return main, names
    numbered = [(int(match[1]), name) for name in package.names if (match := _SLIDE.fullmatch(name))]
    if not numbered and is_presentation:
        raise ParseFailure(Status.EMPTY, "The presentation has no slides.")
    if not numbered:
        raise ParseFailure(
            Status.DAMAGED,
            "The file is not a PowerPoint presentation, or none of its slides is in it. Save it again.",
        )
    return _MAIN, [name for _, name in sorted(numbered)]


def _slide(package: Package, name: str, number: int, builder: TextBuilder) -> Element | None:
    try:
        root = part_tree(package, name)
    except ParseFailure as failure:
        if failure.status is not Status.DAMAGED:
            raise
        builder.warnings.append(f"Slide {number} is damaged and was left out.")
        return None
    if root is None:
        builder.warnings.append(f"Slide {number} is not in the file.")
    return root


def _add_slide(
    package: Package, name: str, root: Element, number: int, running: set[str], builder: TextBuilder
) -> None:
    builder.open_section(1, f"Slide {number}")
    targets = relations(package, name)
    for relation in targets.values():
        if relation.kind == "hyperlink" and relation.is_external and len(builder.links) < _MAX_LINKS:
            builder.links[relation.target] = None
    SlideReader(package, targets, running, builder).add(root)
    for relation in targets.values():
        if relation.kind == "notesSlide" and (text := notes_text(package, relation.target)):
            builder.add("paragraph", f"[Notes] {text}")


def _refuse_without_text(package: Package, builder: TextBuilder, read: int) -> None:
    if not read:
        raise ParseFailure(
            Status.DAMAGED, "None of the presentation's slides can be read. Save the file again."
        )
    if not builder.blocks and any("/media/" in name for name in package.names):
        raise ParseFailure(
            Status.NO_TEXT,
            "The presentation has pictures but no text. Save a version with text to have it indexed.",
        )
