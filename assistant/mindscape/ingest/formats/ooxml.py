"""What every Office Open XML package has: parts, the relations between them, properties."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.package import Package, resolve
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name, xml_tree
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_RELATION = re.compile(r"\{http://(?:schemas|purl)\.[^}]*/relationships\}(.*)")
_PROPERTIES = {"creator": "author", "created": "date", "keywords": "tags"}
_KEPT = ("title", "author", "date", "subject", "description", "language", "tags")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Relation:
    """From a part to another one, or to an address outside; `kind` is the last word of its type."""

    kind: str
    target: str
    is_external: bool


def is_encrypted(data: bytes) -> bool:
    """True for the container that an Office program puts a file with a password into."""
    return data.startswith(OLE) and _ENCRYPTED in data


def part_tree(package: Package, name: str) -> Element | None:
    """The root of a part, None where there is no such part; raises ParseFailure as `Package.read` does."""
    data = package.read(name)
    if not data:
        return None
    if b"<!DOCTYPE" in data[:4096]:
        # No office program writes one; what does is an entity bomb or a probe for our files.
        raise ParseFailure(Status.DAMAGED, f"Its part {name[:100]} has a DTD. Save the file again.")
    return xml_tree(data, name)


def relations(package: Package, part: str) -> dict[str, Relation]:
    """The relations of a part by id; `part` is empty for those of the package."""
    folder, _, name = part.rpartition("/")
    root = part_tree(package, f"{folder}/_rels/{name}.rels" if folder else f"_rels/{name}.rels")
    found: dict[str, Relation] = {}
    for element in root.iter("{*}Relationship") if root is not None else ():
        target = attribute(element, "Target") or ""
        kind = (attribute(element, "Type") or "").rpartition("/")[2]
        is_external = attribute(element, "TargetMode") == "External"
        if not is_external:
            target = resolve("" if target.startswith("/") else part, target)
        found[attribute(element, "Id") or ""] = Relation(kind, target, is_external)
    return found


def relation_id(element: Element, name: str = "id") -> str:
    """The attribute of that name that refers to a relation; empty where there is none."""
    for key, value in element.attrib.items():
        match = _RELATION.fullmatch(str(key))
        if match and match[1] == name:
            return str(value)
    return ""


def core_properties(package: Package) -> dict[str, Any]:
    """Title, author, date, tags and the like; none where their part is damaged: the document can be read."""
    try:
        root = part_tree(package, "docProps/core.xml")
    except ParseFailure as failure:
        if failure.status is not Status.DAMAGED:
            raise
        return {}
    metadata: dict[str, Any] = {}
    for element in root if root is not None else ():
        name = _PROPERTIES.get(local_name(element), local_name(element))
        text = " ".join(collapsed(inner_text(element)).split())[:500]
        if text and name in _KEPT:
            metadata[name] = text
    if date := _DATE.match(metadata.pop("date", "")):
        metadata["date"] = date[0]
    if tags := metadata.pop("tags", None):
        metadata["tags"] = [tag for tag in re.split(r"\s*[,;]\s*", tags) if tag]
    return metadata
