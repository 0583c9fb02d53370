"""Laws of ranges: a cover and a cut tile exactly the range, are few, and keep to the budget."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from mindscape.ask.ranges import cover, spread
from mindscape.ingest.tree import MOST_CHILDREN, levels, rank


@dataclass(frozen=True)
class Piece:
    start: int
    end: int
    tokens: int
    parts: list[Piece] = field(default_factory=list["Piece"])


def opened(piece: Piece) -> list[Piece]:
    return piece.parts


def clipped(piece: Piece, start: int, end: int) -> Piece:
    return Piece(start, end, piece.tokens)


def text(passages: int, seed: int) -> tuple[Piece, int]:
    """The top of a tree as the library makes it over so many passages, and its depth."""
    rng = random.Random(seed)
    edges = [0]
    for _ in range(passages):
        edges.append(edges[-1] + rng.randint(1, 9))
    pieces = [Piece(*span, rng.randint(1, 250)) for span in pairwise(edges)]
    built = levels([rank(f"{seed} {one}") for one in range(passages)])
    for groups in built:
        below = pieces
        pieces = [Piece(below[a].start, below[b - 1].end, rng.randint(1, 128), below[a:b]) for a, b in groups]
    return pieces[0], len(built)


@st.composite
def ranges(draw: st.DrawFn) -> tuple[Piece, int, int, int]:
    top, depth = text(draw(st.integers(1, 3000)), draw(st.integers(0, 99)))
    start = draw(st.integers(0, top.end - 1))
    return top, depth, start, draw(st.integers(start + 1, top.end))


def check_tiles(parts: list[Piece], start: int, end: int) -> None:
    assert [one.start for one in parts] == [start, *(one.end for one in parts[:-1])]
    assert parts[-1].end == end


@given(ranges())
def test_a_cover_tiles_exactly_its_range_with_few_nodes(given: tuple[Piece, int, int, int]) -> None:
    top, depth, start, end = given
    asked: list[Piece] = []

    def below(piece: Piece) -> list[Piece]:
        asked.append(piece)
        return piece.parts

    found = cover(top, start, end, below, clipped)
    check_tiles(found, start, end)
    assert len(found) <= 2 * MOST_CHILDREN * depth
    # Only nodes that reach beyond the range are opened: two on each level, and the passages at the edges.
    assert len(asked) <= 2 * (depth + 1)


@given(ranges(), st.integers(1, 5000))
def test_a_cut_tiles_its_range_within_the_budget(given: tuple[Piece, int, int, int], budget: int) -> None:
    top, _, start, end = given
    covering = cover(top, start, end, opened, clipped)
    cut = spread(covering, budget, opened)
    assert cut.tokens == sum(one.tokens for one in cut.parts) <= budget
    assert cut.whole == (sum(one.tokens for one in covering) <= budget)
    if cut.whole:
        check_tiles(cut.parts, start, end)
    else:
        assert set(map(id, cut.parts)) <= set(map(id, covering))
        assert [one.start for one in cut.parts] == sorted(one.start for one in cut.parts)


@given(ranges())
def test_without_bounds_a_cut_is_the_passages_themselves(given: tuple[Piece, int, int, int]) -> None:
    top, _, start, end = given
    cut = spread(cover(top, start, end, opened, clipped), 10**9, opened)
    check_tiles(cut.parts, start, end)
    assert not any(one.parts for one in cut.parts)


def test_the_widest_node_is_opened_first() -> None:
    small = Piece(0, 10, 5, [Piece(0, 5, 6), Piece(5, 10, 6)])
    wide = Piece(10, 90, 5, [Piece(10, 50, 6), Piece(50, 90, 6)])
    cut = spread([small, wide], 17, opened)
    assert cut.parts == [small, *wide.parts]
