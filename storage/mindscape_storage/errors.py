"""What can go wrong with a library, each said in a sentence that names the file and what to do.

StorageError
    NotALibrary      the file is some other database
    NewerLibrary     a later Mindscape wrote it
    DamagedLibrary   SQLite finds the file malformed
    LibraryLocked    another process keeps the file busy
    DiskFull         no room to write
    BadVector        not finite, zero, of the wrong width, or of an unknown encoder
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import apsw


class StorageError(Exception):
    """Base of all errors of the library: `str(error)` is a sentence."""


class NotALibrary(StorageError):
    """The file is a database, but not one of ours."""


class NewerLibrary(StorageError):
    """The file was written by a later version."""


class DamagedLibrary(StorageError):
    """The file is not a whole database any more."""


class LibraryLocked(StorageError):
    """Another process holds the file for longer than we wait."""


class DiskFull(StorageError):
    """There is no room to write; nothing that was committed is lost."""


class BadVector(StorageError):
    """A vector that would poison every search, so it is refused."""


def as_storage_error(error: apsw.Error, filename: str) -> StorageError | None:
    """The sentence for an SQLite error that is about the file, or None for any other."""
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError)):
        return DamagedLibrary(
            f"The library {filename} is damaged ({error}). Run `mindscape doctor`, or restore a backup."
        )
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return LibraryLocked(f"The library {filename} is in use by another program; close it and try again.")
    if isinstance(error, apsw.FullError):
        return DiskFull(f"There is no room left to write {filename}. Free some disk space; nothing is lost.")
    if isinstance(error, (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError)):
        return StorageError(f"The library {filename} cannot be read or written ({error}). Check the disk.")
    return None


@contextmanager
def stated(filename: str) -> Generator[None]:
    """Turn SQLite errors about the file itself into ours; let every other error through as it is."""
    try:
        yield
    except apsw.Error as error:
        sentence = as_storage_error(error, filename)
        if sentence is None:
            raise
        raise sentence from error
