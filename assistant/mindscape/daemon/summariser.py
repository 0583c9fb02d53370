"""Lets the workers make summaries, and keeps at it when one of them dies."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from mindscape.daemon.children import Pool
from mindscape.daemon.estimate import Pace
from mindscape.errors import MindscapeError
from mindscape.ingest.growth import Wanted
from mindscape.ingest.upkeep import Upkeep
from mindscape.library import Library

log = logging.getLogger(__name__)

ATTEMPTS = 2
"""A node that ends its worker so often gets a summary that says nothing until the daemon starts again."""


class Summariser:
    """Brings documents and folders to tier summarised. `gently` waits before a batch that takes so long."""

    def __init__(
        self,
        library: Library,
        workers: Pool,
        seconds: float,
        pace: Pace,
        gently: Callable[[float], Awaitable[None]],
    ) -> None:
        self._upkeep = Upkeep(library)
        self._workers = workers
        self._limit = seconds
        self._pace = pace
        self._gently = gently
        self._batch_seconds = 0.1

    async def some(self, *, upwards: bool) -> bool:
        """Make some trees: of documents and, if `upwards` and no document lacks one, of folders.

        So a folder is summarised once for many changes in it. False when there is nothing to do.
        """
        began = time.monotonic()
        made = await self._upkeep.contents(self._summarise)
        if not made and upwards:
            made = await self._upkeep.folders(self._summarise)
        if made:
            self._pace.took(made, time.monotonic() - began)
        return bool(made)

    async def _summarise(self, asked: Sequence[Wanted]) -> list[str | None]:
        await self._gently(self._batch_seconds)
        started = time.monotonic()
        try:
            made = await self._call(asked)
        except MindscapeError as error:
            log.warning("summaries: %s", error)
            # One of them is at fault: find out which, so that the others are made.
            made = [await self._alone(one) for one in asked]
        self._batch_seconds = time.monotonic() - started
        return made

    async def _alone(self, one: Wanted) -> str | None:
        for _ in range(ATTEMPTS):
            try:
                return (await self._call([one]))[0]
            except MindscapeError as error:
                log.warning("summary %s: %s", one.key.hex(), error)
        return None

    async def _call(self, asked: Sequence[Wanted]) -> list[str | None]:
        nodes = [{"kind": one.kind, "children": one.children} for one in asked]
        async with self._workers.lend() as child:
            answer = await child.call("summarise", {"nodes": nodes}, seconds=self._limit)
        return answer["summaries"]
