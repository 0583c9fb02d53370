"""Lets a model write summaries of its own once all else is done, a call at a time, and keeps at it."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from mindscape.daemon.estimate import Estimate
from mindscape.daemon.models import Models
from mindscape.daemon.pausing import Gate
from mindscape.daemon.progress import Progress
from mindscape.errors import MindscapeError
from mindscape.ingest import written
from mindscape.ingest.summarise import Kind
from mindscape.ingest.upkeep import ModelUpkeep
from mindscape.library import Library
from mindscape_models.bundle import Bundle
from mindscape_storage import refined

log = logging.getLogger(__name__)

WORK = "refine"
ATTEMPTS = 2
"""A node at which a model fails so often, though it writes elsewhere, keeps its extractive summary."""
TRIAL = [{"role": "user", "content": "Write the word yes."}]
TRIAL_TOKENS = 4
SETTLED_SECONDS = 20.0
"""Folders wait until nothing has changed for so long: many edits become one summary of what is above."""


class Superseded(Exception):
    """Another model is to be asked now, or the same in another way."""


class Refiner:
    """Brings documents and folders to tier refined. `lower` waits until nothing is left of the tiers below;
    `unchanged` says for how many seconds nothing was."""

    def __init__(
        self,
        library: Library,
        models: Models,
        estimate: Estimate,
        gate: Gate,
        progress: Progress,
        lower: Callable[[], Awaitable[None]],
        unchanged: Callable[[], float],
    ) -> None:
        self._library = library
        self._models = models
        self._estimate = estimate
        self._gate = gate
        self._progress = progress
        self._lower = lower
        self._unchanged = unchanged
        self._upkeep = ModelUpkeep(library)
        self._failures: Counter[bytes] = Counter()

    async def adopt(self) -> str | None:
        """From now on the chosen model is the one that goes through the nodes; returns how it is asked."""
        bundle = self._models.summariser()
        how = None if bundle is None else asked(bundle)
        await self._library.write(lambda c: refined.use(c, how))
        return how

    async def some(self) -> bool:
        """Go through one tree; False when no model is capable, or it has been through all."""
        how, bundle = await self.adopt(), self._models.summariser()
        if bundle is None or how is None:
            return False
        self._estimate.written = 0
        through = partial(self._upkeep.some, how, bundle.name, partial(self._write, bundle, how))
        try:
            await self._lower()
            if await through(upwards=False):
                return True
            unsettled = SETTLED_SECONDS - self._unchanged()
            if unsettled > 0 and not self._gate.is_wanted:
                await self._gate.patience(unsettled)
                return True
            return await through(upwards=True)
        except Superseded:
            return True

    async def _write(
        self, bundle: Bundle, how: str, key: bytes, kind: Kind, children: Sequence[str]
    ) -> str | None:
        while not await self._gate.heavy(WORK):
            self._gate.check()
        self._gate.check()
        await self._lower()
        now = self._models.summariser()
        if now is None or asked(now) != how:
            raise Superseded
        began = time.monotonic()
        try:
            made = await written.write_summary(
                kind, children, partial(self._models.write_in_background, bundle)
            )
        except MindscapeError as error:
            self._failures[key] += 1
            if self._failures[key] < ATTEMPTS or not await self._writes(bundle):
                raise
            log.warning("%s fails at the node %s: %s", bundle.name, key.hex(), error)
            return None
        self._estimate.refining.took(1, time.monotonic() - began)
        self._estimate.written += 1
        await self._progress.notify()
        if made.text is None:
            log.info("%s, node %s: rejected (%s)", bundle.name, key.hex(), made.reason)
        return made.text

    async def _writes(self, bundle: Bundle) -> bool:
        """Whether the model writes at all: if not, that says nothing against the node it failed at."""
        try:
            await self._models.write_in_background(bundle, TRIAL, TRIAL_TOKENS)
        except MindscapeError as error:
            log.warning("%s writes nothing: %s", bundle.name, error)
            return False
        return True


def asked(bundle: Bundle) -> str:
    """Which model is asked, and how: it enters the key of all it writes."""
    return f"{bundle.name}@{bundle.files[0].sha256[:16]} {written.how()}"
