"""The flow of an office document: paragraphs and tables, as blocks of the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.parsed import BlockKind


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph and what it is; `level` is that of a heading, from 1."""

    text: str
    kind: BlockKind = "paragraph"
    level: int = 0
    is_caption: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells; the first `header_rows` are marked as its header."""

    rows: list[list[str]]
    header_rows: int

    @property
    def text(self) -> str:
        """All cells in a row, as a table in a cell or a note reads."""
        return " ".join(cell for row in self.rows for cell in row if cell)


def add_blocks(blocks: Sequence[Paragraph | Table], builder: TextBuilder) -> None:
    """Append them; lines of code that follow each other are one block, a caption stays with its table."""
    code: list[str] = []
    caption = ""
    for block in (*blocks, Paragraph("")):
        if isinstance(block, Paragraph) and block.kind == "code":
            code.append(block.text)
            continue
        if code:
            builder.add("code", "\n".join(code))
            code = []
        if isinstance(block, Paragraph):
            builder.add(block.kind, block.text, level=block.level)
            caption = block.text if block.is_caption else ""
        else:
            _add_table(block, caption, builder)


def _add_table(table: Table, caption: str, builder: TextBuilder) -> None:
    if len(table.rows[0]) > 1:
        table_block(
            builder,
            table.rows,
            has_header=table.header_rows > 0 or None,
            header_rows=max(table.header_rows, 1),
            header_above=caption,
        )
    else:
        for row in table.rows:
            builder.add("paragraph", "\n".join(row))


def first_heading(builder: TextBuilder) -> str | None:
    """The first heading of the highest level that stands in the text: a title where the file gives none."""
    starts = {block.start for block in builder.blocks if block.kind == "heading"}
    return next((held.text for held in builder.headings if held.level == 1 and held.start in starts), None)
