"""Headings, in the order of the text, to the sections they open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mindscape_storage.records import Section

MAX_HEADING = 300
"""Longer "headings", in code points, are paragraphs that somebody underlined."""
MAX_DEPTH = 12
"""Headings in a path, the innermost: what nests deeper has no more to say about a place."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading: level 1 is the highest, `start` its offset in the text."""

    level: int
    text: str
    start: int


class Outline:
    """The headings above a place that moves on through a text."""

    def __init__(self) -> None:
        self._open: list[tuple[int, tuple[str, ...]]] = []

    def enter(self, heading: Heading) -> tuple[str, ...]:
        """The path of the section this heading opens. Levels may skip; paths follow what is there."""
        while self._open and self._open[-1][0] >= heading.level:
            self._open.pop()
        above = self._open[-1][1] if self._open else ()
        path = (*above, heading.text[:MAX_HEADING])[-MAX_DEPTH:]
        self._open.append((heading.level, path))
        return path


def sections_of(headings: Sequence[Heading], length: int) -> tuple[Section, ...]:
    """A section for each heading, up to the next heading of the same or a higher level.

    `length` is that of the text, in code points.
    """
    outline = Outline()
    ends = [length] * len(headings)
    open_at: list[int] = []
    for ordinal, heading in enumerate(headings):
        while open_at and headings[open_at[-1]].level >= heading.level:
            ends[open_at.pop()] = heading.start
        open_at.append(ordinal)
    return tuple(
        Section(ordinal, heading.level, path[-1], heading.start, ends[ordinal], path)
        for ordinal, heading in enumerate(headings)
        for path in (outline.enter(heading),)
    )
