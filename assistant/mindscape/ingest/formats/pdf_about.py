"""What a PDF says of itself as a whole: title, author, date, language, outline."""

from __future__ import annotations

import ctypes
import re
from datetime import date

import pypdfium2

from mindscape.ingest.formats.pdf_headings import Bookmark
from mindscape.ingest.formats.pdf_notes import language_of

_MAX_BOOKMARKS = 5_000
_MAX_VALUE = 500
_NOTHING = re.compile(r"\W*(?:untitled|anonymous|unspecified|unknown|none|null|n/a|admin|user)?\W*", re.I)
_NO_TITLE = re.compile(
    r"microsoft (?:office )?\w+ ?- .*|(?:powerpoint|microsoft)(?: office)?(?: powerpoint)? presentation"
    r"|(?:untitled|unnamed|new)(?: (?:document|presentation|page)[ \d-]*)?"
    r"|(?:document|slide|book|page|scan)[ _]?\d*"
    r"|\S+\.(?:docx?|odt|rtf|txt|indd|tex|dvi|e?ps|pdf|qxd|pptx?|xlsx?|html?|cdr|ai|png|jpe?g|tiff?)"
    r"|[\d\W_]+|title|printmgr file|layout 1|print|\w:\\.*|file:.*",
    re.I,
)
_DATE = re.compile(r"(?:D:)?\s*(\d{4})-?(\d{2})?-?(\d{2})?")


def values_of(document: pypdfium2.PdfDocument) -> dict[str, str]:
    """The document's own properties that say something, by the names PDF has for them."""
    held = document.get_metadata_dict()
    clean = {key: " ".join(value.replace("\0", " ").split()) for key, value in held.items()}
    clean["Language"] = language_of(document)
    return {key: value[:_MAX_VALUE] for key, value in clean.items() if not _NOTHING.fullmatch(value)}


def title_of(values: dict[str, str]) -> str:
    """The title; empty where it is only what a program puts there by itself."""
    title = values.get("Title", "")
    return "" if _NO_TITLE.fullmatch(title) else title


def metadata_of(values: dict[str, str], count: int, lacking: int) -> dict[str, str | int | list[str]]:
    """`count` pages, `lacking` of which say less than they show."""
    found: dict[str, str | int | list[str]] = {"pages": count}
    if lacking:
        found["pages_without_text"] = lacking
    for key, name in (("Author", "author"), ("Subject", "subject"), ("Language", "language")):
        if value := values.get(key):
            found[name] = value
    if keywords := [word.strip() for word in re.split(r"[,;]", values.get("Keywords", "")) if word.strip()]:
        found["keywords"] = keywords[:50]
    if day := _day(values.get("CreationDate", "")) or _day(values.get("ModDate", "")):
        found["date"] = day
    return found


def _day(text: str) -> str:
    """As YYYY-MM-DD; empty when it is no date."""
    match = _DATE.match(text)
    if not match:
        return ""
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1)).isoformat()
    except ValueError:
        return ""


def bookmarks_of(document: pypdfium2.PdfDocument) -> list[Bookmark]:
    """The outline, as far as its entries lead to pages."""
    found: list[Bookmark] = []
    for mark in document.get_toc():
        if len(found) >= _MAX_BOOKMARKS:
            break
        try:
            target = mark.get_dest()
            index = target.get_index() if target else None
            title = " ".join(mark.get_title().split())
        except (pypdfium2.PdfiumError, ctypes.ArgumentError, UnicodeDecodeError):
            continue
        if index is not None and title:
            found.append(Bookmark(mark.level + 1, title, index + 1))
    return found
