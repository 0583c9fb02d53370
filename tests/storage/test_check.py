"""Planted damage is found, named, and repaired where it can be derived again."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindscape_storage import documents, search
from mindscape_storage.check import repair, run_checks
from mindscape_storage.database import Connection, open_reader
from mindscape_storage.dump import canonical_dump
from mindscape_storage.records import Status
from tests.storage.build import STAT, cut, embed, lines, put, root_of


@pytest.fixture
def filled(conn: Connection) -> Connection:
    put(conn, b"/notes/a.md", cut("the mill grinds wheat for the whole valley"))
    put(conn, b"/notes/b.md", lines("herring", "barrels"))
    embed(conn)
    return conn


def states(conn: Connection, path: Path) -> dict[str, str]:
    return {check.name: check.state for check in run_checks(conn, path) if check.state != "ok"}


def test_an_index_that_another_connection_has_rewritten_is_not_taken_for_damaged(
    conn: Connection, path: Path
) -> None:
    root = root_of(conn)

    def name(words: str) -> None:
        for number in range(40):
            documents.upsert_pending(conn, root, b"/%d" % number, f"/{number} {words}", STAT)

    name("mill")
    reader = open_reader(path)
    assert search.names(reader, "mill", 5)
    for number in range(20):  # enough for FTS5 to merge the parts of the index
        name(f"mill number {number}")
    assert states(reader, path) == {}
    reader.close()


def test_a_sound_library_passes_every_check(filled: Connection, path: Path) -> None:
    checks = run_checks(filled, path)
    assert {check.state for check in checks} == {"ok"}
    assert len({check.name for check in checks}) == len(checks)


NAN = "x'" + "0000c07f" * 16 + "'"
ZERO = "x'" + "00000000" * 16 + "'"

DERIVED = [
    ("DELETE FROM passages_fts WHERE rowid = 2", {"words"}),
    ("INSERT INTO passages_fts (rowid, body) VALUES (99, 'ghost')", {"words"}),
    ("DELETE FROM names_fts WHERE rowid = 1", {"names"}),
    ("INSERT INTO names_fts (rowid, name) VALUES (99, 'ghost')", {"names"}),
    ("DELETE FROM vec_1 WHERE rowid = 1", {"vectors"}),
    ("DELETE FROM vectors WHERE id = 1", {"vectors", "coverage"}),
    (f"UPDATE vec_1 SET vector = {NAN} WHERE rowid = 3", {"numbers"}),
    (f"UPDATE vec_1 SET vector = {ZERO} WHERE rowid = 3", {"numbers"}),
    ("INSERT INTO vectors (encoder_id, input_hash) VALUES (1, x'00')", {"vectors"}),
    ("UPDATE contents SET documents = 5 WHERE id = 1", {"contents"}),
]


@pytest.mark.parametrize(("damage", "names"), DERIVED)
def test_derived_damage_is_found_and_repaired(
    filled: Connection, path: Path, damage: str, names: set[str]
) -> None:
    before = canonical_dump(filled)
    filled.execute(damage)
    found = run_checks(filled, path)
    assert {check.name for check in found if check.state == "fail"} == names
    assert all(check.fix for check in found if check.state != "ok")
    assert all(check.state == "ok" and check.message for check in repair(filled))
    embed(filled)
    assert states(filled, path) == {}
    assert canonical_dump(filled) == before


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE passages SET text = 'short' WHERE id = 2",
        "UPDATE passages SET start = start + 1 WHERE id = 2",
        "DELETE FROM passages WHERE id = 1",
        "UPDATE contents SET length = 7 WHERE id = 1",
    ],
)
def test_a_text_that_does_not_tile_is_read_again(filled: Connection, path: Path, damage: str) -> None:
    filled.execute(damage)
    assert states(filled, path)["passages"] == "fail"
    repair(filled)
    assert states(filled, path) == {}
    statuses = [document.status for document in documents.list_documents(filled)]
    assert statuses == [Status.PENDING, Status.OK]
    assert len(search.words(filled, "herring", 5)) == 1


def test_rows_whose_source_is_gone_are_found(filled: Connection, path: Path) -> None:
    filled.execute("PRAGMA foreign_keys = OFF; DELETE FROM contents WHERE id = 2; PRAGMA foreign_keys = ON")
    assert states(filled, path)["references"] == "fail"


def test_a_content_nobody_points_at_is_a_warning_and_is_collected(filled: Connection, path: Path) -> None:
    filled.execute(
        "INSERT INTO contents (hash, media_type, parser_version, text_like) VALUES ('h', 'm', '1', 1)"
    )
    assert states(filled, path) == {"contents": "warn"}
    repair(filled)
    assert states(filled, path) == {}


@pytest.mark.parametrize("table", ["passages_fts_data", "names_fts_data"])
def test_an_index_with_damaged_pages_is_found(filled: Connection, path: Path, table: str) -> None:
    filled.execute(f"UPDATE {table} SET block = x'ffffffff' WHERE id > 10")
    assert "fail" in states(filled, path).values()
    repair(filled)
    assert states(filled, path) == {}
    assert len(search.words(filled, "herring", 5)) == 1


def test_a_damaged_page_of_the_file_is_found(filled: Connection, path: Path) -> None:
    filled.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    page = filled.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'documents_by_key'").get
    size = filled.pragma("page_size")
    with path.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\x5a" * size)
    filled.execute("PRAGMA cache_size = 0; PRAGMA shrink_memory")
    from mindscape_storage.database import open_reader

    reader = open_reader(path)
    damaged = {check.name: check for check in run_checks(reader, path)}
    assert damaged["file"].state == "fail"
    assert "backup" in (damaged["file"].fix or "")
    reader.close()
