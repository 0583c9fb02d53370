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

DEFERRED_ROWS = 1_000

_failed: set[int] = set()
"""Ids of connections whose transaction has a part that failed."""
_deferred: dict[int, dict[str, dict[int, tuple[Any, ...]]]] = {}
"""By connection, statement and rowid: what is still to be written into full-text indexes."""


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
    """Commit everything inside, or on any exception nothing of it. Inside another one: a part of that.

    So a failure of the inner one is a failure of all, even when it is caught in between. (No savepoints:
    FTS5 writes a segment at each.)

    The exception that ended the block is what the caller sees; an SQLite error about the file (full,
    locked, damaged) comes as a StorageError with the original as its cause.
    """
    if conn.in_transaction:
        if conn.txn_state("main") != apsw.SQLITE_TXN_WRITE:
            raise StorageError("A snapshot is open on this connection; writing has to wait until it ends.")
        try:
            yield
        except BaseException:
            _failed.add(id(conn))
            raise
        return
    with stated(conn.filename):
        conn.execute("BEGIN IMMEDIATE")
        _failed.discard(id(conn))
        try:
            yield
            _write_deferred(conn)
            if not conn.in_transaction or id(conn) in _failed:
                raise StorageError(f"A transaction on {conn.filename} failed; nothing of it was kept.")
            conn.execute("COMMIT")
        except BaseException as error:
            _undo(conn, error)
            raise
        finally:
            _deferred.pop(id(conn), None)


def defer(conn: Connection, sql: str, rowid: int, *values: Any) -> None:
    """In a transaction: write a row of a full-text index, or delete one, together with others at its end.

    One by one among other statements each row would become a segment of its own. What is deferred is
    added before anything is deleted, so an id must never come back after it was deleted.
    """
    waiting = _deferred.setdefault(id(conn), {})
    waiting.setdefault(sql, {})[rowid] = (rowid, *values)
    if sum(map(len, waiting.values())) >= DEFERRED_ROWS:
        _write_deferred(conn)


def _write_deferred(conn: Connection) -> None:
    waiting = _deferred.pop(id(conn), {})
    for sql in sorted(waiting, key=lambda sql: sql.startswith("DELETE")):
        conn.executemany(sql, [waiting[sql][rowid] for rowid in sorted(waiting[sql])])


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


def _undo(conn: Connection, error: BaseException) -> None:
    """Roll back without ever hiding `error`. SQLite itself may have rolled back already (disk full)."""
    if not conn.in_transaction:
        return
    try:
        conn.execute("ROLLBACK")
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
