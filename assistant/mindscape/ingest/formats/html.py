"""HTML: what a reader of the page reads, without its scripts, menus and hidden parts."""

from __future__ import annotations

import re

from lxml import etree

from mindscape.ingest.decode import decode
from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.html_walk import tag_of, text_of, walk
from mindscape.ingest.formats.xml import Element
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

MAX_BYTES = 32 << 20
_HEAD_BYTES = 4096
_CHARSET = re.compile(rb"""<meta[^>]{0,200}charset\s*=\s*["']?\s*([\w.:-]{2,40})""", re.I)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]{2,40})["']""")
# libxml2 gives up at some 2,000 levels; such pages are generated, and without these read just as well. What
# is nested in yet other elements is read without any.
_NESTING = re.compile(
    r"</?(?:div|span|font|center|section|blockquote|[biu]|em|strong|small|ul|ol|table|tbody|tr|td)\b[^<>]*>",
    re.I,
)
_ANY = re.compile(
    r"</?(?!(?:script|style|template|noscript|head|title|p|h[1-6]|li|br|pre|body|html)\b)[a-z][^<>]*>", re.I
)
_HEAD = ("title", "meta", "link", "script", "style", "base", "noscript", "template", "")
"""Elements of a head; comments have no name."""
_MAIN = "//*[self::main or @role='main']"
_LEAST_MAIN_SHARE = 0.3
_LEAST_PAGE_SHARE = 0.2
"""Of what a page shows; where less is left without its menus and banners, they are read too."""


def parse(source: Source, media_type: str) -> Parsed:
    """The text of the page with its headings, tables, lists and links."""
    if len(source.data) > MAX_BYTES:
        raise ParseFailure(
            Status.TOO_LARGE, f"The page is larger than {MAX_BYTES >> 20} MiB. Save it in smaller parts."
        )
    decoded = decode(source.data, declared_encoding(source.data))
    root = tree_of(decoded.text)
    builder = TextBuilder(warnings=list(decoded.warnings))
    if root is None:
        return builder.build(media_type, decoded=decoded)
    body = root.find("body")
    readable = _readable(root)
    heading = root.find(".//h1")
    if heading is not None and readable.tag != "body" and readable.find(".//h1") is None:
        # A page whose main part leaves its own heading to a banner above it.
        builder.add("heading", collapsed(text_of(heading)), level=1)
    walk(readable, builder, page=True)
    if builder.length < _LEAST_PAGE_SHARE * _letters(readable):
        whole = TextBuilder(warnings=list(decoded.warnings))
        walk(root if body is None else body, whole, page=False)
        if builder.length < _LEAST_PAGE_SHARE * whole.length:
            # It is made of menus, such as the index of a site: then they are what it says.
            builder = whole
    title = collapsed(root.findtext(".//title") or "")
    if not any(map(str.isalnum, title)):
        # Programs that have none to give write a dash.
        title = next((heading.text for heading in builder.headings), None)
    return builder.build(media_type, title, _metadata(root), decoded)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that the page itself names, in its XML declaration or a meta element."""
    found = _XML_ENCODING.search(data[:_HEAD_BYTES]) or _CHARSET.search(data[:_HEAD_BYTES])
    return found[1].decode("ascii") if found else None


def tree_of(markup: str) -> Element | None:
    """The root element, or None when there is no element at all. Nothing outside is ever fetched.

    Raises ParseFailure(TOO_LARGE) when it is nested too deeply.
    """
    parser = _parser()
    try:
        root = etree.fromstring(markup.encode(), parser)
        for nesting in (_NESTING, _ANY):
            if _is_cut(parser):
                markup = nesting.sub("\n", markup)
                parser = _parser()
                root = etree.fromstring(markup.encode(), parser)
    except etree.XMLSyntaxError:
        return None
    if _is_cut(parser):
        raise ParseFailure(Status.TOO_LARGE, "The page is nested too deeply to be read. Save it as text.")
    if root is not None:
        _mend_head(root)
    return root


def _parser() -> etree.HTMLParser:
    # huge_tree, for without it text nested deeper than 254 elements silently disappears; the size is bounded.
    return etree.HTMLParser(encoding="utf-8", recover=True, no_network=True, huge_tree=True)


def _is_cut(parser: etree.HTMLParser) -> bool:
    return any("depth" in error.message for error in parser.error_log)


def _mend_head(root: Element) -> None:
    """Move what is no part of a head into the body: libxml2 leaves elements newer than HTML 4 there."""
    head = root.find("head")
    stray = next((held for held in head if tag_of(held) not in _HEAD), None) if head is not None else None
    if stray is None:
        return
    body = root.find("body")
    if body is None:
        body = etree.SubElement(root, "body")
    leading, body.text = body.text, None
    moved = [stray, *stray.itersiblings()]
    for place, held in enumerate(moved):
        body.insert(place, held)
    moved[-1].tail = (moved[-1].tail or "") + (leading or "")


def _readable(root: Element) -> Element:
    """The main part where the page names one that holds a fair share of its text, else its body."""
    body = root.find("body")
    whole = root if body is None else body
    mains = root.xpath(_MAIN)
    main = mains[0] if isinstance(mains, list) and len(mains) == 1 else None
    if isinstance(main, Element) and _letters(main) >= _LEAST_MAIN_SHARE * _letters(whole):
        return main
    return whole


def _letters(element: Element) -> int:
    skipped = ("script", "style", "template", "noscript")
    return sum(len(held.text or "") for held in element.iter() if held.tag not in skipped)


def _metadata(root: Element) -> dict[str, str]:
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = (meta.get("name") or meta.get("property") or "").lower()
        key = {"author": "author", "date": "date", "article:published_time": "date"}.get(name)
        content = collapsed(meta.get("content") or "")
        if key and content:
            found.setdefault(key, content[:300])
    if language := root.get("lang"):
        found["language"] = language[:35]
    return found
