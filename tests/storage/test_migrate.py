"""Schemas of every age: made, brought up to date, or refused with a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from mindscape_storage import migrate
from mindscape_storage.database import Connection, open_reader, open_writer
from mindscape_storage.errors import NewerLibrary, NotALibrary, StorageError


def test_a_new_library_has_the_latest_version(conn: Connection) -> None:
    assert conn.pragma("user_version") == migrate.migrations()[-1][0]
    assert conn.pragma("application_id") == migrate.APPLICATION_ID


def test_migrations_are_numbered_without_gaps() -> None:
    assert [version for version, _ in migrate.migrations()] == list(range(1, len(migrate.migrations()) + 1))


def test_opening_again_changes_nothing(conn: Connection, path: Path) -> None:
    schema = conn.execute("SELECT sql FROM sqlite_schema").fetchall()
    conn.close()
    again = open_writer(path)
    assert again.execute("SELECT sql FROM sqlite_schema").fetchall() == schema
    again.close()


@pytest.mark.parametrize("opened", [open_writer, open_reader])
def test_a_newer_library_is_refused(
    conn: Connection, path: Path, opened: Callable[[Path], Connection]
) -> None:
    conn.execute("PRAGMA user_version = 999")
    conn.close()
    with pytest.raises(NewerLibrary, match=r"schema 999.*Update Mindscape"):
        opened(path)


def test_another_programs_database_is_left_alone(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE theirs (a)")
    other.close()
    with pytest.raises(NotALibrary, match="another program"):
        open_writer(path)


def test_a_reader_refuses_a_library_that_was_never_set_up(path: Path) -> None:
    apsw.Connection(str(path)).execute("CREATE TABLE a (a); DROP TABLE a").fetchall()
    with pytest.raises(StorageError, match="not been set up"):
        open_reader(path)


def test_a_failing_migration_leaves_the_version_before_it(
    conn: Connection, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.close()
    known = migrate.migrations()
    next_version = known[-1][0] + 1
    broken = [*known, (next_version, "CREATE TABLE fresh (a); INSERT INTO missing VALUES (1)")]
    monkeypatch.setattr(migrate, "migrations", lambda: broken)
    with pytest.raises(apsw.SQLError):
        open_writer(path)
    whole = [*known, (next_version, "CREATE TABLE fresh (a)")]
    monkeypatch.setattr(migrate, "migrations", lambda: whole)
    upgraded = open_writer(path)
    assert upgraded.pragma("user_version") == next_version
    upgraded.close()
