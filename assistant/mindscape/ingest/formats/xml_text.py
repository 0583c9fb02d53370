"""XML files as trees, however broken: entities bounded, encodings believed or guessed, nothing fetched."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

from lxml import etree

from mindscape.ingest.decode import Decoded, decode
from mindscape.ingest.formats.html import declared_encoding, tree_of
from mindscape.ingest.formats.xml import Element
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

MAX_BYTES = 64 << 20
MAX_DEPTH = 2_000
"""Levels that the XML library reads; deeper markup is read as HTML, which is flattened."""
_MAX_DECLARED = 1_000
_MAX_DOCTYPES = 10_000
_MAX_VALUE = 500
_MAX_GROWTH = 4 << 20
_LEAST_UTF8 = 6
_XML_ENTITIES = ("amp", "lt", "gt", "quot", "apos")
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[<>]{0,2000}(?:\[((?:(?!<!DOCTYPE).){0,20000}?)\]\s*)?>", re.S)
_ENTITY = re.compile(r"<!ENTITY\s+([\w.:-]{1,100})\s+(?:\"([^\"<&%]{0,500})\"|'([^'<&%]{0,500})')\s*>")
_REFERENCE = re.compile(r"&([A-Za-z_][\w.:-]{0,100});")
_PROLOGUE = re.compile(r"<\?xml\s[^<>]{0,500}\?>")
_START = re.compile(r"<(?=[?!A-Za-z_])")
_MARKUP = re.compile(r"<[^<>]*>")
_CDATA = re.compile(r"<!\[CDATA\[|\]\]>")
_LEAST_KEPT = 0.6


@dataclass(frozen=True, slots=True)
class Document:
    """A file as a tree; `is_html` when it was so broken that only an HTML parser got its text."""

    root: Element
    decoded: Decoded
    is_html: bool = False


def document_of(data: bytes) -> Document:
    """The tree of a file, damaged places skipped.

    Raises ParseFailure: TOO_LARGE beyond MAX_BYTES, DAMAGED when there is no element in it.
    """
    if len(data) > MAX_BYTES:
        raise ParseFailure(
            Status.TOO_LARGE,
            f"The XML file is larger than {MAX_BYTES >> 20} MiB. Split it, or save its text as plain text.",
        )
    decoded = decode(data, None if _is_utf8(data) else declared_encoding(data))
    markup = _with_entities(decoded.text.replace("\r\n", "\n").replace("\r", "\n"))
    root = _tree(markup)
    if root is None or _letters("".join(map(str, root.itertext()))) < _LEAST_KEPT * _source_letters(markup):
        as_html = tree_of(_CDATA.sub("", _without_doctypes(markup)))
        if as_html is not None:
            return Document(as_html, decoded, is_html=True)
    if root is None:
        raise ParseFailure(
            Status.DAMAGED, "The file is not XML. Open it in the program that made it and save it again."
        )
    return Document(root, decoded)


def _is_utf8(data: bytes) -> bool:
    """Whether it is UTF-8 whatever it says of itself; what is all ASCII says nothing."""
    if data.isascii():
        return False
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return False
    return len(data) - len(text) >= _LEAST_UTF8


def _tree(markup: str) -> Element | None:
    """The root; several documents one after the other (as in files of patents) get one around them."""
    start = _START.search(markup)
    if not start:
        return None
    # What stands in front of the markup would end the parse; lines are counted on.
    markup = "\n" * markup.count("\n", 0, start.start()) + markup[start.start() :]
    body = _PROLOGUE.sub(_blank, markup)
    root, errors = _parsed(body)
    if "ERR_DOCUMENT_END" in errors:
        root, _ = _parsed(f"<documents>{_without_doctypes(body)}</documents>")
    return root


def _parsed(markup: str) -> tuple[Element | None, frozenset[str]]:
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        recover=True,
        huge_tree=True,
        remove_pis=True,
        remove_comments=True,
        encoding="utf-8",
    )
    try:
        root = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:
        return None, frozenset()
    return root, frozenset(entry.type_name for entry in parser.error_log)


def _without_doctypes(markup: str) -> str:
    return _DOCTYPE.sub(_blank, markup, count=_MAX_DOCTYPES)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _with_entities(markup: str) -> str:
    """Names of characters, and of short texts that the file declares, as what they mean; others as text."""
    doctype = _DOCTYPE.search(markup, 0, 1 << 20)
    named = _declared(doctype[1] or "") if doctype else {}
    growth = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal growth
        if found[1] in _XML_ENTITIES:
            return found[0]
        value = named.get(found[1])
        if value is None:
            value = html.unescape(found[0])
            return value if len(value) <= 2 and value not in "<&>\n" else f"&amp;{found[1]};"
        growth += len(value)
        return value if growth <= _MAX_GROWTH else f"&amp;{found[1]};"

    return _REFERENCE.sub(replaced, markup)


def _declared(subset: str) -> dict[str, str]:
    """Entities of the file's own that hold plain text; one that names others is not followed."""
    found: dict[str, str] = {}
    for entity in _ENTITY.finditer(subset):
        if len(found) < _MAX_DECLARED:
            found.setdefault(entity[1], (entity[2] or entity[3] or "").replace("\n", " ")[:_MAX_VALUE])
    return found


def _letters(text: str) -> int:
    return len(text) - text.count(" ") - text.count("\n") - text.count("\t")


def _source_letters(markup: str) -> int:
    """Of the text between tags: about what a tree that lost nothing has."""
    return _letters(_MARKUP.sub("", _CDATA.sub("", _without_comments(_without_doctypes(markup)))))


def _without_comments(markup: str) -> str:
    pieces: list[str] = []
    at = 0
    while (start := markup.find("<!--", at)) >= 0 and (end := markup.find("-->", start)) >= 0:
        pieces.append(markup[at:start])
        at = end + 3
    return "".join([*pieces, markup[at:]])
