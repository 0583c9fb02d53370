"""What is summarised in one call is bounded, and nothing is stored of what is gone when it comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.storage.build import lines, put

from mindscape.ingest import growth
from mindscape.ingest.summarise import child_leaves, in_order, label
from mindscape_storage import documents, folders, nodes, summaries
from mindscape_storage.counters import read_counters
from mindscape_storage.database import Connection, open_writer
from mindscape_storage.records import Child, ContentInfo


@pytest.fixture
def conn(tmp_path: Path) -> Iterator[Connection]:
    connection = open_writer(tmp_path / "library.db")
    yield connection
    connection.close()


def held(conn: Connection) -> int:
    return len(conn.execute("SELECT 1 FROM summaries").fetchall())


def grow(conn: Connection, growing: list[growth.Growth]) -> int:
    """All that is missing, said in few words; returns in how many calls."""
    calls = 0
    while waiting := growth.missing(conn, growing):
        while asked := growth.take(conn, waiting):
            growth.store(conn, asked, [f"{len(one.children)} of {one.children[0][:9]}" for one in asked])
            calls += 1
    return calls


def test_one_call_is_given_a_bounded_number_of_nodes_and_of_characters(conn: Connection) -> None:
    put(conn, b"/notes/long.md", lines(*(f"{number} " * 3_000 for number in range(400))))
    for number in range(300):
        put(conn, b"/notes/%d.md" % number, lines(f"note {number}"))
    growing = growth.next_contents(conn)
    assert len(growing) == growth.CONTENTS
    waiting = growth.missing(conn, growing)
    while asked := growth.take(conn, waiting):
        assert len(asked) <= growth.BATCH_NODES
        sizes = [sum(map(len, one.children)) for one in asked]
        assert sum(sizes[:-1]) < growth.BATCH_CHARACTERS
        assert all(len(one.children) <= 12 for one in asked)


def test_copies_of_what_is_said_are_summarised_once(conn: Connection) -> None:
    for number in range(3):
        info = ContentInfo(title=f"Copy {number}")
        put(conn, b"/notes/%d.md" % number, lines("mill", "wheel"), info)
    growing = growth.next_contents(conn)
    assert len(growing) == 3
    assert len(growth.missing(conn, growing)) == 1


def test_what_is_forgotten_while_it_is_summarised_is_not_stored(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("herring", "barrels"))
    growing = growth.next_contents(conn)
    asked = growth.take(conn, growth.missing(conn, growing))
    documents.remove_documents(conn, [document], forget=True)
    assert growth.store(conn, asked, ["herring in barrels"]) == 0
    assert held(conn) == 0
    assert not growing[0].finish(conn)
    assert not growth.missing(conn, growing)
    assert read_counters(conn)["extractive"] == 0


def test_a_folder_that_changes_while_it_is_summarised_is_looked_at_again(conn: Connection) -> None:
    for number in range(20):
        put(conn, b"/notes/%d.md" % number, lines(f"note {number}"))
    growing = growth.next_contents(conn)
    grow(conn, growing)
    assert all(one.finish(conn) for one in growing)
    (folder,) = growth.next_folders(conn)
    asked = growth.take(conn, growth.missing(conn, [folder]))
    put(conn, b"/notes/3.md", lines("another note"))
    before = held(conn)
    assert growth.store(conn, asked, ["notes"] * len(asked)) == 0
    assert held(conn) == before
    assert not folder.finish(conn)
    for chosen in (growth.next_contents, growth.next_folders, growth.next_folders):
        growing = chosen(conn)
        grow(conn, growing)
        assert all(one.finish(conn) for one in growing)
    assert folders.folders_behind(conn) == 0


def test_a_summary_that_goes_between_two_levels_is_made_again(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines(*(f"passage {number}" for number in range(60))))
    growing = growth.next_contents(conn)
    waiting = growth.missing(conn, growing)
    while asked := growth.take(conn, waiting):
        growth.store(conn, asked, [one.children[0] for one in asked])
    waiting = growth.missing(conn, growing)
    assert {one.level for _, one in waiting} == {2}
    summaries.forget_summaries(conn)
    assert growth.take(conn, waiting) == []
    assert {one.level for _, one in growth.missing(conn, growing)} == {1}
    grow(conn, growing)
    assert growing[0].finish(conn)


def test_a_summary_that_cannot_be_made_holds_nothing_up(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("herring"))
    growing = growth.next_contents(conn)
    asked = growth.take(conn, growth.missing(conn, growing))
    growth.store(conn, asked, [None])
    assert growing[0].finish(conn)
    assert conn.execute("SELECT text, made_by FROM summaries").fetchall() == [("", "nothing")]
    assert nodes.retry_failed(conn) == 1
    assert len(growth.next_contents(conn)) == 1


def child(name: bytes, title: str | None = None, *, is_folder: bool = False) -> Child:
    return Child(name, title, b"key", b"digest", is_folder)


def test_children_are_ordered_by_composed_names_and_called_by_title_or_name() -> None:
    names = [b"z.md", "u\u0308ber.md".encode(), "\u00fcber.md".encode(), b"a\xff.md", b"b.md"]
    ordered = [one.name for one in in_order(map(child, names))]
    assert ordered == [b"a\xff.md", b"b.md", b"z.md", "u\u0308ber.md".encode(), "\u00fcber.md".encode()]
    ranks = [leaf.rank for leaf in child_leaves(in_order(map(child, names)))]
    assert ranks[3] == ranks[4]
    assert label(child(b"a.b.md")) == "a.b"
    assert label(child(b"a.b", is_folder=True)) == "a.b"
    assert label(child(b"/home/me/notes", is_folder=True)) == "notes"
    assert label(child(b"/", is_folder=True)) == "/"
    assert label(child(b"x.md", "A  title\nof two lines")) == "A title of two lines"
    assert label(child(b"\xff.md")) == "\ufffd"
