"""Documents: paths that point at contents, through adding, editing, moving, removing and going away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mindscape_storage import contents, documents, jobs, roots, search, vectors
from mindscape_storage.check import run_checks
from mindscape_storage.database import Connection
from mindscape_storage.dump import canonical_dump
from mindscape_storage.errors import StorageError
from mindscape_storage.records import ContentInfo, Status
from tests.storage.build import STAT, WIDTH, embed, lines, put, root_of


def move(conn: Connection, *moves: tuple[int, bytes]) -> None:
    documents.move_documents(
        conn, root_of(conn), [(number, path, path.decode(), STAT) for number, path in moves]
    )


def test_an_edit_serves_the_old_text_until_the_new_is_ready(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("old words"))
    again = documents.upsert_pending(
        conn, root_of(conn), b"/notes/a.md", "/notes/a.md", replace(STAT, size=9)
    )
    assert again == document
    found = documents.get_document(conn, document)
    assert found is not None
    assert (found.status, found.tier, found.stat.size) == (Status.PENDING, None, 9)
    assert len(search.words(conn, "old", 5)) == 1
    put(conn, b"/notes/a.md", lines("new words"))
    assert search.words(conn, "old", 5) == []
    assert len(search.words(conn, "new", 5)) == 1


def test_a_file_that_cannot_be_read_any_more_stops_being_served(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    documents.finish(conn, document, STAT, Status.UNREADABLE, "Permission denied: check the file.", None)
    assert search.words(conn, "words", 5) == []
    found = documents.get_document(conn, document)
    assert found is not None
    assert (found.status, found.reason) == (Status.UNREADABLE, "Permission denied: check the file.")


def test_every_status_but_pending_and_ok_needs_a_sentence(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    with pytest.raises(ValueError, match="needs a sentence"):
        documents.finish(conn, document, STAT, Status.EMPTY, None, None)


def test_finishing_a_document_that_was_removed_meanwhile_is_said(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    documents.remove_documents(conn, [document])
    with pytest.raises(StorageError, match="was removed"):
        documents.finish(conn, document, STAT, Status.OK, None, None)


def test_a_move_keeps_the_document_its_passages_and_vectors(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    embed(conn)
    before = search.words(conn, "words", 5)
    move(conn, (document, b"/notes/sub/b.md"))
    assert search.words(conn, "words", 5) == before
    assert embed(conn) == 0
    assert documents.find_document(conn, b"/notes/a.md") is None
    assert [hit.document_id for hit in search.names(conn, "sub", 5)] == [document]


def test_a_move_onto_another_document_replaces_it(conn: Connection) -> None:
    mover = put(conn, b"/notes/a.md", lines("mover"))
    put(conn, b"/notes/b.md", lines("replaced"))
    move(conn, (mover, b"/notes/b.md"))
    assert [document.id for document in documents.list_documents(conn)] == [mover]
    assert search.words(conn, "replaced", 5) == []


def test_documents_that_swap_their_paths_or_move_in_a_chain_keep_their_texts(conn: Connection) -> None:
    names = (b"/notes/a.md", b"/notes/b.md", b"/notes/c.md")
    first, second, third = (put(conn, name, lines(name[7:8].decode() * 5)) for name in names)
    move(conn, (first, names[1]), (second, names[0]), (third, b"/notes/d.md"))
    move(conn, (second, names[1]), (first, names[2]))
    held = {document.path: document.id for document in documents.list_documents(conn)}
    assert held == {names[1]: second, names[2]: first, b"/notes/d.md": third}
    assert [len(search.words(conn, word, 5)) for word in ("aaaaa", "bbbbb", "ccccc")] == [1, 1, 1]


def test_a_document_that_is_away_keeps_its_text_and_says_so(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    documents.set_away(conn, [document], "Its disk is not there.")
    found = documents.get_document(conn, document)
    assert found is not None
    assert (found.status, found.reason, found.tier) == (Status.AWAY, "Its disk is not there.", None)
    assert documents.counts(conn, None)["by_status"] == {"away": 1}
    assert len(search.words(conn, "words", 5)) == 1


def test_documents_read_longest_ago_come_first_within_the_bounds(conn: Connection) -> None:
    ids = [put(conn, b"/notes/%d.md" % number, lines(f"note {number}")) for number in range(4)]
    for number, document in enumerate(ids):
        conn.execute("UPDATE documents SET indexed_at = ? WHERE id = ?", (10 - number, document))
    documents.set_away(conn, [ids[3]], "Its disk is not there.")
    pipe = documents.upsert_pending(conn, root_of(conn), b"/notes/pipe", "/notes/pipe", STAT)
    documents.finish(conn, pipe, STAT, Status.UNSUPPORTED, "It is a named pipe.", None)
    assert documents.longest_unread(conn, 9, 1 << 30) == [ids[2], ids[1], ids[0]]
    assert documents.longest_unread(conn, 2, 1 << 30) == [ids[2], ids[1]]
    assert documents.longest_unread(conn, 9, 2 * STAT.size) == [ids[2], ids[1]]
    assert documents.longest_unread(conn, 9, 0) == [ids[2]]


def test_paths_that_are_not_utf8_are_found_by_their_bytes(conn: Connection) -> None:
    odd = b"/notes/caf\xe9.md"
    document = put(conn, odd, lines("words"))
    found = documents.find_document(conn, odd)
    assert found is not None
    assert (found.id, found.path, found.display) == (document, odd, "/notes/caf\ufffd.md")
    assert [d.id for d in documents.find_by_display(conn, "/notes/caf\udce9.md")] == [document]


def test_a_path_is_found_whole_composed_otherwise_or_by_its_end(conn: Connection) -> None:
    composed = put(conn, "/notes/cafe\u0301.md".encode(), lines("one"))
    other = put(conn, b"/notes/sub/x.md", lines("two"))
    third = put(conn, b"/notes/x.md", lines("three"))

    def ids(text: str) -> list[int]:
        return [document.id for document in documents.find_by_display(conn, text)]

    assert ids("/notes/caf\u00e9.md") == [composed]
    assert ids("/notes/x.md") == [third]
    assert ids("x.md") == [other, third]
    assert ids("sub/x.md") == [other]
    assert ids("ub/x.md") == []
    assert ids("") == []
    assert ids("\ud800") == []


def test_known_files_are_what_a_scan_compares_with(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    assert documents.known_files(conn, root_of(conn)) == {b"/notes/a.md": (document, STAT, Status.OK)}


def test_counts_add_up_and_follow_the_encoder(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one"))
    put(conn, b"/notes/b.md", lines("two"))
    put(conn, b"/notes/empty.md", [])
    failed = documents.upsert_pending(conn, root_of(conn), b"/notes/c.pdf", "/notes/c.pdf", STAT)
    documents.finish(conn, failed, STAT, Status.PROTECTED, "It needs a password.", None)
    documents.upsert_pending(conn, root_of(conn), b"/notes/d.md", "/notes/d.md", STAT)
    by_status = {"ok": 3, "pending": 1, "protected": 1}
    expected = {"total": 5, "searchable": 3, "embedded": 0, "by_status": by_status}
    assert documents.counts(conn, None) == expected
    encoder = vectors.encoder_id(conn, "fake-encoder", WIDTH)
    assert documents.counts(conn, encoder) == expected | {"embedded": 1}
    embed(conn)
    assert documents.counts(conn, encoder) == expected | {"embedded": 3}
    other = vectors.encoder_id(conn, "another", WIDTH)
    assert documents.counts(conn, other) == expected | {"embedded": 1}


def test_documents_of_a_root_that_is_away_are_kept_and_shown_as_away(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    encoder = vectors.encoder_id(conn, "fake-encoder", WIDTH)
    roots.set_root_mode(conn, root_of(conn), "away")
    found = documents.get_document(conn, document)
    assert found is not None
    assert found.status is Status.AWAY
    assert found.reason
    roots.set_root_mode(conn, root_of(conn), "away", "Its disk is not there.")
    found = documents.get_document(conn, document)
    assert found is not None
    assert found.reason == "Its disk is not there."
    assert roots.list_roots(conn)[0].reason == "Its disk is not there."
    counted = documents.counts(conn, encoder)
    assert (counted["searchable"], counted["embedded"], counted["by_status"]) == (0, 0, {"away": 1})
    roots.set_root_mode(conn, root_of(conn), "events")
    assert documents.counts(conn, encoder)["by_status"] == {"ok": 1}


def test_what_is_remembered_of_a_roots_mounts_goes_over_to_the_root_that_takes_it_in(
    conn: Connection,
) -> None:
    inner, outer = roots.add_root(conn, b"/a/b").id, roots.add_root(conn, b"/a").id
    roots.remember(conn, inner, {b"/a/b/nas": "nfs4 nas:/"}, {b"/a/b/x": 7})
    roots.absorb_root(conn, inner, outer)
    assert roots.mounts_of(conn, outer) == {b"/a/b/nas": "nfs4 nas:/"}
    assert roots.absences_of(conn, outer) == {b"/a/b/x": 7}
    roots.remove_root(conn, outer)
    assert roots.mounts_of(conn, outer) == {}


def test_a_root_goes_with_its_documents_and_no_others(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("mine"))
    other = roots.add_root(conn, b"/books")
    document = documents.upsert_pending(conn, other.id, b"/books/b.md", "/books/b.md", STAT)
    assert [root.documents for root in roots.list_roots(conn)] == [1, 1]
    roots.remove_root(conn, root_of(conn))
    assert [root.path for root in roots.list_roots(conn)] == [b"/books"]
    assert [found.id for found in documents.list_documents(conn)] == [document]


@pytest.mark.parametrize("forget", [False, True])
def test_the_jobs_of_a_root_go_with_it_and_no_others(conn: Connection, *, forget: bool) -> None:
    mine = put(conn, b"/notes/a.md", lines("mine"))
    other = roots.add_root(conn, b"/books")
    kept = documents.upsert_pending(conn, other.id, b"/books/b.md", "/books/b.md", STAT)
    for document in (mine, kept):
        jobs.enqueue(conn, "index", str(document), 1)
    if forget:
        roots.remove_root(conn, root_of(conn), forget=True)
    else:
        roots.leave_root(conn, root_of(conn))
    assert jobs.job_counts(conn)["queued"] == 1
    job = jobs.claim(conn, ["index"])
    assert job is not None
    assert job.key == str(kept)


def test_a_root_that_was_left_is_told_of_no_more_and_goes_a_part_at_a_time(conn: Connection) -> None:
    for number in range(5):
        put(conn, b"/notes/%d.md" % number, lines(f"herring {number}"))
    books = roots.add_root(conn, b"/books").id
    assert len(search.words(conn, "herring", 9)) == 5
    left = root_of(conn)
    roots.leave_root(conn, left)
    roots.leave_root(conn, roots.add_root(conn, b"/left/too").id)
    assert [root.path for root in roots.list_roots(conn)] == [b"/books"]
    assert roots.get_root(conn, left) is None
    assert (roots.is_watched(conn, left), roots.is_watched(conn, books)) == (False, True)
    assert documents.list_documents(conn) == []
    assert documents.counts(conn, None)["total"] == 0
    assert search.words(conn, "herring", 9) == []
    assert search.names(conn, "3", 9) == []
    parts = 0
    while roots.remove_left(conn, 2):
        parts += 1
    assert parts == 4
    assert canonical_dump(conn)["contents"] == []
    assert {check.state for check in run_checks(conn, Path(conn.filename))} == {"ok"}


def test_a_root_can_be_added_again_while_what_was_left_of_it_goes(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("mine"))
    put(conn, b"/notes/b.md", lines("not there any more"))
    roots.leave_root(conn, root_of(conn))
    again = roots.add_root(conn, b"/notes").id
    assert documents.upsert_pending(conn, again, b"/notes/a.md", "/notes/a.md", STAT) == document
    while roots.remove_left(conn, 2):
        pass
    assert [(found.root_id, found.path) for found in documents.list_documents(conn)] == [
        (again, b"/notes/a.md")
    ]


def test_a_tier_is_told_once_the_status_is_final(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"), ContentInfo(title="A title"))
    found = documents.get_document(conn, document)
    assert found is not None
    assert (found.tier, found.title, found.passages) == ("searchable", "A title", 1)
    embed(conn)
    found = documents.get_document(conn, document)
    assert found is not None
    assert found.tier == "embedded"


def test_copies_share_one_content(conn: Connection, path: Path) -> None:
    put(conn, b"/notes/a.md", lines("same"))
    second = put(conn, b"/notes/b.md", lines("same"))
    found = documents.get_document(conn, second)
    assert found is not None
    assert found.content_id is not None
    shared = documents.documents_of_content(conn, found.content_id)
    assert [document.path for document in shared] == [b"/notes/a.md", b"/notes/b.md"]
    assert len(search.words(conn, "same", 5)) == 1
    assert contents.slice_text(conn, found.content_id, 0, 99) == "same"
