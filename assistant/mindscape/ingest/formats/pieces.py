"""What stands on a page, in reading order, added to the text."""

from __future__ import annotations

from collections.abc import Sequence

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.pdf_headings import CAPTION
from mindscape.ingest.formats.pdf_layout import Piece
from mindscape.ingest.formats.rows import table_block


def add_pieces(pieces: Sequence[Piece], levels: Sequence[int], builder: TextBuilder) -> None:
    """Append the pieces of a page; `levels` are those of the headings among them, 0 for the others."""
    caption = ""
    for piece, level in zip(pieces, levels, strict=True):
        text = "\n".join(piece.lines)
        if piece.kind == "table":
            table_block(builder, piece.rows, header_above=caption)
        elif piece.kind == "fields":
            builder.add("properties", text)
        elif level:
            builder.add("heading", " ".join(piece.lines), level=level)
        else:
            builder.add("item" if piece.kind == "item" else "paragraph", text)
        caption = text.replace("\n", " ")[:300] if CAPTION.match(text) else ""
