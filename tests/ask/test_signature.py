"""The signature: what MiA-Signature says of its choice (Appendix A), and that odd pools do not break it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import e

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mindscape.ask.signature import MOST, Pool, Weights, coverage_aware, first_k, gains, pool_of

WITHOUT_DIVERSITY = Weights(0.3, 0.4, 0.0)

Vectors = NDArray[np.float32]


@st.composite
def asked(draw: st.DrawFn, nodes: int = 12) -> tuple[Vectors, Vectors, Vectors, list[int]]:
    """A question, passages, the nodes over them in the order of their first passage, and pi."""
    over = draw(st.lists(st.integers(0, nodes - 1), min_size=1, max_size=30))
    places = {node: row for row, node in enumerate(dict.fromkeys(over))}
    made = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([0.0, 0.3, 3.0]))
    centre = made.normal(size=8)
    vectors = (centre + spread * made.normal(size=(1 + len(over) + len(places), 8))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return (
        vectors[0],
        vectors[1 : 1 + len(over)],
        vectors[1 + len(over) :],
        [places[node] for node in over],
    )


@st.composite
def overlapping(draw: st.DrawFn, most: int = 7) -> Pool:
    """A pool in which nodes may share passages: f_C is then more than a sum."""
    nodes, passages = draw(st.integers(1, most)), draw(st.integers(1, 6))
    share = st.floats(0.0, 1.0, width=32)

    def some(rows: int, columns: int) -> NDArray[np.float64]:
        return np.array(draw(st.lists(share, min_size=rows * columns, max_size=rows * columns))).reshape(
            rows, columns
        )

    like = some(nodes, nodes)
    return Pool(some(1, nodes)[0], some(nodes, passages), np.maximum(like, like.T))


def value(pool: Pool, chosen: Sequence[int], weights: Weights) -> float:
    """Lambda_Q f_Q + lambda_C f_C, each over the largest of one node (Eq. 7 and 8), written out."""
    of_each = [covered(pool, [node]) for node in range(len(pool.near))]
    query, coverage = max(pool.near), max(of_each)
    total = 0.0
    if query > 0:
        total += weights.query * sum(pool.near[node] for node in chosen) / query
    if coverage > 0:
        total += weights.coverage * covered(pool, chosen) / coverage
    return total


def covered(pool: Pool, chosen: Sequence[int]) -> float:
    return sum(
        max((pool.match[node, at] for node in chosen), default=0.0) / (at + 2)
        for at in range(pool.match.shape[1])
    )


def algorithm_2(
    question: Vectors, passages: Vectors, nodes: Vectors, over: Sequence[int], most: int
) -> list[int]:
    """As the paper writes it, line by line, with cosines clamped at 0."""

    def cosine(one: Vectors, other: Vectors) -> float:
        return max(0.0, float(one.astype(np.float64) @ other.astype(np.float64)))

    weight = [1 / (rank + 1) for rank in range(1, len(passages) + 1)]
    below = {node: [c for c, above in enumerate(over) if above == node] for node in range(len(nodes))}
    near = [cosine(question, node) for node in nodes]
    match = {(s, c): cosine(nodes[s], passages[c]) for s, held in below.items() for c in held}
    covers = [sum(weight[c] * match[s, c] for c in below[s]) for s in range(len(nodes))]
    chosen: list[int] = []
    done: set[int] = set()
    for _ in range(most):
        best, gain = None, -np.inf
        for s in range(len(nodes)):
            if s in chosen:
                continue
            new = sum(weight[c] * match[s, c] for c in below[s] if c not in done)
            delta = 0.3 * (near[s] / max(near) if max(near) > 0 else 0.0)
            delta += 0.4 * (new / max(covers) if max(covers) > 0 else 0.0)
            delta += 0.3 * (1 - max((cosine(nodes[s], nodes[other]) for other in chosen), default=0.0))
            if delta > gain + 1e-12:
                best, gain = s, delta
        if best is None:
            break
        chosen.append(best)
        done.update(below[best])
    return chosen


@given(asked())
def test_the_choice_gains_what_algorithm_2_gains(
    made: tuple[Vectors, Vectors, Vectors, list[int]],
) -> None:
    pool = pool_of(*made)
    mine, theirs = coverage_aware(pool), algorithm_2(*made, MOST)
    assert len(mine) == len(theirs)
    # Sums in another order may break a tie otherwise, so the gains are compared, not the nodes.
    for at in range(len(mine)):
        if mine[:at] == theirs[:at]:
            gain = gains(pool, mine[:at])
            assert gain[mine[at]] == pytest.approx(gain[theirs[at]], abs=1e-9)


@given(overlapping(), st.data())
def test_without_diversity_more_nodes_are_worth_more_but_less_and_less(
    pool: Pool, data: st.DataObject
) -> None:
    nodes = st.integers(0, len(pool.near) - 1)
    larger = data.draw(st.lists(nodes, unique=True))
    smaller = larger[: data.draw(st.integers(0, len(larger)))]
    many, few = gains(pool, larger, WITHOUT_DIVERSITY), gains(pool, smaller, WITHOUT_DIVERSITY)
    assert (many >= 0).all()
    assert (few >= many - 1e-12).all()


@given(overlapping(), st.data())
def test_without_diversity_a_gain_is_what_the_equations_grow_by(pool: Pool, data: st.DataObject) -> None:
    nodes = st.integers(0, len(pool.near) - 1)
    chosen = data.draw(st.lists(nodes, unique=True, max_size=len(pool.near) - 1))
    gain = gains(pool, chosen, WITHOUT_DIVERSITY)
    before = value(pool, chosen, WITHOUT_DIVERSITY)
    for node in set(range(len(pool.near))).difference(chosen):
        grown = value(pool, [*chosen, node], WITHOUT_DIVERSITY) - before
        assert gain[node] == pytest.approx(grown, abs=1e-9)


@given(overlapping(), st.integers(1, 4))
def test_without_diversity_greed_is_near_the_best_there_is(pool: Pool, most: int) -> None:
    chosen = coverage_aware(pool, most, WITHOUT_DIVERSITY)
    sets = combinations(range(len(pool.near)), min(most, len(pool.near)))
    best = max(value(pool, one, WITHOUT_DIVERSITY) for one in sets)
    assert value(pool, chosen, WITHOUT_DIVERSITY) >= (1 - 1 / e) * best - 1e-9


@given(asked(), st.integers(0, 8))
def test_a_signature_is_short_and_names_no_node_twice(
    made: tuple[Vectors, Vectors, Vectors, list[int]], most: int
) -> None:
    *_, nodes, over = made
    for chosen in (coverage_aware(pool_of(*made), most), first_k(over, most)):
        assert len(chosen) == len(set(chosen)) == min(most, len(nodes))


@given(asked(), st.sampled_from([2.0**-20, 0.5, 4.0]), st.sampled_from([0.25, 2.0**30]))
def test_how_large_cosines_are_in_general_decides_nothing(
    made: tuple[Vectors, Vectors, Vectors, list[int]], query: float, passages: float
) -> None:
    pool = pool_of(*made)
    scaled = pool._replace(near=query * pool.near, match=passages * pool.match)
    assert coverage_aware(scaled) == coverage_aware(pool)


@given(overlapping(), st.data())
def test_in_whichever_order_the_nodes_are_read_each_chosen_gains_the_most(
    pool: Pool, data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(pool.near))))
    moved = Pool(pool.near[order], pool.match[order], pool.like[order][:, order])
    chosen = [order[row] for row in coverage_aware(moved)]
    for at, node in enumerate(chosen):
        gain = gains(pool, chosen[:at])
        gain[chosen[:at]] = -np.inf
        assert gain[node] == pytest.approx(gain.max(), abs=1e-9)


def test_a_tie_goes_to_the_node_that_the_question_found_first() -> None:
    vector = np.array([1.0, 0.0], np.float32)
    same = np.stack([vector, vector, vector])
    assert coverage_aware(pool_of(vector, np.empty((0, 2), np.float32), same, [])) == [0, 1, 2]


def test_a_node_that_says_the_same_as_another_comes_after_one_that_says_something_else() -> None:
    question = np.array([1.0, 0.0, 0.0], np.float32)
    same, other = np.array([0.6, 0.8, 0.0], np.float32), np.array([0.6, 0.0, 0.8], np.float32)
    pool = pool_of(question, np.stack([same, same, other]), np.stack([same, same, other]), [0, 1, 2])
    assert coverage_aware(pool) == [0, 2, 1]
    assert first_k([0, 1, 2]) == [0, 1, 2]


def test_coverage_reaches_what_the_first_passages_do_not() -> None:
    # Six passages under one node and one under each of the next five: First-K takes the next four too.
    over = [0, 1, 2, 3, 4, 5, 5, 5, 5, 5]
    vectors = np.eye(6, dtype=np.float32)
    question = np.full(6, 6**-0.5, np.float32)
    assert 5 not in first_k(over)
    assert 5 in coverage_aware(pool_of(question, vectors[over], vectors, over))


@pytest.mark.parametrize("nodes", [0, 1])
def test_an_empty_pool_gives_nothing_and_a_single_node_gives_that(nodes: int) -> None:
    vectors = np.ones((nodes, 1), np.float32)
    question = np.ones(1, np.float32)
    assert coverage_aware(pool_of(question, vectors, vectors, [0] * nodes)) == list(range(nodes))
    assert first_k([0] * nodes) == list(range(nodes))


def test_a_question_that_is_far_from_everything_still_gets_a_signature() -> None:
    nodes = np.array([[-1.0, 0.0], [0.0, -1.0]], np.float32)
    passages = -nodes
    pool = pool_of(np.array([1.0, 0.0], np.float32), passages, nodes, [0, 1])
    assert not pool.near.any()
    assert not pool.match.any()
    assert np.isfinite(gains(pool, [])).all()
    assert coverage_aware(pool) == [0, 1]


def test_a_passage_without_a_vector_covers_nothing_and_breaks_nothing() -> None:
    vectors = np.array([[0.0, 0.0], [0.0, 1.0]], np.float32)
    pool = pool_of(np.array([0.0, 1.0], np.float32), vectors, np.eye(2, dtype=np.float32), [0, 1])
    assert coverage_aware(pool) == [1, 0]
