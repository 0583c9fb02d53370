"""EPUB: the chapters in reading order, whatever else is missing from the book."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from mindscape.ingest.decode import decode
from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.contents import Entry, contents_of
from mindscape.ingest.formats.html import declared_encoding, tree_of
from mindscape.ingest.formats.html_walk import walk
from mindscape.ingest.formats.package import Package, resolve
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name, xml_tree
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_SCRAMBLING = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_PAGES = (".xhtml", ".html", ".htm", ".xml")
_MAX_WARNINGS = 20
_CHAPTER_TYPES = ("application/xhtml+xml", "image/svg+xml", "text/html")
_MAX_FALLBACKS = 5
"""Steps from a chapter of another type (a scan) to what stands in for it."""


def parse(source: Source, media_type: str) -> Parsed:
    """The book's text, a `chapter` mark for each file of the reading order, metadata of the package."""
    package = Package(source.data, "an EPUB")
    opf_name, opf = _package_document(package)
    builder = TextBuilder()
    chapters = _reading_order(package, opf_name, opf)
    _refuse_protected(package, {package.find(name) for name in chapters})
    contents = contents_of(package, opf_name, opf)
    for name in chapters:
        _add_chapter(package, name, contents.get(name, []), builder)
    if not builder.blocks:
        _refuse_without_text(package, chapters)
    del builder.warnings[_MAX_WARNINGS:]
    metadata = _metadata(opf)
    return builder.build(media_type, metadata.pop("title", None), metadata)


def _package_document(package: Package) -> tuple[str, Element]:
    """The OPF that the container names, else any; the first of several that is really there."""
    names: list[str] = []
    container = package.read(_CONTAINER)
    if container:
        root = xml_tree(container, _CONTAINER)
        names = [attribute(held, "full-path") or "" for held in root.iter() if local_name(held) == "rootfile"]
    for name in [*names, *(name for name in package.names if name.lower().endswith(".opf"))]:
        data = package.read(name)
        if data:
            return package.find(name) or name, xml_tree(data, name)
    raise ParseFailure(
        Status.DAMAGED, "The file is not an EPUB: it has no package document. Fetch the book again."
    )


def _reading_order(package: Package, opf_name: str, opf: Element) -> list[str]:
    """Names of the chapters: by the spine, else the manifest, else the archive."""
    manifest: dict[str, str] = {}
    instead: dict[str, str] = {}
    for item in opf.iter():
        href = attribute(item, "href")
        if local_name(item) == "item" and href:
            number = attribute(item, "id") or href
            manifest[number] = resolve(opf_name, href)
            if attribute(item, "media-type") not in _CHAPTER_TYPES:
                instead[number] = attribute(item, "fallback") or number
    spine = [attribute(item, "idref") or "" for item in opf.iter() if local_name(item) == "itemref"]
    for _ in range(_MAX_FALLBACKS):
        spine = [instead.get(number, number) for number in spine]
    order = [manifest[number] for number in spine if number in manifest]
    if not order:
        order = [name for name in manifest.values() if name.lower().endswith(_PAGES[:3])]
    if not order:
        order = [name for name in package.names if name.lower().endswith(_PAGES[:3])]
    return list(dict.fromkeys(order))


def _refuse_without_text(package: Package, chapters: list[str]) -> None:
    if any(package.find(name) for name in chapters):
        raise ParseFailure(Status.NO_TEXT, "The book has no text, only pictures. Index a version with text.")
    raise ParseFailure(Status.DAMAGED, "None of the book's chapters is in the file. Fetch the book again.")


def _refuse_protected(package: Package, chapters: set[str | None]) -> None:
    data = package.read(_ENCRYPTION)
    if not data:
        return
    algorithm = ""
    for element in xml_tree(data, _ENCRYPTION).iter():
        if local_name(element) == "EncryptedData":
            algorithm = ""
        elif local_name(element) == "EncryptionMethod":
            algorithm = algorithm or attribute(element, "Algorithm") or "unknown"
        elif (
            local_name(element) == "CipherReference"
            and algorithm not in _FONT_SCRAMBLING
            and package.find(resolve("", attribute(element, "URI") or "")) in chapters
        ):
            raise ParseFailure(
                Status.PROTECTED,
                "The book's text is encrypted (DRM) and is not read. Index a copy without protection.",
            )


def _add_chapter(package: Package, name: str, entries: list[Entry], builder: TextBuilder) -> None:
    try:
        data = package.read(name)
    except ParseFailure as failure:
        if failure.status is not Status.DAMAGED:
            raise
        builder.warnings.append(f"A chapter is damaged: {name[:100]}.")
        return
    if data is None:
        builder.warnings.append(f"The book names a chapter that is not in it: {name[:100]}.")
        return
    if not data.strip():
        return
    if name.lower().endswith(".svg"):
        _add_drawing(data, name, entries[0].label if entries else "", builder)
        return
    try:
        root = tree_of(decode(data, declared_encoding(data)).text)
    except ParseFailure:
        root = None
    if root is None:
        builder.warnings.append(f"A chapter is not readable: {name[:100]}.")
        return
    body = root.find(".//body")
    body = root if body is None else body
    heading = next((collapsed(inner_text(held)) for held in body.iter("h1", "h2", "h3")), "")
    label = entries[0].label if entries else " ".join(heading.split())[:200]
    builder.mark("chapter", label or name.rpartition("/")[2])
    _walk_chapter(body, entries or [Entry("", 1, label)], builder)


def _walk_chapter(body: Element, entries: list[Entry], builder: TextBuilder) -> None:
    """Add a chapter; sections begin and nest as the contents say, and its own headings below them."""
    first = len(builder.headings)
    by_fragment = {entry.fragment: entry for entry in reversed(entries) if entry.fragment}
    opened = {first: entries[0]}
    builder.open_section(entries[0].depth, entries[0].label)

    def reach(fragment: str) -> None:
        if entry := by_fragment.get(fragment):
            opened[len(builder.headings)] = entry
            builder.open_section(entry.depth, entry.label)

    walk(body, builder, page=False, reach=reach)
    own = [heading.level for heading in builder.headings[first:]]
    shift = entries[0].depth - min(own, default=1)
    for place, heading in enumerate(builder.headings[first:], first):
        entry = opened.get(place)
        if entry is not None and _is_called(heading.text, entry.label):
            shift = entry.depth - heading.level
        builder.headings[place] = replace(heading, level=heading.level + shift)


def _is_called(heading: str, label: str) -> bool:
    """Whether a heading is the one that the contents mean: they may leave out a number or a subtitle."""
    one, other = ("".join(filter(str.isalnum, text.casefold())) for text in (heading, label))
    return bool(one and other) and (one in other or other in one)


def _add_drawing(data: bytes, name: str, label: str, builder: TextBuilder) -> None:
    """A page that is one drawing: its title, its description and what is written in it."""
    builder.mark("chapter", label or name.rpartition("/")[2])
    builder.open_section(1, label)
    for held in xml_tree(data, name).iter():
        if local_name(held) in ("title", "desc", "text"):
            builder.add("paragraph", " ".join(inner_text(held).split()))


def _metadata(opf: Element) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for element in opf.iter():
        name = {"creator": "author", "subject": "tags"}.get(local_name(element), local_name(element))
        text = collapsed(inner_text(element)) if name in _FIELDS else ""
        if text:
            found.setdefault(name, []).append(text[:500])
    metadata: dict[str, Any] = {
        name: ", ".join(texts) if name == "author" else texts[0]
        for name, texts in found.items()
        if name != "tags"
    }
    if "tags" in found:
        metadata["tags"] = found["tags"]
    return metadata


_FIELDS = ("title", "author", "language", "date", "publisher", "description", "identifier", "tags")
