"""The folders and streams of an Outlook message, their texts decoded whatever is wrong with them."""

from __future__ import annotations

import io
from datetime import UTC, datetime

from olefile import OleFileIO
from oxmsg.domain import constants as pid
from oxmsg.domain.encodings import encoding_from_codepage
from oxmsg.domain.model import UnrecognizedCodePageError, UnsupportedEncodingError
from oxmsg.properties import Properties
from oxmsg.storage import Storage

from mindscape.ingest.decode import clean, decode
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

_PROPERTIES = "__properties_version1.0"
_EMBEDDED = "__substg1.0_3701000D"


class Folder:
    """A message, a recipient or an attachment: its properties by their numbers (`pid`)."""

    def __init__(self, storage: Storage, header: int) -> None:
        """`header` is how many bytes stand before the properties."""
        self._storage = storage
        self._properties = Properties(storage, properties_header_offset=header)

    def text(self, name: int) -> str:
        """A text, Unicode or in the message's code page; empty where there is none."""
        wide = self._stream(name, pid.PTYP_STRING)
        if wide is not None:
            return clean(wide.decode("utf-16-le", "replace"))
        return self._decoded(self._stream(name, pid.PTYP_STRING8) or b"", pid.PID_MESSAGE_CODEPAGE)

    def html(self) -> str:
        """The HTML form of the message, which may be kept as bytes or as text."""
        raw = self._stream(pid.PID_HTML, pid.PTYP_BINARY)
        return self.text(pid.PID_HTML) if raw is None else self._decoded(raw, pid.PID_INTERNET_CODEPAGE)

    def data(self, name: int) -> bytes | None:
        """Bytes; None where there are none."""
        return self._stream(name, pid.PTYP_BINARY)

    def number(self, name: int) -> int | None:
        """A number; None where there is none."""
        try:
            value: object = self._properties.int_prop_value(name)
        except (KeyError, ValueError):
            return None
        return value if isinstance(value, int) else None

    def moment(self, name: int) -> datetime | None:
        """A moment in UTC; None where there is none."""
        try:
            value: object = self._properties.date_prop_value(name)
        except (KeyError, ValueError, OverflowError):
            return None
        return value.astimezone(UTC) if isinstance(value, datetime) else None

    def recipients(self) -> list[Folder]:
        """The folders of those the message goes to."""
        return [Folder(held, 8) for held in self._storage.iter_recipient_storages()]

    def attachments(self) -> list[Folder]:
        """The folders of what is attached to the message."""
        return [Folder(held, 8) for held in self._storage.iter_attachment_storages()]

    def embedded(self) -> Folder | None:
        """The message that an attachment is; None where it is a file."""
        found = next((held for held in self._storage.storages if held.name == _EMBEDDED), None)
        return None if found is None else Folder(found, 24)

    def _stream(self, name: int, kind: int) -> bytes | None:
        try:
            return self._storage.property_stream_bytes(name, kind)
        except KeyError:
            return None

    def _decoded(self, data: bytes, page: int) -> str:
        number = self.number(page) or self.number(pid.PID_MESSAGE_CODEPAGE) or 1252
        try:
            return decode(data, encoding_from_codepage(number)).text
        except (UnrecognizedCodePageError, UnsupportedEncodingError, ParseFailure):
            return clean(data.decode("cp1252", "replace"))


def message_folder(data: bytes) -> Folder:
    """The message that a file is; raises ParseFailure(DAMAGED), or what the library does, when it is none."""
    with OleFileIO(io.BytesIO(data)) as ole:
        storage = Storage.from_ole(ole)
    if all(stream.name != _PROPERTIES for stream in storage.streams):
        raise ParseFailure(
            Status.DAMAGED, "The file is not an Outlook message but one of Office's older kinds. Rename it."
        )
    return Folder(storage, 32)
