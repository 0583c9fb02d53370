"""The table of contents of an EPUB, in either of its two forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.outline import MAX_HEADING
from mindscape.ingest.formats.package import Package, resolve
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name, xml_tree
from mindscape.ingest.parsed import ParseFailure

_NCX_TYPE = "application/x-dtbncx+xml"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents: the place in its file (empty: all of it), how deep it is nested (from 1)."""

    fragment: str
    depth: int
    label: str


def contents_of(package: Package, opf_name: str, opf: Element) -> dict[str, list[Entry]]:
    """What the contents say of each file, by member name; without what is damaged."""
    found: dict[str, list[Entry]] = {}
    for name, is_nav in _contents_files(opf_name, opf):
        try:
            data = package.read(name)
            root = xml_tree(data, name) if data else None
        except ParseFailure:
            continue
        here: dict[str, list[Entry]] = {}
        for href, depth, label in (_nav(root) if is_nav else _ncx(root)) if root is not None else ():
            entry = Entry(href.partition("#")[2], depth, " ".join(label.split())[:MAX_HEADING])
            here.setdefault(resolve(name, href), []).append(entry)
        # Most books have both forms: the second adds only what the first leaves out.
        found = here | found
    return found


def _contents_files(opf_name: str, opf: Element) -> Iterator[tuple[str, bool]]:
    for item in opf.iter():
        href = attribute(item, "href")
        if local_name(item) == "item" and href:
            is_nav = "nav" in (attribute(item, "properties") or "").split()
            if is_nav or attribute(item, "media-type") == _NCX_TYPE or href.lower().endswith(".ncx"):
                yield resolve(opf_name, href), is_nav


def _nav(root: Element) -> Iterator[tuple[str, int, str]]:
    navs = [element for element in root.iter() if local_name(element) == "nav"]
    for nav in [nav for nav in navs if attribute(nav, "type") == "toc"] or navs[:1]:
        for link in nav.iter():
            if local_name(link) == "a" and attribute(link, "href"):
                yield attribute(link, "href") or "", _depth(link, "ol"), collapsed(inner_text(link))


def _ncx(root: Element) -> Iterator[tuple[str, int, str]]:
    for point in root.iter():
        if local_name(point) == "navPoint":
            label = next((child for child in point if local_name(child) == "navLabel"), None)
            content = next((child for child in point if local_name(child) == "content"), None)
            if label is not None and content is not None:
                depth = 1 + _depth(point, "navPoint")
                yield attribute(content, "src") or "", depth, collapsed(inner_text(label))


def _depth(element: Element, name: str) -> int:
    return sum(local_name(above) == name for above in element.iterancestors())
