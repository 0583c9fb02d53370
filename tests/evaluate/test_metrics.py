"""The metrics give what they give by hand, and what slower, plainer ways of counting give."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.evaluate.metrics import (
    Span,
    common,
    covers,
    exact_match,
    hit,
    letter,
    merged,
    nearest,
    norm,
    normalised,
    recall,
    rouge_l,
    token_f1,
    verdict,
)

TOKENS = st.lists(st.sampled_from("abcd"), max_size=12)
SPANS = st.lists(
    st.tuples(st.sampled_from("de"), st.integers(0, 40), st.integers(1, 20)).map(
        lambda one: (one[0], one[1], one[1] + one[2])
    ),
    min_size=1,
    max_size=6,
)
OPTIONS = {"A": "a stone wall", "B": "the tide mill", "C": "an eel trap"}


@pytest.mark.parametrize(
    ("gold", "found", "covered"),
    [
        (("d", 0, 100), ("d", 0, 100), True),
        (("d", 0, 100), ("d", 50, 250), True),  # half of the gold span, the shorter
        (("d", 0, 100), ("d", 51, 250), False),
        (("d", 0, 100), ("d", 90, 110), True),  # half of the passage, the shorter
        (("d", 0, 100), ("d", 91, 110), False),
        (("d", 0, 100), ("d", 100, 101), False),  # they only touch
        (("d", 0, 100), ("e", 0, 100), False),
    ],
)
def test_a_passage_covers_a_span_from_half_of_the_shorter(gold: Span, found: Span, covered: bool) -> None:
    assert covers(gold, found) is covered


def test_recall_counts_gold_spans_and_a_hit_is_any_of_them() -> None:
    gold = [("d", 0, 10), ("d", 50, 60), ("e", 0, 10)]
    found = [("d", 0, 20), ("d", 100, 120)]
    assert recall(gold, found) == pytest.approx(1 / 3)
    assert (hit(gold, found), hit(gold, found[1:]), hit(gold, [])) == (1.0, 0.0, 0.0)


def test_norm_is_what_was_found_of_what_the_best_could_hold() -> None:
    gold = [("d", 10, 40)]
    every = [("d", 0, 20), ("d", 20, 40), ("d", 40, 60)]
    # 10 gold characters of the 20 that the best single passage holds; then all 30 of 30.
    assert norm(gold, [every[0], every[1]], every, 1) == pytest.approx(0.5)
    assert norm(gold, [every[0], every[1]], every, 2) == pytest.approx(1.0)
    assert norm(gold, [every[2]], every, 3) == 0.0


def test_norm_counts_characters_of_overlapping_windows_once() -> None:
    gold, every = [("d", 0, 10)], [("d", 0, 8), ("d", 2, 10)]
    assert norm(gold, every, every, 2) == pytest.approx(1.0)


def test_norm_of_evidence_that_no_passage_holds_is_nothing() -> None:
    assert norm([("d", 90, 95)], [("d", 0, 10)], [("d", 0, 10)], 1) == 0.0


@given(SPANS)
def test_finding_everything_is_full_marks(every: list[Span]) -> None:
    assert recall(every, every) == hit(every, every) == norm(every, every, every, len(every)) == 1.0


@given(SPANS)
def test_merged_spans_hold_the_same_characters_once(spans: list[Span]) -> None:
    def characters(of: Sequence[Span]) -> list[tuple[str, int]]:
        return [(id_, at) for id_, start, end in of for at in range(start, end)]

    assert sorted(characters(merged(spans))) == sorted(set(characters(spans)))


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The  Eiffel Tower!", "eiffel tower"),
        ("an apple, a pear", "apple pear"),
        ("U.S.A.", "usa"),
        ("theatre", "theatre"),
        ("\u201cQuoted\u201d \u2014 so", "quoted so"),
        ("\u6f6e\u6c50\u78e8\u574a\u3002", "\u6f6e\u6c50\u78e8\u574a"),
    ],
)
def test_answers_are_compared_without_case_articles_and_punctuation(text: str, plain: str) -> None:
    assert normalised(text) == plain


def test_the_best_reference_counts() -> None:
    # 2 shared tokens, 3 said, 2 wanted: precision 2/3, recall 1.
    assert token_f1("tall old mill", ["the mill", "the old mill"]) == pytest.approx(0.8)
    assert exact_match("The old mill.", ["a barn", "old mill"]) == 1.0
    assert exact_match("The old mill house", ["old mill"]) == 0.0


def test_a_repeated_word_counts_as_often_as_both_say_it() -> None:
    # Of "tick tick tick" one token is wanted: precision 1/3, recall 1/2.
    assert token_f1("tick tick tick", ["tick tock"]) == pytest.approx(0.4)


def test_without_spaces_every_character_is_a_token() -> None:
    # 3 of 4 characters said, 3 of 3 wanted.
    assert token_f1("\u5728\u661f\u671f\u4e94", ["\u661f\u671f\u4e94"]) == pytest.approx(6 / 7)


def test_no_answer_is_worth_nothing_and_equal_ones_are_worth_all() -> None:
    assert (token_f1("", ["mill"]), exact_match("", ["mill"]), rouge_l("", ["mill"])) == (0.0, 0.0, 0.0)
    assert token_f1("the", ["a"]) == 1.0  # nothing is left of either, as SQuAD has it


def test_rouge_l_is_the_f_measure_of_the_longest_common_subsequence() -> None:
    # "police the gunman": 2 in order of 4 said; 4 wanted.
    assert rouge_l("Police kill the gunman", ["the gunman kill police"]) == pytest.approx(0.5)
    assert rouge_l("Police killed the gunman", ["police kill the gunman"]) == pytest.approx(0.75)
    assert rouge_l("one two", ["nothing here", "one two three four"]) == pytest.approx(2 / 3)


@given(TOKENS, TOKENS)
def test_the_quick_common_subsequence_is_as_long_as_the_plain_one(
    first: list[str], second: list[str]
) -> None:
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
    assert common(first, second) == table[-1][-1]


@given(st.text(max_size=40), st.text(min_size=1, max_size=40))
def test_every_value_is_a_share(answer: str, reference: str) -> None:
    for metric in (token_f1, exact_match, rouge_l):
        assert 0.0 <= metric(answer, [reference]) <= 1.0


@pytest.mark.parametrize(
    ("answer", "held"),
    [
        ("True.", True),
        ("This is false, for the wall is longer.", False),
        ("It is not true that she left.", False),
        ("That is correct", True),
        ("The mill was built in 1871.", None),
        ("", None),
    ],
)
def test_a_verdict_is_the_first_that_is_given(answer: str, held: bool | None) -> None:
    assert verdict(answer) is held


@pytest.mark.parametrize(
    ("answer", "meant"),
    [
        ("B", "B"),
        ("(C) since nothing else fits", "C"),
        ("The answer is A.", "A"),
        ("Option B", "B"),
        ("B. the tide mill", "B"),
        ("A wall of stone", None),  # an article
        ("D", None),  # there is no such option
        ("the tide mill", None),
    ],
)
def test_a_letter_is_read_where_an_answer_begins_with_one(answer: str, meant: str | None) -> None:
    assert letter(answer, OPTIONS) == meant


def test_the_nearest_option_is_that_of_which_most_is_said() -> None:
    assert nearest("They worked at the mill when the tide was in.", OPTIONS) == "B"
    assert nearest("nothing of it", OPTIONS) is None
