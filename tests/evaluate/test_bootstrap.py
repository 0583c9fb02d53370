"""Intervals hold what they should, and come from documents where questions cluster in them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mindscape.evaluate.bootstrap import clustered, estimate


def test_the_value_is_the_mean_over_questions_not_over_documents() -> None:
    found = estimate([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], list("aaabcde"), 1)
    assert found.value == 3 / 7
    assert found.n == 7


def test_questions_that_agree_within_documents_are_surer_alone_than_together() -> None:
    drawing = np.random.default_rng(1)
    kinds = drawing.random(20) < 0.5
    documents = [str(number) for number in range(20) for _ in range(30)]
    values = [float(kinds[number]) for number in range(20) for _ in range(30)]
    together = estimate(values, documents, 1)
    alone = estimate(values, [str(number) for number in range(600)], 1)
    assert together.high - together.low > 3 * (alone.high - alone.low)


def test_few_documents_are_not_drawn() -> None:
    assert not clustered(["a", "b", "c", "d"] * 9)
    assert clustered(["a", "b", "c", "d", "e"])
    values = [1.0, 0.0] * 10
    assert estimate(values, ["a", "b"] * 10, 1) == estimate(values, [str(n) for n in range(20)], 1)


def test_an_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    drawing = np.random.default_rng(2)
    held = 0
    for number in range(200):
        values = (drawing.random(80) < 0.7).astype(float).tolist()
        found = estimate(values, [str(at) for at in range(80)], number)
        held += found.low <= 0.7 <= found.high
    assert 180 <= held <= 199


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(1, 9), st.integers(1, 99))
def test_the_interval_is_around_the_value_and_the_same_each_time(
    values: list[float], documents: int, seed: int
) -> None:
    clusters = [str(at % documents) for at in range(len(values))]
    found = estimate(values, clusters, seed)
    assert found == estimate(values, clusters, seed)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9
