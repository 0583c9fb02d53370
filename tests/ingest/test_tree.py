"""Groups tile every level, a cut covers its range with few nodes, an edit changes little more than a path."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from hashlib import blake2b
from itertools import pairwise
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mindscape.ingest.tree import (
    LEAST_CHILDREN,
    MOST_CHILDREN,
    Group,
    Levels,
    Node,
    cut,
    leaves,
    levels,
    path,
    rank,
)

RANKS = st.lists(st.integers(0, 9) | st.just(0), max_size=700)
TREES = st.lists(st.integers(0, 9) | st.just(0), min_size=1, max_size=700).map(levels)


@given(RANKS)
def test_groups_tile_each_level_with_children_from_the_level_below(ranks: list[int]) -> None:
    size = len(ranks)
    for groups in levels(ranks):
        assert [group.first for group in groups] == [0, *(group.end for group in groups[:-1])]
        assert groups[-1].end == size
        assert all(1 <= group.end - group.first <= MOST_CHILDREN for group in groups)
        assert all(group.end - group.first >= LEAST_CHILDREN for group in groups[:-1])
        size = len(groups)
    assert size == (1 if ranks else 0)


@given(RANKS)
def test_depth_grows_with_the_logarithm_of_the_leaves_at_most(ranks: list[int]) -> None:
    assert len(levels(ranks)) <= math.log(max(1, len(ranks)), LEAST_CHILDREN) + 2


def test_depth_is_bounded_where_all_leaves_say_the_same() -> None:
    for text in ("same", next(str(n) for n in range(10**6) if rank(str(n)) >= 6)):
        assert len(levels([rank(text)] * 200_000)) <= math.log(200_000, LEAST_CHILDREN) + 2


def test_no_leaves_have_no_tree_and_one_leaf_has_a_root() -> None:
    assert levels([]) == []
    assert levels([7]) == [[Group(0, 1)]]


def test_a_quarter_of_texts_has_each_higher_rank() -> None:
    ranks = [rank(f"passage {number}") for number in range(40_000)]
    for least in (1, 2, 3):
        share = sum(one >= least for one in ranks) / len(ranks)
        assert share == pytest.approx(4.0**-least, rel=0.15)


def test_ranks_are_those_written_in_stored_trees() -> None:
    assert [rank(text) for text in ("", "a", "passage 41", "passage 42", "\ud800")] == [1, 0, 3, 2, 1]


@given(TREES, st.data())
def test_a_path_leads_from_a_leaf_to_the_root_through_nested_ranges(
    built: list[list[Group]], data: st.DataObject
) -> None:
    leaf = data.draw(st.integers(0, built[0][-1].end - 1))
    nodes = path(built, leaf)
    assert [node.level for node in nodes] == list(range(len(built) + 1))
    assert nodes[0] == Node(0, leaf)
    assert nodes[-1] == Node(len(built), 0)
    spans = [leaves(built, node) for node in nodes]
    assert all(outer.first <= inner.first < inner.end <= outer.end for inner, outer in pairwise(spans))


@given(TREES, st.data())
def test_a_cut_covers_exactly_its_range_with_the_fewest_nodes(
    built: list[list[Group]], data: st.DataObject
) -> None:
    size = built[0][-1].end
    first, end = sorted(data.draw(st.tuples(st.integers(0, size), st.integers(0, size))))
    nodes = cut(built, first, end)
    spans = [leaves(built, node) for node in nodes]
    assert [at for span in spans for at in range(span.first, span.end)] == list(range(first, end))
    assert len(nodes) <= 2 * (MOST_CHILDREN - 1) * len(built)
    for node in nodes:
        if node.level < len(built):
            parent = leaves(built, path(built, leaves(built, node).first)[node.level + 1])
            assert not (first <= parent.first and parent.end <= end)


def test_all_leaves_are_cut_to_the_root_and_none_to_nothing() -> None:
    built = levels([0] * 500)
    assert cut(built, 0, 500) == [Node(len(built), 0)]
    assert cut(built, 250, 250) == []
    assert cut([], 0, 0) == []


@pytest.mark.parametrize(("first", "end"), [(-1, 3), (0, 501), (9, 8)])
def test_a_range_beyond_the_leaves_is_refused(first: int, end: int) -> None:
    with pytest.raises(ValueError, match=f"{first} to {end}"):
        cut(levels([0] * 500), first, end)


@pytest.mark.parametrize("size", [10, 50, 200, 1000, 5000])
def test_an_edit_changes_the_nodes_around_it_and_its_path_to_the_root(size: int) -> None:
    rng = random.Random(size)
    costs: list[int] = []
    depths: list[int] = []
    for _ in range(200):
        before = [f"{rng.getrandbits(60)}" for _ in range(size)]
        after = edited(before, rng)
        built = levels([rank(text) for text in after])
        new = keys(built, after) - keys(levels([rank(text) for text in before]), before)
        costs.append(len(new))
        depths.append(len(built))
        assert len(new) <= 2 * len(built) + 6
    assert fmean(costs) <= fmean(depths) + 2


def test_many_edits_one_after_another_leave_the_tree_of_the_last_text() -> None:
    rng = random.Random(4)
    texts = [f"{rng.getrandbits(60)}" for _ in range(800)]
    known = keys(levels([rank(text) for text in texts]), texts)
    for _ in range(300):
        texts = edited(texts, rng)
        built = levels([rank(text) for text in texts])
        now = keys(built, texts)
        assert len(now - known) <= 2 * len(built) + 6
        known = now


def edited(texts: Sequence[str], rng: random.Random) -> list[str]:
    """One leaf replaced, inserted, deleted, or split in two or three."""
    at = rng.randrange(len(texts))
    removed, added = rng.choice([(1, 1), (0, 1), (1, 0), (1, 2), (1, 3)])
    return [*texts[:at], *(f"{rng.getrandbits(60)}" for _ in range(added)), *texts[at + removed :]]


def keys(built: Levels, texts: Sequence[str]) -> set[bytes]:
    """The hash of each node over its children's; an only child passes its own on, and so needs no call."""
    found: set[bytes] = set()
    below = [text.encode() for text in texts]
    for groups in built:
        above: list[bytes] = []
        for group in groups:
            if group.end - group.first == 1:
                above.append(below[group.first])
            else:
                above.append(blake2b(b"\0".join(below[group.first : group.end])).digest())
                found.add(above[-1])
        below = above
    return found
