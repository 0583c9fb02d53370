"""Conversations at the command line: which one a question joins, and reading, listing and deleting them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mindscape.errors import NotFound

from .conftest import ANSWER, FakeDaemon, Run

Json = dict[str, Any]
TITLE = "When does the ferry leave?"
ROW: Json = {"id": "c12", "title": TITLE, "started": 1_700_000_000, "last": 1_700_000_600, "questions": 2}


def turn(ordinal: int, **changes: Any) -> Json:
    fields: Json = {"ordinal": ordinal, "question": "When?", "rewritten": None, "answer": "At nine [1]."}
    cited: Json = {
        "n": 1,
        "path": "/library/a.md",
        "line": 4,
        "page": None,
        "quote": "Nine.",
        "current": True,
    }
    return {**fields, "current": True, "citations": [cited], **changes}


@pytest.mark.parametrize(
    ("words", "conversation", "question"),
    [
        (["When?"], "new", "When?"),
        (["--continue", "--", "When?"], "last", "When?"),
        (["When?", "--continue"], "last", "When?"),
        (["--continue", "c12", "And", "then?"], "c12", "And then?"),
        (["--continue", "And", "in", "1912?"], "last", "And in 1912?"),
        (["--continue", "And in 1912?"], "last", "And in 1912?"),
    ],
    ids=lambda one: one if isinstance(one, str) else " ".join(one),
)
def test_a_question_begins_a_conversation_or_goes_on_with_one(
    daemon: FakeDaemon, mindscape: Run, words: list[str], conversation: str, question: str
) -> None:
    daemon.gives("ask", ANSWER)
    assert mindscape("ask", *words).code == 0
    sent = daemon.asked[0][1]
    assert (sent["conversation"], sent["question"]) == (conversation, question)


def test_going_on_without_a_question_is_wrong_usage(mindscape: Run) -> None:
    for words in (["--continue"], ["--continue", "c12"]):
        ran = mindscape("ask", *words)
        assert (ran.code, ran.stdout) == (2, "")
        assert "the question is missing" in ran.stderr


def test_how_a_question_was_understood_is_said_beside_the_answer(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("ask", {**ANSWER, "rewritten": "Where was he born? (Lindqvist)"})
    ran = mindscape("ask", "--continue", "c12", "Where was he born?")
    assert "Understood as: Where was he born? (Lindqvist)\n" in ran.stderr
    assert "Understood" not in ran.stdout


def test_the_list_names_each_conversation_and_how_many_more_there_are(
    daemon: FakeDaemon, mindscape: Run
) -> None:
    listed = {"conversations": [{**ROW, "title": "\x1b[2J [red]x"}, ROW], "total": 5}
    daemon.gives("conversations.list", listed)
    assert json.loads(mindscape("chats", "--json").stdout) == listed
    ran = mindscape("chats")
    assert "c12" in ran.stdout
    assert f"{TITLE}  2 questions" in ran.stdout
    assert "\x1b" not in ran.stdout
    assert ran.stderr == "There are 3 more.\n"
    daemon.gives("conversations.list", {"conversations": [], "total": 0})
    assert mindscape("chats").code == 1


def test_a_conversation_is_read_whole_whatever_its_length(daemon: FakeDaemon, mindscape: Run) -> None:
    def page(params: Json, _stream: Any) -> Json:
        first = params.get("before", 3) - 1
        return {**ROW, "turns": [turn(first, question=f"Question {first}?")], "earlier": first}

    daemon.answers["conversations.get"] = page
    ran = mindscape("chats", "c12", "--json")
    assert [one["ordinal"] for one in json.loads(ran.stdout)["turns"]] == [0, 1, 2]
    shown = mindscape("chats", "c12").stdout
    assert shown.index("Question 0?") < shown.index("Question 2?")


def test_what_changed_or_was_forgotten_is_said(daemon: FakeDaemon, mindscape: Run) -> None:
    changed = {"n": 1, "path": "/library/a.md", "line": 4, "page": None, "quote": "Nine.", "current": False}
    gone = {**changed, "n": 2, "path": "", "quote": None}
    daemon.gives(
        "conversations.get", {**ROW, "turns": [turn(0, answer=None, citations=[changed, gone])], "earlier": 0}
    )
    shown = mindscape("chats", "c12").stdout
    assert "/library/a.md:4  changed since" in shown
    assert shown.count("Forgotten") == 2


def test_a_conversation_is_deleted_by_its_name(daemon: FakeDaemon, mindscape: Run) -> None:
    daemon.gives("conversations.delete", {"deleted": "c12"})
    assert mindscape("chats", "--delete", "c12").stdout == "c12 is deleted.\n"
    assert json.loads(mindscape("chats", "--delete", "c12", "--json").stdout) == {"deleted": "c12"}
    daemon.refuses("conversations.delete", NotFound("There is no conversation c9."))
    assert mindscape("chats", "--delete", "c9").code == 1
    assert mindscape("chats", "c12", "--delete", "c9").code == 2
