"""Search: any text is a query, every script is found, scopes filter inside."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindscape_storage import search, vectors
from mindscape_storage.contents import add_passages, begin_content, passages_by_id
from mindscape_storage.database import Connection, open_writer, transaction
from mindscape_storage.errors import BadVector
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import ContentInfo, Scope
from tests.storage.build import ENCODER, WIDTH, embed, embedded, lines, put

NOTES = {
    "agents": "A multi-agent plan under rule 38.101 was tried.",
    "languages": "C++ and C# run beside .NET, node.js and AT&T's code.",
    "names": "Don't take O'Brien's rope before nine o’clock.",
    "operators": "AND, OR and NOT are words; NEAR the edge it is not allowed.",
    "paths": "See /etc/fstab or C:\\Temp\\x.txt, or write to user@host.org.",
    "options": "Run with --error-on-warnings -v key=value col:val.",
    "quotes": 'He wrote "dry, then salt" (twice).',
    "umlauts": "Grüße aus dem naïve café №5.",
    "wild": "Delete *.txt, foo* and ^caret {brace} [bracket].",
    "numbers": "On 2024-05-01 at 10:30, v1.2.3-rc.1 cost 1,234.56.",
    "chinese": "山谷里的水磨坊每天清晨开始转动，工人们把麦子倒进石槽。gen-itgc后端用5G。",
    "japanese": "東京タワーは高いです。カメラを買う。",
    "korean": "한국어를 배우는 학생이 많다.",
    "thai": "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
    "hyphens": "This is an exam-\nple of soft\u00adware in an eﬃcient ﬁle.",
    "inflected": "The millers were grinding wheat for two brothers.",
}
FOUND = [
    ("multi-agent", "agents"),
    ("38.101", "agents"),
    ("C++", "languages"),
    (".NET", "languages"),
    ("node.js", "languages"),
    ("AT&T", "languages"),
    ("don't", "names"),
    ("O'Brien's rope", "names"),
    ("o'clock", "names"),
    ("what does NOT allowed mean", "operators"),
    ("NEAR the edge", "operators"),
    ("/etc/fstab", "paths"),
    ("C:\\Temp\\x.txt", "paths"),
    ("user@host.org", "paths"),
    ('"--error-on-warnings"', "options"),
    ("key=value", "options"),
    ("col:val", "options"),
    ('"dry, then salt"', "quotes"),
    ('"unbalanced dry then', "quotes"),
    ("(twice", "quotes"),
    ("GRÜSSE", "umlauts"),
    ("grusse", "umlauts"),
    ("naive cafe", "umlauts"),
    ("№5", "umlauts"),
    ("foo*", "wild"),
    ("{brace} [bracket]", "wild"),
    ("2024-05-01", "numbers"),
    ("v1.2.3-rc.1", "numbers"),
    ("水磨坊", "chinese"),
    ("水磨", "chinese"),
    ("磨", "chinese"),
    ("工人在哪里", "chinese"),
    ("itgc", "chinese"),
    ("5G", "chinese"),
    ("タワー", "japanese"),
    ("東京", "japanese"),
    ("ｶﾒﾗ", "japanese"),
    ("한국어", "korean"),
    ("학생", "korean"),
    ("ไทย", "thai"),
    ("example", "hyphens"),
    ("software", "hyphens"),
    ("efficient file", "hyphens"),
    ("grind brother", "inflected"),
]
ODD = ["*", '"', "'", "()", "-", "   ", "", "\0", "%_", "'; DROP TABLE passages;--", "😀", "NEAR(", "\ud800"]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    conn = open_writer(tmp_path_factory.mktemp("notes") / "library.db")
    for name, text in NOTES.items():
        put(conn, f"/notes/{name}.md".encode(), lines(text))
    yield conn
    conn.close()


def texts(conn: Connection, hits: list[search.Hit]) -> list[str]:
    found = passages_by_id(conn, [hit.passage_id for hit in hits])
    return [found[hit.passage_id].text for hit in hits]


@pytest.mark.parametrize(("query", "name"), FOUND)
def test_words_find_the_note_they_are_in(notes: Connection, query: str, name: str) -> None:
    assert texts(notes, search.words(notes, query, 3))[0] == NOTES[name]


@pytest.mark.parametrize("query", [*ODD, "word " * 50_000])
def test_no_query_is_an_error(notes: Connection, query: str) -> None:
    for allowed in (None, Scope(prefix=b"/notes")):
        assert isinstance(search.words(notes, query, 3, allowed), list)
    assert isinstance(search.names(notes, query, 3), list)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(codec=None)))
def test_any_text_at_all_is_a_query(notes: Connection, query: str) -> None:
    search.words(notes, query, 3)
    search.names(notes, query, 3)


def test_better_matches_come_first(notes: Connection) -> None:
    hits = search.words(notes, "millers grinding rope", 5)
    assert texts(notes, hits)[:2] == [NOTES["inflected"], NOTES["names"]]
    assert hits[0].score > hits[1].score > 0


def test_a_heading_is_searched_too(conn: Connection) -> None:
    content = begin_content(conn, "sha256:h", "text/markdown", "1", text_like=True)
    (passage,) = lines("Turn it twice.")
    with transaction(conn):
        add_passages(conn, content, [passage.__class__(0, 0, 14, passage.text, 1, ("Opening the sluice",))])
    assert conn.execute("SELECT count(*) FROM passages_fts WHERE passages_fts MATCH 'sluice'").get == 1


def test_a_staged_content_is_not_found(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("sluice gate"))
    content = begin_content(conn, "sha256:s", "text/plain", "1", text_like=True)
    add_passages(conn, content, lines(*(f"sluice number {n}" for n in range(200))))
    assert texts(conn, search.words(conn, "sluice", 3)) == ["sluice gate"]


def test_very_common_words_are_dropped_when_others_remain(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "COMMON_FROM", 10)
    put(conn, b"/notes/a.md", lines(*(f"the mill {n}" for n in range(30)), "the sluice"))
    assert texts(conn, search.words(conn, "the sluice", 99)) == ["the sluice"]
    assert len(search.words(conn, "the mill", 99)) == 31
    assert len(search.words(conn, "the", 99)) == 31


def scoped(conn: Connection) -> dict[str, int]:
    tagged = ContentInfo(metadata={"tags": ["Cooking", "#Café"], "date": "2021-06-01"})
    return {
        "a": put(conn, b"/notes/a.md", lines("herring in brine", "herring again"), tagged),
        "b": put(conn, b"/notes/b/c.md", lines("herring barrels")),
        "c": put(conn, b"/notes/b.md", lines("herring prices")),
        "d": put(conn, b"/notes/b0.md", lines("herring nets")),
    }


SCOPES = [
    (Scope(prefix=b"/notes/b"), {"herring barrels"}),
    (Scope(prefix=b"/notes/b/"), {"herring barrels"}),
    (Scope(prefix=b"/notes/b.md"), {"herring prices"}),
    (Scope(prefix=b"/elsewhere"), set()),
    (Scope(tag="cooking"), {"herring in brine", "herring again"}),
    (Scope(tag="CAFÉ"), {"herring in brine", "herring again"}),
    (Scope(since="2022-01-01"), {"herring barrels", "herring prices", "herring nets"}),
    (Scope(since="2021-06-01"), {"herring in brine", "herring again", "herring barrels"}),
    (Scope(prefix=b"/notes/a.md", upto=16), {"herring in brine"}),
    (Scope(), {"herring in brine", "herring again", "herring barrels"}),
]


@pytest.mark.parametrize("share", [0.0, 1.0], ids=["filtering the whole", "searching inside"])
@pytest.mark.parametrize(("scope", "expected"), SCOPES)
def test_both_legs_keep_to_a_scope(
    conn: Connection, monkeypatch: pytest.MonkeyPatch, scope: Scope, expected: set[str], share: float
) -> None:
    monkeypatch.setattr(search, "WIDE", share)
    scoped(conn)
    embed(conn)
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    query = embedded(["herring"])[0]
    packed = PackedVectors(encoder, WIDTH)
    for hits in (
        search.words(conn, "herring", 9, scope),
        search.nearest(conn, encoder, query, 9, scope),
        search.nearest(conn, encoder, query, 9, scope, packed),
    ):
        found = set(texts(conn, hits))
        assert found >= expected
        assert scope in (Scope(), Scope(since="2021-06-01")) or found == expected


def test_a_document_is_a_scope(conn: Connection) -> None:
    ids = scoped(conn)
    assert texts(conn, search.words(conn, "herring", 9, Scope(document_id=ids["c"]))) == ["herring prices"]


def test_a_narrow_scope_far_from_the_query_still_gives_all_it_has(conn: Connection) -> None:
    put(conn, b"/reports/a.md", lines(*(f"report {n}" for n in range(300))))
    put(conn, b"/books/b.md", lines("one", "two", "three"))
    embed(conn)
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    query = embedded(["report 7"])[0]
    for packed in (None, PackedVectors(encoder, WIDTH)):
        hits = search.nearest(conn, encoder, query, 5, Scope(prefix=b"/books"), packed)
        assert sorted(texts(conn, hits)) == ["one", "three", "two"]


def test_passages_that_share_a_vector_are_all_found(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("same", "other"))
    put(conn, b"/notes/b.md", lines("first", "same"))
    assert embed(conn) == 3
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    hits = search.nearest(conn, encoder, embedded(["same"])[0], 2)
    assert texts(conn, hits) == ["same", "same"]
    assert [round(hit.score, 5) for hit in hits] == [1, 1]
    assert hits[0].passage_id < hits[1].passage_id


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0])
def test_a_query_vector_that_is_no_direction_is_refused(conn: Connection, bad: float) -> None:
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    with pytest.raises(BadVector):
        search.nearest(conn, encoder, np.full(WIDTH, bad, np.float32), 5)


def test_names_weigh_titles_over_file_names_over_folders(conn: Connection) -> None:
    title = put(conn, b"/notes/x.md", lines("1"), ContentInfo(title="The herring year"))
    name = put(conn, b"/notes/herring.md", lines("2"))
    folder = put(conn, b"/notes/herring/y.md", lines("3"))
    assert [hit.document_id for hit in search.names(conn, "Herring", 9)] == [title, name, folder]
    assert [hit.document_id for hit in search.names(conn, "Herring", 1)] == [title]
