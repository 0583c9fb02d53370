"""XML files: told apart by their root, read as text, with what they say of themselves as metadata."""

from __future__ import annotations

import re
from typing import Any

from mindscape.ingest.formats import fictionbook, html
from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.html_walk import walk as walk_html
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name
from mindscape.ingest.formats.xml_document import walk_xml
from mindscape.ingest.formats.xml_text import document_of
from mindscape.ingest.media_types import HTML
from mindscape.ingest.parsed import Parsed, Source

_FACTS = {
    "dc:creator": "author",
    "creator": "author",
    "author": "author",
    "personname": "author",
    "managingeditor": "author",
    "pubdate": "date",
    "pub-date": "date",
    "date": "date",
    "dc:date": "date",
    "updated": "date",
    "published": "date",
    "lastbuilddate": "date",
    "language": "language",
    "subject": "tags",
    "category": "tags",
    "keyword": "tags",
    "kwd": "tags",
}
_HEAD_ONLY = (
    "item",
    "entry",
    "body",
    "chapter",
    "section",
    "sec",
    "ref-list",
    "back",
    "references-cited",
    "us-references-cited",
)
_PEOPLE = ("contrib", "inventor", "applicant", "us-applicant")
_SURNAMES = ("surname", "last-name", "lastname", "family")
_GIVEN = ("given-names", "first-name", "firstname", "given")
_ISO = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T.*)?")
_LOOK = 2_000


def parse(source: Source, media_type: str) -> Parsed:
    """The text of the file; XHTML is read as a page and FictionBook as a book."""
    document = document_of(source.data)
    kind = local_name(document.root).lower()
    if kind == "html" and not document.is_html:
        return html.parse(source, HTML)
    if kind == "fictionbook":
        return fictionbook.parse_tree(document)
    builder = TextBuilder(warnings=list(document.decoded.warnings))
    if document.is_html:
        builder.warnings.append("The file is not valid XML; its text was read as if it were a web page.")
        walk_html(document.root, builder, page=False)
    else:
        walk_xml(document.root, builder)
        if not builder.blocks:
            _every_attribute(document.root, builder)
    title = min(builder.headings[:20], key=lambda heading: heading.level, default=None)
    metadata = _metadata(document.root)
    return builder.build(media_type, title.text if title else None, metadata, document.decoded)


def _every_attribute(root: Element, builder: TextBuilder) -> None:
    """Of a file without text, and without attributes that people read: whatever its attributes say."""
    for element in root.iter():
        values = [collapsed(str(value)) for value in element.attrib.values()]
        if any(values):
            builder.mark("line", str(element.sourceline or 1))
            builder.add("item", f"{local_name(element)}: {' | '.join(filter(None, values))}")


def _metadata(root: Element) -> dict[str, Any]:
    """Authors, date, language and tags from the first elements, before the text of the document begins."""
    found: dict[str, list[str]] = {}
    if language := attribute(root, "lang"):
        found["language"] = [language]
    if date := _ISO.fullmatch(root.get("date-publ") or ""):
        found["date"] = ["-".join(date.groups())]
    for number, element in enumerate(root.iter()):
        name = local_name(element).lower()
        if number > _LOOK or name in _HEAD_ONLY:
            break
        key = "author" if name in _PEOPLE else _FACTS.get(name)
        if not key:
            continue
        if value := _person(element) if name in _PEOPLE else _said(element, name):
            found.setdefault(key, []).append(value[:300])
    metadata: dict[str, Any] = {key: values[0] for key, values in found.items() if key != "tags"}
    if "author" in found:
        metadata["author"] = ", ".join(dict.fromkeys(found["author"]))
    if "tags" in found:
        metadata["tags"] = list(dict.fromkeys(found["tags"]))
    return metadata


def _said(element: Element, name: str) -> str:
    parts = {local_name(child).lower(): " ".join((child.text or "").split()) for child in element}
    if name in ("pub-date", "date") and parts.get("year"):
        dated = [
            parts["year"],
            *(parts.get(part, "").zfill(2) for part in ("month", "day") if parts.get(part)),
        ]
        return "-".join(dated)
    if name == "author" and "name" in parts:
        return parts["name"]
    text = " ".join(inner_text(element).split()) or element.get("term") or ""
    date = _ISO.fullmatch(text) if "date" in _FACTS.get(name, "") else None
    return "-".join(date.groups()) if date else text


def _person(element: Element) -> str:
    names: dict[str, str] = {}
    for held in element.iter():
        name = local_name(held).lower()
        part = "given" if name in _GIVEN else "surname" if name in _SURNAMES else ""
        if part:
            names.setdefault(part, " ".join((held.text or "").split()))
    return " ".join(filter(None, (names.get("given"), names.get("surname"))))
