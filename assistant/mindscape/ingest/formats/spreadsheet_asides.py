"""What stands beside the cells of a workbook: comments on them, and the words in text boxes and shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.ooxml import relation_id, relations
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.presentation_asides import part_or_none
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name

_DRAWING = re.compile(r"xl/drawings/drawing\d+\.xml")
_ROW = re.compile(r"[A-Z]{1,3}(\d{1,7})")
_FOR_OLDER_PROGRAMS = "[Threaded comment]"
"""How the copy begins of a comment that newer programs keep in a part of its own."""
_MOST_ROWS = 1 << 20


@dataclass(frozen=True, slots=True)
class Aside:
    """A paragraph; `row` is that of the cell it is on, from 1, or 0 where it is on none."""

    row: int
    text: str


def office_asides(package: Package) -> dict[str, list[Aside]]:
    """By the names of the sheets; those of a binary workbook, which does not say it in XML, under ""."""
    main = next(
        (held.target for held in relations(package, "").values() if held.kind == "officeDocument"), ""
    )
    root = part_or_none(package, main) if main.endswith(".xml") else None
    if root is None:
        drawings = (name for name in package.names if _DRAWING.fullmatch(name))
        return {"": [aside for name in drawings for aside in _boxes(package, name)]}
    authors = _persons(package, main)
    parts = relations(package, main)
    found: dict[str, list[Aside]] = {}
    for sheet in root.iter("{*}sheet"):
        if part := parts.get(relation_id(sheet)):
            found[attribute(sheet, "name") or ""] = list(_of_sheet(package, part.target, authors))
    return found


def open_asides(root: Element) -> dict[str, list[Aside]]:
    """The comments in an OpenDocument workbook, by the names of the sheets."""
    found: dict[str, list[Aside]] = {}
    for table in root.iter("{*}table"):
        asides = found.setdefault(attribute(table, "name") or "", [])
        row = 1
        for held in table.iter("{*}table-row"):
            for comment in held.iter("{*}annotation"):
                author = next((inner_text(name) for name in comment.iter("{*}creator")), "")
                text = " ".join(inner_text(paragraph) for paragraph in comment.iter("{*}p"))
                asides += _comment(row, author, text)
            repeated = attribute(held, "number-rows-repeated") or "1"
            row += int(repeated) if repeated.isdecimal() and len(repeated) < 8 else _MOST_ROWS
    return found


def _of_sheet(package: Package, sheet: str, persons: dict[str, str]) -> Iterator[Aside]:
    held = relations(package, sheet).values()
    for relation in held:
        if relation.kind in ("comments", "threadedComment"):
            root = part_or_none(package, relation.target)
            yield from _comments(root, persons) if root is not None else ()
    for relation in held:
        if relation.kind == "drawing":
            yield from _boxes(package, relation.target)


def _comments(root: Element, persons: dict[str, str]) -> Iterator[Aside]:
    authors = [inner_text(author) for author in root.iter("{*}author")]
    for comment in root.iter("{*}comment", "{*}threadedComment"):
        place = attribute(comment, "authorId") or ""
        known = place.isdecimal() and int(place[:9]) < len(authors)
        author = authors[int(place)] if known else persons.get(attribute(comment, "personId") or "", "")
        if local_name(comment) == "comment":
            pieces = (held for held in comment.iter("{*}t") if not _is_reading_aid(held))
        else:
            pieces = comment.iter("{*}text")
        text = "".join(inner_text(held) for held in pieces)
        row = _ROW.fullmatch(attribute(comment, "ref") or "")
        if not text.startswith(_FOR_OLDER_PROGRAMS):
            yield from _comment(int(row[1]) if row else 0, author, text)


def _is_reading_aid(text: Element) -> bool:
    """How Japanese signs are read: said twice otherwise."""
    above = text.getparent()
    return above is not None and local_name(above) == "rPh"


def _comment(row: int, author: str, text: str) -> list[Aside]:
    text, author = _line(text), _line(author)[:100]
    # Excel writes the name of who comments into the comment, too.
    text = text.removeprefix(f"{author}:").strip() if author else text
    label = f"Comment by {author}" if author else "Comment"
    return [Aside(row, f"[{label}] {text}")] if text else []


def _boxes(package: Package, name: str) -> Iterator[Aside]:
    root = part_or_none(package, name)
    for box in root.iter("{*}txBody") if root is not None else ():
        if any(local_name(held) == "Fallback" for held in box.iterancestors()):
            continue
        lines = ("".join(inner_text(held) for held in line.iter("{*}t")) for line in box.iter("{*}p"))
        if text := _line(" ".join(lines)):
            yield Aside(0, text)


def _persons(package: Package, main: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for relation in relations(package, main).values():
        root = part_or_none(package, relation.target) if relation.kind == "person" else None
        for person in root.iter("{*}person") if root is not None else ():
            found[attribute(person, "id") or ""] = attribute(person, "displayName") or ""
    return found


def _line(text: str) -> str:
    return " ".join(collapsed(text).split())
