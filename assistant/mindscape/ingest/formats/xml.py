"""XML and HTML trees, parsed so that nothing outside the file is ever read and no entity can explode."""

from __future__ import annotations

from typing import cast

from lxml import etree

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

# lxml gives the type of its elements no public name.
Element = etree._Element  # pyright: ignore[reportPrivateUsage]


MAX_DEPTH = 256


def xml_tree(data: bytes, name: str) -> Element:
    """The root of a part of a package, damaged places skipped.

    Raises ParseFailure: DAMAGED when there is nothing to save, TOO_LARGE where a limit of the XML library
    (MAX_DEPTH levels, 10 MB in one run of text) would silently end the tree.
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
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in parser.error_log):
        raise ParseFailure(
            Status.TOO_LARGE,
            f"Its part {name[:100]} is nested deeper than {MAX_DEPTH} levels, or one run of text in it is "
            "larger than 10 MB. Open it in the program that made it and save a simpler version.",
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
