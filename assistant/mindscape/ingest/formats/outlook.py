"""Outlook messages (.msg): envelope, text and attachments, as of any other mail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from oxmsg.domain import constants as pid

from mindscape.ingest.formats.attachments import Attachments
from mindscape.ingest.formats.build import TextBuilder
from mindscape.ingest.formats.mail_body import Body, add_body, stands_in
from mindscape.ingest.formats.mail_headers import Envelope, add_envelope, envelope_of, header_text, plain_name
from mindscape.ingest.formats.mail_message import message_of
from mindscape.ingest.formats.mail_parts import MailReader, refuse_unreadable, said_of
from mindscape.ingest.formats.outlook_rtf import decompressed
from mindscape.ingest.formats.outlook_storage import Folder, message_folder
from mindscape.ingest.parse import parse as parse_any
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LOCKED = ("application/pkcs7-mime", "application/x-pkcs7-mime", "application/x-microsoft-rpmsg-message")
_MAX_LEVELS = 20
_RECIPIENTS = {1: "to", 2: "cc", 3: "bcc"}


def parse(source: Source, media_type: str) -> Parsed:
    """The message; what is attached stands below sections of its own, its pages marked."""
    if not source.data.startswith(_OLE):
        raise ParseFailure(
            Status.DAMAGED, "The file is not an Outlook message. Save it again from Outlook, as .msg or .eml."
        )
    builder = TextBuilder()
    reader = MailReader(Attachments(source))
    envelope = _add(reader, builder, message_folder(source.data), 1)
    refuse_unreadable(reader)
    builder.warnings += [*said_of(reader), *dict.fromkeys(reader.warnings), *reader.attachments.warnings()]
    return builder.build(media_type, envelope.subject or None, dict(envelope.metadata))


def _add(reader: MailReader, builder: TextBuilder, folder: Folder, level: int) -> Envelope:
    """Add a message as a section of this level, everything in it below."""
    envelope = _envelope(folder)
    add_envelope(builder, envelope, level)
    before = builder.length
    _add_text(builder, folder, level)
    reader.bodies += builder.length > before
    for attachment in folder.attachments():
        _attach(reader, builder, attachment, level + 1)
    return envelope


def _add_text(builder: TextBuilder, folder: Folder, level: int) -> None:
    plain, html = Body("plain", folder.text(pid.PID_BODY)), Body("html", folder.html())
    if html.text and stands_in(plain.text.strip(), [html]):
        add_body(builder, html, level)
    elif plain.text.strip():
        add_body(builder, plain, level)
    elif rtf := decompressed(folder.data(pid.PID_RTF_COMPRESSED) or b""):
        try:
            builder.include(parse_any(Source(Path("message.rtf"), rtf)), below=level)
        except ParseFailure as failure:
            if failure.status is not Status.EMPTY:
                builder.warnings.append(f"The text of a message was not read: {failure.reason}")


def _attach(reader: MailReader, builder: TextBuilder, attachment: Folder, level: int) -> None:
    kind = header_text(attachment.text(pid.PID_ATTACH_MIME_TAG)).lower()
    long, short = (attachment.text(one) for one in (pid.PID_ATTACH_LONG_FILENAME, pid.PID_ATTACH_FILENAME))
    name = plain_name(long or short or attachment.text(pid.PID_DISPLAY_NAME))
    data = attachment.data(pid.PID_ATTACH_DATA_BINARY)
    if inner := attachment.embedded():
        if level > _MAX_LEVELS:
            reader.attachments.refuse(name, f"Messages in messages are read up to {_MAX_LEVELS} deep.")
        else:
            _add(reader, builder, inner, level)
    elif kind in _LOCKED or name.lower() in ("smime.p7m", "message.rpmsg"):
        if kind.startswith("multipart/") or (data or b"").lstrip()[:13].lower() == b"content-type:":
            # Only signed: the file is the message as it was sent.
            reader.add(builder, message_of(data or b""), level)
        else:
            reader.encrypted += 1
    elif data is None:
        reader.attachments.refuse(name or "without a name", "Its content is not in the message.")
    else:
        reader.attachments.add(builder, name, kind, data, level)


def _envelope(folder: Folder) -> Envelope:
    """From the message's properties, completed by its internet headers where it came through a server."""
    sent = envelope_of(message_of(folder.text(pid.PID_TRANSPORT_MESSAGE_HEADERS).encode("utf-8", "replace")))
    moment = folder.moment(pid.PID_CLIENT_SUBMIT_TIME) or folder.moment(pid.PID_MESSAGE_DELIVERY_TIME)
    own: dict[str, str] = {
        "subject": header_text(folder.text(pid.PID_SUBJECT)),
        "sender": _address(
            folder.text(pid.PID_SENDER_NAME) or folder.text(pid.PID_SENT_REPRESENTING_NAME),
            folder.text(pid.PID_SENDER_SMTP_ADDRESS) or folder.text(pid.PID_SENDER_EMAIL_ADDRESS),
        ),
        "message_id": header_text(folder.text(pid.PID_INTERNET_MESSAGE_ID)),
        "in_reply_to": header_text(folder.text(pid.PID_IN_REPLY_TO_ID)),
        "date": moment.isoformat(timespec="seconds") if moment else "",
        **_recipients(folder),
    }
    known = sent.metadata | {"sender": sent.sender, "subject": sent.subject, "cc": sent.cc, "bcc": sent.bcc}
    missing = {name: value for name, value in own.items() if value and not known.get(name)}
    return replace(sent, **missing, moment=sent.moment or moment)


def _recipients(folder: Folder) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for one in folder.recipients():
        line = _RECIPIENTS.get(one.number(pid.PID_RECIPIENT_TYPE) or 1, "to")
        address = one.text(pid.PID_SMTP_ADDRESS) or one.text(pid.PID_EMAIL_ADDRESS)
        found.setdefault(line, []).append(_address(one.text(pid.PID_DISPLAY_NAME), address))
    shown = (("to", pid.PID_DISPLAY_TO), ("cc", pid.PID_DISPLAY_CC), ("bcc", pid.PID_DISPLAY_BCC))
    plain = {line: header_text(folder.text(name)) for line, name in shown}
    return plain | {line: header_text(", ".join(people)) for line, people in found.items()}


def _address(name: str, address: str) -> str:
    """A name with its address, unless that is one of Exchange's own."""
    name, address = header_text(name), header_text(address)
    if "@" not in address or address == name:
        return name or address
    return f"{name} <{address}>" if name else address
