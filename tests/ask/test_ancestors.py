"""What a passage inherits: laws of the sum over its neighbours and ancestors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.ancestors import BESIDE, SHARE, WHOLE, Around, Position

Forest = dict[int, Position]
ids = st.integers(1, 12)
scores = st.dictionaries(ids, st.floats(-3, 3), min_size=1)
nodes = st.sampled_from(["a1", "a2", "b1"])
depths = st.sampled_from([(), ("low",), ("low", "mid"), ("low", "mid", "high")])


@st.composite
def forests(draw: st.DrawFn) -> Forest:
    """Passages in a few nodes of two documents, whose trees are of different depths."""
    levels = {document: draw(depths) for document in ("one", "two")}
    positions: Forest = {}
    for id_ in range(1, 13):
        document, branch = draw(st.sampled_from(["one", "two"])), draw(nodes)
        path = (*(f"{document} {branch} {level}" for level in levels[document]), document)
        positions[id_] = Position(path, id_)
    return positions


def inherited(scores: dict[int, float], positions: Forest) -> dict[int, float]:
    """What each passage with a position inherits; those without a score are unknown to the leg."""
    ids = sorted({*scores, *positions})
    found = Around([positions.get(id_) for id_ in ids]).inherited(
        np.array([scores.get(id_, math.nan) for id_ in ids])
    )
    return dict(zip(ids, found.tolist(), strict=True))


def apart(paths: dict[int, tuple[str, ...]]) -> Forest:
    """Passages with these paths, none beside another."""
    return {id_: Position(path, 2 * id_) for id_, path in paths.items()}


@given(scores, forests(), ids, st.floats(0, 5))
def test_a_better_neighbour_never_lowers_a_passage(
    one: dict[int, float], positions: Forest, who: int, more: float
) -> None:
    before = inherited(one, positions)
    after = inherited({**one, who: one.get(who, 0.0) + more}, positions) if who in one else before
    assert all(after[id_] >= before[id_] - 1e-9 for id_ in positions)


@given(scores, forests())
def test_a_passage_inherits_no_more_than_the_best_of_its_document(
    one: dict[int, float], positions: Forest
) -> None:
    for id_, value in inherited(one, positions).items():
        document = positions[id_].path[-1]
        here = [
            one[other] for other, place in positions.items() if other in one and place.path[-1] == document
        ]
        top = max(here, default=0.0)
        assert value <= max(top, 0.0) * (SHARE + WHOLE + BESIDE) + 1e-9


@given(st.floats(-3, 3), depths)
def test_the_depth_of_a_tree_gives_no_advantage(score: float, levels: tuple[str, ...]) -> None:
    found = inherited({1: score}, {1: Position((*levels, "document"), 0)})
    assert found[1] == pytest.approx((SHARE + WHOLE + BESIDE) * score)


@given(scores, forests())
def test_what_a_leg_does_not_know_makes_nothing_better_or_worse(
    one: dict[int, float], positions: Forest
) -> None:
    known = {id_: position for id_, position in positions.items() if id_ in one}
    alone = inherited(one, known)
    among = inherited(one, positions)
    assert {id_: among[id_] for id_ in known} == {id_: alone[id_] for id_ in known}


def test_a_document_unknown_to_a_leg_is_average() -> None:
    assert inherited({1: -2.0}, apart({1: ("a",), 2: ("node", "b"), 3: ("b",)}))[2] == 0.0


def test_the_nearest_node_weighs_most() -> None:
    paths = {
        1: ("x", "X", "d"),
        2: ("x", "X", "d"),
        3: ("y", "X", "d"),
        4: ("z", "Z", "d"),
        5: ("q", "Q", "e"),
    }
    found = inherited({1: 2.0, 2: 0.0, 3: 0.0, 4: 0.0, 5: 0.0}, apart(paths))
    assert found[2] > found[3] > found[4] > found[5] == 0.0


def test_a_neighbour_helps_across_the_edge_of_a_node_but_not_of_a_document() -> None:
    edge = {
        1: Position(("left", "d"), 6),
        2: Position(("right", "d"), 7),
        3: Position(("right", "d"), 9),
        4: Position(("other", "e"), 8),
    }
    found = inherited({1: 0.0, 2: 0.0, 3: 2.0, 4: 0.0}, edge)
    assert found[1] == inherited({1: 0.0, 3: 2.0}, edge)[1]
    two_apart = found[1]
    beside = inherited({1: 2.0, 2: 0.0, 3: 0.0, 4: 0.0}, edge)
    assert beside[2] == pytest.approx(BESIDE * 2.0 + two_apart)
    assert found[4] == 0.0


def test_a_passage_without_a_position_inherits_nothing() -> None:
    assert inherited({1: 2.0, 2: 1.0}, {1: Position(("d",), 1)})[2] == 0.0
    assert inherited({1: 2.0}, {}) == {1: 0.0}
