"""Opening a library, writing all or nothing, and reading one version of it."""

from __future__ import annotations

import contextlib
import stat
from pathlib import Path

import apsw
import pytest

from mindscape_storage.counters import bump, read_counters
from mindscape_storage.database import Connection, checkpoint, open_reader, open_writer, snapshot, transaction
from mindscape_storage.errors import DamagedLibrary, DiskFull, LibraryLocked, StorageError
from tests.storage.build import lines, put


def bump_and_raise(conn: Connection, by: int, error: BaseException) -> None:
    with transaction(conn):
        bump(conn, "parses", by)
        raise error


def parses(conn: Connection) -> int:
    return read_counters(conn)["parses"]


def test_files_are_readable_by_the_owner_only(conn: Connection, path: Path) -> None:
    bump(conn, "parses")
    for name in ("library.db", "library.db-wal", "library.db-shm"):
        assert stat.S_IMODE((path.parent / name).stat().st_mode) == 0o600


def test_a_library_others_could_read_becomes_private_when_opened(conn: Connection, path: Path) -> None:
    conn.close()
    path.chmod(0o644)
    open_writer(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_any_exception_takes_everything_back(conn: Connection, error: type[BaseException]) -> None:
    with pytest.raises(error):
        bump_and_raise(conn, 1, error())
    assert parses(conn) == 0
    assert not conn.in_transaction


def test_a_nested_failure_takes_everything_back_even_when_it_is_caught(conn: Connection) -> None:
    def catch_the_inner_failure() -> None:
        with transaction(conn):
            bump(conn, "parses")
            with contextlib.suppress(ValueError):
                bump_and_raise(conn, 10, ValueError("inner"))

    with pytest.raises(StorageError, match="nothing of it was kept"):
        catch_the_inner_failure()
    assert parses(conn) == 0
    with transaction(conn):
        bump(conn, "parses", 100)
    assert parses(conn) == 100


def test_an_outer_failure_takes_back_what_the_inner_part_did(conn: Connection) -> None:
    with pytest.raises(ValueError, match="outer"):
        bump_and_raise(conn, 1, ValueError("outer"))  # `bump` has a transaction of its own
    assert parses(conn) == 0


def test_the_first_error_is_seen_when_rolling_back_fails_too(conn: Connection) -> None:
    def lose_the_disk() -> None:
        with transaction(conn):
            conn.set_exec_trace(refuse)
            raise ValueError("the reason")

    with pytest.raises(ValueError, match="the reason") as caught:
        lose_the_disk()
    conn.set_exec_trace(None)
    assert caught.value.__notes__


def refuse(cursor: apsw.Cursor, sql: str, values: object) -> bool:
    raise apsw.IOError("the disk is gone")


def test_a_transaction_that_sqlite_ended_is_not_taken_for_committed(conn: Connection) -> None:
    bump(conn, "parses")
    with pytest.raises(StorageError, match="nothing of it was kept"), transaction(conn):
        conn.execute("UPDATE counters SET value = 5; ROLLBACK")
    assert parses(conn) == 1


def test_a_full_disk_is_said_and_loses_nothing_committed(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("committed"))
    conn.execute(f"PRAGMA max_page_count = {conn.pragma('page_count')}")
    with pytest.raises(DiskFull, match="no room"):
        put(conn, b"/notes/b.md", lines("x" * 200_000))
    conn.execute("PRAGMA max_page_count = 1073741823")
    assert not conn.in_transaction
    put(conn, b"/notes/b.md", lines("room again"))
    assert conn.execute("SELECT count(*) FROM contents").get == 2


def test_readers_see_the_last_commit_and_never_wait(conn: Connection, path: Path) -> None:
    reader = open_reader(path)
    reader.set_busy_timeout(0)
    with transaction(conn):
        bump(conn, "parses")
        assert parses(reader) == 0
    assert parses(reader) == 1
    reader.close()


def test_a_snapshot_stays_at_one_version_and_ends_after_an_error(conn: Connection, path: Path) -> None:
    reader = open_reader(path)

    def read_twice_and_stop() -> None:
        with snapshot(reader):
            assert parses(reader) == 0
            bump(conn, "parses")
            assert parses(reader) == 0
            raise ValueError("stop")

    with pytest.raises(ValueError, match="stop"):
        read_twice_and_stop()
    assert not reader.in_transaction
    assert parses(reader) == 1
    reader.close()


def test_a_reader_cannot_write(conn: Connection, path: Path) -> None:
    reader = open_reader(path)
    with pytest.raises(StorageError):
        bump(reader, "parses")
    reader.close()


def test_writing_inside_a_snapshot_is_refused_before_sqlite_does(conn: Connection) -> None:
    with snapshot(conn):
        parses(conn)
        with pytest.raises(StorageError, match="snapshot"):
            bump(conn, "parses")


def test_another_writer_is_told_that_the_library_is_in_use(conn: Connection, path: Path) -> None:
    other = open_writer(path)
    other.set_busy_timeout(0)
    with transaction(conn), pytest.raises(LibraryLocked, match="in use"):
        bump(other, "parses")
    other.close()


def test_the_log_is_empty_after_a_checkpoint_with_no_reader_open(conn: Connection, path: Path) -> None:
    put(conn, b"/notes/a.md", lines("one"))
    checkpoint(conn)
    assert (path.parent / "library.db-wal").stat().st_size == 0


def test_a_checkpoint_leaves_a_reader_alone(conn: Connection, path: Path) -> None:
    conn.set_busy_timeout(0)
    reader = open_reader(path)
    with snapshot(reader):
        assert parses(reader) == 0
        bump(conn, "parses")
        checkpoint(conn)
        assert parses(reader) == 0
    reader.close()


def test_a_file_that_is_no_database_is_called_damaged(path: Path) -> None:
    path.write_bytes(b"not a database at all\n" * 500)
    with pytest.raises(DamagedLibrary, match="damaged"):
        open_writer(path)


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be opened"):
        open_writer(tmp_path / "nowhere" / "library.db")


def test_a_reader_of_nothing_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="cannot be read"):
        open_reader(tmp_path / "library.db")


def test_other_sqlite_errors_come_as_they_are(conn: Connection) -> None:
    with pytest.raises(apsw.ConstraintError), transaction(conn):
        conn.execute("INSERT INTO marks VALUES (999, 0, 'page', '1', 0)")
