"""Reading order of a PDF page: columns, then lines, then tables and paragraphs."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from statistics import median

from mindscape.ingest.formats.pdf_run import MAX_GAP, Run
from mindscape.ingest.formats.pdf_table import Line, find_table, table_rows

_BIN = 2.0
"""Points: how finely the gap between columns is looked for."""
_LEAST_LINES = 3
_LEAST_SHARE = 0.15
_LEAST_LETTERS = 15
"""A column's typical line has more letters; shorter ones are cells of a table."""
_PROSE_LETTERS = 25
"""A table or a chart beside prose is told from a table with a wordy column by where its lines stand."""
_PROSE_LINES = 4
_CLOSE = 0.3
"""In letter heights: the lines of a text are no further apart."""
_CELL_LETTERS = 4
"""A narrower column holds bullets or numbers of the lines beside it."""
_LEVEL = 0.2
"""In letter heights: lines that differ less stand beside each other."""
_ALIGNED_SHARE = 0.6
_DOUBLE_SPACING = 1.2
"""In letter heights."""
_LEADERS = re.compile(r"\s?(?:\.\s?){5,}")
"""The dots between an entry of a table of contents and its page."""
_BROKEN_OFF = re.compile(r"[^\W_][-\u2010,]?$")
_BULLET = re.compile(r"[•‣▪●◦∙·◆■□➢✓\uf0b7\uf0a7*–—-]\s")


@dataclass(frozen=True, slots=True)
class Piece:
    """A paragraph, list item or table of a page; `size` is the height of its letters in points."""

    kind: str
    """`paragraph`, `item`, `table`, or what does not stand in the text itself: `fields`, `comment`."""
    lines: tuple[str, ...]
    size: float
    y0: float
    y1: float
    rows: tuple[tuple[str, ...], ...] = ()
    bold: bool = False
    at_edge: bool = False
    """Whether it stands where running titles and page numbers do."""


def pieces_of(runs: Sequence[Run]) -> list[Piece]:
    """The page in reading order; turned text comes last."""
    upright = [run for run in runs if run.upright]
    turned = [run for run in runs if not run.upright]
    if sum(run.letters for run in turned) > sum(run.letters for run in upright):
        # Vertical writing: the file's own order is the best there is.
        return [_turned(run) for run in runs]
    pieces: list[Piece] = []
    for region in _regions(upright):
        found = _region_pieces(lines_of(region))
        if pieces and found and _goes_on(pieces[-1], found[0]):
            pieces[-1] = replace(pieces[-1], lines=pieces[-1].lines + found.pop(0).lines)
        pieces += found
    return pieces + [_turned(run) for run in turned]


def _goes_on(before: Piece, after: Piece) -> bool:
    """Whether a paragraph that a column breaks off goes on in the next one: in the middle of a sentence."""
    return (
        before.kind == after.kind == "paragraph"
        and before.bold == after.bold
        and abs(before.size - after.size) < 0.1 * before.size
        and after.lines[0][:1].islower()
        and bool(_BROKEN_OFF.search(before.lines[-1]))
    )


def lines_of(runs: Sequence[Run]) -> list[Line]:
    """Runs that stand on one line, from top to bottom."""
    lines: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: run.middle):
        first = lines[-1][0] if lines else None
        if first and abs(run.middle - first.middle) < 0.4 * min(run.size, first.size):
            lines[-1].append(run)
        else:
            lines.append([run])
    return [Line.of(line) for line in lines]


def _turned(run: Run) -> Piece:
    return Piece("paragraph", (run.text,), run.size, run.y0, run.y1)


def _regions(runs: Sequence[Run]) -> list[list[Run]]:
    """Sets of runs to read one after the other: what spans the page parts the columns above and below it."""
    gap = _column_gap(runs)
    if gap is None:
        return [list(runs)] if runs else []
    left, right, spanning = _split(runs, gap)
    regions: list[list[Run]] = []
    top = float("-inf")
    for band in [*_bands(spanning), []]:
        bottom = min((run.middle for run in band), default=float("inf"))
        for column in (left, right):
            regions += _regions([run for run in column if top <= run.middle < bottom])
        if band:
            regions.append(band)
            top = bottom
    return regions


def _bands(spanning: Sequence[Run]) -> list[list[Run]]:
    """Spanning runs, those of one line together."""
    bands: list[list[Run]] = []
    for run in sorted(spanning, key=lambda run: run.middle):
        if bands and run.middle - bands[-1][0].middle < 0.4 * run.size:
            bands[-1].append(run)
        else:
            bands.append([run])
    return bands


def _split(runs: Sequence[Run], gap: tuple[float, float]) -> tuple[list[Run], list[Run], list[Run]]:
    left = [run for run in runs if run.x1 <= gap[0] + _BIN]
    right = [run for run in runs if run.x0 >= gap[1] - _BIN]
    sides = {id(run) for run in [*left, *right]}
    return left, right, [run for run in runs if id(run) not in sides]


def _column_gap(runs: Sequence[Run]) -> tuple[float, float] | None:
    """The white strip between two columns of prose, as (from, to), or None when the lines go across."""
    if len(runs) < 2 * _LEAST_LINES:
        return None
    start, end = min(run.x0 for run in runs), max(run.x1 for run in runs)
    steps = [0] * (int((end - start) / _BIN) + 3)
    for run in runs:
        steps[int((run.x0 - start) / _BIN)] += 1
        steps[int((run.x1 - start) / _BIN) + 1] -= 1
    cover = list(accumulate(steps))[:-1]
    size = median(run.size for run in runs)
    for allowed in sorted({0, int(0.05 * len(runs)), int(0.15 * len(runs))}):
        for first, last in _strips(cover, allowed):
            gap = (start + first * _BIN, start + last * _BIN)
            if gap[1] - gap[0] >= 0.5 * size and _are_columns(runs, gap):
                return gap
    return None


def _strips(cover: Sequence[int], allowed: int) -> list[tuple[int, int]]:
    """Stretches that at most `allowed` runs cover, away from the edges, the widest first."""
    strips: list[tuple[int, int]] = []
    edge = len(cover) // 8
    first = -1
    for place in range(edge, len(cover) - edge + 1):
        if place < len(cover) - edge and cover[place] <= allowed:
            first = place if first < 0 else first
        elif first >= 0:
            strips.append((first, place))
            first = -1
    return sorted(strips, key=lambda strip: strip[0] - strip[1])[:4]


def _are_columns(runs: Sequence[Run], gap: tuple[float, float]) -> bool:
    left, right, _ = _split(runs, gap)
    if min(len(left), len(right)) < _LEAST_LINES:
        return False
    letters = sum(run.letters for run in runs)
    least = min(sum(run.letters for run in side) for side in (left, right))
    typical = sorted(_typical(side) for side in (left, right))
    if least < _LEAST_SHARE * letters or typical[0] < _LEAST_LETTERS:
        narrow, wide = sorted((left, right), key=lambda side: sum(run.letters for run in side))
        return (
            typical[0] >= _CELL_LETTERS
            and _is_prose(wide)
            and not _are_aligned(left, right)
            and _is_of_its_own(narrow)
        )
    top = max(min(run.y0 for run in left), min(run.y0 for run in right))
    bottom = min(max(run.y1 for run in left), max(run.y1 for run in right))
    shorter = min(max(run.y1 for run in side) - min(run.y0 for run in side) for side in (left, right))
    return bottom - top > 0.3 * shorter


def _is_prose(runs: Sequence[Run]) -> bool:
    """Whether most lines are long and close below another one."""
    lines = lines_of(runs)
    following = sum(
        after.y0 - before.y1 < _CLOSE * after.size and len(after.text) >= _PROSE_LETTERS
        for before, after in pairwise(lines)
    )
    return following >= max(_PROSE_LINES, len(lines) / 2)


def _is_of_its_own(runs: Sequence[Run]) -> bool:
    """Whether the narrow side is a table, or lines as close as those of a text: no column of a table."""
    lines = lines_of(runs)
    in_table = 0
    first = 0
    while first < len(lines):
        end = find_table(lines, first)
        in_table += end - first if end else 0
        first = end or first + 1
    close = sum(after.y0 - before.y1 < _CLOSE * after.size for before, after in pairwise(lines))
    return in_table > len(lines) / 2 or close > 0.7 * (len(lines) - 1)


def _are_aligned(left: Sequence[Run], right: Sequence[Run]) -> bool:
    """Whether the lines of the shorter side stand beside lines of the other, as the cells of a table do."""
    few, many = sorted((left, right), key=len)
    places = sorted(run.middle for run in many)
    level = 0
    for run in few:
        at = bisect_left(places, run.middle - _LEVEL * run.size)
        level += at < len(places) and places[at] <= run.middle + _LEVEL * run.size
    return level > _ALIGNED_SHARE * len(few)


def _typical(runs: Sequence[Run]) -> int:
    """Half of the letters stand in runs at least this long; a CJK letter counts twice."""
    lengths = sorted(run.letters + sum("\u2e80" <= letter <= "\uffef" for letter in run.text) for run in runs)
    half, total = 0, sum(lengths)
    for length in reversed(lengths):
        half += length
        if 2 * half >= total:
            return length
    return 0


def _region_pieces(lines: list[Line]) -> list[Piece]:
    """Tables and paragraphs from top to bottom."""
    pieces: list[Piece] = []
    usual = _usual_gap(lines)
    first = 0
    while first < len(lines):
        if table_end := find_table(lines, first):
            rows = table_rows(lines[first:table_end])
            texts = tuple(" | ".join(row).strip() for row in rows)
            box = lines[first:table_end]
            pieces.append(Piece("table", texts, box[0].size, box[0].y0, box[-1].y1, rows))
            first = table_end
            continue
        end = first + 1
        while end < len(lines) and not _breaks(lines, end, usual) and not find_table(lines, end):
            end += 1
        box = lines[first:end]
        kind = "item" if _BULLET.match(box[0].text) else "paragraph"
        texts = tuple(_LEADERS.sub(" … ", line.text) for line in box)
        size = max(line.size for line in box)
        bold = all(line.bold for line in box)
        pieces.append(Piece(kind, texts, size, box[0].y0, box[-1].y1, bold=bold))
        first = end
    return pieces


def _usual_gap(lines: Sequence[Line]) -> float:
    """The gap between the lines of a paragraph: the lowest tenth of all gaps, at most double spacing."""
    gaps = sorted(after.y0 - before.y1 for before, after in pairwise(lines))
    if not gaps:
        return 0.0
    return min(gaps[len(gaps) // 10], _DOUBLE_SPACING * median(line.size for line in lines))


def _breaks(lines: Sequence[Line], at: int, usual: float) -> bool:
    """True when a new paragraph starts with line `at`."""
    before, line = lines[at - 1], lines[at]
    size = min(before.size, line.size)
    if line.y0 - before.y1 > usual + 0.35 * size or abs(before.size - line.size) > 0.12 * size:
        return True
    if _BULLET.match(line.text) or before.bold != line.bold:
        return True
    # An indented first line, with its neighbours at the margin; not the hanging lines of a list.
    after = lines[at + 1] if at + 1 < len(lines) else None
    indented = line.x0 - before.x0 > MAX_GAP * size
    return indented and after is not None and abs(after.x0 - before.x0) < 0.3 * size
