"""Who waits for the index to move, and what they are told."""

from __future__ import annotations

import asyncio


class Progress:
    """A counter of changes that any number of tasks can wait on."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self.version = 0

    async def notify(self) -> None:
        """Something moved."""
        async with self._changed:
            self.version += 1
            self._changed.notify_all()

    async def after(self, version: int) -> int:
        """Wait until something has moved since `version`; returns the newest."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.version > version)
            return self.version
