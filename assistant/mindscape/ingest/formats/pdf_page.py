"""The characters of a PDF page, as runs: pieces of a line without a wide gap."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Self

import pypdfium2
import pypdfium2.raw as pdfium

MAX_GAP = 0.8
"""Between the parts of one run, in heights of its letters; a wider one separates cells or columns."""
_HYPHENS = (0x02, 0xFFFE)
"""What PDFium gives for the hyphen at the end of a broken line."""
_BOLD_WEIGHT = 600
_RIGHT_TO_LEFT = ((0x0590, 0x08FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFF))

Place = Callable[[float, float, float, float], tuple[float, float, float, float]]


@dataclass(slots=True)
class Run:
    """A piece of one line; coordinates in points from the top left corner of the page as shown."""

    text: str
    x0: float
    x1: float
    y0: float
    y1: float
    letters: int = 0
    upright: bool = True
    bold: bool = False
    first_letter: int = 0
    """Its number among the letters of the page, and below that of its last one."""
    last_letter: int = 0
    _sum_middle: float = 0.0
    _sum_height: float = 0.0
    last: tuple[float, float, float, float] = field(default=(0.0, 0.0, 0.0, 0.0))

    @property
    def middle(self) -> float:
        """The height at which it stands, averaged over its letters, which superscripts hardly move."""
        return self._sum_middle / self.letters

    @property
    def size(self) -> float:
        """The mean height of its letters, in points."""
        return self._sum_height / self.letters

    @property
    def width(self) -> float:
        """In points."""
        return self.x1 - self.x0

    @classmethod
    def whole(cls, text: str, box: tuple[float, float, float, float]) -> Self:
        """A run that is known only as a whole, not by its letters."""
        x0, y0, x1, y1 = box
        count = max(len(text), 1)
        return cls(
            text,
            x0,
            x1,
            y0,
            y1,
            count,
            _sum_middle=count * (y0 + y1) / 2,
            _sum_height=count * (y1 - y0),
            last=box,
        )

    def add(self, letters: str, box: tuple[float, float, float, float]) -> None:
        """Append a letter, with the space before it."""
        x0, y0, x1, y1 = box
        self.text += letters
        self.x0, self.x1 = min(self.x0, x0), max(self.x1, x1)
        self.y0, self.y1 = min(self.y0, y0), max(self.y1, y1)
        self.letters += 1
        self._sum_middle += (y0 + y1) / 2
        self._sum_height += y1 - y0
        self.last = box

    def absorb(self, other: Run, between: str) -> None:
        """Take over a run that follows."""
        self.text += between + other.text
        self.x0, self.x1 = min(self.x0, other.x0), max(self.x1, other.x1)
        self.y0, self.y1 = min(self.y0, other.y0), max(self.y1, other.y1)
        self.letters += other.letters
        self._sum_middle += other._sum_middle
        self._sum_height += other._sum_height
        self.last = other.last


def runs_of(page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage) -> list[Run]:
    """The page's runs in the order of the file; what lies outside the page is left out."""
    runs: list[Run] = []
    current: Run | None = None
    space = ""
    for index, letter, box in _letters(page, text_page):
        if box is None:
            # PDFium's own line ends only part runs; whether lines go together is seen from the boxes.
            space = " " if current else ""
            current = None if letter == "\n" else current
            continue
        if current is None or not _continues(current, letter, box):
            current = Run("", box[0], box[2], box[1], box[3], first_letter=index)
            runs.append(current)
            space = ""
        current.add(space + letter, box)
        current.last_letter = index
        space = ""
    for run in runs:
        # A bold word at its start or end does not make a line bold.
        run.bold = all(_is_bold(text_page.raw, index) for index in {run.first_letter, run.last_letter})
    return _with_turned_text(runs)


def _letters(
    page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage
) -> Iterator[tuple[int, str, tuple[float, float, float, float] | None]]:
    """Letters with their numbers and boxes; a space or a line end has no box."""
    raw = text_page.raw
    unicode_of = pdfium.FPDFText_GetUnicode
    place, width, height = _placing(page)
    loose = pdfium.FS_RECTF()
    high = 0
    for index in range(text_page.count_chars()):
        code = int(unicode_of(raw, index))
        if code in (10, 13):
            yield index, "\n", None
        elif code in (9, 32, 0xA0) or (code < 32 and code not in _HYPHENS):
            yield index, " ", None
        elif 0xD800 <= code < 0xDC00:
            high = code
        else:
            box = place(*_box(raw, index, loose))
            # A page without a size shows nothing and is still read.
            inside = (box[2] > 0 and box[0] < width and box[3] > 0 and box[1] < height) or not width * height
            if inside and box[3] > box[1]:
                yield index, "-" if code in _HYPHENS else _character(high, code), box
            high = 0


def _box(raw: object, index: int, loose: pdfium.FS_RECTF) -> tuple[float, float, float, float]:
    """Left, bottom, right and top: by the font's own height, which is that of its neighbours, or as drawn.

    `loose` is only room to work in, one for all letters of a page.
    """
    if pdfium.FPDFText_GetLooseCharBox(raw, index, loose) and loose.top > loose.bottom:
        return loose.left, loose.bottom, loose.right, loose.top
    edges = [ctypes.c_double() for _ in range(4)]
    pdfium.FPDFText_GetCharBox(raw, index, *edges)
    left, right, bottom, top = (edge.value for edge in edges)
    return left, bottom, right, top


def _is_bold(raw: object, index: int) -> bool:
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(raw, index, name, len(name), None)
    return b"bold" in name.value.lower() or int(pdfium.FPDFText_GetFontWeight(raw, index)) >= _BOLD_WEIGHT


def _character(high: int, code: int) -> str:
    if high and 0xDC00 <= code <= 0xDFFF:
        return chr(0x10000 + ((high - 0xD800) << 10) + code - 0xDC00)
    return "\ufffd" if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF else chr(code)


def _placing(page: pypdfium2.PdfPage) -> tuple[Place, float, float]:
    """From PDF user space, which knows no rotation and counts upwards, to the page as it is shown."""
    shown: tuple[float, float, float, float] = page.get_bbox()
    left, bottom, right, top = shown
    width, height = right - left, top - bottom
    match page.get_rotation():
        case 90:
            return lambda x0, y0, x1, y1: (y0 - bottom, x0 - left, y1 - bottom, x1 - left), height, width
        case 180:
            return lambda x0, y0, x1, y1: (right - x1, y0 - bottom, right - x0, y1 - bottom), width, height
        case 270:
            return lambda x0, y0, x1, y1: (top - y1, right - x1, top - y0, right - x0), height, width
        case _:
            return lambda x0, y0, x1, y1: (x0 - left, top - y1, x1 - left, top - y0), width, height


def _continues(run: Run, letter: str, box: tuple[float, float, float, float]) -> bool:
    x0, y0, x1, y1 = box
    before_x0, before_y0, before_x1, before_y1 = run.last
    size = max(y1 - y0, before_y1 - before_y0)
    overlap = min(y1, before_y1) - max(y0, before_y0)
    if overlap < 0.5 * min(y1 - y0, before_y1 - before_y0):
        return False
    if _is_right_to_left(letter) or _is_right_to_left(run.text[-1]):
        return max(x0 - before_x1, before_x0 - x1) < MAX_GAP * size
    return x0 - before_x1 < MAX_GAP * size and x0 > before_x0 - 0.5 * size


def _is_right_to_left(letter: str) -> bool:
    return letter > "\u058f" and any(first <= ord(letter) <= last for first, last in _RIGHT_TO_LEFT)


def _with_turned_text(runs: list[Run]) -> list[Run]:
    """Letters that stand above each other, as on the spine of a book, put back together."""
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
