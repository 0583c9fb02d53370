"""Choose a parser by what the file is, and turn whatever goes wrong into a status with a sentence."""

from __future__ import annotations

import importlib
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import cast

from mindscape.ingest.bounds import bounded
from mindscape.ingest.decode import looks_binary, wide_encoding
from mindscape.ingest.media_types import (
    ALSO_TEXT,
    ARCHIVES,
    ASCIIDOC,
    BY_BEGINNING,
    BY_EXTENSION,
    BY_SIGNATURE,
    CODE,
    CSV,
    DOCX,
    EPUB,
    HTML,
    INI,
    JSON,
    LATEX,
    LOG,
    MAILBOX,
    MARKDOWN,
    NOT_READ,
    ODG,
    ODP,
    ODS,
    ODT,
    ORG,
    PACKAGES,
    PARSERS,
    PDF,
    PLAIN,
    PPTX,
    RST,
    SUBTITLES,
    TEXTILE,
    TOML,
    TSV,
    TYPST,
    WIKI,
    XLS,
    XLSB,
    XLSX,
    YAML,
    ZIP_MEMBERS,
)
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape.ingest.stream import Stream
from mindscape_storage.records import Status

PARSER_VERSION = "2"
"""Part of a content's identity: raise it when any parser gives another text, block, section or mark."""

MAX_BYTES = 512 << 20
MAX_TEXT_BYTES = 128 << 20
MAX_MARKUP_BYTES = 64 << 20
"""Of Markdown: 64 MiB of paragraphs peaked at 0.3 GB, 32 MiB of nothing but short blocks at 1.1 GB."""
MAX_LINES_BYTES = 16 << 20
"""Of markup that is laid over lines: 16 MiB of nothing but short lines peaked at 1.6 GB."""
BLANK = "The file holds no text, only white space or invisible characters."
STREAM_BYTES = 8 << 20
"""Larger files of the types below are read in pieces, and of any size."""

LIMITS = {
    PDF: MAX_BYTES,
    EPUB: MAX_BYTES,
    DOCX: MAX_BYTES,
    PPTX: MAX_BYTES,
    XLSX: MAX_BYTES,
    XLSB: MAX_BYTES,
    XLS: MAX_BYTES,
    ODS: MAX_BYTES,
    ODT: MAX_BYTES,
    ODP: MAX_BYTES,
    ODG: MAX_BYTES,
    MAILBOX: MAX_BYTES,
    MARKDOWN: MAX_MARKUP_BYTES,
    **dict.fromkeys((ORG, RST, ASCIIDOC, LATEX, WIKI, TEXTILE, TYPST, SUBTITLES), MAX_LINES_BYTES),
    **dict.fromkeys((JSON, YAML, TOML, INI), MAX_LINES_BYTES),
}
_STREAMS = {PLAIN: "text", LOG: "log", CODE: "code", CSV: "table", TSV: "table"}
"""Types read in pieces, by `formats.<name>.stream`."""
_ZIP = "application/zip"
_CONTAINERS = (_ZIP, "application/x-ole-storage")
"""What files of the types in PACKAGES are, be they whole, damaged or encrypted."""
_WITHOUT_STRUCTURE = {
    **dict.fromkeys((MARKDOWN, ORG, RST, ASCIIDOC, LATEX, WIKI, TEXTILE, TYPST, SUBTITLES), "text"),
    **dict.fromkeys((JSON, YAML, TOML, INI), "log"),
}
"""Types that beyond their limit are read in pieces too, as plain text or by lines."""


def media_type_of(path: Path, head: bytes) -> str:
    """The media type by the first bytes of the file (4 KiB do) where they tell, else by its extension.

    Raises ParseFailure(UNSUPPORTED) for what is not read, with what to do instead.
    """
    extension = path.suffix.lower()
    for signature, media_type in BY_SIGNATURE:
        if head.startswith(signature):
            return _of_signature(media_type, extension, head)
    advice = NOT_READ.get(extension)
    if advice and (extension not in ALSO_TEXT or looks_binary(head)):
        raise ParseFailure(Status.UNSUPPORTED, advice)
    if media_type := BY_EXTENSION.get(extension):
        return media_type
    if head[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
        return HTML
    for beginning, media_type in BY_BEGINNING:
        if beginning.match(head):
            return media_type
    if looks_binary(head) and not wide_encoding(head) and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ParseFailure(
            Status.UNSUPPORTED, f"Files like {_kind(path)} are not documents that can be read."
        )
    return PLAIN


def parse(source: Source) -> Parsed:
    """The file as text with its blocks, sections, marks and metadata.

    Raises ParseFailure, and nothing else, with the status the document gets and a sentence.
    """
    if not source.data:
        raise ParseFailure(Status.EMPTY, "The file is empty.")
    media_type = media_type_of(source.path, source.data[:4096])
    if len(source.data) > (limit := _limit(media_type)):
        raise _too_large(media_type, len(source.data), limit)
    parsed = _contained(source, media_type)
    if not says_anything(parsed.text):
        raise ParseFailure(Status.EMPTY, BLANK)
    return bounded(parsed)


def stream_of(media_type: str, size: int) -> tuple[Stream, tuple[str, ...]] | None:
    """How a file of `size` bytes is read in pieces, and warnings of what that leaves out; None: it is not.

    Raises ParseFailure(TOO_LARGE) when it cannot be read whole either.
    """
    name, warnings = _STREAMS.get(media_type), ()
    limit = STREAM_BYTES if name else _limit(media_type)
    if size <= limit:
        return None
    if not name and (name := _WITHOUT_STRUCTURE.get(media_type)):
        warnings = (
            f"The file has over {limit >> 20} MiB and was read as plain text: what it says is found, its "
            "headings, links and properties are not. Split it into smaller files to have them.",
        )
    if not name:
        raise _too_large(media_type, size, limit)
    module = importlib.import_module(f"mindscape.ingest.formats.{name}")
    return cast(Stream, module.stream), warnings


def says_anything(text: str) -> bool:
    """True when there is a character in it that can be seen."""
    return any(not unicodedata.category(character).startswith(("Z", "C")) for character in text)


def _limit(media_type: str) -> int:
    return LIMITS.get(media_type, MAX_TEXT_BYTES)


def _too_large(media_type: str, size: int, limit: int) -> ParseFailure:
    return ParseFailure(
        Status.TOO_LARGE,
        f"The file has {size / (1 << 20):,.0f} MiB; files of its kind ({media_type}) are read up to "
        f"{limit >> 20} MiB. Split it into smaller files.",
    )


def _contained(source: Source, media_type: str) -> Parsed:
    """The one place where any error of a parser or of the library below it becomes a ParseFailure."""
    module = importlib.import_module(f"mindscape.ingest.formats.{PARSERS[media_type]}")
    parser = cast(Callable[[Source, str], Parsed], module.parse)
    try:
        return parser(source, media_type)
    except ParseFailure as failure:
        advice = NOT_READ.get(source.path.suffix.lower())
        if advice and failure.status is Status.UNSUPPORTED and media_type == PLAIN:
            # It only began like text.
            raise ParseFailure(Status.UNSUPPORTED, advice) from None
        raise
    except MemoryError:
        raise ParseFailure(
            Status.TOO_LARGE,
            "Reading the file needs more memory than parse_memory_mb in config.toml allows. "
            "Raise that, or split the file.",
        ) from None
    except Exception as error:  # noqa: BLE001 - a damaged file can raise anything; no text of it may leak
        raise ParseFailure(
            Status.DAMAGED,
            f"The file could not be read as {media_type} ({type(error).__name__}). "
            "Open it in the program that made it and save it again.",
        ) from None


def _of_signature(media_type: str, extension: str, head: bytes) -> str:
    if media_type in PARSERS:
        return media_type
    by_extension = BY_EXTENSION.get(extension)
    if media_type == _ZIP:
        for member, held in ZIP_MEMBERS:
            if member in head:
                return held
    if by_extension in PACKAGES and media_type in _CONTAINERS:
        return by_extension
    raise ParseFailure(Status.UNSUPPORTED, NOT_READ.get(extension) or _not_read(media_type))


def _not_read(media_type: str) -> str:
    if media_type in ARCHIVES:
        return "Archives are not read. Unpack it in a watched folder to have what it holds indexed."
    return f"Files of type {media_type} are not documents that can be read."


def _kind(path: Path) -> str:
    return f"*{path.suffix}" if path.suffix else "this one, which has no extension,"
