"""Put an extracted text together, block by block, and remember where everything is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

from mindscape.ingest.decode import Decoded, clean
from mindscape.ingest.formats.outline import MAX_HEADING, Heading, sections_of
from mindscape.ingest.parsed import Block, BlockKind, Parsed, ParseFailure
from mindscape_storage.records import Mark, Status

MAX_CHARACTERS = 40_000_000
MAX_LINKS = 10_000
"""Of one text: a mailbox would have millions."""
# Not a single space, of which a text is full and which stays as it is.
_SPACES = re.compile(r" [^\S\n]+|[^\S\n ][^\S\n]*")
_AROUND_LINE_END = re.compile(r" ?\n[ \n]*")


_ODD = (
    ("\ufeff", ""),  # a byte order mark within a text is left from the files it was joined from
    ("\uf0b7", "•"),  # bullets as the fonts Symbol and Wingdings have them
    ("\uf0a7", "▪"),
)


def collapsed(text: str) -> str:
    """Runs of white space as one space, or one line end where there was one; nothing at the edges."""
    if "  " not in text and text.isprintable():
        # The only white space in it is single spaces: most paragraphs are so, and the rest takes time.
        return text.strip()
    text = _SPACES.sub(" ", text)
    return (_AROUND_LINE_END.sub("\n", text) if "\n" in text else text).strip()


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
    _ended: set[str] = field(default_factory=set[str])
    """Kinds whose end waits: at most one each."""
    _opening: Heading | None = None

    def add(self, kind: BlockKind, text: str, header: str = "", level: int = 0) -> None:
        """Append a block; `level` is that of a heading. Blank text is left out.

        Raises ParseFailure(TOO_LARGE) when the text grows past all measure.
        """
        text = clean(text.replace("\r\n", "\n").replace("\r", "\n")).encode("utf-8", "replace").decode()
        for odd, plain in _ODD:
            text = text.replace(odd, plain)
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

    def include(self, other: Parsed, below: int) -> None:
        """Append another text as it is, its headings `below` levels lower; its marks end where it ends.

        Raises ParseFailure(TOO_LARGE), and changes nothing, when that would be too much text.
        """
        text = other.text.strip()
        if not text:
            return
        if self.length + len(text) + 2 > MAX_CHARACTERS:
            raise _too_large()
        lead = len(other.text) - len(other.text.lstrip())
        self._separate("paragraph")
        shift = self.length - lead
        for mark in other.marks:
            if mark.start <= lead:
                self.mark(mark.kind, mark.label)
        self._arrive(self.length, bool(other.sections) and other.sections[0].start <= lead)
        self._write(text)
        self.blocks += [replace(b, start=b.start + shift, end=b.end + shift) for b in other.blocks]
        self.headings += [Heading(s.level + below, s.heading, s.start + shift) for s in other.sections]
        self.marks += [replace(m, start=m.start + shift) for m in other.marks if m.start > lead]
        for kind in dict.fromkeys(mark.kind for mark in other.marks):
            self.mark(kind, "")
        self.links.update(dict.fromkeys(other.links[: max(0, MAX_LINKS - len(self.links))]))

    def mark(self, kind: str, label: str) -> None:
        """A page or chapter begins with the next block; an empty label ends the one before."""
        if kind in self._ended:  # asked first, for thousands of pages without text can be waiting
            self._waiting.remove((kind, ""))
            self._ended.discard(kind)
        self._waiting.append((kind, label))
        if not label:
            self._ended.add(kind)

    def open_section(self, level: int, label: str) -> None:
        """A section with no heading of its own in the text begins with the next block, unless that is one."""
        self._opening = Heading(level, label, 0) if label else None

    def build(
        self,
        media_type: str,
        title: str | None = None,
        metadata: dict[str, Any] | None = None,
        decoded: Decoded | None = None,
    ) -> Parsed:
        """Everything collected so far."""
        self.marks += [Mark(kind, label, self.length) for kind, label in self._waiting if label]
        self._waiting.clear()
        self._ended.clear()
        return Parsed(
            text="".join(self._pieces),
            media_type=media_type,
            text_like=False,
            blocks=tuple(self.blocks),
            sections=sections_of(self.headings, self.length),
            marks=tuple(self.marks),
            title=" ".join(clean(title).split())[:MAX_HEADING] or None if title else None,
            encoding=decoded.encoding if decoded else None,
            encoding_confidence=decoded.confidence if decoded else None,
            metadata=metadata or {},
            links=tuple(self.links),
            warnings=tuple(self.warnings),
        )

    def _separate(self, kind: BlockKind) -> None:
        if self.length:
            within_list = kind == "item" and self.blocks and self.blocks[-1].kind == "item"
            self._write("\n" if within_list else "\n\n")

    def _arrive(self, start: int, has_heading: bool) -> None:
        for kind, label in self._waiting:
            self.marks.append(Mark(kind, label, start))
        self._waiting.clear()
        self._ended.clear()
        if self._opening and not has_heading:
            self.headings.append(Heading(self._opening.level, self._opening.text, start))
        self._opening = None

    def _write(self, text: str) -> None:
        self.length += len(text)
        if self.length > MAX_CHARACTERS:
            raise _too_large()
        self._pieces.append(text)


def _too_large() -> ParseFailure:
    return ParseFailure(
        Status.TOO_LARGE,
        f"The file holds over {MAX_CHARACTERS:,} characters of text. Split it into smaller files.",
    )
