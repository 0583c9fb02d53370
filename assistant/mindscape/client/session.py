"""The asyncio client: one connection, many requests at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from mindscape.client import connect, error_from
from mindscape.paths import Paths
from mindscape.protocol import MAX_MESSAGE_BYTES, Json
from mindscape.rpc import Peer, PeerGone, RemoteError


class Client:
    """A connection to the daemon. Get one by `connect`."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self._reading = asyncio.create_task(peer.run())

    @classmethod
    async def connect(cls, paths: Paths, *, start: bool = True) -> Client:
        """Connect, starting the daemon if need be. Raises DaemonUnreachable."""
        link = await asyncio.to_thread(connect, paths, start=start)
        link.setblocking(False)
        reader, writer = await asyncio.open_unix_connection(sock=link, limit=MAX_MESSAGE_BYTES)
        return cls(Peer(reader, writer))

    async def call(
        self, method: str, params: Json | None = None, on_stream: Callable[[Json], None] | None = None
    ) -> Any:
        """Send a request; cancelling the awaiting task cancels it in the daemon. Raises MindscapeError."""
        try:
            return await self._peer.call(method, params or {}, on_stream)
        except RemoteError as error:
            data = {"exit_code": error.exit_code}
            raise error_from({"code": error.rpc_code, "message": str(error), "data": data}) from None
        except PeerGone as error:
            raise error_from(
                {"code": -32003, "message": "The daemon stopped.", "data": {"exit_code": 3}}
            ) from error

    @property
    def gone(self) -> asyncio.Event:
        """Set when the daemon has closed the connection."""
        return self._peer.gone

    async def close(self) -> None:
        """Close the connection."""
        self._peer.close()
        await self._reading
