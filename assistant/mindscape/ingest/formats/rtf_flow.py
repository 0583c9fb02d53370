"""The paragraphs and tables of an RTF document, put together from its text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mindscape.ingest.formats.build import collapsed
from mindscape.ingest.formats.flow import Paragraph, Table

_SURROGATES = re.compile("[\ud800-\udfff]")


def joined(pieces: list[str]) -> str:
    """The pieces as one text; halves of a character that were given apart become whole."""
    text = "".join(pieces)
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return collapsed(text)


@dataclass(slots=True)
class Flow:
    """The body so far; `pieces` is the text of the paragraph that is being read."""

    blocks: list[Paragraph | Table] = field(default_factory=list[Paragraph | Table])
    pieces: list[str] = field(default_factory=list[str])
    boxes: list[str] = field(default_factory=list[str])
    """Texts of the boxes that hang on the paragraph: they follow it."""
    is_header_row: bool = False
    _cells: list[str] = field(default_factory=list[str])
    _rows: list[list[str]] = field(default_factory=list[list[str]])
    _header_rows: int = 0

    def end_paragraph(self, level: int, in_list: bool, in_table: bool) -> None:
        """The paragraph is complete; `level` is that of a heading, 0 for others."""
        if in_table:
            self.pieces.append("\n")
            return
        text = joined(self.pieces)
        self.pieces.clear()
        if text or self.boxes or not self._cells:
            self.end_table()
        if text:
            kind = "heading" if level else "item" if in_list else "paragraph"
            self.blocks.append(Paragraph(text, kind, level))
        self._end_boxes()

    def end_cell(self) -> None:
        """The text so far is that of a cell."""
        self._cells.append(joined(self.pieces).replace("\n", " "))
        self.pieces.clear()

    def end_row(self) -> None:
        """The cells so far are a row."""
        if any(self._cells):
            if self.is_header_row and self._header_rows == len(self._rows):
                self._header_rows += 1
            self._rows.append(self._cells)
        self._cells = []

    def end_table(self) -> None:
        """What follows stands outside of the table."""
        self.end_row()
        if self._rows:
            width = max(map(len, self._rows))
            rows = [row + [""] * (width - len(row)) for row in self._rows]
            self.blocks.append(Table(rows, self._header_rows))
            self._end_boxes()
        self._rows = []
        self._header_rows = 0

    def _end_boxes(self) -> None:
        self.blocks += [Paragraph(box) for box in self.boxes]
        self.boxes.clear()
