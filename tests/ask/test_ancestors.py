"""What a passage inherits: laws of the sum over its ancestors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.ancestors import SHARE, WHOLE, inherited

Forest = dict[int, tuple[str, ...]]
ids = st.integers(1, 12)
scores = st.dictionaries(ids, st.floats(-3, 3), min_size=1)
nodes = st.sampled_from(["a1", "a2", "b1"])
depths = st.sampled_from([(), ("low",), ("low", "mid"), ("low", "mid", "high")])


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """Passages in a few nodes of two documents, whose trees are of different depths."""
    levels = {document: draw(depths) for document in ("one", "two")}
    paths: Forest = {}
    for id_ in range(1, 13):
        document, branch = draw(st.sampled_from(["one", "two"])), draw(nodes)
        paths[id_] = (*(f"{document} {branch} {level}" for level in levels[document]), document)
    return paths


@given(scores, forests(), ids, st.floats(0, 5))
def test_a_better_neighbour_never_lowers_a_passage(
    one: dict[int, float], paths: Forest, who: int, more: float
) -> None:
    before = inherited(one, paths)
    after = inherited({**one, who: one.get(who, 0.0) + more}, paths) if who in one else before
    assert all(after[id_] >= before[id_] - 1e-9 for id_ in paths)


@given(scores, forests())
def test_a_passage_inherits_no_more_than_the_best_of_its_document(
    one: dict[int, float], paths: Forest
) -> None:
    for id_, value in inherited(one, paths).items():
        here = [one[other] for other, path in paths.items() if other in one and path[-1] == paths[id_][-1]]
        top = max(here, default=0.0)
        assert value <= max(top, 0.0) * (SHARE + WHOLE) + 1e-9


@given(st.floats(-3, 3), depths)
def test_the_depth_of_a_tree_gives_no_advantage(score: float, levels: tuple[str, ...]) -> None:
    assert inherited({1: score}, {1: (*levels, "document")})[1] == pytest.approx((SHARE + WHOLE) * score)


@given(scores, forests())
def test_what_a_leg_does_not_know_makes_no_node_better_or_worse(one: dict[int, float], paths: Forest) -> None:
    known = {id_: path for id_, path in paths.items() if id_ in one}
    alone = inherited(one, known)
    among = inherited(one, paths)
    assert {id_: among[id_] for id_ in known} == alone


def test_a_document_unknown_to_a_leg_is_average() -> None:
    assert inherited({1: -2.0}, {1: ("a",), 2: ("node", "b"), 3: ("b",)})[2] == 0.0


def test_the_nearest_node_weighs_most() -> None:
    paths = {
        1: ("x", "X", "d"),
        2: ("x", "X", "d"),
        3: ("y", "X", "d"),
        4: ("z", "Z", "d"),
        5: ("q", "Q", "e"),
    }
    found = inherited({1: 2.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0}, paths)
    assert found[2] > found[3] > found[4] > found[5] == 0.0


def test_a_passage_without_ancestors_inherits_nothing() -> None:
    assert inherited({1: 2.0, 2: 1.0}, {1: ()}) == {}
