"""The file: opening it, and the two ways to use it, `transaction` to write and `snapshot` to read.

One process writes, through one connection. Readers see the last commit and never wait for it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw
import sqlite_vec

from mindscape_storage.errors import StorageError, as_storage_error, stated
from mindscape_storage.migrate import migrate, refuse_other

Connection = apsw.Connection

BUSY_MS = 10_000
WAL_BYTES_KEPT = 64 * 1024 * 1024


def open_writer(path: Path) -> Connection:
    """Open the library for writing; create it (owner-only) and bring its schema up to date when needed.

    Raises StorageError when the file is damaged, locked, of a newer version, or not a library.
    """
    _make_private(path)
    with stated(str(path)):
        conn = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        try:
            _configure(conn)
            conn.execute("PRAGMA journal_mode = WAL")
            conn.execute("PRAGMA synchronous = NORMAL")
            conn.execute("PRAGMA foreign_keys = ON")
            # Freed pages are overwritten, so that what is removed is really gone: no slower, as measured.
            conn.execute("PRAGMA secure_delete = ON")
            conn.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
            migrate(conn)
        except BaseException:
            conn.close()
            raise
    return conn


def open_reader(path: Path) -> Connection:
    """Open the library for reading only. Raises StorageError: missing, damaged, or of another version."""
    with stated(str(path)):
        conn = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            _configure(conn)
            refuse_other(conn)
        except BaseException:
            conn.close()
            raise
    return conn


@contextmanager
def transaction(conn: Connection) -> Generator[None]:
    """Commit everything inside, or on any exception nothing of it. Inside another one: a savepoint.

    The exception that ended the block is what the caller sees; an SQLite error about the file (full,
    locked, damaged) comes as a StorageError with the original as its cause.
    """
    nested = conn.in_transaction
    if nested and conn.txn_state("main") != apsw.SQLITE_TXN_WRITE:
        raise StorageError("A snapshot is open on this connection; writing has to wait until it ends.")
    with stated(conn.filename):
        conn.execute("SAVEPOINT nested" if nested else "BEGIN IMMEDIATE")
        try:
            yield
            if not conn.in_transaction:
                raise StorageError(
                    f"SQLite gave up a transaction on {conn.filename}; nothing of it was kept."
                )
            conn.execute("RELEASE nested" if nested else "COMMIT")
        except BaseException as error:
            _undo(conn, nested, error)
            raise


@contextmanager
def snapshot(conn: Connection) -> Generator[None]:
    """Read everything inside from one version of the library. Ends always, so that the WAL can shrink."""
    if conn.in_transaction:
        yield
        return
    with stated(conn.filename):
        conn.execute("BEGIN")
        try:
            yield
        finally:
            if conn.in_transaction:
                conn.execute("ROLLBACK")


def fetch(conn: Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows at once: no cursor stays open, for one would pin the WAL."""
    return conn.execute(sql, values).fetchall()


def value(conn: Connection, sql: str, values: Sequence[Any] = ()) -> Any:
    """The first column of the first row, or None."""
    rows = fetch(conn, sql, values)
    return rows[0][0] if rows else None


def checkpoint(conn: Connection) -> None:
    """Fold the write-ahead log into the file and empty it; for idle moments. Readers are not disturbed."""
    try:
        conn.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        return  # a reader is in the middle of something: the next idle moment will do


def _undo(conn: Connection, nested: bool, error: BaseException) -> None:
    """Roll back without ever hiding `error`. SQLite itself may have rolled back already (disk full)."""
    if not conn.in_transaction:
        return
    try:
        conn.execute("ROLLBACK TO nested; RELEASE nested" if nested else "ROLLBACK")
    except apsw.Error as failed:
        error.add_note(str(as_storage_error(failed, conn.filename) or failed))


def _configure(conn: Connection) -> None:
    conn.set_busy_timeout(BUSY_MS)
    conn.enable_load_extension(True)
    conn.load_extension(sqlite_vec.loadable_path())
    conn.enable_load_extension(False)
    conn.execute("PRAGMA cache_size = -8000")


def _make_private(path: Path) -> None:
    """Owner-only from the first byte: SQLite gives -wal and -shm the mode of the file itself."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        for name in (path, Path(f"{path}-wal"), Path(f"{path}-shm")):
            if name.exists():
                name.chmod(0o600)
    except OSError as error:
        raise StorageError(
            f"The library {path} cannot be opened: {error.strerror}. Check its folder and permissions."
        ) from error
