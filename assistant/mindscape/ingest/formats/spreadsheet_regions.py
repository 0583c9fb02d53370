"""Tables on a sheet: what stands together between blank rows and columns, with its title and header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.rows import looks_like_header, table_block

MAX_TITLE = 200
Row = tuple[int, list[str]]
"""A row's number, from 1, and its cells."""
Merged = tuple[int, frozenset[int]]
"""How many rows are merged at a row, and which columns have the text of the cell to their left."""
_NOT_MERGED: Merged = (1, frozenset())


@dataclass(slots=True)
class SheetWriter:
    """Adds the rows of a sheet, in order, as tables; `merged`, by row number, matters only for headers."""

    builder: TextBuilder
    merged: dict[int, Merged] = field(default_factory=dict[int, Merged])
    _band: list[Row] = field(default_factory=list[Row])
    _title: str = ""
    _header: str = ""
    _columns: tuple[int, int] = (0, -1)

    def add(self, number: int, cells: list[str]) -> None:
        """The next row."""
        if any(cells):
            self._band.append((number, cells))
        elif self._band:
            self.end()

    def end(self) -> None:
        """A blank row, or the end of the sheet."""
        band, self._band = self._band, []
        for region in self._side_by_side(band):
            self._add_region(region)

    def _add_region(self, rows: list[Row]) -> None:
        while len(rows) > 1 and _filled(rows[0]) == 1 and _filled(rows[1]) > 0:
            if _filled(rows[1]) == 1 and max(map(_filled, rows)) == 1:
                break
            self._add_title(rows.pop(0))
        columns = [at for at in range(len(rows[0][1])) if any(cells[at] for _, cells in rows)]
        if len(columns) == 1 and len(rows) == 1:
            self._add_title(rows[0])
            return
        self._add_table(rows, columns)

    def _add_title(self, row: Row) -> None:
        text = next(filter(None, row[1]))
        self.builder.mark("line", str(row[0]))
        self.builder.add("paragraph", text)
        self._title = text if len(text) <= MAX_TITLE else ""

    def _add_table(self, rows: list[Row], columns: list[int]) -> None:
        cells = [[held[at] for at in columns] for _, held in rows]
        header_rows = self._header_rows(rows, columns)
        inherited = ""
        if not header_rows and self._columns[0] <= columns[0] and columns[-1] <= self._columns[1]:
            inherited = self._header
        self._header = table_block(
            self.builder,
            cells,
            has_header=header_rows > 0,
            header_rows=header_rows,
            header_above=self._title or inherited,
            numbers=[number for number, _ in rows],
        )
        self._columns = (columns[0], columns[-1])
        self._title = ""

    def _header_rows(self, rows: list[Row], columns: list[int]) -> int:
        """How many rows are the header; 0 for none."""
        if len(rows) == 1 or not looks_like_header(self._names(rows[0], columns)):
            return 0
        depth, _ = self.merged.get(rows[0][0], _NOT_MERGED)
        return min(depth, len(rows) - 1)

    def _names(self, row: Row, columns: Sequence[int]) -> list[str]:
        """The cells of a first row, a merged one taken for each column that it covers."""
        number, cells = row
        _, covered = self.merged.get(number, _NOT_MERGED)
        names: list[str] = []
        for at in columns:
            names.append(names[-1] if at in covered and names and not cells[at] else cells[at])
        return names

    def _side_by_side(self, band: list[Row]) -> list[list[Row]]:
        """Tables beside each other, each with its own header; one table is not taken apart at its gaps."""
        groups: list[tuple[int, int]] = []
        for start, end in _runs(_used(band)):
            if groups and not (self._is_table(band, *groups[-1]) and self._is_table(band, start, end)):
                start = groups.pop()[0]
            groups.append((start, end))
        if len(groups) == 1:
            return [band]
        parts = ([(number, _within(cells, start, end)) for number, cells in band] for start, end in groups)
        return [region for part in parts for region in _between_blank_rows(part)]

    def _is_table(self, band: list[Row], start: int, end: int) -> bool:
        """True when the columns begin, below a title, with names for all, and have something below."""
        rows = [row for row in band if sum(map(bool, row[1][start:end])) > 1][:2]
        if len(rows) < 2:
            return False
        names = self._names(rows[0], range(start, end))
        return all(names) and looks_like_header(names)


def _filled(row: Row) -> int:
    return sum(map(bool, row[1]))


def _used(band: list[Row]) -> list[bool]:
    """By column, whether anything is in it."""
    used = [False] * max((len(cells) for _, cells in band), default=0)
    for _, cells in band:
        for at, cell in enumerate(cells):
            used[at] = used[at] or bool(cell)
    return used


def _runs(used: Sequence[bool]) -> list[tuple[int, int]]:
    """Runs of columns with something in them, as (start, end)."""
    runs: list[tuple[int, int]] = []
    for at, is_used in enumerate(used):
        if is_used and runs and runs[-1][1] == at:
            runs[-1] = (runs[-1][0], at + 1)
        elif is_used:
            runs.append((at, at + 1))
    return runs


def _within(cells: list[str], start: int, end: int) -> list[str]:
    """Only these columns; the others are blank, so that a column keeps its place."""
    return [cell if start <= at < end else "" for at, cell in enumerate(cells)]


def _between_blank_rows(rows: list[Row]) -> list[list[Row]]:
    parts: list[list[Row]] = [[]]
    for number, cells in rows:
        if any(cells):
            parts[-1].append((number, cells))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if part]
