"""Keeps the mindscape current: the trees of contents, lowest level first, and then of the folders above them.

    leaves -> missing keys -> texts of children -> summaries (in a worker) -> store -> ... -> nodes

Each step is committed before the next begins, so that one which is interrupted is found again by its keys.
A model, where there is one for this, goes through the same trees afterwards.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from mindscape.ingest import growth
from mindscape.ingest.growth import Growth, Wanted
from mindscape.ingest.refinement import next_refinement, store
from mindscape.ingest.summarise import Kind, kind_of
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


Write = Callable[[bytes, Kind, Sequence[str]], Awaitable[str | None]]
"""What the model writes for a key, from the texts of a node's children; None when that was rejected."""


class ModelUpkeep:
    """Brings documents and folders to tier refined, a tree at a time and a call at a time."""

    def __init__(self, library: Library) -> None:
        self._library = library

    async def some(self, how: str, model: str, write: Write, *, upwards: bool) -> bool:
        """Let `model`, asked as `how` says, go through the next tree; False when it has been through all.

        Folders come after all documents, and only if `upwards`.
        """
        tree = await self._library.read(lambda c: next_refinement(c, how, upwards=upwards))
        if tree is None:
            return False
        while waiting := await self._library.read(tree.missing):
            for one in waiting:
                children = await self._library.read(lambda c, one=one: tree.texts_now(c, one))
                if children is None:
                    break
                text = await write(one.key, kind_of(one.level, tree.lowest), children)
                await self._library.write(lambda c, one=one, text=text: store(c, tree, one.key, text, model))
        await self._library.write(tree.finish)
        return True
