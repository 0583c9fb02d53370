"""The letters of a PDF page, as runs in the direction in which they are read."""

from __future__ import annotations

import ctypes
import math
import re
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from mindscape.ingest.formats.pdf_run import MAX_GAP, Box, Run, without_doubles

MAX_LETTERS = 200_000
"""Of one page: what is beyond is left out, so that no page takes long."""
_HYPHENS = ("\x02", "\ufffe")
"""What PDFium gives for the hyphen at the end of a broken line."""
_WORD = re.compile(r"[^\s\0]+")
_PLAIN = re.compile(r"[\x21-\u02ff\u0370-\u058f\u1e00-\u1fff\u2010-\u2027\u20a0-\u214f\u3040-\u9fff]+")
"""Words of these letters go from left to right, each in a place of its own."""
_NARROW = 0.28
"""Times the height: where the letters of a word are narrower on average, some may have been drawn twice."""
_WIDE = 1.6
_BOLD_WEIGHT = 600
_QUARTER = 90
_SPACED = re.compile(r"(?:[^\W_] ){4,}[^\W_]")


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
    def top(self) -> float:
        """Of an upright page, in the space of the PDF."""
        return self.bottom + self.height

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

    What lies outside the page is left out; a page without text has no frames.
    """
    reader = _Reader(page, text_page)
    text = _text_of(text_page)
    end = 0
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        if between:
            # PDFium's own line ends only part runs; whether lines go together is seen from the boxes.
            reader.part("\n" in between or "\r" in between)
        reader.read(word[0], word.start())
        end = word.end()
    frames = list(reader.frames.values())
    for frame in frames:
        frame.runs = without_doubles(frame.runs)
        for run in frame.runs:
            # A bold word at its start or end does not make a line bold.
            run.bold = all(_is_bold(text_page.raw, at) for at in {run.first_letter, run.last_letter})
            if _SPACED.fullmatch(run.text):
                run.text = _closed(run, text_page.raw, frame)
        frame.runs = _with_stacked_text(frame.runs)
    return sorted(frames, key=lambda frame: -frame.letters)


def _text_of(text_page: pypdfium2.PdfTextPage) -> str:
    """The text with a character for each of PDFium's letters, halves of surrogate pairs among them."""
    count = min(int(text_page.count_chars()), MAX_LETTERS)
    held = (ctypes.c_ushort * (count + 1))()
    if int(pdfium.FPDFText_GetText(text_page.raw, 0, count, held)) - 1 == count:
        return "".join(map(chr, held[:count]))
    # Some letters have no character, and are left out there.
    unicode_of = pdfium.FPDFText_GetUnicode
    codes = (int(unicode_of(text_page.raw, index)) for index in range(count))
    return "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)


class _Reader:
    """Puts words together to runs: by the boxes of their first and last letters where these tell all."""

    def __init__(self, page: pypdfium2.PdfPage, text_page: pypdfium2.PdfTextPage) -> None:
        self.frames: dict[int, Frame] = {}
        self._raw: Any = text_page.raw
        self._page = page
        self._bounds: Box = page.get_bbox()
        left, bottom, right, top = self._bounds
        # A page without a size shows nothing and is still read.
        self._has_size = right > left and top > bottom
        self._loose = pdfium.FS_RECTF()
        self._frame: Frame | None = None
        self._run: Run | None = None
        self._space = ""

    def part(self, ends_line: bool) -> None:
        """White space comes next."""
        self._space = " " if self._run else ""
        if ends_line:
            self._run = None

    def read(self, word: str, start: int) -> None:
        """A word, the first letter of which has the number `start` on the page."""
        count = len(word)
        first = self._box(start)
        last = self._box(start + count - 1) if count > 1 else first
        if first is None or last is None or not _PLAIN.fullmatch(word):
            self._letters(word, start)
        elif not self._follows(word, start, first, last):
            self._place(word, start, first, last)

    def _follows(self, word: str, start: int, first: Box, last: Box) -> bool:
        """Append a word of a line of upright text, as most are; False when more is to be looked at."""
        frame, run = self._frame, self._run
        if frame is None or run is None or frame.degrees or run.text[-1] > "\u02ff":
            return False
        x0, bottom, _, top = first
        height = top - bottom
        slack = 0.1 * height
        x0 -= frame.left
        y0 = frame.top - top
        before_x0, before_y0, before_x1, before_y1 = run.last
        if (
            -slack < y0 - before_y0 < slack
            and -slack < y0 + height - before_y1 < slack
            and x0 - before_x1 < MAX_GAP * height
            and x0 > before_x0 - 0.5 * height
            and -slack < last[3] - top < slack
            and -slack < last[1] - bottom < slack
        ):
            count = len(word)
            x1 = last[2] - frame.left
            wide = x1 - x0
            even = count == 1 or _NARROW * count * height < wide < _WIDE * count * height
            if even and (count > 1 or word != run.text[-1]):
                end = (last[0] - frame.left, y0, x1, y0 + height)
                run.add_word(self._space + word, count, end)
                run.last_letter = start + count - 1
                self._space = ""
                return True
        return False

    def _place(self, word: str, start: int, first: Box, last: Box) -> None:
        frame, run = self._frame, self._run
        if len(word) == 1:
            self._letter(word, start)
            return
        if frame is None or run is None or not run.continues(word[0], frame.place(*first)):
            frame, run = self._turn(start), None
        begin, end = frame.place(*first), frame.place(*last)
        if not _is_even(begin, end, len(word)):
            self._letters(word, start)
            return
        self._frame = frame
        if run is None:
            run = self._open(begin, start)
        run.add_word(self._space + word if run.text else word, len(word), end)
        run.last_letter = start + len(word) - 1
        self._space = ""

    def _letters(self, word: str, start: int) -> None:
        """Letter by letter: what is doubled, turned, stacked, written from the right, or partly outside."""
        high = 0
        for index, letter in enumerate(word, start):
            code = ord(letter)
            if 0xD800 <= code < 0xDC00:
                high = code
                continue
            self._letter(_character(high, code), index)
            high = 0

    def _letter(self, letter: str, index: int) -> None:
        box = self._box(index)
        if box is None:
            return
        letter = "-" if letter in _HYPHENS else letter
        frame, run = self._frame, self._run
        if frame and run:
            placed = frame.place(*box)
            if run.continues(letter, placed):
                if not run.repeats(letter, placed):
                    run.add(self._space + letter, placed)
                    run.last_letter = index
                self._space = ""
                return
        self._frame = frame = self._turn(index)
        placed = frame.place(*box)
        self._open(placed, index).add(letter, placed)
        self._space = ""

    def _open(self, box: Box, index: int) -> Run:
        x0, y0, x1, y1 = box
        self._run = run = Run("", x0, x1, y0, y1, first_letter=index, last_letter=index)
        assert self._frame is not None
        self._frame.runs.append(run)
        return run

    def _turn(self, index: int) -> Frame:
        """The frame of the direction in which a letter stands."""
        degrees = _degrees(self._raw, index)
        found = self.frames.get(degrees)
        if found is None:
            found = self.frames[degrees] = _frame(self._page, degrees)
        return found

    def _box(self, index: int) -> Box | None:
        """Left, bottom, right, top by the font's own height, or as drawn; None outside the page.

        The font's height is that of its neighbours too.
        """
        loose = self._loose
        if pdfium.FPDFText_GetLooseCharBox(self._raw, index, loose) and loose.top > loose.bottom:
            box = loose.left, loose.bottom, loose.right, loose.top
        else:
            edges = [ctypes.c_double() for _ in range(4)]
            pdfium.FPDFText_GetCharBox(self._raw, index, *edges)
            box = edges[0].value, edges[2].value, edges[1].value, edges[3].value
        left, bottom, right, top = self._bounds
        x0, y0, x1, y1 = box
        if y1 <= y0 or (self._has_size and (x1 <= left or x0 >= right or y1 <= bottom or y0 >= top)):
            return None
        return box


def _is_even(first: Box, last: Box, letters: int) -> bool:
    """Whether the letters between the first and the last of a word stand in one line, none of them twice."""
    height = first[3] - first[1]
    return (
        abs(last[3] - last[1] - height) < 0.1 * height
        and abs(last[1] - first[1]) < 0.1 * height
        and _NARROW * letters * height < last[2] - first[0] < letters * height * _WIDE
    )


def _frame(page: pypdfium2.PdfPage, degrees: int) -> Frame:
    left, bottom, right, top = page.get_bbox()
    width, height = right - left, top - bottom
    if degrees in (_QUARTER, 3 * _QUARTER):
        width, height = height, width
    return Frame(degrees, width, height, left, bottom)


def _degrees(raw: Any, index: int) -> int:
    """The direction of a letter; whole quarters for all that is nearly one."""
    angle = -math.degrees(pdfium.FPDFText_GetCharAngle(raw, index)) % 360  # PDFium counts clockwise
    quarter = round(angle / _QUARTER) * _QUARTER
    return quarter % 360 if abs(angle - quarter) < 3 else round(angle) % 360


def _closed(run: Run, raw: Any, frame: Frame) -> str:
    """A line of letters set apart, as words: a wider gap than the usual one parts two of them."""
    letters = run.text.split(" ")
    codes = [ord(letter) for letter in letters]
    if sum(letter.isalpha() for letter in letters) < 0.6 * len(letters):
        return run.text  # a row of numbers
    if all(after - before == 1 for before, after in pairwise(codes)):
        return run.text  # the alphabet, or the choices of a question
    loose = pdfium.FS_RECTF()
    boxes: list[Box] = []
    for index in range(run.first_letter, run.last_letter + 1):
        if int(pdfium.FPDFText_GetUnicode(raw, index)) > 32:
            pdfium.FPDFText_GetLooseCharBox(raw, index, loose)
            boxes.append(frame.place(loose.left, loose.bottom, loose.right, loose.top))
    if len(boxes) != len(letters):
        return run.text
    gaps = [after[0] - before[2] for before, after in pairwise(boxes)]
    wide = max(1.7 * median(gaps), median(gaps) + 0.2 * run.size)
    rest = zip(gaps, letters[1:], strict=True)
    return letters[0] + "".join((" " if gap > wide else "") + letter for gap, letter in rest)


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
