"""Which pieces of a PDF are headings: those the bookmarks name, else those set in larger letters."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mindscape.ingest.formats.pdf_layout import Piece

LARGER = 1.12
"""Times the height of the body's letters."""
_MAX_LETTERS = 200
_MAX_LINES = 4
_MAX_LEVEL = 6
_NUMBERING = 12
CAPTION = re.compile(
    r"(?:table|tabelle|tableau|tabla|figure|fig\.|abbildung|chart|[表图圖])\s*[\d一二三四五六七八九十IVX]",
    re.I,
)
_BOLD = -1.0
_MAX_BOLD_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline; level and page count from 1."""

    level: int
    title: str
    page: int


def heading_levels(
    pages: Sequence[Sequence[Piece]], numbers: Sequence[int], bookmarks: Sequence[Bookmark]
) -> list[list[int]]:
    """For each piece of each page the level of the heading it is, or 0."""
    levels = [[0] * len(pieces) for pieces in pages]
    places = {number: place for place, number in enumerate(numbers)}
    found = 0
    for mark in bookmarks:
        place = places.get(mark.page)
        if place is None:
            continue
        at = _find(pages[place], levels[place], mark.title)
        if at is not None:
            levels[place][at] = mark.level
            found += 1
    if found * 2 >= len(bookmarks) and found:
        return levels
    return _by_size(pages)


def _find(pieces: Sequence[Piece], taken: Sequence[int], title: str) -> int | None:
    wanted = _key(title)
    for at, piece in enumerate(pieces):
        key = _key("".join(piece.lines))
        # The outline often leaves the number of a heading out.
        if wanted and not taken[at] and len(key) <= len(wanted) + _NUMBERING and key.endswith(wanted):
            return at
    return None


def _key(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _by_size(pages: Sequence[Sequence[Piece]]) -> list[list[int]]:
    body = body_size(pages)
    candidates = [
        [_rounded(piece.size) if _may_be_heading(piece, body) else 0.0 for piece in pieces]
        for pieces in pages
    ]
    sizes = sorted({size for page in candidates for size in page if size}, reverse=True)
    level_of = {size: min(level, _MAX_LEVEL) for level, size in enumerate(sizes, 1)} | {0.0: 0}
    if _bold_share(pages) < _MAX_BOLD_SHARE:
        # Bold lines of the body's size stand below all larger headings.
        level_of[_BOLD] = min(len(sizes) + 1, _MAX_LEVEL)
        for page, pieces in zip(candidates, pages, strict=True):
            page[:] = [
                size or (_BOLD if piece.bold and _may_be_heading(piece, 0.0) else 0.0)
                for size, piece in zip(page, pieces, strict=True)
            ]
    return [[level_of[size] for size in page] for page in candidates]


def body_size(pages: Sequence[Sequence[Piece]]) -> float:
    """The height of the letters of which there are most, in half points; 0.0 where there are none."""
    weights: Counter[float] = Counter()
    for pieces in pages:
        for piece in pieces:
            if piece.size:
                weights[_rounded(piece.size)] += sum(map(len, piece.lines))
    return max(weights, key=lambda size: weights[size], default=0.0)


def _bold_share(pages: Sequence[Sequence[Piece]]) -> float:
    letters = {True: 1, False: 1}
    for pieces in pages:
        for piece in pieces:
            letters[piece.bold] += sum(map(len, piece.lines))
    return letters[True] / sum(letters.values())


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _may_be_heading(piece: Piece, body: float) -> bool:
    text = "".join(piece.lines)
    return (
        piece.kind == "paragraph"
        and not CAPTION.match(text)
        and " … " not in text
        and piece.size > LARGER * body
        and len(text) <= _MAX_LETTERS
        and len(piece.lines) <= _MAX_LINES
        and sum(letter.isalpha() for letter in text) >= 2
        and not text.endswith((",", ";"))
    )
