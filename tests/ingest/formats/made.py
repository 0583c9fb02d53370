"""Packages made by the tests, small enough to read."""

from __future__ import annotations

import io
import zipfile

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
)
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def zipped(members: dict[str, str | bytes]) -> bytes:
    """A zip archive of these members, in order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in members.items():
            archive.writestr(name, held)
    return buffer.getvalue()


def epub(
    chapters: dict[str, str],
    manifest: list[str] | None = None,
    extra: dict[str, str | bytes] | None = None,
    spine: bool = True,
    items: str = "",
) -> bytes:
    """An EPUB; `manifest` names the hrefs it promises, by default those of the chapters."""
    hrefs = manifest or list(chapters)
    listed = "".join(
        f'<item id="i{n}" href="{href}" media-type="application/xhtml+xml"/>' for n, href in enumerate(hrefs)
    )
    order = "".join(f'<itemref idref="i{n}"/>' for n in range(len(hrefs))) if spine else ""
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The Ferry Keeper</dc:title><dc:creator>A. Mole</dc:creator>"
        "<dc:creator>B. Vole</dc:creator>"
        f"<dc:language>en</dc:language></metadata><manifest>{listed}{items}</manifest>"
        f"<spine>{order}</spine></package>"
    )
    return zipped(
        {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/book.opf": opf}
        | {f"OEBPS/{name}": text for name, text in chapters.items()}
        | (extra or {})
    )


def docx(body: str, extra: dict[str, str | bytes] | None = None, relations: str = "") -> bytes:
    """A DOCX with this body; `relations` are those of the document part."""
    return zipped(
        {
            "[Content_Types].xml": "<Types/>",
            "_rels/.rels": f'<Relationships><Relationship Type="{_OFFICE}/officeDocument" '
            'Target="word/document.xml"/></Relationships>',
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": f"<Relationships>{relations}</Relationships>",
        }
        | (extra or {})
    )


def relation(kind: str, target: str) -> str:
    """A relation of the document part."""
    return f'<Relationship Type="{_OFFICE}/{kind}" Target="{target}"/>'


def paragraph(text: str, properties: str = "") -> str:
    """A paragraph of one run."""
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
