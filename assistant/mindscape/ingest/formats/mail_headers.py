"""What the headers of a mail say, decoded and made plain."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from itertools import islice

from mindscape.ingest.decode import decode
from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.outline import MAX_HEADING
from mindscape.ingest.parsed import ParseFailure

MAX_VALUE = 4_000
"""Characters of a header that are kept: a thousand addresses are no one's reading."""
MAX_NAME = 120
_LOOKED_AT = 9
"""Parts of a message that may tell the encoding of its headers."""
_KNOWN = ("from", "to", "subject", "date", "message-id", "received", "mime-version", "content-type", "sender")
_ENCODED = re.compile(r"(?:=\?[^?\s]{1,80}\?[bq]\?[^?]*\?=(?:\s+(?==\?))?)+", re.I)
_FOLD = re.compile(r"[\r\n]+\s*")
_CHARSETS = {
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "x-gbk": "gb18030",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "x-mac-roman": "mac-roman",
    "utf8mb4": "utf-8",
}


@dataclass(frozen=True, slots=True)
class Envelope:
    """Who wrote what to whom and when; everything may be empty."""

    subject: str = ""
    sender: str = ""
    to: str = ""
    cc: str = ""
    bcc: str = ""
    date: str = ""
    """ISO 8601 with its zone where it can be read, else as it is written."""
    moment: datetime | None = None
    message_id: str = ""
    in_reply_to: str = ""

    @property
    def heading(self) -> str:
        """What the message's section is called; empty when nothing is known of it."""
        if self.subject:
            long = len(self.subject) > MAX_HEADING
            return self.subject[: MAX_HEADING - 1].rstrip() + "…" if long else self.subject
        said = ", ".join(filter(None, (self.sender and f"from {self.sender}", self.date)))
        return f"Message {said}"[:MAX_HEADING] if said else "Message" if self.to else ""

    @property
    def metadata(self) -> dict[str, str]:
        """The fields of `Parsed.metadata`, without those that are empty."""
        date = self.date if self.moment else ""
        fields = {
            "author": self.sender,
            "date": date,
            "to": self.to,
            "message_id": self.message_id,
            "in_reply_to": self.in_reply_to,
        }
        return {name: value for name, value in fields.items() if value}


def envelope_of(message: Message) -> Envelope:
    """The envelope of a parsed message."""
    charsets = (held.get_content_charset() for held in islice(message.walk(), _LOOKED_AT))
    charset = next(filter(None, charsets), None)

    def said(name: str) -> str:
        return header_text(message.get(name, ""), charset)

    date, moment = dated(said("date"))
    return Envelope(
        said("subject"),
        said("from") or said("sender"),
        said("to"),
        said("cc"),
        said("bcc"),
        date,
        moment,
        said("message-id"),
        said("in-reply-to"),
    )


def has_headers(message: Message) -> bool:
    """True when one of the headers is that of a mail: not every text with a colon is one."""
    return any(message.get(name) is not None for name in _KNOWN)


def add_envelope(builder: TextBuilder, envelope: Envelope, level: int) -> None:
    """The heading and the properties of a message."""
    builder.open_section(level, "Message")
    builder.add("heading", envelope.heading, level=level)
    shown = (
        ("From", envelope.sender),
        ("To", envelope.to),
        ("Cc", envelope.cc),
        ("Bcc", envelope.bcc),
        ("Date", envelope.date),
        ("Subject", envelope.subject),
    )
    builder.add("properties", "\n".join(f"{name}: {value}" for name, value in shown if value))


def header_text(value: str, charset: str | None = None) -> str:
    """A header's value as one line of text: encoded words decoded, 8-bit characters by `charset` or a guess.

    `value` is as the parser gives it, bytes that are not ASCII as lone surrogates.
    """
    value = value[: 4 * MAX_VALUE]
    if not value.isascii():
        raw = value.encode("ascii", "surrogateescape") if _is_raw(value) else value.encode("utf-8", "replace")
        try:
            value = raw.decode()
        except UnicodeDecodeError:
            value = _decoded(raw, charset)
    value = _ENCODED.sub(_words, _FOLD.sub(" ", value))
    return " ".join(_visible(value).split())[:MAX_VALUE]


def dated(value: str) -> tuple[str, datetime | None]:
    """A date as ISO 8601 and as a moment; as it is written, and None, where it is none."""
    try:
        moment = parsedate_to_datetime(value)
    except (TypeError, ValueError, OverflowError, IndexError):
        return value, None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.isoformat(timespec="seconds"), moment


def charset_of(name: str | None) -> str | None:
    """The codec that a charset parameter means; None for what is none."""
    name = (name or "").partition("*")[0].strip(" \"'").lower()
    return _CHARSETS.get(name, name) or None


def plain_name(name: str) -> str:
    """A file's name without folders, controls and tricks, at most MAX_NAME characters, its ending kept."""
    name = " ".join(_visible(name).replace("\\", "/").rstrip("/ ").rpartition("/")[2].split()).strip(". ")
    stem, dot, ending = name.rpartition(".")
    if len(name) <= MAX_NAME:
        return name
    return f"{stem[: MAX_NAME - 12]}…{dot}{ending}" if len(ending) <= 10 else name[:MAX_NAME]


def _is_raw(value: str) -> bool:
    return all(letter < "\x80" or "\udc80" <= letter <= "\udcff" for letter in value)


def _visible(text: str) -> str:
    """Control and format characters (escapes, NUL, direction overrides) as spaces."""
    return "".join(" " if unicodedata.category(one) in ("Cc", "Cf", "Cs") else one for one in text)


def _words(run: re.Match[str]) -> str:
    """Encoded words in a row, decoded together: a character may be cut between two of them."""
    try:
        pieces = decode_header(run[0])
    except (HeaderParseError, ValueError):
        return run[0]
    return "".join(_decoded(p, charset) if isinstance(p, bytes) else p for p, charset in pieces)


def _decoded(data: bytes, charset: str | None) -> str:
    try:
        return decode(data, charset_of(charset)).text
    except ParseFailure:
        return data.decode("latin-1")
