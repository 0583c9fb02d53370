"""The order in which the shapes of a slide are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeVar

Shape = TypeVar("Shape")


@dataclass(frozen=True, slots=True)
class Placed(Generic[Shape]):
    """A shape and its box, in any one unit, from the slide's top left corner."""

    shape: Shape
    left: float
    top: float
    width: float
    height: float


def reading_order(shapes: Sequence[Placed[Shape]]) -> list[Shape]:
    """As the file has them, which is mostly how they were meant; in rows, where that goes upwards.

    A shape wholly above the one before it in the file, and not in a column to its right, was added later.
    """
    if any(_goes_upwards(before, after) for before, after in pairwise(shapes)):
        shapes = [placed for row in _rows(shapes) for placed in row]
    return [placed.shape for placed in shapes]


def _goes_upwards(before: Placed[Shape], after: Placed[Shape]) -> bool:
    return after.left < before.left + before.width and after.top + after.height <= before.top


def _rows(shapes: Sequence[Placed[Shape]]) -> list[list[Placed[Shape]]]:
    """From the top, each from the left; a row is what begins beside the upper half of its first."""
    rows: list[list[Placed[Shape]]] = []
    edge = 0.0
    for placed in sorted(shapes, key=lambda placed: placed.top):
        if not rows or placed.top >= edge:
            rows.append([])
            edge = placed.top + placed.height / 2
        rows[-1].append(placed)
    return [sorted(row, key=lambda placed: (placed.left, placed.top)) for row in rows]
