"""Files attached to a mail, each read by its own parser and put below a section of its own."""

from __future__ import annotations

from pathlib import Path

from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.media_types import BY_EXTENSION
from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import ParseFailure, Source

MAX_DEPTH = 5
MAX_ATTACHMENTS = 1_000
MAX_BYTES = 100 << 20
"""Of all attachments of one file together: their parsers have the time of one file."""
_MAX_SENTENCES = 30
_PICTURES = (
    ".jpg",
    ".jpeg",
    ".png",
    ".gif",
    ".bmp",
    ".tif",
    ".tiff",
    ".webp",
    ".heic",
    ".svg",
    ".ico",
    ".wmf",
    ".emf",
)
_ENDINGS = {media: ending for ending, media in reversed(BY_EXTENSION.items())} | {"text/plain": ".txt"}


class Attachments:
    """Reads what is attached to the messages of one file, and remembers what was not read and why."""

    def __init__(self, source: Source) -> None:
        self.read = 0
        self._depth = source.depth + 1
        self._left = MAX_BYTES
        self._tried = 0
        self._pictures = 0
        self._beyond = 0
        self._sentences: list[str] = []

    def add(self, builder: TextBuilder, name: str, media_type: str, data: bytes, level: int) -> None:
        """Put the file below a section of this level; whatever it is, the mail goes on."""
        name = name or f"attachment{_ENDINGS.get(media_type, '')}"
        if "." not in name:
            name += _ENDINGS.get(media_type, "")
        if media_type.startswith("image/") or name.lower().endswith(_PICTURES):
            self._pictures += 1
            return
        if self._depth > MAX_DEPTH:
            self.refuse(name, f"Files in files are read up to {MAX_DEPTH} deep.")
            return
        self._tried += 1
        self._left -= len(data)
        if self._tried > MAX_ATTACHMENTS or self._left < 0:
            self._beyond += 1
            return
        try:
            self._include(builder, name, data, level)
            self.read += 1
        except ParseFailure as failure:
            self.refuse(name, failure.reason)

    def refuse(self, name: str, reason: str) -> None:
        """Say of a file that it was not read, and why."""
        self._sentences.append(f"The attachment {name} was not read: {reason}")

    def warnings(self) -> list[str]:
        """Sentences about everything that was left out."""
        said = self._sentences[:_MAX_SENTENCES]
        more = len(self._sentences) - len(said)
        if more:
            said.append(f"{more:,} more sentences about attachments like these are left out.")
        if self._pictures:
            verb = (
                "attachment is a picture and holds"
                if self._pictures == 1
                else "attachments are pictures and hold"
            )
            said.append(f"{self._pictures:,} {verb} no text.")
        if self._beyond:
            said.append(
                f"{self._beyond:,} attachments were not read: of one file up to {MAX_ATTACHMENTS:,} "
                f"attachments of {MAX_BYTES >> 20} MiB together are."
            )
        return said

    def _include(self, builder: TextBuilder, name: str, data: bytes, level: int) -> None:
        parsed = parse(Source(Path(name), data, depth=self._depth))
        section = TextBuilder()
        section.add("heading", f"Attachment: {name}", level=1)
        section.include(parsed, below=1)
        builder.include(section.build(parsed.media_type), below=level - 1)
        self._sentences += [f"In the attachment {name}: {warning}" for warning in parsed.warnings]
