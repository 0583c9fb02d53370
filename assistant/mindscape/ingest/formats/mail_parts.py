"""The parts of a message in the order a reader wants: its envelope, its text, then what is attached."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mindscape.ingest.decode import decode
from mindscape.ingest.formats.attachments import Attachments
from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.mail_body import Body, Form, add_body, stands_in, without_armour, without_files
from mindscape.ingest.formats.mail_headers import (
    Envelope,
    add_envelope,
    charset_of,
    envelope_of,
    header_text,
    plain_name,
)
from mindscape.ingest.formats.mail_message import (
    MailPart,
    file_name,
    message_of,
    part_bytes,
    part_text,
    parts_of,
)
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

_SIGNATURES = ("application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature")
_SMIME = ("application/pkcs7-mime", "application/x-pkcs7-mime")
_VCARDS = ("text/vcard", "text/x-vcard", "text/directory")
_CALENDARS = ("text/calendar", "application/ics")
_OF_PAGES = ("text/css", "text/javascript", "application/javascript", "application/x-javascript")
"""What a saved page brings along, and no one reads."""
_PARTIAL = ("message/partial", "message/external-body")


@dataclass(slots=True)
class MailReader:
    """Adds messages to a text, and counts what it could not read in them."""

    attachments: Attachments
    bodies: int = 0
    encrypted: int = 0
    signed: int = 0
    warnings: list[str] = field(default_factory=list[str])
    files: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    """Found inside the text of the message at hand, to be put below it."""

    def add(self, builder: TextBuilder, message: MailPart, level: int) -> Envelope:
        """Add a message as a section of this level, everything in it below."""
        envelope = envelope_of(message)
        add_envelope(builder, envelope, level)
        bodies, attached = self._gather(message)
        files, self.files = self.files, []
        for body in dict.fromkeys(bodies):
            before = builder.length
            add_body(builder, body, level)
            self.bodies += builder.length > before
        for name, data in files:
            self.attachments.add(builder, plain_name(name), "", data, level + 1)
        for part in attached:
            self._attach(builder, part, level + 1)
        return envelope

    def _gather(self, part: MailPart) -> tuple[list[Body], list[MailPart]]:
        """The texts of a part to show, and the parts attached to it, both in order."""
        kind = part.get_content_type()
        if kind == "multipart/encrypted":
            self.encrypted += 1
            return [], []
        inside = parts_of(part)
        if kind == "message/delivery-status":
            return [Body("properties", "\n\n".join(_fields(block) for block in inside))], []
        if not kind.startswith("multipart/"):
            return self._leaf(part, kind)
        if not inside:
            # No boundary, or one that never comes: what is there is the text.
            return [self._text(part, "plain")], []
        found = [self._gather(one) for one in inside]
        bodies = [bodies for bodies, _ in found]
        return (
            _best(bodies) if kind == "multipart/alternative" else [body for held in bodies for body in held],
            [one for _, attached in found for one in attached],
        )

    def _leaf(self, part: MailPart, kind: str) -> tuple[list[Body], list[MailPart]]:
        if kind in _SIGNATURES or kind in _OF_PAGES or kind.startswith("font/"):
            return [], []
        if kind in _SMIME and "signed" not in part.get("content-type", ""):
            self.encrypted += 1
            return [], []
        if kind in _SMIME:
            self.signed += 1
            return [], []
        named = part.get_content_disposition() == "attachment" or bool(part.get_filename())
        if kind in _CALENDARS:
            return [self._text(part, "calendar")], []
        if named or not kind.startswith("text/") or kind in _VCARDS:
            return [], [part]
        return [self._text(part, "html" if kind == "text/html" else _plain_form(part))], []

    def _text(self, part: MailPart, form: Form) -> Body:
        try:
            decoded = part_text(part)
        except ParseFailure:
            self.warnings.append("A text of the message is not text but binary data, and was not read.")
            return Body(form, "")
        self.warnings += decoded.warnings
        if form == "html":
            return Body(form, decoded.text)
        text, encrypted = without_armour(decoded.text)
        self.encrypted += encrypted
        text, files = without_files(text)
        self.files += files
        return Body(form, text)

    def _attach(self, builder: TextBuilder, part: MailPart, level: int) -> None:
        kind, name = part.get_content_type(), file_name(part)
        if kind in _PARTIAL:
            self.attachments.refuse(name or kind, "Only a part of it, or where it is, is in the mail.")
        elif kind in _VCARDS:
            self.attachments.refuse(name or "vcard", "It is a contact's card.")
        elif kind.startswith("message/") and (inside := parts_of(part)):
            self.add(builder, _unwrapped(part, inside[0]), level)
        else:
            self.attachments.add(builder, name, kind, _file_bytes(part, kind), level)


def refuse_unreadable(reader: MailReader) -> None:
    """Raise ParseFailure(PROTECTED) where all there was to read is encrypted."""
    if reader.encrypted and not reader.bodies and not reader.attachments.read:
        raise ParseFailure(
            Status.PROTECTED,
            "The message is encrypted, and only its recipient's mail program can read it. "
            "Save its text from there to have it indexed.",
        )


def said_of(reader: MailReader) -> list[str]:
    """Sentences about parts that are encrypted or locked into a signature."""
    said: list[str] = []
    for count, what in ((reader.encrypted, "encrypted"), (reader.signed, "packed into its S/MIME signature")):
        if count:
            said.append(
                f"{count:,} part{'s' if count > 1 else ''} of the mail {'are' if count > 1 else 'is'} {what} "
                f"and {'were' if count > 1 else 'was'} not read."
            )
    return said


def _best(alternatives: list[list[Body]]) -> list[Body]:
    """Of the same message in several forms the plain text, unless it is only a stub of the HTML."""
    calendars = [one for held in alternatives for one in held if one.form == "calendar"]
    texts = [[one for one in held if one.form != "calendar"] for held in alternatives]
    plain = next((held for held in texts if held and all(one.form != "html" for one in held)), None)
    rich = next((held for held in reversed(texts) if any(one.form == "html" for one in held)), None)
    if plain is None or rich is None:
        return [*(plain or rich or []), *calendars]
    words = "".join(one.text for one in plain).strip()
    return [*(rich if stands_in(words, rich) else plain), *calendars]


def _plain_form(part: MailPart) -> Form:
    if str(part.get_param("format", "")).lower() != "flowed":
        return "plain"
    return "delsp" if str(part.get_param("delsp", "")).lower() == "yes" else "flowed"


def _fields(block: MailPart) -> str:
    return "\n".join(f"{name}: {header_text(value)}" for name, value in block.items() if value.strip())


def _unwrapped(wrapper: MailPart, message: MailPart) -> MailPart:
    """An attached message; against the rules some are encoded as a whole."""
    if wrapper.get("content-transfer-encoding", "").lower() not in ("base64", "quoted-printable"):
        return message
    if len(message) or message.is_multipart():
        return message
    message["Content-Transfer-Encoding"] = wrapper["content-transfer-encoding"]
    return message_of(part_bytes(message))


def _file_bytes(part: MailPart, kind: str) -> bytes:
    """The bytes of an attached file; of a text in the encoding the mail names, which the file cannot."""
    data = part_bytes(part)
    charset = charset_of(part.get_content_charset())
    if not charset or not re.match(r"text/(?!html|xml)", kind):
        return data
    try:
        return decode(data, charset).text.encode("utf-8", "replace")
    except ParseFailure:
        return data
