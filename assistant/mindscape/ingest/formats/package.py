"""Zip packages (EPUB, DOCX), read under limits on what is really unpacked."""

from __future__ import annotations

import copy
import io
import posixpath
import zipfile
import zlib
from urllib.parse import unquote

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

MAX_MEMBERS = 10_000
MAX_PART_BYTES = 32 << 20
MAX_UNPACKED_BYTES = 256 << 20
_CHUNK = 1 << 20
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
"""What unpacking a damaged member raises."""


class Package:
    """The members of a zip archive by name; names are forgiving of case, back slashes and escapes."""

    def __init__(self, data: bytes, kind: str) -> None:
        """Raise ParseFailure: DAMAGED when `data` is no zip archive, TOO_LARGE with too many members."""
        self._kind = kind
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, OSError):
            raise ParseFailure(
                Status.DAMAGED, f"The file is not {kind}, or it was cut off. Fetch it or save it again."
            ) from None
        if len(self._zip.filelist) > MAX_MEMBERS:
            raise ParseFailure(
                Status.TOO_LARGE,
                f"The file has over {MAX_MEMBERS:,} parts, which {kind} never has. It is not read.",
            )
        self.names = [info.filename for info in self._zip.filelist if not info.is_dir()]
        self._exact = set(self.names)
        self._by_name = {_key(name): name for name in reversed(self.names)}
        self._left = MAX_UNPACKED_BYTES

    def find(self, name: str) -> str | None:
        """The member that `name` means, or None."""
        return name if name in self._exact else self._by_name.get(_key(name))

    def read(self, name: str) -> bytes | None:
        """The bytes of a member; None when it is missing.

        Raises ParseFailure: TOO_LARGE when it unpacks beyond the limits, whatever the archive declares,
        PROTECTED when it is encrypted, DAMAGED when it cannot be unpacked.
        """
        found = self.find(name)
        if found is None:
            return None
        if self._zip.getinfo(found).flag_bits & 1:
            raise _protected()
        try:
            return self._unpack(found)
        except _BROKEN:
            raise ParseFailure(
                Status.DAMAGED, f"A part of the file ({found[:100]}) is damaged. Fetch it or save it again."
            ) from None

    def check(self) -> None:
        """Unpack every part and keep none, in front of a library that unpacks without limits of its own.

        Raises ParseFailure: TOO_LARGE when all parts together unpack beyond the limit, PROTECTED when one is
        encrypted. What is damaged is left to the library, which may not need it.
        """
        left = MAX_UNPACKED_BYTES
        for info in self._zip.filelist:
            if info.flag_bits & 1:
                raise _protected()
            try:
                with self._zip.open(_whole(info)) as member:
                    while left >= 0 and (chunk := member.read(_CHUNK)):
                        left -= len(chunk)
            except _BROKEN:
                continue
            if left < 0:
                raise _too_large(MAX_UNPACKED_BYTES)

    def _unpack(self, name: str) -> bytes:
        limit = min(MAX_PART_BYTES, self._left)
        chunks: list[bytes] = []
        size = 0
        with self._zip.open(_whole(self._zip.getinfo(name))) as member:
            while chunk := member.read(_CHUNK):
                size += len(chunk)
                if size > limit:
                    raise _too_large(limit)
                chunks.append(chunk)
        self._left -= size
        return b"".join(chunks)


def resolve(base: str, href: str) -> str:
    """The member that `href`, written in the member `base`, means; no fragment, no way out of the package."""
    path = unquote(href.partition("#")[0]).replace("\\", "/")
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), path)).lstrip("./")


def _whole(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """The member without the size it declares, at which reading it would stop."""
    whole = copy.copy(info)
    whole.file_size = 1 << 62
    return whole


def _too_large(limit: int) -> ParseFailure:
    return ParseFailure(
        Status.TOO_LARGE,
        f"The file unpacks to over {limit >> 20} MiB, more than it should. It is not read.",
    )


def _protected() -> ParseFailure:
    return ParseFailure(Status.PROTECTED, "The file needs a password. Save a copy without one.")


def _key(name: str) -> str:
    return unquote(name).replace("\\", "/").lstrip("./").casefold()
