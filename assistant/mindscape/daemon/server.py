"""Accept clients on the socket: one `Peer` each, whatever one of them does."""

from __future__ import annotations

import asyncio
import logging
import os
import socket

from mindscape.daemon.lifecycle import peer_uid
from mindscape.protocol import MAX_MESSAGE_BYTES
from mindscape.rpc import Handler, Peer

log = logging.getLogger(__name__)

MAX_CLIENTS = 64


class Server:
    """Serves `handler` to every client of this user."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._clients: dict[asyncio.Task[None], Peer] = {}
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        """Begin to accept."""
        self._server = await asyncio.start_unix_server(self._accept, sock=listener, limit=MAX_MESSAGE_BYTES)

    async def stop(self) -> None:
        """Stop accepting and end every connection."""
        if self._server is not None:
            self._server.close()
        for peer in self._clients.values():
            peer.close()
        await asyncio.gather(*self._clients)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        link = writer.get_extra_info("socket")
        if task is None or peer_uid(link) != os.getuid() or len(self._clients) >= MAX_CLIENTS:
            log.warning("a connection was refused: another user, or too many clients")
            writer.close()
            return
        peer = self._clients[task] = Peer(reader, writer, self._handler)
        try:
            await peer.run()
        finally:
            del self._clients[task]
