"""Subtitles (WebVTT, SubRip, SBV, ASS): the file itself, each cue a block, so that none is cut in two."""

from __future__ import annotations

import re

from mindscape.ingest.formats.lines import Lines, lay, lines_of
from mindscape.ingest.parsed import Parsed, Source

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?"
_TIMING = re.compile(rf"\s*{_TIME}\s*(?:-->|,)\s*{_TIME}(?:\s.*)?")
_DIALOGUE = re.compile(r"(?:Dialogue|Comment):\s*.*")
_SETTING = re.compile(r"([A-Za-z][\w -]{0,40}):\s*(.*)")
_METADATA = {"language": "language", "author": "author", "original script": "author", "date": "date"}


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; what the header says of it is the title and the metadata."""
    lines = lines_of(source)
    lay(lines, (_settings, _style, _cue, _dialogue), _header(lines))
    return lines.parsed(media_type, lines.metadata.pop("title", None))


def _header(lines: Lines) -> int:
    """The `WEBVTT` line with its text and settings; the line after them."""
    if not lines[0].startswith("WEBVTT"):
        return 0
    if title := lines[0][6:].strip(" \t-\u2013\u2014"):
        lines.metadata["title"] = title[:300]
    last = 1
    while lines[last] and not _TIMING.fullmatch(lines[last]):
        _note(lines, lines[last])
        last += 1
    lines.add("properties", 0, last)
    return last


def _settings(lines: Lines, at: int) -> int:
    """A part of an ASS file that is no cue: `[Script Info]` and its kin, with their settings."""
    if not lines[at].startswith("["):
        return at
    last = at + 1
    while lines[last] and not lines[last].startswith("[") and not _DIALOGUE.fullmatch(lines[last]):
        _note(lines, lines[last])
        last += 1
    lines.add("properties", at, last)
    return last


def _style(lines: Lines, at: int) -> int:
    if lines[at] not in ("STYLE", "REGION"):
        return at
    last = at
    while lines[last]:
        last += 1
    lines.add("code", at, last)
    return last


def _cue(lines: Lines, at: int) -> int:
    """A line with two times, its number or name above it, and its text up to a blank line."""
    timing = at if _TIMING.fullmatch(lines[at]) else at + 1
    if not _TIMING.fullmatch(lines[timing]) or lines.paragraph >= 0:
        return at
    last = timing + 1
    while lines[last] and not _TIMING.fullmatch(lines[last]) and not _TIMING.fullmatch(lines[last + 1]):
        last += 1
    if lines[last] and not lines[last].isdigit() and not _TIMING.fullmatch(lines[last]):
        # The last line before a time is text, unless it is the next cue's number.
        last += 1
    lines.add("item", at, last)
    return last


def _dialogue(lines: Lines, at: int) -> int:
    if not _DIALOGUE.fullmatch(lines[at]):
        return at
    lines.add("item", at, at + 1)
    return at + 1


def _note(lines: Lines, line: str) -> None:
    setting = _SETTING.fullmatch(line)
    name = setting[1].lower() if setting else ""
    if setting and setting[2].strip() and (name == "title" or name in _METADATA):
        lines.metadata.setdefault(_METADATA.get(name, name), setting[2].strip()[:300])
