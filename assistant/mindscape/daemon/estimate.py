"""How much is left to be embedded and summarised, and about how long that takes at the pace of this run."""

from __future__ import annotations

import time

from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage.database import Connection
from mindscape_storage.folders import documents_behind, folders_behind
from mindscape_storage.left import passages_left

NEWEST = 0.1
"""The weight of the newest of many batches: the pace follows a machine that slows down, and does not jump."""
SPARED = 20
"""Counting takes at most one part in so many of the time."""


class Pace:
    """Seconds an item took lately."""

    def __init__(self) -> None:
        self._each = 0.0
        self._batches = 0

    def took(self, items: int, seconds: float) -> None:
        """A batch is done."""
        self._batches += 1
        # The first ones count alike: the very first has a model to open.
        self._each += max(NEWEST, 1 / self._batches) * (seconds / items - self._each)

    def seconds(self, items: int) -> float | None:
        """For so many more; None while nothing was measured in this run."""
        if not items:
            return 0.0
        return round(items * self._each, 1) if self._batches else None


class Estimate:
    """Of both tiers."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.embedding = Pace()
        self.summarising = Pace()
        self._counted = (0.0, 0.0, 0, 0)

    async def left(self, encoder: int | None, *, lately: bool = False) -> Json:
        """{"embedded", "summarised"}, each {"items", "seconds"}; null is what is not known.

        Items are passages, and trees of documents and folders. With `lately`, an earlier count may do.
        """
        ended, cost, passages, trees = self._counted
        if not lately or time.monotonic() - ended >= cost * SPARED:
            passages, trees = await self._count(encoder)
        return {
            "embedded": {
                "items": None if encoder is None else passages,
                "seconds": None if encoder is None else self.embedding.seconds(passages),
            },
            "summarised": {"items": trees, "seconds": self.summarising.seconds(trees)},
        }

    async def _count(self, encoder: int | None) -> tuple[int, int]:
        def count(connection: Connection) -> tuple[int, int]:
            passages = 0 if encoder is None else passages_left(connection, encoder)
            return passages, documents_behind(connection) + folders_behind(connection)

        began = time.monotonic()
        passages, trees = await self._library.read(count)
        ended = time.monotonic()
        self._counted = (ended, ended - began, passages, trees)
        return passages, trees
