"""PDF: the text layer in reading order, page by page."""

from __future__ import annotations

import ctypes
import re

import pypdfium2

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.pdf_headings import Bookmark, heading_levels
from mindscape.ingest.formats.pdf_pages import check_text, read_pages, without_running_titles
from mindscape.ingest.formats.pieces import add_pieces
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_PASSWORD_ERRORS = (4, 5)
_MAX_BOOKMARKS = 5_000
_NOTHING = re.compile(r"\W*(?:untitled|anonymous|unspecified|unknown)?\W*", re.I)
_FILE_NAME = re.compile(r"microsoft \w+ - .*|\S+\.(?:docx?|indd|tex|dvi|pdf|qxd|pptx?)", re.I)


def parse(source: Source, media_type: str) -> Parsed:
    """The text layer; a `page` mark for each page with text; sections by bookmarks or by letter size."""
    document = _open(source.data)
    try:
        builder = TextBuilder()
        pages, unread = read_pages(document, source.read_pages)
        builder.warnings += check_text(pages, unread)
        bookmarks = _bookmarks(document)
        metadata = {
            key: value
            for key, value in document.get_metadata_dict().items()
            if not _NOTHING.fullmatch(value or " ")
        }
    finally:
        document.close()
    count = len(pages) + len(unread)
    lacking = sum(page.says_less_than_it_shows for page in pages)
    pages = without_running_titles(pages)
    levels = heading_levels([page.pieces for page in pages], [page.number for page in pages], bookmarks)
    for page, page_levels in zip(pages, levels, strict=True):
        builder.mark("page", str(page.number))
        add_pieces(page.pieces, page_levels, builder)
    title = metadata.get("Title", "").strip()
    if not title or _FILE_NAME.fullmatch(title):
        title = next((heading.text for heading in builder.headings if heading.start < 500), "")
    return builder.build(media_type, title, _metadata(metadata, count, lacking))


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in _PASSWORD_ERRORS:
            raise ParseFailure(
                Status.PROTECTED, "The PDF needs a password. Save a copy without one to have it indexed."
            ) from None
        raise ParseFailure(
            Status.DAMAGED, "The file is not a PDF, or too damaged to open. Fetch it or save it again."
        ) from None


def _bookmarks(document: pypdfium2.PdfDocument) -> list[Bookmark]:
    found: list[Bookmark] = []
    try:
        for mark in document.get_toc():
            target = mark.get_dest()
            index = target.get_index() if target else None
            if index is not None and len(found) < _MAX_BOOKMARKS:
                found.append(Bookmark(mark.level + 1, " ".join(mark.get_title().split()), index + 1))
    except (pypdfium2.PdfiumError, ctypes.ArgumentError, UnicodeDecodeError):
        return []
    return found


def _metadata(metadata: dict[str, str], count: int, lacking: int) -> dict[str, str | int]:
    found: dict[str, str | int] = {"pages": count}
    if lacking:
        found["pages_without_text"] = lacking
    for key, name in (("Author", "author"), ("Subject", "subject")):
        if value := metadata.get(key, "").strip():
            found[name] = value[:500]
    if date := re.match(r"D:(\d{4})(\d{2})(\d{2})", metadata.get("CreationDate", "")):
        found["date"] = "-".join(date.groups())
    return found
