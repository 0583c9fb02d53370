"""Two libraries that say the same have the same dump, whatever happened to them before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindscape_storage import documents, vectors
from mindscape_storage.check import run_checks
from mindscape_storage.database import Connection, open_writer
from mindscape_storage.dump import canonical_dump
from mindscape_storage.records import ContentInfo, Mark, Section
from tests.storage.build import ENCODER, STAT, WIDTH, embed, lines, put, remove, root_of, store

NAMES = ["a.md", "b.md", "sub/a.md", "sub/c.md"]
TEXTS = [
    ["the mill", "grinds wheat"],
    ["the mill", "stands still"],
    ["grinds wheat", "the mill"],
    ["水磨坊"],
    [],
]
STEP = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.sampled_from(range(len(TEXTS)))),
    st.tuples(st.just("remove"), st.sampled_from(NAMES), st.just(0)),
    st.tuples(st.just("move"), st.sampled_from(NAMES), st.sampled_from(range(len(NAMES)))),
    st.tuples(st.just("embed"), st.just(""), st.just(0)),
)


def apply(conn: Connection, step: tuple[str, str, int], disk: dict[str, int]) -> None:
    action, name, number = step
    path = f"/notes/{name}".encode()
    if action == "put":
        put(conn, path, lines(*TEXTS[number]))
        disk[name] = number
    elif action == "remove":
        remove(conn, path)
        disk.pop(name, None)
    elif action == "embed":
        embed(conn)
    elif name in disk and NAMES[number] != name:
        found = documents.find_document(conn, path)
        assert found is not None
        to = f"/notes/{NAMES[number]}"
        documents.move_documents(conn, root_of(conn), [(found.id, to.encode(), to, STAT)])
        disk[NAMES[number]] = disk.pop(name)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEP, max_size=14))
def test_any_history_ends_as_a_fresh_build_does(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, int]]
) -> None:
    folder = tmp_path_factory.mktemp("dump")
    lived, fresh = open_writer(folder / "lived.db"), open_writer(folder / "fresh.db")
    disk: dict[str, int] = {}
    for conn in (lived, fresh):
        root_of(conn)
        vectors.encoder_id(conn, ENCODER, WIDTH)
    for step in steps:
        apply(lived, step, disk)
    for name, number in sorted(disk.items()):
        put(fresh, f"/notes/{name}".encode(), lines(*TEXTS[number]))
    for conn in (lived, fresh):
        embed(conn)
    assert canonical_dump(lived) == canonical_dump(fresh)
    assert {check.state for check in run_checks(lived, folder / "lived.db")} == {"ok"}
    lived.close()
    fresh.close()


def filled(conn: Connection) -> Connection:
    put(conn, b"/notes/a.md", lines("one", "two"), ContentInfo(title="T", metadata={"tags": ["x"]}))
    put(conn, b"/notes/\xff.md", lines("three"))
    embed(conn)
    return conn


def test_a_dump_is_json(conn: Connection) -> None:
    dump = canonical_dump(filled(conn))
    assert json.loads(json.dumps(dump)) == dump


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE documents SET status = 'empty', reason = 'It is empty.' WHERE id = 1",
        "UPDATE documents SET size = 99 WHERE id = 1",
        "UPDATE passages SET text = 'uno' WHERE id = 1",
        "UPDATE contents SET title = 'Other' WHERE id = 1",
        "UPDATE contents SET embedded_by = NULL WHERE id = 1",
        "DELETE FROM passages_fts WHERE rowid = 1",
        "DELETE FROM names_fts WHERE rowid = 1",
        "INSERT INTO passages_fts (rowid, body) VALUES (99, 'ghost')",
        "DELETE FROM passages_fts WHERE rowid = 1; INSERT INTO passages_fts (rowid, body) VALUES (1, 'uno')",
        "DELETE FROM vectors WHERE id = 1",
        "DELETE FROM vec_1 WHERE rowid = 1",
        "DELETE FROM tags",
        "INSERT INTO marks VALUES (1, 0, 'page', '1', 0)",
        "UPDATE roots SET mode = 'away'",
    ],
)
def test_a_dump_shows_every_difference(conn: Connection, change: str) -> None:
    before = canonical_dump(filled(conn))
    conn.execute(change)
    assert canonical_dump(conn) != before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE documents SET mtime_ns = 5, ctime_ns = 6, inode = 7, indexed_at = 8",
        "INSERT INTO counters VALUES ('parses', 5)",
        "INSERT INTO memo VALUES ('k', 'vector', x'00', 5)",
        "INSERT INTO jobs (kind, key, priority) VALUES ('index', 'a', 1)",
    ],
)
def test_a_dump_leaves_out_times_and_work(conn: Connection, change: str) -> None:
    before = canonical_dump(filled(conn))
    conn.execute(change)
    assert canonical_dump(conn) == before


def test_sections_and_marks_are_part_of_it(conn: Connection, tmp_path: Path) -> None:
    def dumped(name: str, section: list[Section], mark: list[Mark]) -> dict[str, Any]:
        other = open_writer(tmp_path / name)
        store(other, lines("text"), None, section, mark)
        dump = canonical_dump(other)
        other.close()
        return dump

    section, mark = Section(0, 1, "H", 0, 4, ("H",)), Mark("page", "1", 0)
    dumps = [dumped("1.db", [section], [mark]), dumped("2.db", [], [mark]), dumped("3.db", [section], [])]
    assert dumps[0] != dumps[1] != dumps[2] != dumps[0]
