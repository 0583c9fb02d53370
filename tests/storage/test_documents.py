"""Documents: paths that point at contents, through adding, editing, moving, removing and going away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from mindscape_storage import contents, documents, roots, search, vectors
from mindscape_storage.database import Connection
from mindscape_storage.errors import StorageError
from mindscape_storage.records import ContentInfo, Status
from tests.storage.build import STAT, WIDTH, embed, lines, put, root_of


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
    documents.move_document(conn, document, b"/notes/sub/b.md", "/notes/sub/b.md", STAT, root_of(conn))
    assert search.words(conn, "words", 5) == before
    assert embed(conn) == 0
    assert documents.find_document(conn, b"/notes/a.md") is None
    assert [hit.document_id for hit in search.names(conn, "sub", 5)] == [document]


def test_a_move_onto_another_document_replaces_it(conn: Connection) -> None:
    mover = put(conn, b"/notes/a.md", lines("mover"))
    put(conn, b"/notes/b.md", lines("replaced"))
    documents.move_document(conn, mover, b"/notes/b.md", "/notes/b.md", STAT, root_of(conn))
    assert [document.id for document in documents.list_documents(conn)] == [mover]
    assert search.words(conn, "replaced", 5) == []


def test_touching_changes_nothing_but_the_stat(conn: Connection) -> None:
    document = put(conn, b"/notes/a.md", lines("words"))
    before = documents.get_document(conn, document)
    documents.touch_stat(conn, document, replace(STAT, mtime_ns=77))
    after = documents.get_document(conn, document)
    assert before is not None
    assert after == replace(before, stat=replace(STAT, mtime_ns=77))


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
    counted = documents.counts(conn, encoder)
    assert (counted["searchable"], counted["embedded"], counted["by_status"]) == (0, 0, {"away": 1})
    roots.set_root_mode(conn, root_of(conn), "events")
    assert documents.counts(conn, encoder)["by_status"] == {"ok": 1}


def test_a_root_goes_with_its_documents_and_no_others(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("mine"))
    other = roots.add_root(conn, b"/books")
    document = documents.upsert_pending(conn, other.id, b"/books/b.md", "/books/b.md", STAT)
    assert [root.documents for root in roots.list_roots(conn)] == [1, 1]
    roots.remove_root(conn, root_of(conn))
    assert [root.path for root in roots.list_roots(conn)] == [b"/books"]
    assert [found.id for found in documents.list_documents(conn)] == [document]


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
