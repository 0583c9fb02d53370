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


def sections_of(headings: Sequence[Heading], length: int) -> tuple[Section, ...]:
    """A section for each heading, up to the next heading of the same or a higher level.

    `length` is that of the text, in code points. Levels may skip; paths follow what is there.
    """
    ends = [length] * len(headings)
    paths: list[tuple[str, ...]] = []
    open_at: list[int] = []
    for ordinal, heading in enumerate(headings):
        while open_at and headings[open_at[-1]].level >= heading.level:
            ends[open_at.pop()] = heading.start
        above = paths[open_at[-1]] if open_at else ()
        paths.append((*above, heading.text[:MAX_HEADING])[-MAX_DEPTH:])
        open_at.append(ordinal)
    return tuple(
        Section(
            ordinal, heading.level, heading.text[:MAX_HEADING], heading.start, ends[ordinal], paths[ordinal]
        )
        for ordinal, heading in enumerate(headings)
    )
