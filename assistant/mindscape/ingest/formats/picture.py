"""Pictures of text, such as scanned pages: what OCR has read in them."""

from __future__ import annotations

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.pdf_layout import pieces_of
from mindscape.ingest.formats.pieces import add_pieces
from mindscape.ingest.formats.scans import confidence_of, runs_of_lines
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status


def parse(source: Source, media_type: str) -> Parsed:
    """The lines OCR has read, page by page. Raises ParseFailure where there are none."""
    if not source.read_pages:
        raise ParseFailure(
            Status.UNSUPPORTED,
            "Pictures are read by OCR only, in folders added with 'mindscape add --ocr FOLDER'.",
        )
    builder = TextBuilder()
    for number, lines in sorted(source.read_pages.items()):
        pieces = pieces_of(runs_of_lines(lines))
        if len(source.read_pages) > 1:
            builder.mark("page", str(number))
        add_pieces(pieces, [0] * len(pieces), builder)
    every = [line for lines in source.read_pages.values() for line in lines]
    if not every:
        raise ParseFailure(Status.EMPTY, "OCR read no text in the picture.")
    builder.warnings.append(f"It was read by OCR (mean confidence {confidence_of(every):.0%}).")
    return builder.build(media_type, metadata={"pages": len(source.read_pages)})
