"""Keeps the mindscape current: the trees of contents, lowest level first, and then of the folders above them.

    leaves -> missing keys -> texts of children -> summaries (in a worker) -> store -> ... -> nodes

Each step is committed before the next begins, so that one which is interrupted is found again by its keys.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from mindscape.ingest import growth
from mindscape.ingest.growth import Growth, Wanted
from mindscape.library import Library
from mindscape_storage.database import Connection

Summarise = Callable[[Sequence[Wanted]], Awaitable[Sequence[str | None]]]
"""The summaries of some nodes from the texts of their children; None for one that cannot be made."""


class Upkeep:
    """Brings documents and folders to tier summarised, some at a time."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def contents(self, summarise: Summarise) -> int:
        """Make the trees of the next contents; returns how many, 0 when every content has one."""
        return await self._grow(growth.next_contents, summarise)

    async def folders(self, summarise: Summarise) -> int:
        """Make the trees of the deepest folders that have changed; returns how many, 0 when none has."""
        return await self._grow(growth.next_folders, summarise)

    async def _grow(self, chosen: Callable[[Connection], list[Growth]], summarise: Summarise) -> int:
        growing = await self._library.read(chosen)
        while waiting := await self._library.read(lambda c: growth.missing(c, growing)):
            while asked := await self._library.read(lambda c, waiting=waiting: growth.take(c, waiting)):
                texts = await summarise(asked)
                await self._library.write(lambda c, asked=asked, texts=texts: growth.store(c, asked, texts))
        if growing:
            await self._library.write(lambda c: [one.finish(c) for one in growing])
        return len(growing)
