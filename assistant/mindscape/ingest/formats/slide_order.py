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
    """As the file has them, which is mostly how they were meant; by place where that goes upwards.

    A shape wholly above the one that comes before it in the file, over the same columns, was added later.
    """
    if any(_is_above(after, before) for before, after in pairwise(shapes)):
        shapes = sorted(shapes, key=lambda placed: (placed.top, placed.left))
    return [placed.shape for placed in shapes]


def _is_above(shape: Placed[Shape], other: Placed[Shape]) -> bool:
    shares_columns = shape.left < other.left + other.width and other.left < shape.left + shape.width
    return shares_columns and shape.top + shape.height <= other.top
