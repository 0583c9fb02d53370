"""Which pages of a PDF say nothing of what they show: no text, a stamp over a scan, or codes for letters."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from enum import Enum

import pypdfium2
import pypdfium2.raw as pdfium

from mindscape.ingest.formats.pdf_run import Run

_STAMPS = ((100, 0.6), (30, 0.15))
"""Letters and the share of the page's area: a page with no more of them and a picture of more than that shows
what its text does not say. The fewer letters, the smaller the picture that must hold the rest."""
_GARBAGE_SHARE = 0.3
_DOUBTFUL_SHARE = 0.04
"""Of the letters: codes for a few signs alone are no more, where the other letters are right."""
_MAX_OBJECTS = 2_000
_UNREADABLE = frozenset(("Co", "Cn", "Cc", "Cs"))


class Lack(Enum):
    """What a page lacks."""

    NOTHING = "nothing"
    BLANK = "blank"
    """It shows nothing either."""
    TEXT = "no text layer"
    STAMP = "only a stamp"
    """A few letters, such as a date or a number, and a picture that holds what the page shows."""
    LETTERS = "codes for letters"
    """Its fonts do not say which letters their shapes are."""
    SOME_LETTERS = "codes for some letters"

    @property
    def is_readable_by_ocr(self) -> bool:
        """Whether the page shows what its text layer does not say."""
        return self not in (Lack.NOTHING, Lack.BLANK)


def lack_of(page: pypdfium2.PdfPage, runs: Sequence[Run], *, drawn: bool = False) -> Lack:
    """What the page lacks, by the text that was found on it; `drawn`: annotations show something."""
    letters = sum(run.letters for run in runs)
    if not letters:
        return Lack.TEXT if drawn or pdfium.FPDFPage_CountObjects(page.raw) > 0 else Lack.BLANK
    if letters <= _STAMPS[0][0]:
        share = _picture_share(page)
        if any(letters <= most and share > least for most, least in _STAMPS):
            return Lack.STAMP
    codes = sum(map(unreadable, runs))
    if codes > _GARBAGE_SHARE * letters:
        return Lack.LETTERS
    return Lack.SOME_LETTERS if codes > _DOUBTFUL_SHARE * letters else Lack.NOTHING


def unreadable(run: Run) -> int:
    """How many of its letters are only codes."""
    if run.text.isprintable() and "\ufffd" not in run.text:
        return 0
    return sum(map(_is_code, run.text))


def _is_code(letter: str) -> bool:
    if letter.isascii():
        return letter < " "
    return letter == "\ufffd" or (not letter.isalpha() and unicodedata.category(letter) in _UNREADABLE)


def _picture_share(page: pypdfium2.PdfPage) -> float:
    """The share of the page's area that its largest picture covers."""
    left, bottom, right, top = page.get_bbox()
    area = (right - left) * (top - bottom)
    if area <= 0 or pdfium.FPDFPage_CountObjects(page.raw) > _MAX_OBJECTS:
        return 0.0
    largest = 0.0
    for item in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=3):
        x0, y0, x1, y1 = item.get_bounds()
        wide, high = min(x1, right) - max(x0, left), min(y1, top) - max(y0, bottom)
        if wide > 0 and high > 0:
            largest = max(largest, wide * high / area)
    return largest
