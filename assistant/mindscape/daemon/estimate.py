"""How much is left to do for the tiers that take long, and about how long that takes at this run's pace."""

from __future__ import annotations

import time
from typing import NamedTuple

from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage import refined
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


class _Counted(NamedTuple):
    passages: int
    trees: int
    calls: int | None


class Estimate:
    """Of the tiers that take long."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.embedding = Pace()
        self.summarising = Pace()
        self.refining = Pace()
        self.written = 0
        """Of the tree that the model goes through now: its nodes count as left until all are written."""
        self._counted = _Counted(0, 0, 0)
        self._cost = self._ended = 0.0

    async def left(self, encoder: int | None, *, lately: bool = False) -> Json:
        """{"embedded", "summarised", "refined"}, each {"items", "seconds"}; null is what is not known.

        Items are passages, trees of documents and folders, and calls of a model. With `lately`, an earlier
        count may do.
        """
        if not lately or time.monotonic() - self._ended >= self._cost * SPARED:
            await self._count(encoder)
        passages, trees, calls = self._counted
        calls = None if calls is None else max(0, calls - self.written)
        known = encoder is not None
        return {
            "embedded": {
                "items": passages if known else None,
                "seconds": self.embedding.seconds(passages) if known else None,
            },
            "summarised": {"items": trees, "seconds": self.summarising.seconds(trees)},
            "refined": {
                "items": calls,
                "seconds": None if calls is None else self.refining.seconds(calls),
            },
        }

    async def _count(self, encoder: int | None) -> None:
        def count(connection: Connection) -> _Counted:
            passages = 0 if encoder is None else passages_left(connection, encoder)
            trees = documents_behind(connection) + folders_behind(connection)
            calls = refined.left(connection)
            return _Counted(passages, trees, None if calls is None else calls.nodes)

        began = time.monotonic()
        self._counted = await self._library.read(count)
        self._ended = time.monotonic()
        self._cost = self._ended - began
