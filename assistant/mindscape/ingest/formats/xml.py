"""XML and HTML trees, parsed so that nothing outside the file is ever read and no entity can explode."""

from __future__ import annotations

from typing import cast

from lxml import etree

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

# lxml gives the type of its elements no public name.
Element = etree._Element  # pyright: ignore[reportPrivateUsage]


def xml_tree(data: bytes, name: str) -> Element:
    """The root of a part of a package, damaged places skipped.

    Raises ParseFailure(DAMAGED) when there is nothing to save.
    """
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, huge_tree=False
    )
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise ParseFailure(
            Status.DAMAGED,
            f"Its part {name[:100]} is not XML. Open it in the program that made it and save it.",
        )
    return root


def local_name(element: Element) -> str:
    """The name without its namespace; empty for comments and processing instructions."""
    tag = cast(object, element.tag)
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def inner_text(element: Element) -> str:
    """All text under the element."""
    return "".join(str(piece) for piece in element.itertext())


def attribute(element: Element, name: str) -> str | None:
    """The attribute of that local name, whatever its namespace."""
    plain = element.get(name)
    if plain is not None:
        return str(plain)
    for key, value in element.attrib.items():
        if str(key).rpartition("}")[2] == name:
            return str(value)
    return None
