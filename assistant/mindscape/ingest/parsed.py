"""What every format gives: one text, and plain facts about places in it.

All offsets are Unicode code points into `Parsed.text`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from mindscape_storage.records import Mark, Section, Status

BlockKind = Literal["paragraph", "heading", "item", "table", "code", "quote", "properties"]


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text that passages cut in its own way: prose by sentences, tables by rows, code by blocks."""

    kind: BlockKind
    start: int
    end: int
    header: str = ""
    """Of a table: its caption and header row, embedded in front of every group of its rows."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file as text.

    `blocks` are sorted and do not overlap; text between them is white space or belongs to no block and
    is cut as prose. `sections` are sorted by start; a section starts at its heading.
    """

    text: str
    media_type: str
    text_like: bool
    """True when `text` is the decoded file itself, so that lines mean lines of the file."""
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()
    marks: tuple[Mark, ...] = ()
    title: str | None = None
    encoding: str | None = None
    encoding_confidence: float | None = None
    """1.0 when the bytes prove the encoding, less when it was guessed."""
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    links: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line that OCR has read: its place on the page, downwards from the top left corner."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float
    """From 0 to 1."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file to parse, its bytes read once: a file that changes meanwhile cannot mix two versions."""

    path: Path
    data: bytes
    depth: int = 0
    """How many files it is inside of: 1 for what is attached to a mail."""
    read_pages: Mapping[int, tuple[ReadLine, ...]] = field(default_factory=dict[int, tuple[ReadLine, ...]])
    """What OCR has read, in points, by the numbers of the pages; empty where it was not asked to."""


class ParseFailure(Exception):
    """The file cannot be indexed: `status` says how, `reason` is a sentence that says why and what to do."""

    def __init__(self, status: Status, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
