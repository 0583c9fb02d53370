"""What every OpenDocument file has, be it a zip package or one flat XML: its parts and its properties."""

from __future__ import annotations

import re
from typing import Any

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.xml import Element, inner_text, local_name, xml_tree
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

_MANIFEST = "META-INF/manifest.xml"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
# In this order: who wrote a document first is its author, who saved it last only if nobody else is named.
_FIELDS = (
    ("title", "title"),
    ("initial-creator", "author"),
    ("creator", "author"),
    ("creation-date", "date"),
    ("date", "date"),
    ("subject", "subject"),
    ("description", "description"),
    ("language", "language"),
)


def open_package(data: bytes) -> Package:
    """The package, its text not encrypted; raises ParseFailure for what cannot be opened."""
    package = Package(data, "an OpenDocument file")
    manifest = package.read(_MANIFEST)
    # Newer programs put the whole encrypted document into one member, older ones encrypt each.
    encrypted = package.find("encrypted-package") is not None or (
        manifest is not None
        and any(
            local_name(held) == "encryption-data"
            for held in xml_tree(manifest, _MANIFEST).iter("{*}encryption-data")
        )
    )
    if encrypted:
        raise ParseFailure(Status.PROTECTED, "The document needs a password. Save a copy without one.")
    return package


def parts_of(data: bytes) -> tuple[Element, Element | None, Element | None]:
    """The roots that hold the body, the named styles and the properties: all the same in a flat file."""
    if not data.startswith(b"PK"):
        root = _tree(data, "the document")
        return root, root, root
    package = open_package(data)
    content = package.read("content.xml")
    if content is None:
        raise ParseFailure(
            Status.DAMAGED, "The file is not an OpenDocument file: it has no content part. Save it again."
        )
    styles, meta = (package.read(name) for name in ("styles.xml", "meta.xml"))
    return (
        _tree(content, "content.xml"),
        _tree(styles, "styles.xml") if styles else None,
        _tree(meta, "meta.xml") if meta else None,
    )


def package_properties(package: Package) -> dict[str, Any]:
    """The properties of a package."""
    meta = package.read("meta.xml")
    return properties(_tree(meta, "meta.xml") if meta else None)


def properties(root: Element | None) -> dict[str, Any]:
    """Title, author, date, tags and the like, as `office:meta` has them."""
    meta = None if root is None else next(root.iter("{*}meta"), None)
    found: dict[str, list[str]] = {}
    for element in meta if meta is not None else ():
        text = " ".join(collapsed(inner_text(element)).split())[:500]
        if text:
            found.setdefault(local_name(element), []).append(text)
    metadata: dict[str, Any] = {}
    for element_name, name in _FIELDS:
        for text in found.get(element_name, ())[:1]:
            metadata.setdefault(name, text)
    if date := _DATE.match(metadata.pop("date", "")):
        metadata["date"] = date[0]
    if "keyword" in found:
        metadata["tags"] = [tag for text in found["keyword"] for tag in re.split(r"\s*[,;]\s*", text) if tag]
    return metadata


def _tree(data: bytes, name: str) -> Element:
    if b"<!DOCTYPE" in data[:4096]:
        # No office program writes one; what does is an entity bomb or a probe for our files.
        raise ParseFailure(
            Status.DAMAGED, f"The file is not a proper OpenDocument file: {name} has a DTD. Save it again."
        )
    return xml_tree(data, name)
