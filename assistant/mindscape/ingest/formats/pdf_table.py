"""Tables of a PDF page: lines whose parts stand below each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from mindscape.ingest.formats.pdf_run import MAX_GAP, Run

_WIDE_GAP = 1.6
"""In letter heights: two columns and two rows are a table only when this far apart."""
_MAX_ROW_GAP = 2.5
"""In letter heights: further down, something else begins."""
_ROW_GAP = 0.35
"""In letter heights: lines of one cell are closer together than this, padded rows are not."""
_BULLETS = frozenset("•‣▪●◦∙■□➢✓\uf0b7\uf0a7")
_NUMBER = re.compile(r"\(?(?:\d{1,3}(?:\.\d{1,3}){0,3}|[A-Za-z]|[ivxIVX]{2,5})[.)]")
"""Of an item in a list: what stands right of it is its text and no second column."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a line, with what stands left and right of it further away than words are apart."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a column or page, top down in points."""

    cells: tuple[Cell, ...]
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool

    @property
    def text(self) -> str:
        """The whole line."""
        return " ".join(cell.text for cell in self.cells)

    @classmethod
    def of(cls, runs: Sequence[Run]) -> Self:
        """The line on which `runs` stand."""
        letters = sum(run.letters for run in runs)
        size = sum(run.size * run.letters for run in runs) / letters
        middle = sum(run.middle * run.letters for run in runs) / letters
        foreign = [run.text for run in runs if not run.text.isascii()]
        backwards = sum("\u0590" <= letter <= "\u08ff" for text in foreign for letter in text) > letters / 2
        cells: list[Cell] = []
        for run in sorted(runs, key=lambda run: run.x0):
            is_item = len(cells) == 1 and cells[0].text in _BULLETS and not backwards
            if cells and (run.x0 - cells[-1].x1 < MAX_GAP * size or is_item):
                before = cells.pop()
                words = (run.text, before.text) if backwards else (before.text, run.text)
                glue = " " if run.x0 - before.x1 > 0.12 * size else ""
                cells.append(Cell(glue.join(words), before.x0, max(before.x1, run.x1)))
            else:
                cells.append(Cell(run.text, run.x0, run.x1))
        return cls(
            tuple(reversed(cells)) if backwards else tuple(cells),
            min(run.x0 for run in runs),
            max(run.x1 for run in runs),
            middle - size / 2,
            middle + size / 2,
            size,
            all(run.bold for run in runs),
        )


def find_table(lines: Sequence[Line], first: int) -> int:
    """The end of the table that starts with line `first`, or 0 when none does."""
    if len(lines[first].cells) < 2:
        return 0
    columns = list(lines[first].cells)
    end = first + 1
    while end < len(lines) and lines[end].y0 - lines[end - 1].y1 < _MAX_ROW_GAP * lines[end].size:
        merged = _merged(columns, lines[end].cells)
        if merged is None or (len(lines[end].cells) == 1 and not _goes_on(lines, end, merged)):
            break
        columns = merged
        end += 1
    rows = [line for line in lines[first:end] if len(line.cells) > 1]
    if all(len(line.cells) == 2 and _NUMBER.fullmatch(line.cells[0].text) for line in rows):
        return 0
    if len(rows) < 2 or (len(rows) == len(columns) == 2 and not all(_is_wide(line) for line in rows)):
        return 0
    return end


def _goes_on(lines: Sequence[Line], at: int, columns: Sequence[Cell]) -> bool:
    """True when a line of one cell is inside the table: part of a row, or a row with more to follow."""
    if _is_close(lines, at):
        return True
    after_at = at + 1
    while after_at < len(lines) and len(lines[after_at].cells) == 1 and _is_close(lines, after_at):
        after_at += 1
    after = lines[after_at].cells if after_at < len(lines) else ()
    return len(after) > 1 and _merged(columns, after) is not None


def _merged(columns: Sequence[Cell], cells: Sequence[Cell]) -> list[Cell] | None:
    """The columns widened by a row; None when a part of the row stands under none or several of them."""
    few, many = sorted((columns, cells), key=len)
    widened = list(many)
    taken: set[int] = set()
    for cell in few:
        under = [place for place, column in enumerate(many) if _overlap(cell, column) > 0]
        if len(under) != 1 or under[0] in taken:
            return None
        taken.add(under[0])
        column = many[under[0]]
        widened[under[0]] = Cell("", min(cell.x0, column.x0), max(cell.x1, column.x1))
    return widened


def _is_close(lines: Sequence[Line], at: int) -> bool:
    return lines[at].y0 - lines[at - 1].y1 < _ROW_GAP * lines[at].size


def _is_wide(line: Line) -> bool:
    return line.cells[1].x0 - line.cells[0].x1 > _WIDE_GAP * line.size


def _overlap(one: Cell, other: Cell) -> float:
    return min(one.x1, other.x1) - max(one.x0, other.x0)


def table_rows(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """The rows with a cell for every column; the lines of a cell are joined by spaces."""
    columns = _columns(lines)
    groups = _grouped_by_gaps(lines, columns)
    rows: list[list[list[str]]] = []
    for group in groups:
        row: list[list[str]] = [[] for _ in columns]
        for line in group:
            for cell in line.cells:
                row[_column_of(cell, columns)].append(cell.text)
        if rows and not row[0] and sum(map(bool, row)) < len(columns) - 1 and len(groups) == len(lines):
            for before, more in zip(rows[-1], row, strict=True):
                before.extend(more)
        else:
            rows.append(row)
    return tuple(tuple(" ".join(cell) for cell in row) for row in rows)


def _columns(lines: Sequence[Line]) -> list[Cell]:
    """The extents of the columns, from the lines with most cells."""
    most = max(len(line.cells) for line in lines)
    columns = [*next(line.cells for line in lines if len(line.cells) == most)]
    for line in lines:
        if len(line.cells) == most:
            columns = [
                Cell("", min(column.x0, cell.x0), max(column.x1, cell.x1))
                for column, cell in zip(columns, line.cells, strict=True)
            ]
    return columns


def _column_of(cell: Cell, columns: Sequence[Cell]) -> int:
    return max(range(len(columns)), key=lambda place: _overlap(cell, columns[place]))


def _grouped_by_gaps(lines: Sequence[Line], columns: Sequence[Cell]) -> list[list[Line]]:
    """Lines of one row together, where the gaps between rows tell; else each line alone."""
    groups: list[list[Line]] = []
    for at, line in enumerate(lines):
        if groups and _is_close(lines, at):
            groups[-1].append(line)
        else:
            groups.append([line])
    for group in groups:
        # A row has at most one line with most of its cells: otherwise these are tight rows.
        if sum(2 * len(line.cells) > len(columns) for line in group) > 1:
            return [[line] for line in lines]
    return groups
