"""DOCX: the body in document order as it reads with all changes accepted, then notes and comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.docx_styles import Styles, read_styles
from mindscape.ingest.formats.docx_text import Paragraph, paragraphs, row_texts
from mindscape.ingest.formats.package import Package, resolve
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name, xml_tree
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_NOTES = (("footnotes", "footnote"), ("endnotes", "endnote"), ("comments", "comment"))
_PROPERTIES = {"creator": "author", "created": "date", "subject": "subject", "language": "language"}
_MAX_LINKS = 10_000


def parse(source: Source, media_type: str) -> Parsed:
    """Headings by style, lists, tables by rows; insertions are text and deletions are not."""
    if source.data.startswith(_OLE):
        _refuse_ole(source.data)
    package = Package(source.data, "a Word document")
    name, body = _document(package)
    parts = _parts(package, name)
    styles = read_styles(package.read(parts.get("styles", [""])[0]))
    builder = TextBuilder()
    _add_edges(package, parts, "header", builder)
    _add_body(body, styles, builder)
    for relation, element in _NOTES:
        for part in parts.get(relation, []):
            _add_notes(package.read(part), element, builder)
    _add_edges(package, parts, "footer", builder)
    builder.links.update(dict.fromkeys(parts.get("hyperlink", [])[:_MAX_LINKS]))
    metadata = _metadata(package)
    title = metadata.pop("title", None) or next((h.text for h in builder.headings if h.level == 1), None)
    if not builder.blocks and any("/media/" in part for part in package.names):
        raise ParseFailure(
            Status.NO_TEXT,
            "The document has pictures but no text. Save a version with text to have it indexed.",
        )
    return builder.build(media_type, title, dict(metadata))


def _refuse_ole(data: bytes) -> None:
    if _ENCRYPTED in data:
        raise ParseFailure(Status.PROTECTED, "The document needs a password. Save a copy without one.")
    raise ParseFailure(
        Status.UNSUPPORTED, "The file is an older Word document under a new name. Save it as DOCX in Word."
    )


def _document(package: Package) -> tuple[str, Element]:
    """The main part: what the package's relations name, or where it usually is."""
    relations = package.read("_rels/.rels")
    names = [target for kind, target in _relations(relations, "") if kind == "officeDocument"]
    for name in [*names, "word/document.xml"]:
        data = package.read(name)
        if data is not None:
            if b"<!DOCTYPE" in data[:4096]:
                # Word never writes one; what does is an entity bomb or a probe for our files.
                break
            root = xml_tree(data, name)
            body = next((child for child in root.iter() if local_name(child) == "body"), None)
            if body is not None:
                return name, body
    raise ParseFailure(
        Status.DAMAGED, "The file is not a Word document: it has no proper text part. Save it again."
    )


def _parts(package: Package, document: str) -> dict[str, list[str]]:
    """Names of the parts that the document refers to, by the last word of the relation's type."""
    folder, _, name = document.rpartition("/")
    data = package.read(f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
    parts: dict[str, list[str]] = {}
    for kind, target in _relations(data, document):
        parts.setdefault(kind, []).append(target)
    return parts


def _relations(data: bytes | None, base: str) -> Iterator[tuple[str, str]]:
    for relation in xml_tree(data, "rels").iter() if data else ():
        target = attribute(relation, "Target")
        if target and local_name(relation) == "Relationship":
            kind = (attribute(relation, "Type") or "").rpartition("/")[2]
            external = attribute(relation, "TargetMode") == "External"
            yield kind, target if external else resolve("" if target.startswith("/") else base, target)


def _add_body(body: Element, styles: Styles, builder: TextBuilder) -> None:
    """Paragraphs and tables in order, also those inside content controls and tracked insertions."""
    capital = ""
    for block in paragraphs(body):
        if isinstance(block, Paragraph) and block.drops_cap:
            capital += block.text.strip()
        elif isinstance(block, Paragraph):
            _add_paragraph(replace(block, text=capital + block.text), styles, builder)
            capital = ""
        else:
            rows, has_header = row_texts(block)
            if any(len(row) > 1 for row in rows):
                table_block(builder, rows, has_header=has_header or None)
            else:
                for row in rows:
                    builder.add("paragraph", "\n".join(row))


def _add_paragraph(paragraph: Paragraph, styles: Styles, builder: TextBuilder) -> None:
    text = collapsed(paragraph.text)
    level = styles.heading_level(paragraph.style, paragraph.outline)
    if level:
        builder.add("heading", " ".join(text.split()), level=level)
    elif paragraph.in_list or styles.is_list(paragraph.style):
        builder.add("item", text)
    else:
        builder.add("quote" if styles.is_quote(paragraph.style) else "paragraph", text)


def _add_notes(data: bytes | None, element: str, builder: TextBuilder) -> None:
    for note in xml_tree(data, element).iter() if data else ():
        if local_name(note) != element or attribute(note, "type") in ("separator", "continuationSeparator"):
            continue
        text = " ".join(block.text for block in paragraphs(note) if isinstance(block, Paragraph))
        author = attribute(note, "author")
        label = f"Comment by {author}" if author else element.capitalize()
        if text.strip():
            builder.add("paragraph", collapsed(f"[{label} {attribute(note, 'id') or ''}] {text}"))


def _add_edges(package: Package, parts: dict[str, list[str]], kind: str, builder: TextBuilder) -> None:
    """Headers or footers, each text once: a document has one for its first and for even pages too."""
    seen: set[str] = set()
    for part in parts.get(kind, []):
        data = package.read(part)
        for block in paragraphs(xml_tree(data, part)) if data else ():
            if isinstance(block, Paragraph):
                text = collapsed(block.text)
            else:
                text = "\n".join(" | ".join(row) for row in row_texts(block)[0])
            if text not in seen and any(letter.isalpha() for letter in text):
                builder.add("paragraph", text)
            seen.add(text)


def _metadata(package: Package) -> dict[str, str]:
    data = package.read("docProps/core.xml")
    found: dict[str, str] = {}
    for element in xml_tree(data, "docProps/core.xml") if data else ():
        name = _PROPERTIES.get(local_name(element), local_name(element))
        text = collapsed(inner_text(element))
        if text and name in ("title", *_PROPERTIES.values()):
            found[name] = text[:10] if name == "date" else text[:500]
    return found
