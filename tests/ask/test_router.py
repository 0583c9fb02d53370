"""How a question is answered is decided by how it is asked, and never by what is not there."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ask.routes import HELD, SEEN

from mindscape.ask.router import AGENT, GLOBAL, PASSAGES, RECORDS, route

ALL = {PASSAGES, AGENT, RECORDS, GLOBAL}


@pytest.mark.parametrize(("mode", "question"), SEEN)
def test_a_question_goes_where_it_is_answered(mode: str, question: str) -> None:
    assert route(question, ALL).mode == mode


def test_so_do_nine_in_ten_of_those_that_the_rules_were_not_made_for() -> None:
    wrong = [question for mode, question in HELD if route(question, ALL).mode != mode]
    assert len(wrong) <= len(HELD) // 10, wrong


@pytest.mark.parametrize(("mode", "question"), [*SEEN, *HELD])
def test_what_is_not_there_is_never_chosen(mode: str, question: str) -> None:
    for there in ({PASSAGES}, {PASSAGES, GLOBAL}, ALL - {mode} | {PASSAGES}):
        found = route(question, there)
        assert found.mode in there
        assert found.why


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Summarise chapter 3", "chapter 3"),
        ("what is this library about?", ""),
        ("What are all my notes about?", ""),
        ("What is The Silt Book about?", "The Silt Book"),
        ("Fasse bitte das ganze Buch zusammen", ""),
        ("Zusammenfassung von Kapitel 2", "Kapitel 2"),
        ("¿De qué trata el capítulo 4?", "el capítulo 4"),
        ("总结一下第三章", "第三章"),
        ("这本小说主要讲了什么？", ""),
    ],
)
def test_what_is_named_is_told_from_what_is_meant_by_all(question: str, about: str) -> None:
    found = route(question, ALL)
    assert (found.mode, found.about) == (GLOBAL, about)


@given(st.text(max_size=300))
def test_any_text_has_a_way(text: str) -> None:
    assert route(text, ALL).mode in ALL


def test_no_pasted_text_takes_long_to_be_looked_at() -> None:
    for text in ("what is " * 250, "the a of the " * 150, "summarise " * 200, "of the man who " * 130):
        began = time.process_time()
        route(text[:2000], ALL)
        assert time.process_time() - began < 2
