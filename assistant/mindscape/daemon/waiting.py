"""Clients that wait for the index to move: until all is at a tier, or as long as they like."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import nullcontext

from mindscape import protocol
from mindscape.daemon import parameters
from mindscape.daemon.progress import Progress
from mindscape.daemon.scheduler import Scheduler
from mindscape.errors import Refused, UsageError
from mindscape.protocol import Json
from mindscape.rpc import Stream

REPORT_SECONDS = 0.2


class Waiting:
    """The methods `wait` and `subscribe`; `status` is what the first answers with."""

    def __init__(
        self, scheduler: Scheduler, progress: Progress, status: Callable[[Json, Stream], Awaitable[Json]]
    ) -> None:
        self._scheduler = scheduler
        self._progress = progress
        self._status = status

    async def wait(self, params: Json, stream: Stream) -> Json:
        """Wait until all is at `tier`. Raises UsageError, or Refused when it cannot be or takes too long."""
        tier = parameters.text(params, "tier")
        if tier not in protocol.TIERS:
            raise UsageError(f'"{tier}" is not a tier. There are: {", ".join(protocol.TIERS)}.')
        if tier not in protocol.READY_TIERS:
            raise Refused(
                f"The tier {tier} is not built by this version; it builds {', '.join(protocol.READY_TIERS)}."
            )
        if tier == "embedded" and await self._scheduler.encoder() is None:
            raise Refused("No embedder is installed, so nothing can be embedded. See: mindscape models list")
        gate, timeout = self._scheduler.gate, parameters.seconds(params)
        gate.refuse_if_paused()
        try:
            async with asyncio.timeout(timeout):
                await self._scheduler.scanner.scan_all()
                with gate.wanted() if tier in ("embedded", "refined") else nullcontext():
                    await self._until(tier, stream)
        except TimeoutError:
            raise Refused(f"Not everything is {tier} after {timeout} seconds. It goes on.") from None
        return await self._status({}, stream)

    async def _until(self, tier: str, stream: Stream) -> None:
        """Wait until every file seen is final, and has its vectors or summaries; reports the progress."""
        version = self._progress.version
        while True:
            if tier == "refined" and not await self._scheduler.can_refine():
                raise Refused(
                    "No model here was measured good enough to write summaries, so nothing can be refined. "
                    "See: mindscape models list"
                )
            done, total = await self._scheduler.standing(tier)
            left = await self._scheduler.seconds_left(tier)
            await stream({"progress": {"done": done, "total": total, "what": tier, "seconds": left}})
            if done >= total:
                return
            self._scheduler.gate.refuse_if_paused()
            if trouble := self._scheduler.trouble:
                raise Refused(f"The work does not go on: {trouble}")
            version = await self._progress.after(version)
            await asyncio.sleep(REPORT_SECONDS)

    async def subscribe(self, params: Json, stream: Stream) -> Json:
        """Stream progress until cancelled: at once, then after each change, at most five a second."""
        del params
        version = self._progress.version
        while True:
            done, total = await self._scheduler.standing("embedded")
            what = "paused" if self._scheduler.gate.paused else "embedded"
            await stream({"progress": {"done": done, "total": total, "what": what}})
            version = await self._progress.after(version)
            await asyncio.sleep(REPORT_SECONDS)
