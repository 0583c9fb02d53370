"""Fusion: the law of standardised sums, and what happens to candidates a leg does not know."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mindscape.ask.ancestors import Position
from mindscape.ask.fuse import Leg, fuse

Scores = dict[int, float]
scores = st.dictionaries(st.integers(1, 12), st.integers(-50, 50).map(float), min_size=2, max_size=12)


def order(*legs: Leg) -> list[int]:
    return [one.id for one in fuse(legs)]


def sums(*legs: Leg) -> dict[int, float]:
    return {one.id: one.score for one in fuse(legs)}


@given(scores, scores, st.integers(1, 40), st.integers(-100, 100))
def test_the_scale_and_origin_of_a_leg_change_nothing(
    one: Scores, two: Scores, factor: int, shift: int
) -> None:
    plain = sums(Leg("words", 1.0, one), Leg("vector", 0.7, two, missing=None))
    moved = {id_: factor * score + shift for id_, score in one.items()}
    changed = sums(Leg("words", 1.0, moved, missing=float(shift)), Leg("vector", 0.7, two, missing=None))
    assert changed == pytest.approx(plain, abs=1e-6)


@given(scores, scores)
def test_the_order_of_legs_changes_nothing(one: Scores, two: Scores) -> None:
    words, vector = Leg("words", 1.0, one), Leg("vector", 0.7, two, missing=None)
    assert order(words, vector) == order(vector, words)


@given(scores)
def test_one_leg_alone_keeps_its_own_order(one: Scores) -> None:
    assert order(Leg("words", 1.0, one)) == sorted(one, key=lambda id_: (-one[id_], id_))


@given(scores, st.floats(-5, 5))
def test_a_leg_that_scores_all_alike_adds_nothing(one: Scores, same: float) -> None:
    words = Leg("words", 1.0, one)
    flat = Leg("vector", 0.7, dict.fromkeys(one, same), missing=None)
    assert sums(words, flat) == sums(words)


@given(scores, scores)
def test_better_in_every_leg_is_better_in_the_sum(one: Scores, two: Scores) -> None:
    both = sorted(set(one) & set(two))
    assume(len(both) >= 2)
    ranks = {one_.id: place for place, one_ in enumerate(fuse([Leg("a", 1.0, one), Leg("b", 0.7, two)]))}
    for a in both:
        for b in both:
            if one[a] > one[b] and two[a] >= two[b]:
                assert ranks[a] < ranks[b]


def test_a_passage_that_is_not_embedded_yet_is_not_punished_for_it() -> None:
    words = Leg("words", 1.0, {1: 5.0, 2: 5.0, 3: 1.0})
    vector = Leg("vector", 0.7, {2: 0.1, 3: 0.9}, missing=None)
    assert order(words, vector)[0] == 1


def test_a_passage_without_the_words_is_behind_one_with_them() -> None:
    assert order(Leg("words", 1.0, {1: 0.5}), Leg("vector", 0.7, {1: 0.3, 2: 0.3}, missing=None)) == [1, 2]


def test_raw_scores_of_the_legs_that_found_it_are_kept() -> None:
    best = fuse([Leg("words", 1.0, {1: 3.0, 2: 1.0}), Leg("vector", 0.7, {1: 0.4}, missing=None)])[0]
    assert best.legs == {"words": 3.0, "vector": 0.4}


def test_no_legs_and_empty_legs_give_nothing() -> None:
    assert fuse([]) == []
    assert fuse([Leg("words", 1.0, {})]) == []


def at(number: int, *path: str) -> Position:
    """A passage that stands beside none of another number."""
    return Position(path, 2 * number)


POSITIONS = {id_: at(id_, f"node {id_ // 2}", f"document {id_ // 4}") for id_ in range(1, 13)}
"""Two passages to a node, four to a document."""


@given(scores, scores)
def test_candidates_without_a_position_score_as_they_do_alone(one: Scores, two: Scores) -> None:
    legs = [Leg("words", 1.0, one), Leg("vector", 0.7, two, missing=None)]
    assert fuse(legs, positions={}) == fuse(legs)


@given(scores, scores, st.integers(1, 40), st.integers(-100, 100))
def test_the_scale_and_origin_of_a_leg_change_nothing_with_ancestors(
    one: Scores, two: Scores, factor: int, shift: int
) -> None:
    def by_id(words: Leg) -> Scores:
        vector = Leg("vector", 0.7, two, missing=None)
        return {found.id: found.score for found in fuse([words, vector], positions=POSITIONS)}

    moved = {id_: factor * score + shift for id_, score in one.items()}
    assert by_id(Leg("words", 1.0, moved, missing=float(shift))) == pytest.approx(
        by_id(Leg("words", 1.0, one)), abs=1e-6
    )


@given(scores)
def test_better_than_another_under_the_same_node_is_ahead_of_it(one: Scores) -> None:
    ranks = {found.id: place for place, found in enumerate(fuse([Leg("a", 1.0, one)], positions=POSITIONS))}
    for a in one:
        for b in one:
            if a // 2 == b // 2 and one[a] > one[b]:
                assert ranks[a] < ranks[b]


def test_of_two_alike_the_one_beside_a_better_one_is_ahead() -> None:
    words = Leg("words", 1.0, {4: 1.0, 6: 1.0, 7: 5.0})
    above = {4: at(4, "n", "d"), 6: at(6, "m", "d"), 7: at(7, "m", "d")}
    assert [found.id for found in fuse([words], positions=above)] == [7, 6, 4]


def test_a_passage_that_is_not_embedded_yet_gains_by_its_neighbours() -> None:
    vector = Leg("vector", 0.7, {2: 0.1, 3: 0.9}, missing=None)
    above = {1: at(1, "m", "d"), 3: at(3, "m", "d"), 2: at(2, "n", "d"), 4: at(4, "o", "e")}
    found = {one.id: one.score for one in fuse([vector], also=[1, 2, 4], positions=above)}
    assert found[3] > found[1] > found[4] == 0.0
