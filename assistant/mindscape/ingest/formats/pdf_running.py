"""Running titles and page numbers: what comes again and again at the same place of the pages' edges."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from mindscape.ingest.formats.pdf_headings import LARGER, body_size
from mindscape.ingest.formats.pdf_layout import Piece
from mindscape.ingest.formats.pdf_pages import Page

_LEAST = 3
_LEAST_SHARE = 0.4
"""Of all pages: a title need not come that often when it comes on pages that follow each other."""
_NEAR = 2
"""Pages from one to the next: left and right pages may have titles of their own."""
_PLACE = 4.0
"""Points: how closely it keeps its place."""
_FEW_LETTERS = 12
"""`Page 3 of 20` has no more."""
_NUMBER = re.compile(r"\d+|^[ivxlc]+(?=\s|$)|(?<=\s)[ivxlc]+$")
_WORD = re.compile(r"[^\W\d_]{4}")


def without_running_titles(pages: Sequence[Page]) -> list[Page]:
    """Pages with text, less the page numbers and all but the first of each running title."""
    pages = [page for page in pages if page.pieces]
    body = body_size([page.pieces for page in pages])
    seen: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for page in pages:
        for key in filter(None, {_key(piece) for piece in page.pieces}):
            seen[key].append(page.number)
    running = {key for key, numbers in seen.items() if len(numbers) >= max(_LEAST, _LEAST_SHARE * len(pages))}
    in_a_row = {key for key, numbers in seen.items() if _longest_row(numbers) >= _LEAST}
    shown: set[str] = set()
    kept: list[Page] = []
    for page in pages:
        pieces: list[Piece] = []
        for piece in page.pieces:
            key = _key(piece)
            if key is None:
                pieces.append(piece)
                continue
            repeats = key in running or (key in in_a_row and piece.size < LARGER * body)
            title = _title(piece)
            if not repeats or (title not in shown and _WORD.search(title)):
                pieces.append(piece)
            shown.add(title)
        kept.append(replace(page, pieces=tuple(pieces)))
    return kept


def _longest_row(numbers: Sequence[int]) -> int:
    longest = row = 1
    for before, after in pairwise(numbers):
        row = row + 1 if after - before <= _NEAR else 1
        longest = max(longest, row)
    return longest


def _title(piece: Piece) -> str:
    """Its words without the number of the page, but in a long one with those of chapters or years."""
    text = " ".join(piece.lines)
    if sum(letter.isalpha() for letter in text) <= _FEW_LETTERS:
        return _NUMBER.sub("#", text).casefold()
    return re.sub(r"^\W*\d+\W*|\W*\d+\W*$|^[ivxlc]+\s|\s[ivxlc]+$", "", text).casefold()


def _key(piece: Piece) -> tuple[str, int] | None:
    """What running titles are compared by: words, and the place on the page; None for all others."""
    if not piece.at_edge or len(piece.lines) > 2:
        return None
    return _NUMBER.sub("#", " ".join(piece.lines)).casefold(), round(piece.y0 / _PLACE)
