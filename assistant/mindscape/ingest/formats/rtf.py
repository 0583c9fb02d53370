"""RTF: the body as it reads, headers above and footers below it, then notes and comments."""

from __future__ import annotations

import re
from typing import Any

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.flow import add_blocks, first_heading
from mindscape.ingest.formats.rtf_reader import RtfReader
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status


def parse(source: Source, media_type: str) -> Parsed:
    """Headings by outline level and style, lists, tables by rows; hidden and deleted text is left out."""
    if not source.data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf"):
        raise ParseFailure(
            Status.DAMAGED, "The file is not RTF, whatever its name says. Open it and save it again."
        )
    reader = RtfReader()
    reader.read(source.data)
    builder = TextBuilder()
    for text in reader.edges.get("header", ()):
        builder.add("paragraph", text)
    add_blocks(reader.flow.blocks, builder)
    for text in (*reader.notes, *reader.comments, *reader.edges.get("footer", ())):
        builder.add("paragraph", text)
    builder.links.update(reader.links)
    if not builder.blocks and reader.has_pictures:
        raise ParseFailure(
            Status.NO_TEXT,
            "The document has pictures but no text. Save a version with text to have it indexed.",
        )
    if reader.has_hidden:
        builder.warnings.append("Hidden text was left out.")
    if not reader.is_whole:
        builder.warnings.append("The file is cut off; what is there was read.")
    metadata = _metadata(reader)
    title = metadata.pop("title", None) or first_heading(builder)
    return builder.build(media_type, title, metadata)


def _metadata(reader: RtfReader) -> dict[str, Any]:
    metadata: dict[str, Any] = dict(reader.info)
    if tags := metadata.pop("tags", None):
        metadata["tags"] = [tag for tag in re.split(r"\s*[,;]\s*", tags) if tag]
    year, month, day = (reader.created.get(part, 0) for part in ("yr", "mo", "dy"))
    if 1900 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= 31:
        metadata["date"] = f"{year}-{month:02}-{day:02}"
    return metadata
