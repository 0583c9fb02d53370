"""Mailboxes (mbox): each message a section, found in one pass over the bytes and read one at a time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mindscape.ingest.formats.attachments import Attachments
from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.mail_headers import Envelope, has_headers
from mindscape.ingest.formats.mail_message import message_of
from mindscape.ingest.formats.mail_parts import MailReader, refuse_unreadable, said_of
from mindscape.ingest.media_types import MAILBOX
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_MAX_SENTENCES = 30
_ENVELOPE = re.compile(rb"From [^\r\n]{1,1000}(?:\r\n|\n)")
_ADDRESS_ONLY = re.compile(rb"From \S+\s*")
_DATED = re.compile(rb"\d:\d\d.{0,40}\d{4}")
_HEADER = re.compile(rb"[!-9;-~]{1,78}:|>From ")
_MAIL_HEADER = re.compile(
    rb"(?:from|to|subject|date|sender|received|return-path|delivered-to|message-id|mime-version|status"
    rb"|content-type|reply-to|dkim-signature|arc-[a-z-]+|x-[\w-]+):|>From ",
    re.I,
)
_QUOTED_FROM = re.compile(rb"^>(>*From )", re.M)


@dataclass(slots=True)
class _Read:
    """What became of the messages."""

    count: int = 0
    newest: Envelope | None = None
    failure: ParseFailure | None = None


def parse(source: Source, media_type: str) -> Parsed:
    """All messages in their order, each marked with the line it begins on."""
    builder = TextBuilder()
    reader = MailReader(Attachments(source))
    read = _read(source.data, reader, builder)
    if not read.count and source.data.strip():
        raise ParseFailure(
            Status.DAMAGED,
            "No message begins anywhere in the mailbox. Save it again from the mail program.",
        )
    refuse_unreadable(reader)
    if read.failure and not builder.length:
        raise read.failure
    del builder.warnings[_MAX_SENTENCES:]
    builder.warnings += [*_counted(reader.warnings), *said_of(reader), *reader.attachments.warnings()]
    metadata: dict[str, Any] = {"messages": read.count}
    if read.newest and read.newest.moment:
        metadata["date"] = read.newest.date
    return builder.build(media_type, None, metadata)


def _read(data: bytes, reader: MailReader, builder: TextBuilder) -> _Read:
    """Add every message on its own, so that one that cannot be read leaves nothing behind."""
    read = _Read()
    for line, raw in messages(data):
        read.count += 1
        section = TextBuilder()
        section.mark("line", str(line))
        try:
            envelope = _add(reader, section, raw)
        except ParseFailure as failure:
            builder.warnings.append(f"The message at line {line:,} was not read: {failure.reason}")
            read.failure = failure
            continue
        read.newest = max(read.newest or envelope, envelope, key=_moment)
        try:
            builder.include(section.build(MAILBOX), below=0)
        except ParseFailure as failure:
            builder.warnings.append(f"From line {line:,} on the mailbox was not read: {failure.reason}")
            break
    return read


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """(line of the file, bytes) of each message, its `From ` line left out and quoted ones restored."""
    line, counted_to = 1, 0
    starts = _starts(data)
    start = next(starts, None)
    while start is not None:
        following = next(starts, None)
        line += data.count(b"\n", counted_to, start)
        counted_to = start
        begin = data.index(b"\n", start) + 1
        yield line, _QUOTED_FROM.sub(rb"\1", data[begin:following])
        start = following


def _starts(data: bytes) -> Iterator[int]:
    if _is_start(data, 0):
        yield 0
    at = data.find(b"\nFrom ")
    while at >= 0:
        if _is_start(data, at + 1):
            yield at + 1
        at = data.find(b"\nFrom ", at + 1)


def _is_start(data: bytes, at: int) -> bool:
    """True where a message begins, and not a sentence that starts with "From"."""
    envelope = _ENVELOPE.match(data, at)
    if not envelope:
        return False
    apart = at == 0 or data[max(0, at - 3) : at].endswith((b"\n\n", b"\n\r\n"))
    if _DATED.search(envelope[0]):
        headers = _HEADER if apart else _MAIL_HEADER
        return headers.match(data, envelope.end()) is not None
    return apart and bool(_ADDRESS_ONLY.fullmatch(envelope[0]) and _MAIL_HEADER.match(data, envelope.end()))


def _add(reader: MailReader, section: TextBuilder, raw: bytes) -> Envelope:
    message = message_of(raw)
    if not has_headers(message):
        message = message_of(b"\n" + raw)
    return reader.add(section, message, 1)


def _moment(envelope: Envelope) -> float:
    return envelope.moment.timestamp() if isinstance(envelope.moment, datetime) else float("-inf")


def _counted(sentences: Iterable[str]) -> list[str]:
    """Each sentence once, with how often it is to be said."""
    counts = Counter(sentences).most_common(_MAX_SENTENCES)
    return [said if times == 1 else f"{said} ({times:,} times)" for said, times in counts]
