"""The nouns of the library: frozen dataclasses, one for each kind of row.

Offsets are Unicode code points into the text of a content. Passages tile that text, so the text
itself is stored only as the passages' slices: any range is the passages that cover it, joined.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple


class Status(StrEnum):
    """What became of a file. All but PENDING and OK come with a sentence."""

    PENDING = "pending"
    OK = "ok"
    EMPTY = "empty"
    NO_TEXT = "no_text"
    PROTECTED = "protected"
    UNSUPPORTED = "unsupported"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"
    TOO_LARGE = "too_large"
    QUARANTINED = "quarantined"
    AWAY = "away"


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file the user asked us to watch."""

    id: int
    path: bytes
    mode: str
    """`events` (live), `polling` (no events come from there) or `away` (unmounted or vanished)."""
    documents: int = 0
    reason: str | None = None
    """A sentence that says why the mode is not `events`."""
    ocr: bool = False
    """Whether what has no text layer is read by OCR there."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """What `stat` says of a file: compared with != on every field to decide whether to hash again."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Document:
    """A path that points at a content."""

    id: int
    root_id: int
    path: bytes
    display: str
    """The path as text: undecodable bytes and control characters replaced."""
    stat: FileStat
    status: Status
    reason: str | None
    content_id: int | None
    title: str | None = None
    """The content's own title, or None."""
    passages: int = 0
    tier: str | None = None
    """`searchable` or `embedded` once the status is final, else None."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what stands under it, up to the next heading of the same or a higher level."""

    ordinal: int
    level: int
    heading: str
    start: int
    """Offset of the heading itself."""
    end: int
    path: tuple[str, ...]
    """Headings from the top down to this one."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a page, a chapter, or a line of the file an extracted text comes from starts."""

    kind: str
    """`page` (or slide), `chapter`, or `line` (or row of a sheet; its label is a number from 1)."""
    label: str
    """Empty where the one before ends and none begins: after what is attached to a mail."""
    start: int


@dataclass(frozen=True, slots=True)
class NewPassage:
    """A passage as cut from a text, before it is stored."""

    ordinal: int
    start: int
    end: int
    text: str
    """Always `content.text[start:end]`."""
    line: int | None
    """1-based line of `start` in a text-like file, else None."""
    heading: tuple[str, ...]
    prefix: str = ""
    """What is embedded in front of the text: a table's header, a note's properties. Usually empty."""

    @property
    def embed_input(self) -> str:
        """The text that is embedded; its hash keys the vector."""
        return f"{self.prefix}\n{self.text}" if self.prefix else self.text


@dataclass(frozen=True, slots=True)
class Passage:
    """A stored passage."""

    id: int
    content_id: int
    ordinal: int
    start: int
    end: int
    text: str
    line: int | None
    heading: tuple[str, ...]
    prefix: str = ""


NOTHING = "nothing"
"""Who made a summary that could not be made."""
REJECTED = "rejected"
"""Who made a summary that failed its checks: the extractive one counts instead."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model or a method made of the texts that a key stands for."""

    key: bytes
    text: str
    tokens: int
    made_by: str
    """`extractive`, the name of a model, NOTHING, or REJECTED."""


class Verdict(NamedTuple):
    """What of a stored summary matters for what stands above it."""

    digest: bytes
    counts: bool
    """False for one that was rejected."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node over a part of a content: on level 1 over passages, above that over nodes of the level below."""

    level: int
    ordinal: int
    first_child: int
    """Ordinals of the level below, half open; on level 1 of passages."""
    end_child: int
    start: int
    """Code points of the text, half open."""
    end: int
    key: bytes
    """Of its summary. A node with one child has its child's, from level 2 on."""


@dataclass(frozen=True, slots=True)
class FolderNode:
    """A node over the children of a folder from one name to another, in the order of `name_key`."""

    level: int
    first_name: bytes
    last_name: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class Child:
    """A document or folder in a folder that has a summary of its own."""

    name: bytes
    """The last part of its path; of a watched folder in the library the whole path."""
    title: str | None
    """Of a document that names one."""
    key: bytes
    """Of its summary."""
    digest: bytes
    """Of the summary's text."""
    is_folder: bool = False
    tokens: int = 0
    """Of its summary."""
    by_model: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """A summary as it is served."""

    text: str
    tokens: int
    made_by: str
    made_at: int
    """Seconds since 1970."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What stands in a folder, whether it is summarised or not."""

    id: int
    """Of the document, or of the folder."""
    name: bytes
    """As in Child."""
    title: str | None
    is_folder: bool


@dataclass(frozen=True, slots=True)
class Opening:
    """How a passage begins."""

    heading: str | None
    """The heading that begins with it; None where it goes on under the one before."""
    text: str


@dataclass(frozen=True, slots=True)
class ChangedFolder:
    """A folder whose nodes may not be what its children say."""

    id: int
    changes: int
    """Since its nodes were made, or since the model has been through them."""


@dataclass(frozen=True, slots=True)
class ContentInfo:
    """What is known of a content besides its passages."""

    title: str | None = None
    language: str | None = None
    encoding: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    """JSON values: author, tags, aliases, date, ..."""
    links: tuple[str, ...] = ()
    """Raw link targets, in order."""
    warnings: tuple[str, ...] = ()
    encoding_confidence: float | None = None
    """1.0 when the bytes prove the encoding, less when it was guessed."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found by one leg, with that leg's raw score (higher is better)."""

    passage_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Encoder:
    """A passage encoder: vectors of one are never compared with another's."""

    id: int
    name: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class NameHit:
    """A document found by its title, file name or folders (higher is better)."""

    document_id: int
    score: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where an offset is, in a reader's terms."""

    page: str | None = None
    line: int | None = None
    """1-based line of the file, or row of the sheet; None where the file has neither."""
    heading: tuple[str, ...] = ()
    chapter: str | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the library. Every condition that is given must hold."""

    prefix: bytes | None = None
    """A file, or a folder and all below it."""
    document_id: int | None = None
    tag: str | None = None
    since: str | None = None
    """YYYY-MM-DD: the content's own date when it has one, else the file's modification day (UTC)."""
    upto: int | None = None
    """Only passages that end at or before this offset of their text."""


@dataclass(frozen=True, slots=True)
class Job:
    """A unit of durable work. At most one live job has a given (kind, key)."""

    id: int
    kind: str
    key: str
    priority: int
    attempts: int
    payload: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Check:
    """One finding of `doctor`."""

    name: str
    state: str
    """`ok`, `warn` or `fail`."""
    message: str
    fix: str | None = None
