"""Does the passage say it: claims, markers, sentences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.check import Claim, best_sentence, claims, is_supported
from mindscape.ask.spans import trimmed

PASSAGE = (
    "The ferry leaves Norrby at 7:40. Captain Lindqvist bought it in 1987 for 12,000 crowns. It is blue."
)


def test_a_claim_in_the_words_of_the_passage_is_supported() -> None:
    assert is_supported("Lindqvist bought the ferry in 1987.", PASSAGE)
    assert is_supported("It cost 12000 crowns.", PASSAGE, "What did the ferry cost?")


def test_a_number_or_a_name_that_is_not_there_is_not_supported() -> None:
    assert not is_supported("Lindqvist bought the ferry in 1988.", PASSAGE)
    assert not is_supported("The ferry leaves for Malmo at 7:40.", PASSAGE)


def test_repeating_the_question_proves_nothing_new() -> None:
    assert not is_supported("The ferry was painted by an enemy.", PASSAGE, "Who painted the ferry?")


def test_a_claim_without_words_is_not_supported() -> None:
    assert not is_supported("...", PASSAGE)
    assert not is_supported("", PASSAGE)


def test_the_best_sentence_is_the_one_that_holds_the_claim() -> None:
    start, end = best_sentence("He paid 12,000 crowns for it", PASSAGE)
    assert PASSAGE[start:end] == "Captain Lindqvist bought it in 1987 for 12,000 crowns."


@given(st.text(max_size=60), st.text(max_size=300))
def test_the_best_sentence_is_a_slice_without_white_space_at_its_ends(claim: str, passage: str) -> None:
    start, end = best_sentence(claim, passage)
    assert 0 <= start <= end <= len(passage)
    if passage.strip():
        assert passage[start:end] == passage[start:end].strip() != ""


def test_markers_belong_to_the_sentence_they_follow() -> None:
    answer = "The tin is red [1]. It holds a key. [2][3] Nobody knows why."
    markers = [(1, answer.index("[1]")), (2, answer.index("[2]")), (3, answer.index("[3]"))]
    assert claims(answer, markers) == [
        Claim("The tin is red .", (1,)),
        Claim("It holds a key.", (2, 3)),
        Claim("Nobody knows why.", ()),
    ]


def test_a_marker_at_the_start_belongs_to_the_sentence_it_opens() -> None:
    assert claims("[2] The tin is red.", [(2, 0)]) == [Claim("The tin is red.", (2,))]


@given(st.text(max_size=50), st.integers(0, 60), st.integers(0, 60))
def test_trimming_keeps_the_slice_and_loses_only_white_space(text: str, a: int, b: int) -> None:
    start, end = sorted((min(a, len(text)), min(b, len(text))))
    x, y = trimmed(text, start, end)
    assert text[x:y] == text[start:end].strip()
