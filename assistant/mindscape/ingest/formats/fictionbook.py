"""FictionBook (FB2, also zipped): the body by its sections, then the notes, each once."""

from __future__ import annotations

from typing import Any

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name
from mindscape.ingest.formats.xml_text import Document, document_of
from mindscape.ingest.media_types import FICTIONBOOK
from mindscape.ingest.parsed import BlockKind, Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_ZIP = b"PK"
_QUOTES = ("epigraph", "cite", "annotation")
_NOTES = ("notes", "comments", "footnotes")
_MAX_LINKS = 10_000


def parse(source: Source, media_type: str) -> Parsed:
    """The book; of a zip archive, the FB2 file in it."""
    del media_type
    if source.data.startswith(_ZIP):
        return parse_tree(document_of(_unzipped(source.data)))
    return parse_tree(document_of(source.data))


def parse_tree(document: Document) -> Parsed:
    """The book as text: a `chapter` mark for each section right in a body, metadata of the description."""
    root = document.root
    builder = TextBuilder(warnings=list(document.decoded.warnings))
    info = _first(root, "title-info")
    annotation = None if info is None else _first(info, "annotation")
    if annotation is not None:
        _add(builder, annotation, "quote", 0)
    for body in root:
        if local_name(body) == "body":
            _body(builder, body)
    metadata = _metadata(root, info)
    return builder.build(FICTIONBOOK, metadata.pop("title", None), metadata, document.decoded)


def _unzipped(data: bytes) -> bytes:
    package = Package(data, "a zipped FictionBook")
    books = [name for name in package.names if name.lower().endswith(".fb2")]
    if len(books) != 1:
        raise ParseFailure(
            Status.UNSUPPORTED,
            f"The archive holds {len(books)} books; an archive of one is read. Unpack it into the folder.",
        )
    return package.read(books[0]) or b""


def _first(root: Element, name: str) -> Element | None:
    return next((held for held in root.iter() if local_name(held) == name), None)


def _body(builder: TextBuilder, body: Element) -> None:
    name = body.get("name") or ""
    if name.lower() in _NOTES:
        builder.mark("chapter", name)
        builder.open_section(1, name.capitalize())
        for child in body:
            if local_name(child) == "section":
                _note(builder, child)
            else:
                _add(builder, child, "paragraph", 1)
        return
    depth = 1 if any(local_name(child) == "title" and inner_text(child).strip() for child in body) else 0
    for child in body:
        if local_name(child) == "section":
            builder.mark("chapter", _title_of(child))
        _add(builder, child, "paragraph", depth)


def _title_of(section: Element) -> str:
    title = next((child for child in section if local_name(child) == "title"), None)
    return "" if title is None else " ".join(filter(None, map(_line, title)))[:200]


def _note(builder: TextBuilder, section: Element) -> None:
    """A note as one item: its number, and its text."""
    paragraphs = [_line(held) for held in section.iter() if local_name(held) in ("p", "v")]
    builder.add("item", " ".join(filter(None, paragraphs)))


def _add(builder: TextBuilder, root: Element, kind: BlockKind, depth: int) -> None:
    """Everything under an element, in order; `depth` is the number of sections around it with a title."""
    waiting: list[tuple[Element, BlockKind, int]] = []
    waiting.append((root, kind, depth))
    while waiting:
        element, kind, depth = waiting.pop()
        name = local_name(element)
        if name == "title":
            builder.add("heading", " ".join(filter(None, map(_line, element))), level=max(1, depth))
        elif name == "subtitle" and any(character.isalnum() for character in inner_text(element)):
            builder.add("heading", _line(element), level=depth + 1)
        elif name in ("p", "v", "text-author", "subtitle", "date"):
            builder.add(kind, _line(element))
        elif name == "stanza":
            builder.add("quote", "\n".join(filter(None, map(_line, element))))
        elif name == "table":
            _table(builder, element)
        elif name not in ("image", "binary", ""):
            deeper = depth + (name == "section" and bool(_title_of(element)))
            inside: BlockKind = "quote" if name in _QUOTES else kind
            waiting.extend((child, inside, deeper) for child in reversed(element))
        _note_links(builder, element)


def _line(element: Element) -> str:
    """The text of a paragraph; the number of a note is kept from the word before it."""
    pieces: list[str] = [element.text or ""]
    for child in element:
        is_note = local_name(child) == "a" and attribute(child, "type") == "note"
        inside = inner_text(child)
        bare = is_note and not inside.strip().startswith(("[", "{", "("))
        pieces += [f"[{inside.strip()}]" if bare else inside, child.tail or ""]
    return collapsed("".join(pieces)).replace("\n", " ")


def _note_links(builder: TextBuilder, element: Element) -> None:
    for held in element.iter() if local_name(element) in ("p", "v", "subtitle", "text-author") else ():
        target = attribute(held, "href") or ""
        if target and not target.startswith("#") and len(builder.links) < _MAX_LINKS:
            builder.links[target[:2_000]] = None


def _table(builder: TextBuilder, table: Element) -> None:
    rows = [row for row in table.iter() if local_name(row) == "tr"]
    texts = [[_line(cell) for cell in row if local_name(cell) in ("td", "th")] for row in rows]
    headed = bool(rows) and len(rows[0]) > 0 and all(local_name(cell) == "th" for cell in rows[0])
    if any(any(row) for row in texts):
        table_block(builder, texts, has_header=True if headed else None)


def _metadata(root: Element, info: Element | None) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for element in () if info is None else info:
        name = local_name(element)
        if name == "author":
            found.setdefault("author", []).append(_person(element))
        elif name == "date":
            found.setdefault("date", []).append(element.get("value") or collapsed(inner_text(element)))
        elif name == "keywords":
            found.setdefault("tags", []).extend(word.strip() for word in inner_text(element).split(","))
        elif key := _FIELDS.get(name):
            found.setdefault(key, []).append(" ".join(" ".join(map(str, element.itertext())).split())[:2_000])
        elif name == "sequence":
            series = " ".join(filter(None, (element.get("name"), element.get("number"))))
            found.setdefault("series", []).append(series)
    publisher = _first(root, "publisher")
    if publisher is not None and local_name(publisher.getparent() or root) == "publish-info":
        found["publisher"] = [collapsed(inner_text(publisher))]
    said = {key: [value for value in values if value] for key, values in found.items()}
    metadata: dict[str, Any] = {key: values[0] for key, values in said.items() if values and key != "tags"}
    if said.get("author"):
        metadata["author"] = ", ".join(said["author"])
    if said.get("tags"):
        metadata["tags"] = list(dict.fromkeys(said["tags"]))
    return metadata


_FIELDS = {"book-title": "title", "lang": "language", "genre": "tags", "annotation": "description"}


def _person(author: Element) -> str:
    parts = {local_name(part): " ".join(inner_text(part).split()) for part in author}
    named = [parts.get(name, "") for name in ("first-name", "middle-name", "last-name")]
    return " ".join(filter(None, named)) or parts.get("nickname", "")
