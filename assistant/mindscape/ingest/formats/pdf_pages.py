"""The pages of a PDF with what stands on them, and what is to be said of those that lack something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pypdfium2

from mindscape.ingest.formats.pdf_hidden import without_hidden
from mindscape.ingest.formats.pdf_lack import Lack, lack_of, unreadable
from mindscape.ingest.formats.pdf_layout import Piece, pieces_of
from mindscape.ingest.formats.pdf_notes import Notes, notes_of
from mindscape.ingest.formats.pdf_page import Frame, frames_of
from mindscape.ingest.formats.pdf_run import Run
from mindscape.ingest.formats.scans import confidence_of, runs_of_lines
from mindscape.ingest.parsed import ParseFailure, ReadLine
from mindscape_storage.records import Status

_EDGE = 0.1
"""Of the page's height: running titles and page numbers stand above or below this."""
_ADVICE = "OCR reads such pages in folders added with 'mindscape add --ocr FOLDER'."


@dataclass(frozen=True, slots=True)
class Page:
    """A page with its number, from 1, and what stands on it."""

    number: int
    pieces: tuple[Piece, ...]
    lack: Lack = Lack.NOTHING
    confidence: float | None = None
    """How sure OCR was of it, from 0 to 1; None where OCR was not asked."""
    links: tuple[str, ...] = ()
    hides: bool = False
    """Whether text that cannot be seen was left out."""

    @property
    def says_less_than_it_shows(self) -> bool:
        """Whether somebody who looks at it reads more than `pieces`."""
        return self.lack.is_readable_by_ocr and not (self.confidence and self.pieces)


def read_pages(
    document: pypdfium2.PdfDocument, read_by_ocr: Mapping[int, tuple[ReadLine, ...]]
) -> tuple[list[Page], list[int]]:
    """The pages, and the numbers of those that cannot be read at all."""
    pages: list[Page] = []
    unread: list[int] = []
    for index in range(len(document)):
        try:
            page = document[index]
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            unread.append(index + 1)
            continue
        pages.append(_page(document, index + 1, page, text_page, read_by_ocr.get(index + 1)))
        text_page.close()
        page.close()
    return pages, unread


@dataclass(frozen=True, slots=True)
class Look:
    """A page at first sight: its text as it runs, its notes, and what it lacks."""

    frames: list[Frame]
    notes: Notes
    lack: Lack
    hides: bool


def look_at(
    document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage
) -> Look:
    """What there is on a page, less what cannot be seen."""
    frames = frames_of(page, text_page)
    found = [run for frame in frames for run in frame.runs]
    seen = without_hidden(page, text_page, found)
    if len(seen) < len(found):
        kept = {id(run) for run in seen}
        for frame in frames:
            frame.runs = [run for run in frame.runs if id(run) in kept]
    notes = notes_of(document, page)
    return Look(frames, notes, lack_of(page, seen, drawn=notes.drawn), len(seen) < len(found))


def _page(
    document: pypdfium2.PdfDocument,
    number: int,
    page: pypdfium2.PdfPage,
    text_page: pypdfium2.PdfTextPage,
    lines: tuple[ReadLine, ...] | None,
) -> Page:
    look = look_at(document, page, text_page)
    frames = [] if look.lack is Lack.LETTERS else look.frames
    confidence = None
    if lines is not None and look.lack.is_readable_by_ocr:
        confidence = confidence_of(lines)
        if lines:
            frames = [_read_frame(page, frames, lines)]
    for frame in frames:
        frame.runs = [run for run in frame.runs if run.without_controls()]
    pieces = [piece for frame in frames for piece in _pieces(frame)] + look.notes.pieces
    return Page(number, tuple(pieces), look.lack, confidence, look.notes.links, look.hides)


def _read_frame(page: pypdfium2.PdfPage, frames: Sequence[Frame], lines: Sequence[ReadLine]) -> Frame:
    """What the text layer says, which knows its letters better, and what else OCR has read.

    Where pages or their texts are turned, all that OCR has read.
    """
    read = Frame(0, *page.get_size(), 0.0, 0.0, runs_of_lines(lines))
    if len(frames) == 1 and frames[0].degrees == 0 and page.get_rotation() == 0:
        layer = [run for run in frames[0].runs if not unreadable(run)]
        read.runs = [run for run in read.runs if not any(_overlap(run, known) for known in layer)] + layer
    return read


def _overlap(run: Run, other: Run) -> bool:
    wide = min(run.x1, other.x1) - max(run.x0, other.x0)
    high = min(run.y1, other.y1) - max(run.y0, other.y0)
    return wide > 0.5 * min(run.width, other.width) and high > 0.5 * min(run.size, other.size)


def _pieces(frame: Frame) -> list[Piece]:
    """In reading order, those at the upper and lower edge of the page marked."""
    pieces = pieces_of(frame.runs)
    top, bottom = _EDGE * frame.height, (1 - _EDGE) * frame.height
    return [replace(piece, at_edge=piece.y1 < top or piece.y0 > bottom) for piece in pieces]


def check_text(pages: Sequence[Page], unread: Sequence[int]) -> list[str]:
    """What to warn of. Raises ParseFailure when there is no text at all."""
    count = len(pages) + len(unread)
    if not pages:
        raise ParseFailure(Status.DAMAGED, "None of the PDF's pages can be read. Fetch it or save it again.")
    if not any(page.pieces for page in pages):
        raise _without_text(pages, count)
    warnings: list[str] = []
    if unread:
        warnings.append(f"{named(unread, count)} cannot be read.")
    if read := [page for page in pages if page.confidence and page.pieces]:
        mean = sum(page.confidence or 0 for page in read) / len(read)
        numbers = [page.number for page in read]
        warnings.append(f"{named(numbers, count)} {_was(numbers)} read by OCR (mean confidence {mean:.0%}).")
    for lack, said in (
        (Lack.TEXT, "no text layer"),
        (Lack.LETTERS, "a text layer that does not say which letters it shows"),
        (Lack.SOME_LETTERS, "letters that the text layer does not tell"),
        (Lack.STAMP, "almost no text beside a picture"),
    ):
        numbers = [page.number for page in pages if page.lack is lack and page.says_less_than_it_shows]
        if numbers:
            tried = all(page.confidence is not None for page in pages if page.number in set(numbers))
            more = "OCR read no text there." if tried else _ADVICE
            warnings.append(f"{named(numbers, count)} {_has(numbers)} {said}. {more}")
    if hiding := [page.number for page in pages if page.hides]:
        what = "text that cannot be seen (invisible, white on white or tiny), which was left out"
        warnings.append(f"{named(hiding, count)} {_has(hiding)} {what}.")
    return warnings


def _without_text(pages: Sequence[Page], count: int) -> ParseFailure:
    every = f"any of its {count} pages" if count > 1 else "its only page"
    if all(page.lack is Lack.BLANK for page in pages):
        what = f"The PDF shows nothing to read on {every}: blank paper, or a form nobody filled in."
        return ParseFailure(Status.EMPTY, what)
    if any(page.confidence is not None for page in pages):
        return ParseFailure(
            Status.NO_TEXT, f"The PDF has no text layer on {every}, and OCR read none there either."
        )
    if any(page.lack is Lack.LETTERS for page in pages):
        what = f"The text layer of the PDF does not say which letters it shows, on {every}"
    else:
        what = f"The PDF has no text layer on {every}"
    return ParseFailure(Status.NO_TEXT, f"{what}. {_ADVICE}")


def named(numbers: Sequence[int], count: int) -> str:
    """`Page 2 of 3` or `Pages 2-5 and 9 of 12`."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][-1] == number - 1:
            parts[-1] = [parts[-1][0], number]
        else:
            parts.append([number])
    shown = ["-".join(map(str, part)) for part in parts[:20]]
    if len(parts) > 20:
        shown.append("more")
    joined = " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))
    return f"Page{'s' if len(numbers) > 1 else ''} {joined} of {count}"


def _was(numbers: Sequence[int]) -> str:
    return "were" if len(numbers) > 1 else "was"


def _has(numbers: Sequence[int]) -> str:
    return "have" if len(numbers) > 1 else "has"
