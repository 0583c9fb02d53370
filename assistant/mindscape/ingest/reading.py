"""Files as bytes, whole or in pieces: of exactly one version, never a pipe, never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from io import FileIO

from mindscape.ingest.parsed import ParseFailure
from mindscape.ingest.scan import file_stat
from mindscape.text import display_path
from mindscape_storage.records import FileStat, Status

PIECE = 1 << 20
"""Bytes read at a time."""


class OpenFile:
    """A regular file, open for reading. What is read of it, or an error, comes from the version opened."""

    def __init__(self, path: bytes, max_bytes: int) -> None:
        """Raises ParseFailure; PENDING as its status means that the file is gone: look again."""
        self.name = display_path(path.rpartition(b"/")[2])
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except FileNotFoundError:
            raise ParseFailure(Status.PENDING, f"{self.name} is gone.") from None
        except OSError as error:
            why = f"{self.name} cannot be opened ({error.strerror}). Mend its permissions."
            raise ParseFailure(Status.UNREADABLE, why) from error
        self._file = FileIO(descriptor)
        seen = os.fstat(descriptor)
        self.stat: FileStat = file_stat(seen)
        if not stat.S_ISREG(seen.st_mode):
            self.close()
            raise ParseFailure(Status.UNSUPPORTED, f"{self.name} is not a regular file; it is not read.")
        if seen.st_size > max_bytes:
            self.close()
            size, most = f"{seen.st_size / 1e6:.0f} MB", f"{max_bytes / 1e6:.0f} MB"
            why = f"{self.name} has {size}, more than max_file_mb in config.toml allows ({most})."
            raise ParseFailure(Status.TOO_LARGE, why)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def head(self, length: int) -> bytes:
        """The first bytes, at most `length`."""
        self._file.seek(0)
        return self._read(length)

    def read(self) -> bytes:
        """All bytes."""
        return b"".join(self.pieces())

    def pieces(self) -> Iterator[bytes]:
        """All bytes, from the first. Raises ParseFailure: PENDING when the file changed meanwhile."""
        length = 0
        for piece in self._all():
            length += len(piece)
            yield piece
        if file_stat(os.fstat(self._file.fileno())) != self.stat:
            raise ParseFailure(Status.PENDING, f"{self.name} changed while it was read.")
        if length != self.stat.size:
            raise self._made_up()

    def _all(self) -> Iterator[bytes]:
        """All bytes, or some more than there should be: who makes files up may never come to an end."""
        length = 0
        self._file.seek(0)
        while length <= self.stat.size and (piece := self._read(PIECE)):
            length += len(piece)
            yield piece

    def _made_up(self) -> ParseFailure:
        """Why there were more or less bytes than stat says; read once more, for the file may just change."""
        length = sum(map(len, self._all()))
        if length == self.stat.size:
            return ParseFailure(Status.PENDING, f"{self.name} changed while it was read.")
        return ParseFailure(
            Status.UNREADABLE,
            f"{self.name} does not give the {self.stat.size:,} bytes that are said to be its size: "
            "it is made up as it is read. Copy it to a plain file to have it indexed.",
        )

    def _read(self, length: int) -> bytes:
        try:
            return self._file.read(length) or b""
        except OSError as error:
            why = f"{self.name} cannot be read ({error.strerror}). The disk may be failing."
            raise ParseFailure(Status.UNREADABLE, why) from error
