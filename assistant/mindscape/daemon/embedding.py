"""Gives passages their vectors, a batch at a time; one without a usable vector holds up no other."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from mindscape.daemon.estimate import Pace
from mindscape.daemon.models import Models
from mindscape.library import Library
from mindscape_storage import counters, vectors
from mindscape_storage.database import Connection
from mindscape_storage.errors import BadVector
from mindscape_storage.packed import PackedVectors

WORK = "embed"
BATCH = 64


class Embedding:
    """Brings passages to tier embedded. `heavy` allows it, `gently` waits before a batch taking so long."""

    def __init__(
        self,
        library: Library,
        models: Models,
        pace: Pace,
        heavy: Callable[[str], Awaitable[bool]],
        gently: Callable[[float], Awaitable[None]],
    ) -> None:
        self._library = library
        self._models = models
        self._pace = pace
        self._heavy = heavy
        self._gently = gently
        self._batch_seconds = 1.0
        self._encoder: tuple[str, int] | None = None
        self._dimensions = 0
        self._packed: PackedVectors | None = None

    async def encoder(self) -> int | None:
        """Id of the passage encoder in use; None when there is no embedder. Starts no engine."""
        bundle = self._models.chosen("embedder")
        if bundle is None or bundle.encoder is None:
            return None
        name, width = bundle.encoder_name, bundle.encoder.dimensions
        self._dimensions = width
        if self._encoder is None or self._encoder[0] != name:
            number = await self._library.write(lambda c: vectors.encoder_id(c, name, width))
            self._encoder = (name, number)
        return self._encoder[1]

    def packed(self, encoder: int | None) -> PackedVectors | None:
        """The copy in memory of an encoder's vectors, shared by all readers; let go when nobody asks."""
        if encoder is None:
            return None
        if self._packed is None or self._packed.encoder != encoder:
            self._packed = PackedVectors(encoder, self._dimensions)
        return self._packed

    def let_go(self) -> None:
        """Free the copy in memory."""
        self._packed = None

    async def some(self) -> int | None:
        """Embed the next few passages; returns how many (0: not now), or None when there is nothing to do."""
        encoder = await self.encoder()
        if encoder is None:
            return None
        missing = await self._library.read(lambda c: vectors.missing_inputs(c, encoder, BATCH))
        if not missing:
            return None
        if not await self._heavy(WORK):
            return 0
        began = time.monotonic()
        await self._gently(self._batch_seconds)
        started = time.monotonic()
        try:
            await self._batch(encoder, missing)
        except BadVector:
            # One of them has no usable vector: find out which, so that the others get theirs.
            for item in missing:
                await self._alone(encoder, item)
        ended = time.monotonic()
        self._batch_seconds = ended - started
        self._pace.took(len(missing), ended - began)
        return len(missing)

    async def _batch(self, encoder: int, missing: list[tuple[bytes, str]]) -> None:
        rows = await self._models.embed([text for _, text in missing], query=False)

        def store(connection: Connection) -> None:
            vectors.add_vectors(connection, encoder, [key for key, _ in missing], rows)
            counters.bump(connection, "passage_embeddings", len(missing))

        await self._library.write(store)

    async def _alone(self, encoder: int, item: tuple[bytes, str]) -> None:
        try:
            await self._batch(encoder, [item])
        except BadVector as error:
            reason = str(error)
            await self._library.write(lambda c: vectors.skip_inputs(c, encoder, [item[0]], reason))
