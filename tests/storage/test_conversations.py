"""Conversations outlive what they were made from, say so, and give up what is forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindscape_storage import contents, documents
from mindscape_storage.check import repair, run_checks
from mindscape_storage.compact import scrub
from mindscape_storage.conversations import (
    MAX_QUESTION,
    MAX_TITLE,
    Cited,
    NewTurn,
    conversations,
    count_conversations,
    delete_conversation,
    get_conversation,
    save_turn,
    turns_of,
)
from mindscape_storage.database import Connection, open_writer
from mindscape_storage.dump import canonical_dump
from tests.storage.build import STAT, lines, put, remove, root_of

FERRY = "The ferry leaves at seven."
BREAD = "The dough rests twelve hours."


def quoting(conn: Connection, path: bytes, quote: str, **other: object) -> NewTurn:
    """A turn whose answer quotes the first passage of a document that holds the quote."""
    found = documents.find_document(conn, path)
    assert found is not None
    passage = next(one for one in contents.passages_of(conn, found.content_id or 0) if quote in one.text)
    start = passage.start + passage.text.index(quote)
    cited = Cited(
        1, passage.id, start, start + len(quote), found.display, None, 1, ("Ferry",), quote, supported=True
    )
    turn = NewTurn("When?", None, f"{quote} [1]", True, "passages", "quotes", None, [cited], [passage.id])
    return NewTurn(**{**{name: getattr(turn, name) for name in turn.__slots__}, **other})  # type: ignore[arg-type]


def plain(question: str = "Why?", answer: str = "Nobody says.") -> NewTurn:
    return NewTurn(question, None, answer, False, "passages", "none", None, [], [])


def test_a_conversation_is_saved_listed_read_and_deleted(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("# Notes\n", FERRY))
    first = save_turn(conn, None, plain("What  is\nthis? " + "x" * 300), 100)
    second = save_turn(conn, None, quoting(conn, b"/notes/a.md", FERRY), 200)
    assert first is not None
    assert save_turn(conn, first, plain(), 300) == first
    listed = conversations(conn, 10)
    assert [(one.id, one.started, one.last, one.turns) for one in listed] == [
        (first, 100, 300, 2),
        (second, 200, 200, 1),
    ]
    assert listed[0].title.startswith("What is this? xxx")
    assert len(listed[0].title) <= MAX_TITLE
    assert conversations(conn, 1) == listed[:1]
    turn = turns_of(conn, second or 0, 5)[0]
    citation = turn.citations[0]
    assert (turn.current, citation.current, citation.quote, citation.start) == (True, True, FERRY, 8)
    assert delete_conversation(conn, first)
    assert not delete_conversation(conn, first)
    assert (get_conversation(conn, first), count_conversations(conn)) == (None, 1)
    assert save_turn(conn, first, plain(), 400) is None


def test_a_long_conversation_is_read_from_its_end_and_page_by_page(conn: Connection) -> None:
    talk = None
    for number in range(500):
        talk = save_turn(conn, talk, plain(f"Question {number}?"), number)
    assert talk is not None
    assert [one.question for one in turns_of(conn, talk, 2)] == ["Question 498?", "Question 499?"]
    assert [one.ordinal for one in turns_of(conn, talk, 3, before=498)] == [495, 496, 497]
    assert turns_of(conn, talk, 3, before=0) == []


def test_a_question_of_any_length_takes_bounded_room(conn: Connection) -> None:
    talk = save_turn(conn, None, plain("word " * 20_000), 1)
    assert len(turns_of(conn, talk or 0, 1)[0].question) == MAX_QUESTION


def test_a_citation_follows_its_passage_through_edits_and_moves(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("One. ", FERRY))
    talk = save_turn(conn, None, quoting(conn, b"/notes/a.md", FERRY), 1) or 0
    document = put(conn, b"/notes/a.md", lines("A longer beginning. ", FERRY, " And an end."))
    moved = turns_of(conn, talk, 1)[0].citations[0]
    assert (moved.current, moved.start, moved.path) == (True, 20, "/notes/a.md")
    assert contents.passages_by_id(conn, [moved.passage_id or 0])[moved.passage_id or 0].text == FERRY
    documents.move_documents(conn, root_of(conn), [(document, b"/notes/b.md", "/notes/b.md", STAT)])
    assert turns_of(conn, talk, 1)[0].citations[0].path == "/notes/b.md"


def test_a_citation_whose_passage_changed_or_went_is_not_current(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines(FERRY))
    talk = save_turn(conn, None, quoting(conn, b"/notes/a.md", FERRY), 1) or 0
    put(conn, b"/notes/a.md", lines("The ferry leaves at nine."))
    turn = turns_of(conn, talk, 1)[0]
    assert (turn.current, turn.citations[0].current, turn.citations[0].passage_id) == (False, False, None)
    assert turn.citations[0].quote == FERRY
    put(conn, b"/notes/a.md", lines(FERRY))
    assert turns_of(conn, talk, 1)[0].current
    remove(conn, b"/notes/a.md")
    assert not turns_of(conn, talk, 1)[0].citations[0].current


def test_a_passage_that_went_before_its_answer_was_saved_is_not_current(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines(FERRY))
    late = quoting(conn, b"/notes/a.md", FERRY)
    remove(conn, b"/notes/a.md")
    turn = turns_of(conn, save_turn(conn, None, late, 1) or 0, 1)[0]
    assert (turn.current, turn.citations[0].current) == (False, False)


def test_what_is_forgotten_is_in_no_answer_quote_or_question_made_from_it(
    conn: Connection, path: Path
) -> None:
    gone = put(conn, b"/notes/ferry.md", lines("Captain Secretname steers."))
    put(conn, b"/notes/bread.md", lines(BREAD))
    talk = save_turn(conn, None, quoting(conn, b"/notes/ferry.md", "Captain Secretname"), 1)
    save_turn(conn, talk, plain(), 2)
    leaning = quoting(
        conn, b"/notes/bread.md", BREAD, rewritten="Where is Secretname?", answer=f"Secretname: {BREAD} [1]"
    )
    save_turn(conn, talk, leaning, 3)
    save_turn(conn, talk, quoting(conn, b"/notes/bread.md", BREAD), 4)
    wide = save_turn(conn, None, quoting(conn, b"/notes/bread.md", BREAD, answer="Secretname", wide=True), 5)
    documents.remove_documents(conn, [gone], forget=True)
    scrub(conn)
    first, second, third, fourth = turns_of(conn, talk or 0, 9)
    assert (first.answer, first.current, first.citations[0].quote) == (None, False, None)
    assert second.answer == "Nobody says."
    assert (third.answer, third.rewritten, third.citations[0].quote) == (None, None, BREAD)
    assert (fourth.answer, fourth.current) == (f"{BREAD} [1]", True)
    assert turns_of(conn, wide or 0, 1)[0].answer is None
    held = path.read_bytes() + Path(f"{path}-wal").read_bytes()
    assert b"Secretname" not in held
    assert b"ferry.md" not in held


def test_a_text_that_another_document_has_too_is_not_withheld(conn: Connection) -> None:
    gone = put(conn, b"/notes/a.md", lines(FERRY))
    put(conn, b"/notes/copy.md", lines(FERRY))
    talk = save_turn(conn, None, quoting(conn, b"/notes/a.md", FERRY), 1) or 0
    documents.remove_documents(conn, [gone], forget=True)
    citation = turns_of(conn, talk, 1)[0].citations[0]
    assert (citation.current, citation.path, citation.quote) == (True, "/notes/copy.md", FERRY)


def test_conversations_are_no_part_of_what_is_derived_and_a_repair_leaves_them(
    conn: Connection, path: Path
) -> None:
    put(conn, b"/notes/a.md", lines(FERRY))
    before = canonical_dump(conn)
    talk = save_turn(conn, None, quoting(conn, b"/notes/a.md", FERRY), 1) or 0
    assert canonical_dump(conn) == before
    saved = turns_of(conn, talk, 9)
    repair(conn)
    assert turns_of(conn, talk, 9) == saved
    assert [one.message for one in run_checks(conn, path) if one.state != "ok"] == []


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8))
def test_no_forgotten_word_survives_any_chain_of_questions(
    tmp_path_factory: pytest.TempPathFactory, chain: list[tuple[bool, bool]]
) -> None:
    conn = open_writer(tmp_path_factory.mktemp("chain") / "library.db")
    gone = put(conn, b"/notes/secret.md", lines("Secretname steers."))
    put(conn, b"/notes/bread.md", lines(BREAD))
    talk, taken = None, False
    for secret, leans in chain:
        name = b"/notes/secret.md" if secret else b"/notes/bread.md"
        quote = "Secretname" if secret else BREAD
        # A question that leans repeats what the answer right before it said.
        taken = secret or (leans and taken)
        said = f"{quote} {'Secretname' if taken else ''}"
        rewritten = f"About {said}?" if leans and talk is not None else None
        taken = taken if rewritten or secret else False
        talk = save_turn(
            conn, talk, quoting(conn, name, quote, answer=said if taken else quote, rewritten=rewritten), 1
        )
    documents.remove_documents(conn, [gone], forget=True)
    assert "Secretname" not in repr(turns_of(conn, talk or 0, 99))
    conn.close()
