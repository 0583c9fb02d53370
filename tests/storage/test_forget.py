"""What is removed is really gone: edits pile up nothing, room is given back, and no byte of it is left."""

from __future__ import annotations

import random
from pathlib import Path

from mindscape_storage import contents, documents, vectors
from mindscape_storage.check import run_checks
from mindscape_storage.compact import compact, scrub
from mindscape_storage.database import Connection, checkpoint, open_writer
from tests.storage.build import ENCODER, WIDTH, cut, embed, lines, put, remove


def file_bytes(path: Path) -> bytes:
    return path.read_bytes() + Path(f"{path}-wal").read_bytes()


def failed(conn: Connection, path: Path) -> list[str]:
    return [check.message for check in run_checks(conn, path) if check.state != "ok"]


def test_a_file_edited_two_hundred_times_keeps_one_set_of_vectors(conn: Connection, path: Path) -> None:
    sizes: list[int] = []
    for number in range(200):
        if number % 9 == 4:
            remove(conn, b"/notes/a.md")
        put(
            conn,
            b"/notes/a.md",
            cut(f"edit {number}: the same words as ever, and the number {number * 7919}."),
        )
        embed(conn)
        vectors_held = conn.execute("SELECT count(*) FROM vectors").get
        assert vectors_held == conn.execute("SELECT count(*) FROM passages").get
        checkpoint(conn)
        sizes.append(path.stat().st_size)
    assert failed(conn, path) == []
    assert sizes[-1] <= 2 * sizes[20]


def test_a_library_that_shrinks_takes_the_room_of_a_fresh_one(conn: Connection, path: Path) -> None:
    def fill(conn: Connection, numbers: range) -> None:
        for number in numbers:
            words = random.Random(number).choices(range(5000), k=200)
            put(conn, b"/notes/%d.md" % number, cut(" ".join(f"word{one}" for one in words), 60))
        embed(conn)

    fill(conn, range(200))
    documents.remove_documents(conn, [number for number in range(1, 201) if number % 10], forget=True)
    assert compact(conn)
    assert not compact(conn)
    assert failed(conn, path) == []
    fresh = open_writer(path.with_name("fresh.db"))
    fill(fresh, range(9, 200, 10))
    checkpoint(fresh)
    assert path.stat().st_size <= 2 * path.with_name("fresh.db").stat().st_size
    chunks = "SELECT count(*) FROM vec_1_chunks"
    assert conn.execute(chunks).get <= 2 * fresh.execute(chunks).get
    kept = [one.id for one in contents.passages_of(conn, conn.execute("SELECT min(id) FROM contents").get)]
    assert set(vectors.vectors_of(conn, 1, kept)) == set(kept) != set()
    fresh.close()


def test_nothing_of_what_is_forgotten_stays_in_the_file(conn: Connection, path: Path) -> None:
    for number in range(200):
        held = f"secretword{number} lives." if number % 10 == 0 else f"More of word{number}."
        put(conn, b"/notes/%d.md" % number, lines(f"What stays of {number}.", held))
    embed(conn)
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    found = documents.list_documents(conn)
    found = [one for one in found if int(one.display.removeprefix("/notes/").removesuffix(".md")) % 10 == 0]
    passages = [one.id for document in found for one in contents.passages_of(conn, document.content_id or 0)]
    # Half of a vector: a whole one may be cut by the end of a page.
    halves = [row.tobytes()[: 2 * WIDTH] for row in vectors.vectors_of(conn, encoder, passages).values()]
    checkpoint(conn)
    before = file_bytes(path)
    # Words of an index share their beginnings with their neighbours, so not all of a word need be there.
    assert before.count(b"ecretword") > len(found)
    assert sum(half in before for half in halves) > len(halves) / 2
    documents.remove_documents(conn, [one.id for one in found], forget=True)
    scrub(conn)
    after = file_bytes(path)
    assert b"ecretword" not in after
    assert not any(half in after for half in halves)
    assert failed(conn, path) == []
    assert len(vectors.vectors_of(conn, encoder, range(1, 999))) == 360
