"""The bytes of a mail as a tree of parts, by the standard library, kept from what no mail program writes."""

from __future__ import annotations

import re
from email.feedparser import BytesFeedParser
from email.message import Message
from email.policy import Compat32
from typing import Any, cast

from mindscape.ingest.decode import Decoded, decode
from mindscape.ingest.formats.mail_headers import charset_of, header_text, plain_name
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

MAX_PARTS = 10_000
MAX_LEVELS = 50
"""Of parts in parts; the standard library looks at every line once for each level."""
MAX_HEADER = 1 << 16
MAX_PARAMETERS = 2048
"""Characters of a header with parameters, whose reading takes time by their square."""
MAX_LINES = 3_000_000
"""Each is held as a string of its own; files of 150 MiB are attached in fewer."""
_CHUNK = 1 << 20
_TOKEN = re.compile(r"[\w-]+")
_SPACE_INSIDE = re.compile(r"\s*\S+[ \t]+\S")


class _Tolerant(Compat32):
    """Headers stay as they are written, but for their length: 8-bit characters are decoded by us."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        kind = name.strip().lower()
        if kind == "content-transfer-encoding":
            token = _TOKEN.search(value)
            return name, token[0] if token else ""
        return name, value[: MAX_PARAMETERS if kind.startswith("content-") else MAX_HEADER]

    def header_fetch_parse(self, name: str, value: str) -> str:  # noqa: ARG002 - the library's signature
        return value


_POLICY = _Tolerant()


class MailPart(Message):
    """A message or a part of one, which counts what is attached to it."""

    def __init__(self, policy: Compat32 = _POLICY) -> None:
        super().__init__(policy)
        self.level = 0
        self.tally = [0]

    def attach(self, payload: Any) -> None:
        """Take in a part; raise ParseFailure(TOO_LARGE) where there are too many or too deep ones."""
        part = cast(MailPart, payload)
        part.level, part.tally = self.level + 1, self.tally
        self.tally[0] += 1
        if part.level > MAX_LEVELS or self.tally[0] > MAX_PARTS:
            raise ParseFailure(
                Status.TOO_LARGE,
                f"The message has over {MAX_PARTS:,} parts or nests them deeper than {MAX_LEVELS} levels, "
                "which no mail program does. It is not read.",
            )
        super().attach(part)


def message_of(data: bytes) -> MailPart:
    """The tree of the message; damage never ends it.

    Raises ParseFailure(TOO_LARGE) for what is beyond the limits.
    """
    if data.count(b"\n") > MAX_LINES:
        raise ParseFailure(
            Status.TOO_LARGE,
            f"The message has over {MAX_LINES:,} lines. Save its text in smaller files to have it indexed.",
        )
    parser = BytesFeedParser(MailPart, policy=_POLICY)
    for start in range(0, len(data), _CHUNK):
        parser.feed(data[start : start + _CHUNK])
    return cast(MailPart, parser.close())


def parts_of(part: MailPart) -> list[MailPart]:
    """What is directly inside a multipart or an attached message."""
    payload = cast(object, part.get_payload())
    return cast(list[MailPart], payload) if isinstance(payload, list) else []


def part_bytes(part: MailPart) -> bytes:
    """The content of a part that holds no others, its transfer encoding undone as far as it is true."""
    if part.get("content-transfer-encoding", "").lower() == "base64":
        written = cast(object, part.get_payload())
        if isinstance(written, str) and _SPACE_INSIDE.match(written[:200]):
            # Words with spaces between them: the header is wrong.
            del part["content-transfer-encoding"]
    payload = cast(object, part.get_payload(decode=True))
    return payload if isinstance(payload, bytes) else b""


def part_text(part: MailPart) -> Decoded:
    """The content of a text part. Raises ParseFailure(UNSUPPORTED) when it is no text."""
    return decode(part_bytes(part), charset_of(part.get_content_charset()))


def file_name(part: MailPart) -> str:
    """The name the part gives itself, made plain; empty when it has none."""
    return plain_name(header_text(part.get_filename() or "", part.get_content_charset()))
