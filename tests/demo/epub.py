"""Write an EPUB 3 book from Markdown chapters: the same bytes every time."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from markdown_it import MarkdownIt

_MOMENT = (2024, 3, 1, 12, 0, 0)
_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
  <rootfiles>
    <rootfile full-path="OEBPS/package.opf" media-type="application/oebps-package+xml"/>
  </rootfiles>
</container>
"""
_PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en">
<head><title>{title}</title></head>
<body>
{body}</body>
</html>
"""
_PACKAGE = """<?xml version="1.0" encoding="UTF-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">
  <metadata xmlns:dc="http://purl.org/dc/elements/1.1/">
    <dc:identifier id="id">{identifier}</dc:identifier>
    <dc:title>{title}</dc:title>
    <dc:creator>{author}</dc:creator>
    <dc:language>en</dc:language>
    <dc:rights>Apache-2.0</dc:rights>
    <meta property="dcterms:modified">2024-03-01T12:00:00Z</meta>
  </metadata>
  <manifest>
    <item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
{manifest}
  </manifest>
  <spine>
{spine}
  </spine>
</package>
"""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its title (the first Markdown heading) and its whole Markdown text."""

    title: str
    markdown: str


def read_chapters(folder: Path) -> list[Chapter]:
    """The chapters `NN-title.md` of a folder, in order. Raises ValueError on one without a title."""
    chapters: list[Chapter] = []
    for path in sorted(folder.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        first = text.split("\n", 1)[0]
        if not first.startswith("# "):
            raise ValueError(f"{path.name} must begin with '# ' and its title")
        chapters.append(Chapter(first[2:].strip(), text))
    return chapters


def write_epub(path: Path, title: str, author: str, identifier: str, chapters: Sequence[Chapter]) -> None:
    """Write the book; `mimetype` comes first and uncompressed, as the format demands."""
    names = [f"chapter{number:02}.xhtml" for number in range(1, len(chapters) + 1)]
    with zipfile.ZipFile(path, "w") as archive:
        _add(archive, "mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        _add(archive, "META-INF/container.xml", _CONTAINER)
        _add(archive, "OEBPS/package.opf", _package(title, author, identifier, names))
        _add(archive, "OEBPS/nav.xhtml", _contents(title, names, chapters))
        for name, chapter in zip(names, chapters, strict=True):
            # The commonmark preset renders XHTML, so the result is well-formed XML.
            body = MarkdownIt("commonmark").render(chapter.markdown)
            _add(archive, f"OEBPS/{name}", _PAGE.format(title=escape(chapter.title), body=body))


def _package(title: str, author: str, identifier: str, names: Sequence[str]) -> str:
    manifest = "\n".join(
        f'    <item id="{name[:-6]}" href="{name}" media-type="application/xhtml+xml"/>' for name in names
    )
    spine = "\n".join(f'    <itemref idref="{name[:-6]}"/>' for name in names)
    return _PACKAGE.format(
        identifier=escape(identifier),
        title=escape(title),
        author=escape(author),
        manifest=manifest,
        spine=spine,
    )


def _contents(title: str, names: Sequence[str], chapters: Sequence[Chapter]) -> str:
    entries = "\n".join(
        f'<li><a href="{name}">{escape(chapter.title)}</a></li>'
        for name, chapter in zip(names, chapters, strict=True)
    )
    body = f'<nav epub:type="toc"><h1>Contents</h1>\n<ol>\n{entries}\n</ol></nav>\n'
    return _PAGE.format(title=escape(title), body=body)


def _add(archive: zipfile.ZipFile, name: str, text: str, how: int = zipfile.ZIP_DEFLATED) -> None:
    entry = zipfile.ZipInfo(name, _MOMENT)
    entry.compress_type = how
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, text.encode("utf-8"))
