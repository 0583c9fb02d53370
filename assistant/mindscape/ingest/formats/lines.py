"""Structure laid over a decoded file line by line: what the lightweight markup languages share."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from mindscape.ingest.decode import Decoded, decode, line_starts
from mindscape.ingest.formats.outline import MAX_HEADING, Heading, sections_of
from mindscape.ingest.formats.rows import SEPARATOR
from mindscape.ingest.parsed import Block, BlockKind, Parsed, Source

_URL = re.compile(r"https?://[^\s<>\[\]{}|\"'`]{1,2000}")
_MAX_LINKS = 10_000


@dataclass(slots=True)
class Lines:
    """The lines of a file, and the blocks found in them so far; a block never reaches back over another."""

    decoded: Decoded
    starts: list[int]
    """Where the lines start, and the length of the text."""
    shown: list[str]
    """The lines without the white space at their ends."""
    paragraph: int = -1
    """Where the paragraph starts that is open; -1 when there is none."""
    blocks: list[Block] = field(default_factory=list[Block])
    headings: list[Heading] = field(default_factory=list[Heading])
    links: dict[str, None] = field(default_factory=dict[str, None])
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    _done: int = 0

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, number: int) -> str:
        """The line (from 0) without the white space at its end; empty beyond the last one."""
        return self.shown[number] if number < len(self.shown) else ""

    def add(self, kind: BlockKind, first: int, last: int, header: str = "") -> None:
        """A block of the lines `first` up to (not with) `last`, without the white space around it."""
        self.add_span(kind, self.starts[first], self.starts[min(last, len(self))], header)

    def add_span(self, kind: BlockKind, start: int, end: int, header: str = "") -> None:
        """A block by offsets; nothing when it is blank or belongs to a block already."""
        self.close(start)
        start = max(start, self._done)
        run = self.decoded.text[start:end]
        kept = run.strip()
        if kept:
            start += len(run) - len(run.lstrip())
            self._done = start + len(kept)
            self.blocks.append(Block(kind, start, self._done, header))

    def close(self, end: int) -> None:
        """The open paragraph ends at that offset."""
        start, self.paragraph = self.paragraph, -1
        if start >= 0:
            self.add_span("paragraph", start, end)

    def add_heading(self, level: int, text: str, first: int, last: int) -> None:
        """A heading that stands on these lines; a paragraph when it is too long, or has no words."""
        self.add_heading_span(level, text, self.starts[first], self.starts[min(last, len(self))])

    def add_heading_span(self, level: int, text: str, start: int, end: int) -> None:
        """The same by offsets."""
        text, before = " ".join(text.split()), len(self.blocks)
        named = 0 < len(text) <= MAX_HEADING
        self.add_span("heading" if named else "paragraph", start, end)
        if named and len(self.blocks) > before:
            self.headings.append(Heading(level, text, self.blocks[-1].start))

    def add_links(self, targets: Sequence[str]) -> None:
        """Note what the text points at, each once."""
        for target in targets:
            if target.strip() and len(self.links) < _MAX_LINKS:
                self.links[target.strip()] = None

    def add_urls(self) -> None:
        """Note the web addresses that stand in the text."""
        self.add_links([found.rstrip(".,;:!?)*_") for found in _URL.findall(self.decoded.text)])

    def parsed(self, media_type: str, title: str | None = None) -> Parsed:
        """Everything laid so far."""
        return Parsed(
            text=self.decoded.text,
            media_type=media_type,
            text_like=True,
            blocks=tuple(self.blocks),
            sections=sections_of(self.headings, len(self.decoded.text)),
            title=title or None,
            encoding=self.decoded.encoding,
            encoding_confidence=self.decoded.confidence,
            metadata=self.metadata,
            links=tuple(self.links),
            warnings=self.decoded.warnings,
        )


Rule = Callable[[Lines, int], int]
"""Given a line that is not blank, add what starts there; the line after it, or the same one for no."""


def lines_of(source: Source) -> Lines:
    """The decoded file. Raises ParseFailure when it is not text."""
    decoded = decode(source.data)
    starts = [*line_starts(decoded.text), len(decoded.text)]
    return Lines(decoded, starts, [decoded.text[a:b].rstrip() for a, b in pairwise(starts)])


def lay(lines: Lines, rules: Sequence[Rule], first: int = 0) -> None:
    """Apply the first rule that takes a line, from line `first` on; what no rule takes are paragraphs."""
    at = first
    while at < len(lines):
        after = at if lines[at] else at + 1
        for rule in rules if lines[at] else ():
            after = rule(lines, at)
            if after > at:
                break
        if after > at:
            lines.close(lines.starts[at])
        elif lines.paragraph < 0:
            lines.paragraph = lines.starts[at]
        at = max(after, at + 1)
    lines.close(lines.starts[-1])


def indent(line: str) -> int:
    """Columns of white space in front, tabs to the next multiple of 8."""
    shown = line[: len(line) - len(line.lstrip())].expandtabs(8)
    return len(shown)


def end_of_indented(lines: Lines, first: int, depth: int) -> int:
    """The line after the run from `first` on that is blank or indented by at least `depth` columns."""
    at = last = first
    while at < len(lines) and (not lines[at] or indent(lines[at]) >= depth):
        at += 1
        last = at if lines[at - 1] else last
    return last


def add_item(lines: Lines, at: int, bullet: re.Pattern[str]) -> int:
    """A list item: its line and what is indented deeper, up to the next bullet. Returns the line after."""
    depth = indent(lines[at]) + 1
    last = at + 1
    for number in range(at + 1, len(lines)):
        line = lines[number]
        if line and (indent(line) < depth or bullet.match(line)):
            break
        last = number + 1 if line else last
    lines.add("item", at, last)
    return last


def cells_header(row: str, caption: str = "", mark: str = "|") -> str:
    """The header of a table: its caption and the row's cells as one line."""
    cells = [" ".join(cell.split()) for cell in row.strip().strip(mark).split(mark)]
    return "\n".join(filter(None, (caption, SEPARATOR.join(cells))))
