"""A run: a piece of one line of a page, without a wide gap in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Self

MAX_GAP = 0.8
"""Between the parts of one run, in heights of its letters; a wider one separates cells or columns."""
_RIGHT_TO_LEFT = ((0x0590, 0x08FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFF))

_MANY = 50
"""Runs over each other at one place: what is drawn more often is a smear."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]+")

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, downwards from the top left corner of the page as its text is read."""


@dataclass(slots=True)
class Run:
    """A piece of one line, in points."""

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
    last: Box = field(default=(0.0, 0.0, 0.0, 0.0))

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
    def whole(cls, text: str, box: Box) -> Self:
        """A run that is known only as a whole, not by its letters."""
        x0, y0, x1, y1 = box
        count = max(len(text), 1)
        middle, height = count * (y0 + y1) / 2, count * (y1 - y0)
        return cls(text, x0, x1, y0, y1, count, _sum_middle=middle, _sum_height=height, last=box)

    def add(self, letters: str, box: Box) -> None:
        """Append a letter, with the space before it."""
        x0, y0, x1, y1 = box
        self.text += letters
        self.x0, self.x1 = min(self.x0, x0), max(self.x1, x1)
        self.y0, self.y1 = min(self.y0, y0), max(self.y1, y1)
        self.letters += 1
        self._sum_middle += (y0 + y1) / 2
        self._sum_height += y1 - y0
        self.last = box

    def add_word(self, letters: str, count: int, last: Box) -> None:
        """Append a word of `count` letters of one height, with the space before it, by its last box."""
        _, y0, x1, y1 = last
        self.text += letters
        if x1 > self.x1:
            self.x1 = x1
        if y0 < self.y0:
            self.y0 = y0
        if y1 > self.y1:
            self.y1 = y1
        self.letters += count
        self._sum_middle += count * (y0 + y1) / 2
        self._sum_height += count * (y1 - y0)
        self.last = last

    def absorb(self, other: Run, between: str) -> None:
        """Take over a run that follows."""
        self.text += between + other.text
        self.x0, self.x1 = min(self.x0, other.x0), max(self.x1, other.x1)
        self.y0, self.y1 = min(self.y0, other.y0), max(self.y1, other.y1)
        self.letters += other.letters
        self._sum_middle += other._sum_middle
        self._sum_height += other._sum_height
        self.last = other.last
        self.last_letter = other.last_letter

    def without_controls(self) -> bool:
        """Put spaces for codes that are no letters; False when nothing is left."""
        if not self.text.isprintable():
            self.text = " ".join(_CONTROLS.sub(" ", self.text).split())
        return bool(self.text)

    def continues(self, letter: str, box: Box) -> bool:
        """Whether a letter stands on the same line, close behind the last one."""
        x0, y0, x1, y1 = box
        before_x0, before_y0, before_x1, before_y1 = self.last
        height, before = y1 - y0, before_y1 - before_y0
        size, smaller = max(height, before), min(height, before)
        overlap = min(y1, before_y1) - max(y0, before_y0)
        # A smaller letter may be raised, one of the same size is then on another line.
        if overlap < (0.65 if smaller > 0.8 * size else 0.5) * smaller:
            return False
        if is_right_to_left(letter) or is_right_to_left(self.text[-1]):
            return max(x0 - before_x1, before_x0 - x1) < MAX_GAP * size
        return x0 - before_x1 < MAX_GAP * size and x0 > before_x0 - 0.5 * size

    def repeats(self, letter: str, box: Box) -> bool:
        """Whether a letter is the last one drawn again a little beside it, which makes it look bold.

        The letters of a ligature come with exactly the same box.
        """
        if letter != self.text[-1]:
            return False
        x0, y0, x1, y1 = box
        aside, above = abs(x0 - self.last[0]), abs(y0 - self.last[1])
        return aside + above > 0.01 and aside < 0.4 * (x1 - x0) and above < 0.15 * (y1 - y0)


def is_right_to_left(letter: str) -> bool:
    """Whether a letter belongs to Hebrew, Arabic or their neighbours."""
    return letter > "\u058f" and any(first <= ord(letter) <= last for first, last in _RIGHT_TO_LEFT)


def without_doubles(runs: list[Run]) -> list[Run]:
    """The runs less those drawn once more at the place of another one, as shadows are."""
    dropped: set[int] = set()
    level: list[Run] = []
    for run in sorted(runs, key=lambda run: run.middle):
        if level and run.middle - level[0].middle > 0.4 * run.size:
            dropped |= _doubles(level)
            level = []
        level.append(run)
    dropped |= _doubles(level)
    return [run for run in runs if id(run) not in dropped] if dropped else runs


def _doubles(level: list[Run]) -> set[int]:
    """The ids of runs of one level that others cover."""
    dropped: set[int] = set()
    before: list[Run] = []
    for run in sorted(level, key=lambda run: run.x0):
        before = [other for other in before if other.x1 > run.x0][-_MANY:]
        for other in before:
            if _covers(other, run):
                dropped.add(id(run))
                break
            if _covers(run, other):
                dropped.add(id(other))
        before = [other for other in before if id(other) not in dropped]
        if id(run) not in dropped:
            before.append(run)
    return dropped


def _covers(run: Run, other: Run) -> bool:
    slack = 0.3 * run.size
    return (
        run.x0 - slack <= other.x0
        and other.x1 <= run.x1 + slack
        and abs(run.size - other.size) < 0.2 * run.size
        and other.text in run.text
        and abs(other.x0 - run.x0 - run.width * run.text.index(other.text) / len(run.text)) < run.size
    )
