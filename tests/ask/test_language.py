"""Words as they are compared: folding, stems, unspaced scripts, numbers and names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.language import (
    all_terms,
    is_unspaced,
    keywords,
    names,
    numbers,
    parts,
    stem,
    terms,
)


@pytest.mark.parametrize(
    "forms",
    [
        ("sign", "signs", "signed", "signing"),
        ("make", "makes", "making"),
        ("stop", "stops", "stopped", "stopping"),
        ("study", "studies", "studied", "studying"),
        ("ferry", "ferries"),
        ("box", "boxes"),
        ("tell", "tells", "telling"),
        ("glass", "glasses"),
    ],
)
def test_the_forms_of_a_word_share_a_stem(forms: tuple[str, ...]) -> None:
    assert len({stem(form) for form in forms}) == 1


@pytest.mark.parametrize(("one", "other"), [("house", "horse"), ("sing", "sin"), ("bus", "but"), ("C", "CC")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one.lower()) != stem(other.lower())


def test_question_words_are_not_content() -> None:
    assert terms("What did the Café do, and who wasn't there?") == ["caf"]


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("What did the captain think about the ferry's bell?", "captain ferry's bell?"),
        ("to be or not to be", "to be or not to be"),
        ('Who said "let it be" in the pub?', 'said "let it be" pub?'),
        ("Which rules has the IT department?", "rules IT department?"),
        ("WHO IS IT", "WHO IS IT"),
        ("mean of a list in a file", "mean list file"),
        ("渡轮几点离开？", "渡轮几点离开？"),
        ('an "unclosed', "unclosed"),
    ],
)
def test_words_that_only_ask_are_not_looked_for(question: str, wanted: str) -> None:
    assert keywords(question) == wanted


@given(st.text(max_size=60))
def test_there_is_always_something_to_look_for(question: str) -> None:
    assert bool(keywords(question)) == bool(question)
    assert set(terms(question)) <= set(all_terms(keywords(question)))


def test_a_question_of_common_words_still_has_terms_to_compare() -> None:
    assert terms("Who are you?") == []
    assert all_terms("Who are you?") != []


def test_unspaced_scripts_give_pairs_without_the_question_words() -> None:
    assert terms("锡罐里有什么钥匙？") == ["锡罐", "罐里", "钥匙"]
    assert is_unspaced("锡罐里有什么 key?")
    assert not is_unspaced("the word 锡 in a sentence")


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        (
            "How much is the deposit for the room, and how long is the walk to the pier?",
            ["How much is the deposit for the room", "how long is the walk to the pier"],
        ),
        ("面粉星期几卖？渡轮几点离开？", ["面粉星期几卖", "渡轮几点离开"]),
        ("When was the mill built and who built it?", ["When was the mill built and who built it?"]),
        ("What did Anna and Bo say about the mill?", ["What did Anna and Bo say about the mill?"]),
        ("", [""]),
    ],
)
def test_the_things_a_question_asks_are_told_apart(question: str, asked: list[str]) -> None:
    assert parts(question) == asked


def test_numbers_are_compared_by_value() -> None:
    assert numbers("1,000 and １０００ and 007") == {"1000", "7"}
    assert numbers("at 7:40 for 12.50") == {"7:40", "12.50"}


def test_names_are_capitals_inside_a_sentence() -> None:
    assert names("Where did Anna meet Mr. Brandt in March?") == {"anna", "mr", "brandt", "march"}
    assert names("Where is it? There.") == set()


@given(st.text(max_size=200))
def test_any_text_can_be_compared(text: str) -> None:
    assert set(terms(text)) <= set(all_terms(text)) or is_unspaced(text)
    numbers(text)
    names(text)
