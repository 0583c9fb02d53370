"""Put an extracted text together, block by block, and remember where everything is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from mindscape.ingest.decode import clean
from mindscape.ingest.formats.outline import MAX_HEADING, Heading, sections_of
from mindscape.ingest.parsed import Block, BlockKind, Parsed, ParseFailure
from mindscape_storage.records import Mark, Status

MAX_CHARACTERS = 40_000_000
_SPACES = re.compile(r"[^\S\n]+")
_AROUND_LINE_END = re.compile(r" ?\n[ \n]*")


def collapsed(text: str) -> str:
    """Runs of white space as one space, or one line end where there was one; nothing at the edges."""
    return _AROUND_LINE_END.sub("\n", _SPACES.sub(" ", text)).strip()


@dataclass(slots=True)
class TextBuilder:
    """Collects blocks, headings and marks; blocks stand apart by a blank line, list items by a line end."""

    blocks: list[Block] = field(default_factory=list[Block])
    headings: list[Heading] = field(default_factory=list[Heading])
    marks: list[Mark] = field(default_factory=list[Mark])
    warnings: list[str] = field(default_factory=list[str])
    links: dict[str, None] = field(default_factory=dict[str, None])
    length: int = 0
    _pieces: list[str] = field(default_factory=list[str])
    _waiting: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    _opening: Heading | None = None

    def add(self, kind: BlockKind, text: str, header: str = "", level: int = 0) -> None:
        """Append a block; `level` is that of a heading. Blank text is left out.

        Raises ParseFailure(TOO_LARGE) when the text grows past all measure.
        """
        text = clean(text.replace("\r\n", "\n").replace("\r", "\n")).encode("utf-8", "replace").decode()
        text = text.strip("\n").rstrip() if kind == "code" else text.strip()
        if not text.strip():
            return
        text = text.lstrip() if kind == "code" and "\n" not in text else text
        self._separate(kind)
        start = self.length + len(text) - len(text.lstrip())
        self._arrive(start, has_heading=kind == "heading")
        if kind == "heading" and len(text) > MAX_HEADING:
            kind = "paragraph"
        if kind == "heading":
            self.headings.append(Heading(level, " ".join(text.split()), start))
        self._write(text)
        self.blocks.append(Block(kind, start, self.length, header))

    def mark(self, kind: str, label: str) -> None:
        """A page or chapter begins with the next block."""
        self._waiting.append((kind, label))

    def open_section(self, level: int, label: str) -> None:
        """A section with no heading of its own in the text begins with the next block, unless that is one."""
        self._opening = Heading(level, label, 0) if label else None

    def build(
        self,
        media_type: str,
        title: str | None = None,
        metadata: dict[str, Any] | None = None,
        encoding: str | None = None,
    ) -> Parsed:
        """Everything collected so far."""
        for kind, label in self._waiting:
            self.marks.append(Mark(kind, label, self.length))
        self._waiting.clear()
        return Parsed(
            text="".join(self._pieces),
            media_type=media_type,
            text_like=False,
            blocks=tuple(self.blocks),
            sections=sections_of(self.headings, self.length),
            marks=tuple(self.marks),
            title=" ".join(clean(title).split())[:MAX_HEADING] or None if title else None,
            encoding=encoding,
            metadata=metadata or {},
            links=tuple(self.links),
            warnings=tuple(self.warnings),
        )

    def _separate(self, kind: BlockKind) -> None:
        if self.blocks:
            self._write("\n" if kind == self.blocks[-1].kind == "item" else "\n\n")

    def _arrive(self, start: int, has_heading: bool) -> None:
        for kind, label in self._waiting:
            self.marks.append(Mark(kind, label, start))
        self._waiting.clear()
        if self._opening and not has_heading:
            self.headings.append(Heading(self._opening.level, self._opening.text, start))
        self._opening = None

    def _write(self, text: str) -> None:
        self.length += len(text)
        if self.length > MAX_CHARACTERS:
            raise ParseFailure(
                Status.TOO_LARGE,
                f"The file holds over {MAX_CHARACTERS:,} characters of text. Split it into smaller files.",
            )
        self._pieces.append(text)
