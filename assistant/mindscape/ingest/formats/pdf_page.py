"""The letters of a PDF page, as runs in the direction in which they are read."""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from mindscape.ingest.formats.pdf_run import Box, Run, without_doubles

MAX_LETTERS = 200_000
"""Of one page: what is beyond is left out, so that no page takes long."""
_HYPHENS = (0x02, 0xFFFE)
"""What PDFium gives for the hyphen at the end of a broken line."""
_BOLD_WEIGHT = 600
_QUARTER = 90
_SPACED = re.compile(r"(?:[^\W_] ){4,}[^\W_]")
_OF_LINES = (10, 13)
_OF_SPACES = (9, 32, 0xA0)


@dataclass(slots=True)
class Frame:
    """Text that runs in one direction, in coordinates in which that is from left to right."""

    degrees: int
    """Counted anticlockwise in the space of the PDF, which knows nothing of the rotation of the page."""
    width: float
    height: float
    """Those of the page, seen so, in points."""
    left: float
    bottom: float
    runs: list[Run] = field(default_factory=list[Run])

    @property
    def letters(self) -> int:
        """How many it has."""
        return sum(run.letters for run in self.runs)

    def place(self, x0: float, y0: float, x1: float, y1: float) -> Box:
        """From the space of the PDF, which counts upwards."""
        x0, x1, y0, y1 = x0 - self.left, x1 - self.left, y0 - self.bottom, y1 - self.bottom
        match self.degrees:
            case 0:
                return x0, self.height - y1, x1, self.height - y0
            case 90:
                return y0, x0, y1, x1
            case 180:
                return self.width - x1, y0, self.width - x0, y1
            case 270:
                return self.width - y1, self.height - x1, self.width - y0, self.height - x0
            case _:
                return self._turned((x0 + x1) / 2, (y0 + y1) / 2, math.hypot(x1 - x0, y1 - y0) / 2)

    def _turned(self, x: float, y: float, half: float) -> Box:
        angle = math.radians(self.degrees)
        along = x * math.cos(angle) + y * math.sin(angle)
        up = y * math.cos(angle) - x * math.sin(angle)
        return along - half / 2, -up - half / 2, along + half / 2, -up + half / 2


def frames_of(page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage) -> list[Frame]:
    """The page's text by the direction in which it runs, that with most letters first.

    What lies outside the page is left out. Raises nothing; a page without text has no frames.
    """
    raw = text_page.raw
    frames: dict[int, Frame] = {}
    frame: Frame | None = None
    run: Run | None = None
    space = ""
    for index, letter, box in _letters(page, text_page):
        if box is None:
            # PDFium's own line ends only part runs; whether lines go together is seen from the boxes.
            space = " " if run else ""
            run = None if letter == "\n" else run
            continue
        if frame and run:
            placed = frame.place(*box)
            if run.continues(letter, placed):
                if not run.repeats(letter, placed):
                    run.add(space + letter, placed)
                    run.last_letter = index
                space = ""
                continue
        degrees = _degrees(raw, index)
        frame = frames.get(degrees) or frames.setdefault(degrees, _frame(page, degrees))
        x0, y0, x1, y1 = placed = frame.place(*box)
        run = Run("", x0, x1, y0, y1, first_letter=index, last_letter=index)
        run.add(letter, placed)
        frame.runs.append(run)
        space = ""
    for found in frames.values():
        found.runs = without_doubles(found.runs)
        for each in found.runs:
            # A bold word at its start or end does not make a line bold.
            each.bold = all(_is_bold(raw, index) for index in {each.first_letter, each.last_letter})
            if _SPACED.fullmatch(each.text):
                each.text = _closed(each, raw, found)
        found.runs = _with_stacked_text(found.runs)
    return sorted(frames.values(), key=lambda found: -found.letters)


def _closed(run: Run, raw: Any, frame: Frame) -> str:
    """A line of letters set apart, as words: a wider gap than the usual one parts two of them."""
    letters = run.text.split(" ")
    codes = [ord(letter) for letter in letters]
    if sum(letter.isalpha() for letter in letters) < 0.6 * len(letters):
        return run.text  # a row of numbers
    if all(after - before == 1 for before, after in pairwise(codes)):
        return run.text  # the alphabet, or the choices of a question
    loose = pdfium.FS_RECTF()
    numbers = range(run.first_letter, run.last_letter + 1)
    inked = [index for index in numbers if int(pdfium.FPDFText_GetUnicode(raw, index)) > 32]
    boxes = [frame.place(*_box(raw, index, loose)) for index in inked]
    if len(boxes) != len(letters):
        return run.text
    gaps = [after[0] - before[2] for before, after in pairwise(boxes)]
    wide = max(1.7 * median(gaps), median(gaps) + 0.2 * run.size)
    rest = zip(gaps, letters[1:], strict=True)
    return letters[0] + "".join((" " if gap > wide else "") + letter for gap, letter in rest)


def _frame(page: pypdfium2.PdfPage, degrees: int) -> Frame:
    shown: Box = page.get_bbox()
    left, bottom, right, top = shown
    width, height = right - left, top - bottom
    if degrees in (_QUARTER, 3 * _QUARTER):
        width, height = height, width
    return Frame(degrees, width, height, left, bottom)


def _degrees(raw: Any, index: int) -> int:
    """The direction of a letter; whole quarters for all that is nearly one."""
    angle = -math.degrees(pdfium.FPDFText_GetCharAngle(raw, index)) % 360  # PDFium counts clockwise
    quarter = round(angle / _QUARTER) * _QUARTER
    return quarter % 360 if abs(angle - quarter) < 3 else round(angle) % 360


def _letters(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage
) -> Iterator[tuple[int, str, Box | None]]:
    """Letters with their numbers and boxes in the space of the PDF; a space or a line end has no box."""
    raw = text_page.raw
    unicode_of = pdfium.FPDFText_GetUnicode
    left, bottom, right, top = page.get_bbox()
    # A page without a size shows nothing and is still read.
    has_size = right > left and top > bottom
    loose = pdfium.FS_RECTF()
    high = 0
    for index in range(min(text_page.count_chars(), MAX_LETTERS)):
        code = int(unicode_of(raw, index))
        if code in _OF_LINES:
            yield index, "\n", None
        elif code in _OF_SPACES:
            yield index, " ", None
        elif 0xD800 <= code < 0xDC00:
            high = code
        else:
            x0, y0, x1, y1 = box = _box(raw, index, loose)
            if y1 > y0 and (not has_size or (x1 > left and x0 < right and y1 > bottom and y0 < top)):
                yield index, "-" if code in _HYPHENS else _character(high, code), box
            high = 0


def _box(raw: Any, index: int, loose: pdfium.FS_RECTF) -> Box:
    """Left, bottom, right and top: by the font's own height, which is that of its neighbours, or as drawn.

    `loose` is only room to work in, one for all letters of a page.
    """
    if pdfium.FPDFText_GetLooseCharBox(raw, index, loose) and loose.top > loose.bottom:
        return loose.left, loose.bottom, loose.right, loose.top
    edges = [ctypes.c_double() for _ in range(4)]
    pdfium.FPDFText_GetCharBox(raw, index, *edges)
    left, right, bottom, top = (edge.value for edge in edges)
    return left, bottom, right, top


def _is_bold(raw: Any, index: int) -> bool:
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(raw, index, name, len(name), None)
    return b"bold" in name.value.lower() or int(pdfium.FPDFText_GetFontWeight(raw, index)) >= _BOLD_WEIGHT


def _character(high: int, code: int) -> str:
    if high and 0xDC00 <= code <= 0xDFFF:
        return chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)


def _with_stacked_text(runs: list[Run]) -> list[Run]:
    """Letters that stand above each other, as in vertical writing, put together."""
    kept: list[Run] = []
    for run in runs:
        before = kept[-1] if kept else None
        if before and run.letters == 1 and (before.letters == 1 or not before.upright):
            gap = max(run.y0 - before.last[3], before.last[1] - run.y1)
            beside = min(run.x1, before.last[2]) - max(run.x0, before.last[0])
            if beside > 0.5 * min(run.width, before.last[2] - before.last[0]) and gap < run.size:
                before.absorb(run, " " if gap > 0.3 * run.width else "")
                before.upright = False
                continue
        kept.append(run)
    for run in kept:
        # Two letters above each other are a fraction, not a turned text.
        run.upright = run.upright or run.letters < 4
    return kept
