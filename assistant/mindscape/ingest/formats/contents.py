"""The table of contents of an EPUB, in either of its two forms."""

from __future__ import annotations

from collections.abc import Iterator

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.package import Package, resolve
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name, xml_tree
from mindscape.ingest.parsed import ParseFailure

_NCX_TYPE = "application/x-dtbncx+xml"


def chapter_labels(package: Package, opf_name: str, opf: Element) -> dict[str, str]:
    """What the contents call each file: its first entry's label, by member name. Empty when damaged."""
    labels: dict[str, str] = {}
    for name, is_nav in _contents_files(opf_name, opf):
        try:
            data = package.read(name)
            root = xml_tree(data, name) if data else None
        except ParseFailure:
            continue
        for href, label in (_nav(root) if is_nav else _ncx(root)) if root is not None else ():
            labels.setdefault(resolve(name, href), " ".join(label.split())[:200])
    return labels


def _contents_files(opf_name: str, opf: Element) -> Iterator[tuple[str, bool]]:
    for item in opf.iter():
        href = attribute(item, "href")
        if local_name(item) == "item" and href:
            is_nav = "nav" in (attribute(item, "properties") or "").split()
            if is_nav or attribute(item, "media-type") == _NCX_TYPE or href.lower().endswith(".ncx"):
                yield resolve(opf_name, href), is_nav


def _nav(root: Element) -> Iterator[tuple[str, str]]:
    navs = [element for element in root.iter() if local_name(element) == "nav"]
    for nav in [nav for nav in navs if attribute(nav, "type") == "toc"] or navs[:1]:
        for link in nav.iter():
            if local_name(link) == "a" and attribute(link, "href"):
                yield attribute(link, "href") or "", collapsed(inner_text(link))


def _ncx(root: Element) -> Iterator[tuple[str, str]]:
    for point in root.iter():
        if local_name(point) == "navPoint":
            label = next((child for child in point if local_name(child) == "navLabel"), None)
            content = next((child for child in point if local_name(child) == "content"), None)
            if label is not None and content is not None:
                yield attribute(content, "src") or "", collapsed(inner_text(label))
