"""Accept clients on the socket: one `Peer` each, whatever one of them does."""

from __future__ import annotations

import asyncio
import logging
import os
import socket

from mindscape.daemon.lifecycle import peer_uid
from mindscape.errors import DaemonUnreachable
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode
from mindscape.rpc import Handler, Peer

log = logging.getLogger(__name__)

MAX_CLIENTS = 64
CLOSE_SECONDS = 0.3
_TOO_MANY: Json = {
    "code": DaemonUnreachable.rpc_code,
    "message": f"The daemon has too many clients ({MAX_CLIENTS}); close one and try again.",
    "data": {"exit_code": DaemonUnreachable.exit_code},
}


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
        """Stop accepting and end every connection; what a client does not read by then is not sent."""
        if self._server is not None:
            self._server.close()
        for peer in self._clients.values():
            peer.close()
        if self._clients:
            await asyncio.wait(self._clients, timeout=CLOSE_SECONDS)
        for peer in self._clients.values():
            peer.abort()
        await asyncio.gather(*self._clients)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        link = writer.get_extra_info("socket")
        if task is None or peer_uid(link) != os.getuid():
            log.warning("a connection of another user was refused")
            writer.close()
            return
        if len(self._clients) >= MAX_CLIENTS:
            log.warning("a connection was refused: too many clients")
            writer.write(encode({"jsonrpc": "2.0", "id": None, "error": _TOO_MANY}))
            writer.close()
            return
        peer = self._clients[task] = Peer(reader, writer, self._handler)
        try:
            await peer.run()
        finally:
            del self._clients[task]
