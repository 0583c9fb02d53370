"""PDF: the text layer in reading order, page by page."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pypdfium2

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.pdf_headings import CAPTION, Bookmark, heading_levels
from mindscape.ingest.formats.pdf_layout import Piece, pieces_of
from mindscape.ingest.formats.pdf_page import runs_of
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_PASSWORD_ERRORS = (4, 5)
_MAX_BOOKMARKS = 5_000
_EDGE = 0.1
"""Of the page's height: running titles and page numbers stand above or below this."""
_LEAST_REPEATS = 3
_LEAST_REPEAT_SHARE = 0.4
_FEW_LETTERS = 40
_NOTHING = re.compile(r"\W*(?:untitled|anonymous|unspecified|unknown)?\W*", re.I)
_FILE_NAME = re.compile(r"microsoft \w+ - .*|\S+\.(?:docx?|indd|tex|dvi|pdf|qxd|pptx?)", re.I)
_OCR = "Run it through OCR (for example ocrmypdf) to have it indexed."


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its number, from 1, its height in points and what stands on it."""

    number: int
    height: float
    pieces: tuple[Piece, ...]


def parse(source: Source, media_type: str) -> Parsed:
    """The text layer; a `page` mark for each page with text; sections by bookmarks or by letter size."""
    document = _open(source.data)
    try:
        builder = TextBuilder()
        pages, unread = _pages(document)
        _note_missing_text(pages, unread, builder)
        bookmarks = _bookmarks(document)
        metadata = {
            key: value
            for key, value in document.get_metadata_dict().items()
            if not _NOTHING.fullmatch(value or " ")
        }
    finally:
        document.close()
    pages = _without_running_titles(pages)
    levels = heading_levels([page.pieces for page in pages], [page.number for page in pages], bookmarks)
    for page, page_levels in zip(pages, levels, strict=True):
        builder.mark("page", str(page.number))
        _add_page(page.pieces, page_levels, builder)
    title = metadata.get("Title", "").strip()
    if not title or _FILE_NAME.fullmatch(title):
        title = next((heading.text for heading in builder.headings if heading.start < 500), "")
    return builder.build(media_type, title, _metadata(metadata, pages))


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


def _pages(document: pypdfium2.PdfDocument) -> tuple[list[Page], list[int]]:
    """The pages with text, and the numbers of those that cannot be read at all."""
    pages: list[Page] = []
    unread: list[int] = []
    for index in range(len(document)):
        try:
            page = document[index]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            unread.append(index + 1)
            continue
        pieces = pieces_of(runs_of(page, text_page))
        pages.append(Page(index + 1, page.get_height(), tuple(pieces)))
        text_page.close()
        page.close()
    return pages, unread


def _note_missing_text(pages: Sequence[Page], unread: Sequence[int], builder: TextBuilder) -> None:
    empty = [page.number for page in pages if not page.pieces]
    count = len(pages) + len(unread)
    if not pages:
        raise ParseFailure(Status.DAMAGED, "None of the PDF's pages can be read. Fetch it or save it again.")
    if len(empty) == len(pages):
        raise ParseFailure(Status.NO_TEXT, f"The PDF has no text layer on any page (of {count}). {_OCR}")
    letters = sum(len("".join(piece.lines)) for page in pages for piece in page.pieces)
    if unread:
        builder.warnings.append(f"Pages that cannot be read, of {count}: {_ranges(unread)}.")
    if empty:
        builder.warnings.append(f"Pages without text, of {count}: {_ranges(empty)}. {_OCR}")
    elif letters < _FEW_LETTERS * count:
        builder.warnings.append(f"Almost no text: {letters // count} letters a page. If it is a scan: {_OCR}")


def _ranges(numbers: Sequence[int]) -> str:
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    shown = ", ".join("-".join(map(str, part)) for part in parts[:20])
    return shown + (" and more" if len(parts) > 20 else "")


def _without_running_titles(pages: list[Page]) -> list[Page]:
    """Pages with text, less the page numbers and all but the first of each title that comes on many pages."""
    pages = [page for page in pages if page.pieces]
    seen = Counter(key for page in pages for key in {_running(page, piece) for piece in page.pieces} if key)
    least = max(_LEAST_REPEATS, _LEAST_REPEAT_SHARE * len(pages))
    shown: set[str] = set()
    kept: list[Page] = []
    for page in pages:
        pieces: list[Piece] = []
        for piece in page.pieces:
            key = _running(page, piece)
            if not key or seen[key] < least or (key not in shown and re.search(r"[^\W\d_]{4}", key)):
                pieces.append(piece)
            shown.add(key)
        kept.append(Page(page.number, page.height, tuple(pieces)))
    return kept


def _running(page: Page, piece: Piece) -> str:
    """What a running title is compared by; empty for what cannot be one."""
    at_edge = piece.y1 < _EDGE * page.height or piece.y0 > (1 - _EDGE) * page.height
    if not at_edge or len(piece.lines) > 2:
        return ""
    return re.sub(r"\d+", "#", " ".join(piece.lines)).casefold()


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


def _add_page(pieces: Sequence[Piece], levels: Sequence[int], builder: TextBuilder) -> None:
    caption = ""
    for piece, level in zip(pieces, levels, strict=True):
        text = "\n".join(piece.lines)
        if piece.kind == "table":
            table_block(builder, piece.rows, header_above=caption)
        elif level:
            builder.add("heading", " ".join(piece.lines), level=level)
        else:
            builder.add("item" if piece.kind == "item" else "paragraph", text)
        caption = text.replace("\n", " ")[:300] if CAPTION.match(text) else ""


def _metadata(metadata: dict[str, str], pages: Sequence[Page]) -> dict[str, str | int]:
    found: dict[str, str | int] = {"pages": pages[-1].number}
    for key, name in (("Author", "author"), ("Subject", "subject")):
        if value := metadata.get(key, "").strip():
            found[name] = value[:500]
    if date := re.match(r"D:(\d{4})(\d{2})(\d{2})", metadata.get("CreationDate", "")):
        found["date"] = "-".join(date.groups())
    return found
