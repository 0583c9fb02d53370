"""The folders and files the user asked us to watch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mindscape_storage.database import Connection, fetch, transaction, value
from mindscape_storage.documents import WATCHED, remove_documents
from mindscape_storage.errors import StorageError
from mindscape_storage.folders import forget_changed, place_documents
from mindscape_storage.jobs import remove_jobs
from mindscape_storage.records import Root
from mindscape_storage.summaries import forget_summaries

_ROOT = """
    SELECT id, path, mode, (SELECT count(*) FROM documents WHERE root_id = r.id), reason, ocr FROM roots r
"""


def add_root(conn: Connection, path: bytes, mode: str = "events") -> Root:
    """Watch `path`; adding it again changes nothing."""
    with transaction(conn):
        conn.execute("INSERT INTO roots (path, mode) VALUES (?, ?) ON CONFLICT DO NOTHING", (path, mode))
        return _only(conn, path)


def remove_root(conn: Connection, root_id: int, *, forget: bool = False) -> None:
    """Stop watching, and remove the root's documents with all that hangs on them (see `remove_documents`)."""
    with transaction(conn):
        remove_jobs(conn, root_id)
        ids = fetch(conn, "SELECT id FROM documents WHERE root_id = ?", (root_id,))
        remove_documents(conn, [row[0] for row in ids], forget=forget)
        conn.execute("DELETE FROM roots WHERE id = ?", (root_id,))
        if forget:
            forget_changed(conn)
            forget_summaries(conn)


def leave_root(conn: Connection, root_id: int) -> None:
    """Stop watching at once: the root and its documents are no longer told of, and their jobs are gone.

    The rows themselves go with `remove_left`. The path can be added again meanwhile.
    """
    with transaction(conn):
        remove_jobs(conn, root_id)
        conn.execute(
            "UPDATE roots SET path = CAST(x'00' || id AS BLOB), mode = 'away' WHERE id = ?", (root_id,)
        )


def remove_left(conn: Connection, most: int) -> bool:
    """Remove at most so many documents of roots that were left, or the root itself; False when none is."""
    with transaction(conn):
        root_id = value(conn, f"SELECT id FROM roots r WHERE NOT {WATCHED} LIMIT 1")
        if root_id is None:
            return False
        ids = fetch(conn, "SELECT id FROM documents WHERE root_id = ? LIMIT ?", (root_id, most))
        remove_documents(conn, [row[0] for row in ids])
        if len(ids) < most:
            conn.execute("DELETE FROM roots WHERE id = ?", (root_id,))
        return True


def is_watched(conn: Connection, root_id: int) -> bool:
    """Whether there is a root with this id that was not left."""
    return bool(value(conn, f"SELECT count(*) FROM roots r WHERE id = ? AND {WATCHED}", (root_id,)))


def absorb_root(conn: Connection, inner_id: int, outer_id: int) -> None:
    """A root that lies inside another one becomes a part of it; its documents stay as they are."""
    with transaction(conn):
        conn.execute(
            "UPDATE documents SET root_id = ?, folder_id = NULL WHERE root_id = ?", (outer_id, inner_id)
        )
        for table in ("mounts", "absences"):
            conn.execute(f"UPDATE OR IGNORE {table} SET root_id = ? WHERE root_id = ?", (outer_id, inner_id))
        conn.execute("DELETE FROM roots WHERE id = ?", (inner_id,))
        place_documents(conn)


def list_roots(conn: Connection) -> list[Root]:
    """Every root, ordered by path, with its number of documents."""
    return [_root(row) for row in fetch(conn, f"{_ROOT} WHERE {WATCHED} ORDER BY path")]


def get_root(conn: Connection, root_id: int) -> Root | None:
    """The root with this id, or None."""
    rows = fetch(conn, f"{_ROOT} WHERE id = ? AND {WATCHED}", (root_id,))
    return _root(rows[0]) if rows else None


def roots_with_ocr(conn: Connection) -> set[int]:
    """Ids of the roots that ask for OCR."""
    return {row[0] for row in fetch(conn, "SELECT id FROM roots WHERE ocr = 1")}


def set_root_ocr(conn: Connection, root_id: int, *, on: bool) -> None:
    """Whether OCR reads what has no text layer there; documents stay as they are until read again."""
    with transaction(conn):
        conn.execute("UPDATE roots SET ocr = ? WHERE id = ?", (int(on), root_id))


def set_root_mode(conn: Connection, root_id: int, mode: str, reason: str | None = None) -> None:
    """`events`, `polling` or `away`, and a sentence that says why it is not the first.

    While a root is away its documents show as away; nothing is lost.
    """
    with transaction(conn):
        conn.execute("UPDATE roots SET mode = ?, reason = ? WHERE id = ?", (mode, reason, root_id))


def mounts_of(conn: Connection, root_id: int) -> dict[bytes, str]:
    """Mount point -> kind and source of the file systems the root's documents were read from."""
    return dict(fetch(conn, "SELECT path, what FROM mounts WHERE root_id = ? ORDER BY path", (root_id,)))


def absences_of(conn: Connection, root_id: int) -> dict[bytes, int]:
    """Folder -> since when its documents are away for a time only, in seconds since 1970."""
    return dict(fetch(conn, "SELECT path, since FROM absences WHERE root_id = ? ORDER BY path", (root_id,)))


def remember(
    conn: Connection, root_id: int, mounts: Mapping[bytes, str], absences: Mapping[bytes, int]
) -> None:
    """Replace what `mounts_of` and `absences_of` tell."""
    with transaction(conn):
        for table, rows in (("mounts", mounts), ("absences", absences)):
            conn.execute(f"DELETE FROM {table} WHERE root_id = ?", (root_id,))
            conn.executemany(
                f"INSERT INTO {table} VALUES (?, ?, ?)", [(root_id, *row) for row in rows.items()]
            )


def _only(conn: Connection, path: bytes) -> Root:
    rows = fetch(conn, _ROOT + " WHERE path = ?", (path,))
    if not rows:
        raise StorageError(f"{path!r} is not watched.")
    return _root(rows[0])


def _root(row: tuple[Any, ...]) -> Root:
    return Root(*row[:-1], ocr=bool(row[-1]))
