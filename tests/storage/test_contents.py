"""Contents: staged, completed, read in slices, and collected when nothing points at them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindscape_storage import contents, documents
from mindscape_storage.database import Connection, open_writer, transaction
from mindscape_storage.errors import StorageError
from mindscape_storage.records import ContentInfo, Mark, NewPassage, Place, Section, Status
from tests.storage.build import STAT, cut, lines, put, root_of, store


def count(conn: Connection, table: str) -> int:
    return conn.execute(f"SELECT count(*) FROM {table}").get


def stage(conn: Connection, key: str = "sha256:a") -> int:
    return contents.begin_content(conn, key, "text/plain", "1", text_like=True)


def test_a_content_is_found_only_once_it_is_complete(conn: Connection) -> None:
    content_id = stage(conn)
    contents.add_passages(conn, content_id, lines("one"))
    assert contents.find_content(conn, "sha256:a", "text/plain", "1") is None
    contents.finish_content(conn, content_id, 3, ContentInfo(), [], [])
    assert contents.find_content(conn, "sha256:a", "text/plain", "1") == content_id
    assert contents.find_content(conn, "sha256:a", "text/plain", "2") is None


def test_staging_again_replaces_what_was_left_unfinished(conn: Connection) -> None:
    contents.add_passages(conn, stage(conn), lines("left over"))
    second = stage(conn)
    contents.add_passages(conn, second, lines("new"))
    contents.finish_content(conn, second, 3, ContentInfo(), [], [])
    assert (count(conn, "contents"), count(conn, "passages"), count(conn, "passages_fts_docsize")) == (
        1,
        1,
        1,
    )


def test_a_complete_content_is_not_staged_again(conn: Connection) -> None:
    contents.finish_content(conn, stage(conn), 0, ContentInfo(), [], [])
    with pytest.raises(StorageError, match="stored already"):
        stage(conn)


@pytest.mark.parametrize(
    "change",
    [{"ordinal": 2}, {"start": 4, "end": 7}, {"end": 7}, {"text": "", "end": 3}],
    ids=["ordinal", "gap", "length", "empty"],
)
def test_passages_that_do_not_tile_are_refused_together(conn: Connection, change: dict[str, Any]) -> None:
    content_id = stage(conn)
    good, second = lines("one", "two")
    with pytest.raises(StorageError, match="was expected"):
        contents.add_passages(conn, content_id, [good, replace(second, **change)])
    assert count(conn, "passages") == 0
    assert contents.add_passages(conn, content_id, [good, second]) == 2


def test_a_text_its_passages_do_not_cover_stays_unfinished(conn: Connection) -> None:
    content_id = stage(conn)
    contents.add_passages(conn, content_id, lines("one"))
    with pytest.raises(StorageError, match="3 of 4"):
        contents.finish_content(conn, content_id, 4, ContentInfo(), [], [])
    assert contents.find_content(conn, "sha256:a", "text/plain", "1") is None


def test_a_complete_content_takes_no_more_passages(conn: Connection) -> None:
    content_id = stage(conn)
    contents.finish_content(conn, content_id, 0, ContentInfo(), [], [])
    with pytest.raises(StorageError, match="not being staged"):
        contents.add_passages(conn, content_id, lines("late"))


def test_no_document_points_at_an_unfinished_content(conn: Connection) -> None:
    document = documents.upsert_pending(conn, root_of(conn), b"/notes/a", "/notes/a", STAT)
    with pytest.raises(StorageError, match="not complete"):
        documents.finish(conn, document, STAT, Status.OK, None, stage(conn))


def test_starting_again_drops_what_was_staged_or_never_pointed_at(conn: Connection) -> None:
    put(conn, b"/notes/kept.md", lines("kept"))
    contents.add_passages(conn, stage(conn, "sha256:half"), lines("half"))
    store(conn, lines("complete, but no document yet"))
    assert contents.discard_staged(conn) == 2
    assert [row[0] for row in conn.execute("SELECT text FROM passages")] == ["kept"]
    assert count(conn, "passages_fts_docsize") == 1


def test_everything_of_a_content_goes_with_its_last_document(conn: Connection) -> None:
    info = ContentInfo(title="T", metadata={"tags": ["a"]})
    first = put(conn, b"/notes/a.md", lines("same", "text"), info)
    second = put(conn, b"/notes/b.md", lines("same", "text"), info)
    documents.remove_documents(conn, [first])
    assert count(conn, "passages") == 2
    documents.remove_documents(conn, [second])
    for table in ("contents", "passages", "passages_fts_docsize", "tags", "documents", "names_fts_docsize"):
        assert count(conn, table) == 0, table


def test_readers_get_no_passage_of_a_content_without_a_document(conn: Connection) -> None:
    store(conn, lines("nobody's"))
    ids = [row[0] for row in conn.execute("SELECT id FROM passages")]
    assert contents.passages_by_id(conn, ids) == {}
    put(conn, b"/notes/a.md", lines("nobody's"))
    assert [passage.text for passage in contents.passages_by_id(conn, ids).values()] == ["nobody's"]


def test_beside_a_passage_stand_those_before_and_after_it_in_its_content(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one", "two", "three", "four"))
    put(conn, b"/notes/b.md", lines("five", "six"))
    of = {text: id_ for id_, text in conn.execute("SELECT id, text FROM passages")}

    def beside(*asked: str) -> set[str]:
        wanted = [of[text] for text in asked]
        return {one.text for one in contents.passages_by_id(conn, contents.beside(conn, wanted)).values()}

    assert beside("two") == {"one", "three"}
    assert beside("four") == {"three"}
    assert beside("one", "six") == {"two", "five"}
    assert beside() == set()
    assert contents.beside(conn, [0, 999]) == []


def test_what_a_parser_found_comes_back_as_it_was(conn: Connection) -> None:
    info = ContentInfo("T", "en", "utf-8", {"tags": ["x"], "n": 1, "deep": {"a": [1]}}, ("l1", "l2"), ("w",))
    assert contents.content_info(conn, store(conn, lines("one"), info)) == info
    with pytest.raises(StorageError, match="not in the library"):
        contents.content_info(conn, 999)


def test_warnings_are_told_of_the_contents_that_have_some(conn: Connection) -> None:
    store(conn, lines("fine"))
    warned = store(conn, lines("half"), ContentInfo(warnings=("Page 2 of 3 has no text layer.",)))
    assert contents.warnings_of(conn) == {warned: ["Page 2 of 3 has no text layer."]}


def test_an_offset_is_a_page_a_chapter_a_line_and_headings(conn: Connection) -> None:
    passages = [
        NewPassage(0, 0, 8, "a\r\nb\rc\nd", 1, ()),
        NewPassage(1, 8, 16, "\ne\n\nfgh\n", 4, ("Top", "Sub")),
    ]
    sections = [Section(0, 1, "Top", 3, 16, ("Top",)), Section(1, 2, "Sub", 8, 12, ("Top", "Sub"))]
    marks = [Mark("page", "i", 0), Mark("chapter", "One", 3), Mark("page", "ii", 7)]
    content_id = store(conn, passages, None, sections, marks)
    assert contents.locate(conn, content_id, 0) == Place("i", 1, (), None)
    assert contents.locate(conn, content_id, 2) == Place("i", 1, (), None)
    assert contents.locate(conn, content_id, 3) == Place("i", 2, ("Top",), "One")
    assert contents.locate(conn, content_id, 7) == Place("ii", 4, ("Top",), "One")
    assert contents.locate(conn, content_id, 9) == Place("ii", 5, ("Top", "Sub"), "One")
    assert contents.locate(conn, content_id, 12) == Place("ii", 7, ("Top",), "One")
    assert contents.locate(conn, content_id, 99) == Place("ii", None, (), "One")
    assert contents.sections_of(conn, content_id) == sections


def test_reading_a_long_content_slowly_keeps_no_cursor_open(conn: Connection, path: Path) -> None:
    content_id = store(conn, cut("abcdefghij" * 500, size=10))
    reading = contents.passages_of(conn, content_id)
    next(reading)
    with transaction(conn):
        conn.execute("INSERT INTO counters VALUES ('parses', 1)")
    conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert (path.parent / "library.db-wal").stat().st_size == 0
    assert sum(1 for _ in reading) == 499


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.integers(1, 9), st.integers(-5, 90), st.integers(-5, 90))
def test_any_slice_of_any_text_is_that_slice(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int, start: int, end: int
) -> None:
    conn = open_writer(tmp_path_factory.mktemp("slice") / "library.db")
    passages = cut(text, size)
    content_id = store(conn, passages)
    expected = text[max(0, start) : max(0, end)] if end > max(0, start) else ""
    assert contents.slice_text(conn, content_id, start, end) == expected
    assert "".join(passage.text for passage in contents.passages_of(conn, content_id)) == text
    inside = [p.ordinal for p in contents.passages_of(conn, content_id, max(0, start), max(0, end))]
    assert inside == [p.ordinal for p in passages if p.end > max(0, start) and p.start < max(0, end)]
    conn.close()


def test_lines_of_an_extracted_text_are_found_by_its_marks(conn: Connection) -> None:
    passages = [replace(one, line=None) for one in lines("alpha\nbeta\n", "gamma")]
    content_id = store(conn, passages, None, [], [Mark("line", "3", 0), Mark("line", "12", 6)])
    assert contents.locate(conn, content_id, 2).line == 3
    assert contents.locate(conn, content_id, 13).line == 12
    assert contents.line_span(conn, content_id, 3) == (0, 6)
    assert contents.line_span(conn, content_id, 12) == (6, 16)
    assert contents.line_span(conn, content_id, 4) is None


def test_a_mark_with_an_empty_label_ends_the_page_before_it(conn: Connection) -> None:
    marks = [Mark("page", "1", 0), Mark("line", "3", 0), Mark("page", "", 6), Mark("line", "", 6)]
    content_id = store(conn, [replace(one, line=None) for one in lines("alpha\nbeta\n")], None, [], marks)
    assert contents.locate(conn, content_id, 2) == Place("1", 3, (), None)
    assert contents.locate(conn, content_id, 7) == Place(None, None, (), None)


def test_the_marks_inside_a_passage_are_told_in_order_and_once(conn: Connection) -> None:
    marks = [Mark("page", "1", 0), Mark("page", "2", 6), Mark("line", "9", 6), Mark("line", "10", 8)]
    content_id = store(conn, lines("alpha\nbeta\n", "gamma"), None, [], [*marks, Mark("page", "3", 11)])
    first, second = contents.passages_of(conn, content_id)
    assert contents.marked_in(conn, first) == [6, 8]
    assert contents.marked_in(conn, second) == []
