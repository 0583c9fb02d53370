"""Text that nobody sees who looks at the page: invisible, white on white, or too small to read."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from mindscape.ingest.formats.pdf_run import Box, Run

_INVISIBLE = 3
_WHITE = 250
_TINY = 1.5
"""Points: below, letters are specks, on any page that is not a drawing of a few centimetres."""
_LARGE_PAGE = 300.0
_PICTURE_SHARE = 0.2
"""Of the page's area: invisible text over a larger picture is what OCR has read in it."""
_THIN = 4.0
"""Points: a thicker line is a bar that text can stand on."""
_MAX_OBJECTS = 3_000


def without_hidden(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage, runs: Sequence[Run]
) -> list[Run]:
    """The runs that can be seen, and invisible ones over pictures; they tell what the pictures show."""
    seen = [run for run in runs if _is_suspicious(page, text_page.raw, run)]
    if not seen:
        return list(runs)
    suspicious = {id(run) for run in seen}
    backgrounds = list(_backgrounds(page))
    if pdfium.FPDFPage_CountObjects(page.raw) > _MAX_OBJECTS:
        return list(runs)  # what it stands on would take too long to find out
    has_picture = any(is_picture and _share(page, box) > _PICTURE_SHARE for box, is_picture in backgrounds)
    # A text that is all there is was meant to be read, by a copying reader at least.
    if len(seen) == len(runs):
        return list(runs)
    kept: list[Run] = []
    for run in runs:
        if id(run) in suspicious:
            place = _place(text_page.raw, run.first_letter)
            if _is_invisible(text_page.raw, run.first_letter):
                if not has_picture:
                    continue
            elif run.size < _TINY or not any(_lies_in(place, box) for box, _ in backgrounds):
                continue
        kept.append(run)
    return kept


def _is_suspicious(page: pypdfium2.PdfPage, raw: Any, run: Run) -> bool:
    if run.size < _TINY and min(page.get_size()) > _LARGE_PAGE:
        return True
    return _is_invisible(raw, run.first_letter) or _is_white(raw, run.first_letter)


def _is_invisible(raw: Any, index: int) -> bool:
    item = pdfium.FPDFText_GetTextObject(raw, index)
    return bool(item) and int(pdfium.FPDFTextObj_GetTextRenderMode(item)) == _INVISIBLE


def _is_white(raw: Any, index: int) -> bool:
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFText_GetFillColor(raw, index, red, green, blue, alpha):
        return False
    return alpha.value == 0 or min(red.value, green.value, blue.value) >= _WHITE


def _backgrounds(page: pypdfium2.PdfPage) -> Iterator[tuple[Box, bool]]:
    """What white text can be seen on: where it is, and whether it is a picture."""
    for item in islice(page.get_objects(max_depth=1), _MAX_OBJECTS):
        kind = int(pdfium.FPDFPageObj_GetType(item.raw))
        if kind == pdfium.FPDF_PAGEOBJ_TEXT or (kind == pdfium.FPDF_PAGEOBJ_PATH and _is_paper(item.raw)):
            continue
        yield item.get_bounds(), kind == pdfium.FPDF_PAGEOBJ_IMAGE


def _is_paper(path: Any) -> bool:
    """True for thin lines, and for areas filled with white."""
    mode, stroke, width = ctypes.c_int(), ctypes.c_int(), ctypes.c_float()
    pdfium.FPDFPath_GetDrawMode(path, mode, stroke)
    pdfium.FPDFPageObj_GetStrokeWidth(path, width)
    if stroke.value and width.value > _THIN:
        return False
    if mode.value == pdfium.FPDF_FILLMODE_NONE:
        return True
    red, green, blue, alpha = (ctypes.c_uint() for _ in range(4))
    if not pdfium.FPDFPageObj_GetFillColor(path, red, green, blue, alpha):
        return False
    return alpha.value == 0 or min(red.value, green.value, blue.value) >= _WHITE


def _share(page: pypdfium2.PdfPage, box: Box) -> float:
    """Of the page's area."""
    left, bottom, right, top = page.get_bbox()
    wide = min(box[2], right) - max(box[0], left)
    high = min(box[3], top) - max(box[1], bottom)
    area = (right - left) * (top - bottom)
    return wide * high / area if area > 0 and wide > 0 and high > 0 else 0.0


def _place(raw: Any, index: int) -> tuple[float, float]:
    """The middle of a letter, in the space of the PDF."""
    edges = [ctypes.c_double() for _ in range(4)]
    pdfium.FPDFText_GetCharBox(raw, index, *edges)
    left, right, bottom, top = (edge.value for edge in edges)
    return (left + right) / 2, (bottom + top) / 2


def _lies_in(place: tuple[float, float], box: Box) -> bool:
    x, y = place
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
