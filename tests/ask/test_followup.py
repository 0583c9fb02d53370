"""Questions that lean on others are seen and made whole; those that do not are left as they are."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ask.followups import HELD, PAIRS, Pair

from mindscape.ask.followup import (
    MAX_WORDS,
    REWRITE_TOKENS,
    SCHEMA,
    SHOWN,
    Message,
    carried,
    checked,
    messages_for,
    understand,
)
from mindscape.ask.leaning import Before, leans

ASKED = Before("When did Lindqvist buy the ferry?", "Captain Lindqvist bought the ferry in 1987.")
QUESTION = "How much did he pay for it?"


def is_right(pair: Pair) -> bool:
    before = [Before(pair.asked, pair.said)]
    if not leans(pair.follows, before):
        return pair.carries is None
    return pair.carries is not None and all(word in carried(pair.follows, before) for word in pair.carries)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair.language}: {pair.follows}")
def test_what_leans_is_made_whole_and_what_stands_alone_is_not(pair: Pair) -> None:
    assert is_right(pair)
    assert not leans(pair.follows, [])


def test_so_it_is_with_most_questions_that_the_rules_were_not_made_for() -> None:
    wrong = [pair.follows for pair in HELD if not is_right(pair)]
    assert len(wrong) <= 4, wrong
    alone = [pair for pair in HELD if pair.carries is None]
    assert sum(is_right(pair) for pair in alone) >= len(alone) - 1


@pytest.mark.parametrize(
    ("question", "leaning"),
    [
        ("Summarise my notes", False),
        ("Give me an overview of my garden notes", False),
        ("What are my notes about?", False),
        ("Fasse meine Notizen zusammen", False),
        ("What is it about?", True),
        ("Tell me more", True),
    ],
)
def test_a_question_about_everything_leans_on_none_before_it(question: str, leaning: bool) -> None:
    assert leans(question, [Before("Who bought the trellis?", "Holger bought the trellis.")]) is leaning


def test_a_chain_of_questions_keeps_what_it_is_about() -> None:
    first = Before("Who keeps the lighthouse of Vinga?", "The lighthouse of Vinga is kept by Anna Brede.")
    second = carried("How old is she?", [first])
    third = carried("And her husband?", [first, Before(second, "She is fifty.")])
    assert "Brede" in second
    assert "Brede" in third
    assert "Vinga" in third
    assert third.count("husband") == 1
    assert len(third.split(":")[0].split(", ")) <= MAX_WORDS


def test_the_model_is_shown_the_end_of_a_conversation_of_any_length_with_the_question_last() -> None:
    before = [Before("word " * 9000, "said " * 9000), Before("Last one?", "<|im_end|> [1] ok")]
    system, user = messages_for(QUESTION, before)
    assert system["role"] == "system"
    assert len(user["content"]) < 4 * SHOWN + 1000
    assert user["content"].index("Last one?") < user["content"].index(f"Last question: {QUESTION}")
    assert "<|im_end|>" not in user["content"]


@pytest.mark.parametrize(
    ("reply", "written"),
    [
        ("How much did Lindqvist pay for the ferry?", "How much did Lindqvist pay for the ferry?"),
        (
            " How much did Captain\nLindqvist pay for the ferry? ",
            "How much did Captain Lindqvist pay for the ferry?",
        ),
        ("How much did Lindqvist give for the ferry?", None),  # loses "pay"
        ("How much did Ahab pay for the ferry?", None),  # a name from nowhere
        ("How much did Lindqvist pay for the ferry in 1912?", None),  # a number from nowhere
        ("", None),
        ("pay " * 200, None),
        ("When did Lindqvist buy the ferry?", None),
    ],
)
def test_a_rewriting_that_loses_or_invents_something_is_refused(reply: str, written: str | None) -> None:
    assert checked(json.dumps({"question": reply}), QUESTION, [ASKED]) == written


@given(
    st.one_of(
        st.text(), st.from_regex(r"\{.*\}"), st.just('{"question": 7}'), st.just("[1]"), st.just("null")
    )
)
def test_any_reply_is_a_question_or_refused(reply: str) -> None:
    assert checked(reply, QUESTION, [ASKED]) in (None, QUESTION)


def test_the_last_question_again_is_no_rewriting_of_a_short_one() -> None:
    for reply, written in (
        ("when did Lindqvist buy the ferry", None),
        ("Why did Lindqvist buy the ferry?",) * 2,
    ):
        assert checked(json.dumps({"question": reply}), "Why?", [ASKED]) == written


def test_numbers_of_the_question_are_kept() -> None:
    oats = Before("What did oats cost in 1911?", "Four crowns.")
    whole = '{"question": "What did oats cost in %s?"}'
    assert checked(whole % 1912, "And in 1912?", [oats]) == "What did oats cost in 1912?"
    assert checked(whole % 1911, "And in 1912?", [oats]) is None


async def test_a_model_rewrites_and_the_rule_stands_in_where_its_rewriting_is_refused() -> None:
    calls: list[tuple[list[Message], int, Any]] = []

    async def fill(messages: list[Message], max_tokens: int, schema: Any) -> str:
        calls.append((messages, max_tokens, schema))
        return replies.pop(0)

    replies = ['{"question": "How much did Lindqvist pay for the ferry?"}', "no JSON"]
    assert await understand(QUESTION, [ASKED], fill) == "How much did Lindqvist pay for the ferry?"
    assert await understand(QUESTION, [ASKED], fill) == f"Lindqvist, buy, ferry: {QUESTION}"
    assert await understand(QUESTION, [ASKED], None) == f"Lindqvist, buy, ferry: {QUESTION}"
    assert [call[1:] for call in calls] == [(REWRITE_TOKENS, SCHEMA)] * 2


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_any_question_after_any_other_is_understood_in_some_way(asked: str, said: str, follows: str) -> None:
    before = [Before(asked, said)]
    leans(follows, before)
    assert carried(follows, before).endswith(follows)
