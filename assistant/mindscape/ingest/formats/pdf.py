"""PDF: the text layer in reading order, page by page."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pypdfium2

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.pdf_about import bookmarks_of, metadata_of, title_of, values_of
from mindscape.ingest.formats.pdf_headings import heading_levels
from mindscape.ingest.formats.pdf_notes import attachments_of, is_dynamic_form, labels_of
from mindscape.ingest.formats.pdf_pages import Page, check_text, read_pages
from mindscape.ingest.formats.pdf_running import without_running_titles
from mindscape.ingest.formats.pieces import add_pieces
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_PASSWORD_ERRORS = (4, 5)
_MAX_NAMED = 20
_PLEASE_WAIT = re.compile(r"please wait|adobe\s+reader|acrobat", re.I)
_SHORT = 2_000


def parse(source: Source, media_type: str) -> Parsed:
    """The text layer; a `page` mark for each page with text; sections by bookmarks or by letter size."""
    document = _open(source.data)
    try:
        builder = TextBuilder()
        pages, unread = read_pages(document, source.read_pages)
        if is_dynamic_form(document):
            _check_dynamic_form(pages)
        builder.warnings += check_text(pages, unread)
        bookmarks, values, labels = bookmarks_of(document), values_of(document), labels_of(document)
        if names := attachments_of(document):
            more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
            builder.warnings.append(f"Files inside it are not read: {', '.join(names[:_MAX_NAMED])}{more}.")
    finally:
        document.close()
    count = len(pages) + len(unread)
    lacking = sum(page.says_less_than_it_shows for page in pages)
    pages = without_running_titles(pages)
    levels = heading_levels([page.pieces for page in pages], [page.number for page in pages], bookmarks)
    for page, page_levels in zip(pages, levels, strict=True):
        builder.mark("page", labels[page.number - 1])
        add_pieces(page.pieces, page_levels, builder)
        builder.links |= dict.fromkeys(page.links)
    title = title_of(values) or next(
        (heading.text for heading in builder.headings if heading.start < 500), ""
    )
    return builder.build(media_type, title, metadata_of(values, count, lacking))


def _open(data: bytes) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code in _PASSWORD_ERRORS:
            raise ParseFailure(
                Status.PROTECTED, "The PDF needs a password. Save a copy without one to have it indexed."
            ) from None
        raise ParseFailure(
            Status.DAMAGED, "The file is not a PDF, or too damaged to open. Fetch it or save it again."
        ) from None
    if document.get_formtype():
        document.init_forms()
    return document


def _check_dynamic_form(pages: Sequence[Page]) -> None:
    """Raises ParseFailure when the pages say only that another program is to show the form."""
    text = " ".join(line for page in pages for piece in page.pieces for line in piece.lines)
    if len(text) < _SHORT and (not text or _PLEASE_WAIT.search(text)):
        raise ParseFailure(
            Status.UNSUPPORTED,
            "The PDF is an XFA form, whose pages are made when Adobe Reader opens it. Print it to a PDF "
            "from there to have it indexed.",
        )
