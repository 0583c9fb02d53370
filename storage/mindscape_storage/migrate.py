"""Numbered SQL files bring a library from any earlier schema to this one, each in its own transaction."""

from __future__ import annotations

from importlib import resources

import apsw

from mindscape_storage.errors import NewerLibrary, NotALibrary, StorageError

APPLICATION_ID = 0x4D494E44
"""`MIND`: tells our files from other databases."""


def migrations() -> list[tuple[int, str]]:
    """(version, SQL) of every migration in order; `0007_add_x.sql` leads to version 7."""
    folder = resources.files("mindscape_storage") / "migrations"
    files = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return [(int(name[:4]), (folder / name).read_text("utf-8")) for name in files]


def refuse_newer(conn: apsw.Connection) -> int:
    """The schema version of the library. Raises NewerLibrary when this program is too old for it."""
    version, known = int(conn.pragma("user_version")), migrations()[-1][0]
    if version > known:
        raise NewerLibrary(
            f"The library {conn.filename} has schema {version}, this Mindscape knows {known}. "
            "Update Mindscape, or restore a backup made before the update."
        )
    return version


def refuse_other(conn: apsw.Connection) -> None:
    """For readers, which cannot migrate. Raises StorageError when the schema is not exactly ours."""
    if refuse_newer(conn) < migrations()[-1][0]:
        raise StorageError(f"The library {conn.filename} has not been set up yet; start Mindscape first.")


def migrate(conn: apsw.Connection) -> None:
    """Apply what is missing; a crash in between leaves the last whole version.

    Raises NewerLibrary, or NotALibrary when the file is a database of something else.
    """
    version = refuse_newer(conn)
    if version == 0 and conn.execute("SELECT count(*) FROM sqlite_schema").get:
        raise NotALibrary(f"{conn.filename} is a database of another program; choose another path.")
    for target, sql in migrations():
        if target > version:
            _apply(conn, target, sql)


def _apply(conn: apsw.Connection, target: int, sql: str) -> None:
    conn.execute("BEGIN IMMEDIATE")
    try:
        conn.execute(sql)
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {target}")
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise
