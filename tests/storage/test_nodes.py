"""Nodes go with what they stand over; summaries stay aside for a while, or are forgotten at once if asked."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mindscape_storage import documents, folders, memo, nodes, refined, roots, summaries
from mindscape_storage.check import repair, run_checks
from mindscape_storage.compact import scrub
from mindscape_storage.database import Connection
from mindscape_storage.dump import canonical_dump
from mindscape_storage.records import ContentInfo, FolderNode, Node, Summary
from tests.storage.build import STAT, VERSION, lines, put, remove, root_of, summarise


@pytest.fixture
def grown(conn: Connection) -> Connection:
    put(conn, b"/notes/a.md", lines("mill", "wheel"))
    put(conn, b"/notes/sub/deep/b.md", lines("herring"), ContentInfo(title="Fish"))
    put(conn, b"/notes/sub/c.md", lines("barrel"))
    assert summarise(conn) == 7
    return conn


def aside(conn: Connection) -> int:
    return len(conn.execute("SELECT 1 FROM unused_summaries").fetchall())


def texts(conn: Connection) -> set[str]:
    return {row[4 - 1] for row in canonical_dump(conn)["summaries"].values()}


def failed(conn: Connection, path: Path) -> dict[str, str]:
    return {check.name: check.message for check in run_checks(conn, path) if check.state != "ok"}


def test_the_library_stands_over_its_roots_folders_and_documents(grown: Connection, path: Path) -> None:
    top = folders.folder_nodes_of(grown, folders.LIBRARY)
    assert [(node.level, node.first_name, node.last_name) for node in top] == [(1, b"/notes", b"/notes")]
    assert summaries.texts_by_key(grown, [top[0].key])[top[0].key] == (
        "/notes=a.md=mill|wheel/sub=c.md=barrel/deep=b.md=herring"
    )
    assert folders.not_summarised(grown) == set()
    assert folders.folders_behind(grown) == 0
    assert failed(grown, path) == {}


def test_a_document_counts_as_summarised_with_all_that_stands_above_it(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("mill"))
    put(conn, b"/notes/sub/b.md", lines("herring"))
    put(conn, b"/notes/empty.md", [])
    assert (len(folders.not_summarised(conn)), folders.documents_behind(conn)) == (3, 2)
    summarise(conn)
    assert folders.not_summarised(conn) == set()
    put(conn, b"/notes/sub/b.md", lines("cod"))
    assert (len(folders.not_summarised(conn)), folders.documents_behind(conn)) == (1, 1)
    put(conn, b"/notes/a.md", lines("wheel"))
    assert (len(folders.not_summarised(conn)), folders.documents_behind(conn)) == (3, 2)
    roots.set_root_mode(conn, root_of(conn), "away", "Its disk is not there.")
    assert (len(folders.not_summarised(conn)), folders.documents_behind(conn)) == (0, 0)


def test_what_returns_costs_no_new_summary(grown: Connection, path: Path) -> None:
    before = canonical_dump(grown)
    remove(grown, b"/notes/sub/deep/b.md")
    assert summarise(grown) == 3
    assert "herring" not in str(canonical_dump(grown)["summaries"])
    assert aside(grown) == 5  # the document's and its folder's, and those of what is above
    put(grown, b"/notes/sub/deep/b.md", lines("herring"), ContentInfo(title="Fish"))
    assert summarise(grown) == 0
    assert canonical_dump(grown) == before
    assert failed(grown, path) == {}


def test_a_folder_that_moves_keeps_its_summaries(grown: Connection) -> None:
    moved = documents.find_document(grown, b"/notes/sub/deep/b.md")
    assert moved is not None
    documents.move_documents(
        grown, root_of(grown), [(moved.id, b"/notes/other/b.md", "/notes/other/b.md", STAT)]
    )
    assert summarise(grown) == 3  # of sub, of the root and of the library
    held = {row[1] for row in canonical_dump(grown)["folders"]}
    assert held == {"", "/notes", "/notes/sub", "/notes/other"}


def test_folders_that_hold_nothing_any_more_go(grown: Connection) -> None:
    for name in (b"/notes/a.md", b"/notes/sub/c.md", b"/notes/sub/deep/b.md"):
        remove(grown, name)
    summarise(grown)
    assert [row[0] for row in grown.execute("SELECT id FROM folders")] == [folders.LIBRARY]
    assert canonical_dump(grown)["folders"] == []


def test_copies_have_one_tree_and_lose_it_with_the_last(grown: Connection, path: Path) -> None:
    put(grown, b"/notes/copy.md", lines("mill", "wheel"))
    assert summarise(grown) == 2
    remove(grown, b"/notes/a.md")
    summarise(grown)
    assert "mill|wheel" in texts(grown)
    remove(grown, b"/notes/copy.md")
    summarise(grown)
    assert not any("mill" in text for text in texts(grown))
    assert failed(grown, path) == {}


def test_a_root_that_is_taken_in_by_another_keeps_its_documents_places(conn: Connection, path: Path) -> None:
    inner = roots.add_root(conn, b"/notes/sub")
    document = documents.upsert_pending(conn, inner.id, b"/notes/sub/x/a.md", "/notes/sub/x/a.md", STAT)
    put(conn, b"/notes/b.md", lines("mill"))
    summarise(conn)
    roots.absorb_root(conn, inner.id, root_of(conn))
    put(conn, b"/notes/sub/x/a.md", lines("herring"))
    summarise(conn)
    assert {row[1] for row in canonical_dump(conn)["folders"]} == {"", "/notes", "/notes/sub", "/notes/sub/x"}
    assert failed(conn, path) == {}
    assert documents.get_document(conn, document) is not None


def test_a_file_that_is_watched_stands_in_the_library_itself(conn: Connection) -> None:
    root = roots.add_root(conn, b"/elsewhere/one.md")
    documents.upsert_pending(conn, root.id, root.path, "/elsewhere/one.md", STAT)
    rows = conn.execute("SELECT folder_id FROM documents").fetchall()
    assert rows == [(folders.LIBRARY,)]


def test_documents_from_before_get_their_folders(grown: Connection) -> None:
    before = canonical_dump(grown)
    grown.execute("UPDATE documents SET folder_id = NULL")
    assert folders.place_documents(grown) == 3
    summarise(grown)
    assert canonical_dump(grown) == before


def test_trees_by_other_rules_are_made_again_and_serve_until_then(grown: Connection) -> None:
    nodes.outdate(grown, VERSION)
    assert nodes.without_tree(grown, 10, 10**6) == []
    nodes.outdate(grown, "2")
    contents = nodes.without_tree(grown, 10, 10**6)
    assert len(contents) == 3
    assert all(nodes.top_of(grown, content) for content in contents)
    assert len(folders.not_summarised(grown)) == 3


def test_summaries_that_could_not_be_made_are_tried_again(grown: Connection, path: Path) -> None:
    before = canonical_dump(grown)
    assert nodes.retry_failed(grown) == 0
    top = folders.folder_nodes_of(grown, folders.LIBRARY)[0].key
    for key in (top, summaries.digest_of("content herring")):
        grown.execute(
            "UPDATE summaries SET made_by = 'nothing', text = '', digest = x'' WHERE key = ?", (key,)
        )
    assert nodes.retry_failed(grown) == 2
    assert summarise(grown) == 2
    assert canonical_dump(grown) == before
    assert failed(grown, path) == {}


def test_few_contents_are_taken_at_a_time_but_always_one(conn: Connection) -> None:
    for number in range(5):
        put(conn, b"/notes/%d.md" % number, lines(f"{number}", "mill", "wheel"))
    assert len(nodes.without_tree(conn, 10, 7)) == 2
    assert len(nodes.without_tree(conn, 3, 10**6)) == 3
    assert len(nodes.without_tree(conn, 10, 1)) == 1


def test_nothing_is_stored_for_what_is_gone_or_has_changed(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("mill"))
    (content,) = nodes.without_tree(conn, 10, 10**6)
    node = Node(1, 0, 0, 1, 0, 4, b"key")
    assert not nodes.set_tree(conn, content, VERSION, [node])
    summaries.add_summaries(conn, [Summary(b"key", "mill", 1, "extractive")])
    (folder,) = folders.changed_folders(conn, 10)
    assert nodes.set_tree(conn, content, VERSION, [node])
    assert not folders.is_unchanged(conn, folder)
    above = FolderNode(1, b"a.md", b"a.md", b"key")
    assert not folders.set_folder_tree(conn, folder, [above])
    (folder,) = folders.changed_folders(conn, 10)
    assert not folders.set_folder_tree(conn, folder, [FolderNode(1, b"a.md", b"a.md", b"other")])
    assert folders.set_folder_tree(conn, folder, [above])
    remove(conn, b"/notes/a.md")
    assert not nodes.set_tree(conn, content, VERSION, [node])
    assert nodes.top_of(conn, content) is None


def test_unused_summaries_go_after_a_week_or_when_they_are_many(grown: Connection, path: Path) -> None:
    remove(grown, b"/notes/sub/deep/b.md")
    summarise(grown)
    now, held = int(time.time()), aside(grown)
    assert summaries.purge_summaries(grown, now) == 0
    assert summaries.purge_summaries(grown, now, max_bytes=100) > 0
    assert 0 < aside(grown) < held
    summaries.purge_summaries(grown, now + memo.KEPT_SECONDS + 1)
    assert aside(grown) == 0
    assert failed(grown, path) == {}


def test_nothing_of_what_is_forgotten_stays_in_any_summary(grown: Connection, path: Path) -> None:
    found = documents.find_document(grown, b"/notes/sub/deep/b.md")
    assert found is not None
    documents.remove_documents(grown, [found.id], forget=True)
    scrub(grown)
    assert b"herring" not in path.read_bytes() + Path(f"{path}-wal").read_bytes()
    assert aside(grown) == 0
    summarise(grown)
    assert failed(grown, path) == {}
    assert texts(grown) > {"a.md=mill|wheel/sub=c.md=barrel"}


def test_nothing_of_a_root_that_is_forgotten_stays_in_the_librarys_summary(
    grown: Connection, path: Path
) -> None:
    other = roots.add_root(grown, b"/other")
    document = documents.upsert_pending(grown, other.id, b"/other/d.md", "/other/d.md", STAT)
    documents.remove_documents(grown, [document])
    roots.remove_root(grown, root_of(grown), forget=True)
    scrub(grown)
    left = path.read_bytes() + Path(f"{path}-wal").read_bytes()
    assert b"herring" not in left
    assert b"barrel" not in left
    summarise(grown)
    assert failed(grown, path) == {}


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE summaries SET text = 'other' WHERE id = 1",
        "UPDATE summaries SET made_by = 'a model' WHERE id = 1",
        "UPDATE contents SET tree = '2' WHERE id = 1",
        "UPDATE nodes SET summary = 2 WHERE content_id = 1",
        "DELETE FROM folder_nodes WHERE folder_id = 0",
        "UPDATE folder_nodes SET last_name = x'00' WHERE folder_id = 0",
    ],
)
def test_a_dump_shows_every_difference_in_the_mindscape(grown: Connection, change: str) -> None:
    before = canonical_dump(grown)
    grown.execute(change)
    assert canonical_dump(grown) != before


def test_a_dump_leaves_out_what_is_kept_aside_and_when_it_was_made(grown: Connection) -> None:
    before = canonical_dump(grown)
    grown.execute("UPDATE summaries SET made_at = 5")
    summaries.add_summaries(grown, [Summary(b"unused", "unused", 1, "extractive")])
    assert canonical_dump(grown) == before


DAMAGE = [
    ("DELETE FROM nodes WHERE content_id = 1", {"tree"}),
    ("UPDATE nodes SET end_child = 1 WHERE content_id = 1", {"tree"}),
    ("UPDATE nodes SET end = 3 WHERE content_id = 1", {"tree"}),
    ("UPDATE nodes SET first_child = 1, start = 4 WHERE content_id = 1", {"tree"}),
    (
        """
        INSERT INTO nodes SELECT content_id, 1, 1, 2, 2, 9, 9, summary, NULL FROM nodes WHERE content_id = 1
        """,
        {"tree"},
    ),
    ("DELETE FROM folder_nodes WHERE folder_id = 1", {"folders"}),
    ("UPDATE documents SET folder_id = NULL WHERE id = 1; UPDATE folders SET changes = 0", {"folders"}),
    ("UPDATE summaries SET text = 'other' WHERE id = 1", {"summaries"}),
    ("UPDATE summaries SET made_by = 'nothing' WHERE id = 1", {"summaries"}),
    ("DELETE FROM unused_summaries", {"summaries"}),
    ("INSERT INTO unused_summaries VALUES (1, 5)", {"summaries"}),
]


@pytest.mark.parametrize(("damage", "names"), DAMAGE)
def test_damage_is_found_and_made_good(grown: Connection, path: Path, damage: str, names: set[str]) -> None:
    before = canonical_dump(grown)
    put(grown, b"/notes/a.md", lines("x"))
    put(grown, b"/notes/a.md", lines("mill", "wheel"))
    summaries.add_summaries(grown, [Summary(b"unused", "unused", 1, "extractive")])
    summarise(grown)
    conn_id = grown.execute("SELECT content_id FROM nodes WHERE end_child = 2").fetchall()[0][0]
    grown.execute(damage.replace("content_id = 1", f"content_id = {conn_id}"))
    assert set(failed(grown, path)) >= names
    repair(grown)
    summarise(grown)
    assert failed(grown, path) == {}
    assert canonical_dump(grown) == before


def test_documents_that_are_away_are_not_counted_as_behind_the_model(grown: Connection) -> None:
    refined.use(grown, "a model, as it is asked")
    assert refined.not_refined(grown)
    grown.execute("UPDATE roots SET mode = 'away'")
    assert refined.not_refined(grown) == set()
