"""Mail: a message with its envelope, its text and everything attached to it, as one text."""

from __future__ import annotations

import re
from itertools import islice

from mindscape.ingest.decode import decode, wide_encoding
from mindscape.ingest.formats import mailbox
from mindscape.ingest.formats.attachments import Attachments
from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.mail_body import Body, add_body
from mindscape.ingest.formats.mail_headers import has_headers
from mindscape.ingest.formats.mail_message import MailPart, message_of
from mindscape.ingest.formats.mail_parts import MailReader, refuse_unreadable, said_of
from mindscape.ingest.formats.mailbox import messages
from mindscape.ingest.parsed import Parsed, Source

_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_UTF8_MARK = b"\xef\xbb\xbf"
_APPLE = re.compile(rb"(\d{1,10})[ \t]*\r?\n")


def parse(source: Source, media_type: str) -> Parsed:
    """The message; what is attached stands below sections of its own, its pages marked."""
    if source.data.startswith(b"From ") and sum(1 for _ in islice(messages(source.data), 2)) == 2:
        # Some programs save several messages as if they were one.
        return mailbox.parse(source, media_type)
    message = _message(source.data)
    builder = TextBuilder()
    if not has_headers(message):
        decoded = decode(source.data)
        builder.warnings += [*decoded.warnings, "The mail has no headers; all of it was read as its text."]
        add_body(builder, Body("plain", decoded.text), 0)
        return builder.build(media_type)
    reader = MailReader(Attachments(source))
    envelope = reader.add(builder, message, 1)
    refuse_unreadable(reader)
    builder.warnings += [*said_of(reader), *dict.fromkeys(reader.warnings), *reader.attachments.warnings()]
    return builder.build(media_type, envelope.subject or None, dict(envelope.metadata))


def _message(data: bytes) -> MailPart:
    if data.startswith(_WIDE_MARKS) or wide_encoding(data):
        data = decode(data).text.encode("utf-8", "replace")
    data = data.removeprefix(_UTF8_MARK).lstrip(b"\r\n")
    if counted := _APPLE.match(data):
        # Apple Mail writes the length of the message above it and its own notes below.
        data = data[counted.end() : counted.end() + int(counted[1])]
    return message_of(data)
