"""JSON-RPC 2.0 over a pair of asyncio streams: frame, dispatch, cancel, stream. Knows no method.

The daemon speaks it to clients over the socket and to its engine and workers over socket pairs.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeGuard

from mindscape import protocol
from mindscape.errors import Cancelled, MindscapeError
from mindscape.protocol import Json

log = logging.getLogger(__name__)

Stream = Callable[[Json], Awaitable[None]]
Handler = Callable[[str, Json, Stream], Awaitable[Any]]
"""(method, params, stream) -> result. `stream` sends a piece of the answer before the result."""

SEND_SECONDS = 30.0
"""A peer that reads nothing for so long is cut off, so that what it does not read cannot pile up."""

MAX_ERROR = 2_000
"""Characters of an error's message."""
MAX_RUNNING = 64
"""Requests of one connection at the same time."""
MAX_ID = 1_000
"""Characters of a request's id: every answer to it repeats it."""


class PeerGone(MindscapeError):
    """The other side closed the connection or died."""


class RemoteError(MindscapeError):
    """The other side answered with an error; carries its code and exit code."""

    def __init__(self, code: int, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.rpc_code = code
        self.exit_code = exit_code


class Peer:
    """One end of a connection: answers requests with `handler`, sends its own with `call`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, handler: Handler | None = None
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._handler = handler
        self._ids = itertools.count(1)
        self._waiting: dict[int, tuple[asyncio.Future[Any], Callable[[Json], None] | None]] = {}
        self._running: dict[str | int, asyncio.Task[None]] = {}
        self._sending = asyncio.Lock()
        self.gone = asyncio.Event()

    async def run(self) -> None:
        """Read until the connection ends; then every waiting call fails and every running request stops."""
        try:
            while (line := await self._read_line()) is not None:
                if line.strip():
                    await self._receive(line)
        except (ConnectionError, TimeoutError) as error:
            log.debug("connection lost: %s", error)
        finally:
            self._end()

    async def call(self, method: str, params: Json, on_stream: Callable[[Json], None] | None = None) -> Any:
        """Send a request, wait for its result. Raises RemoteError or PeerGone; cancelling tells the peer."""
        if self.gone.is_set():
            raise PeerGone("The connection is closed.")
        number = next(self._ids)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = (future, on_stream)
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            return await future
        except (ConnectionError, TimeoutError) as error:
            raise PeerGone("The connection was lost.") from error
        except asyncio.CancelledError:
            # A peer that is gone needs no telling, and nothing may take the place of the cancellation.
            with suppress(ConnectionError, TimeoutError):
                await self._send({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": number}})
            raise
        finally:
            self._waiting.pop(number, None)

    def close(self) -> None:
        """Close the connection when all is sent; then `run` returns."""
        self._writer.close()

    def abort(self) -> None:
        """Close the connection at once; `run` returns."""
        self._writer.transport.abort()

    async def _read_line(self) -> bytes | None:
        """The next line, or None at the end. A line over the limit is skipped and answered with an error."""
        try:
            return await self._reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial.strip():
                await self._refuse(None, protocol.PARSE_ERROR, "The connection ended within a message.")
            return None
        except asyncio.LimitOverrunError as error:
            whole = await self._skip_line(error.consumed)
            limit = protocol.MAX_MESSAGE_BYTES
            await self._refuse(None, protocol.INVALID_REQUEST, f"A message may have at most {limit} bytes.")
            return b"\n" if whole else None

    async def _skip_line(self, consumed: int) -> bool:
        """Read on to the end of the line; False when the connection ended within it."""
        while True:
            try:
                await self._reader.readexactly(consumed)
                await self._reader.readuntil(b"\n")
                return True
            except asyncio.IncompleteReadError:
                return False
            except asyncio.LimitOverrunError as error:
                consumed = error.consumed

    async def _receive(self, line: bytes) -> None:
        try:
            message = protocol.decode(line)
        except (ValueError, RecursionError) as error:
            await self._refuse(None, protocol.PARSE_ERROR, f"This is not a JSON-RPC message: {error}")
            return
        if "method" in message:
            await self._receive_request(message)
        elif isinstance(number := message.get("id"), int) and number in self._waiting:
            self._settle(self._waiting[number][0], message)

    async def _receive_request(self, message: Json) -> None:
        method, number, params = message["method"], message.get("id"), message.get("params", {})
        about = params.get("id") if isinstance(params, dict) else None
        if method == "$/cancel" and _is_id(about):
            if task := self._running.get(about):
                task.cancel()
        elif method == "$/stream" and isinstance(about, int):
            if (waiting := self._waiting.get(about)) and waiting[1]:
                waiting[1](params)
        elif not isinstance(method, str) or not isinstance(params, dict) or not _is_id(number):
            wanted = f"A request needs a method, an id (an integer, or text of at most {MAX_ID} characters)"
            known = number if _is_id(number) else None
            await self._refuse(known, protocol.INVALID_REQUEST, f"{wanted} and params (an object).")
        elif number in self._running:
            await self._refuse(number, protocol.INVALID_REQUEST, f"Request {number} is still running.")
        elif len(self._running) >= MAX_RUNNING:
            busy = f"{MAX_RUNNING} requests of this connection are running already; wait for one to end."
            await self._refuse(number, protocol.INVALID_REQUEST, busy)
        else:
            self._running[number] = asyncio.create_task(self._answer(number, method, params))
            # One that is cancelled before its first step would never run, and answer nothing.
            await asyncio.sleep(0)

    async def _answer(self, number: str | int, method: str, params: Json) -> None:
        async def stream(piece: Json) -> None:
            await self._send({"jsonrpc": "2.0", "method": "$/stream", "params": {**piece, "id": number}})

        try:
            if self._handler is None:
                await self._refuse(number, protocol.METHOD_NOT_FOUND, "This side answers no requests.")
                return
            result = await self._handler(method, params, stream)
            await self._send({"jsonrpc": "2.0", "id": number, "result": result})
        except asyncio.CancelledError:
            await self._refuse(number, Cancelled.rpc_code, "Cancelled.", Cancelled.exit_code)
        except MindscapeError as error:
            await self._refuse(number, error.rpc_code, str(error), error.exit_code)
        except (ConnectionError, TimeoutError) as error:
            log.debug("request %s could not be answered: %s", method, error)
        except Exception as error:
            # The last line of defence: whatever one request does, the others go on and the log has it.
            log.exception("request %s failed", method)
            await self._refuse(number, protocol.INTERNAL_ERROR, f"{method} failed: {type(error).__name__}.")
        finally:
            self._running.pop(number, None)

    async def _refuse(self, number: Any, code: int, message: str, exit_code: int = 4) -> None:
        # A sentence may quote what it was sent, and that may be megabytes.
        message = message if len(message) <= MAX_ERROR else message[:MAX_ERROR] + "\u2026"
        error = {"code": code, "message": message, "data": {"exit_code": exit_code}}
        try:
            await self._send({"jsonrpc": "2.0", "id": number, "error": error})
        except (ConnectionError, TimeoutError) as gone:
            log.debug("an error could not be delivered: %s", gone)

    async def _send(self, message: Json) -> None:
        async with self._sending:
            if self.gone.is_set() or self._writer.is_closing():
                raise ConnectionResetError("the peer is gone")
            # Made into bytes only now: messages that wait for their turn share what they are made of.
            self._writer.write(_encoded(message))
            try:
                async with asyncio.timeout(SEND_SECONDS):
                    await self._writer.drain()
            except TimeoutError:
                self.abort()
                raise

    def _settle(self, future: asyncio.Future[Any], message: Json) -> None:
        if future.done():
            return
        if isinstance(error := message.get("error"), dict):
            data = error.get("data") or {}
            code, text = error.get("code", protocol.INTERNAL_ERROR), str(error.get("message", ""))
            future.set_exception(RemoteError(code, text, data.get("exit_code", 4)))
        else:
            future.set_result(message.get("result"))

    def _end(self) -> None:
        self.gone.set()
        self._writer.close()
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(PeerGone("The connection closed before the answer came."))
        for task in self._running.values():
            task.cancel()


def _is_id(value: Any) -> TypeGuard[str | int]:
    if isinstance(value, str):
        return len(value) <= MAX_ID
    return isinstance(value, int) and not isinstance(value, bool)


def _encoded(message: Json) -> bytes:
    """The line to send; an answer that cannot be sent becomes an error that says so."""
    try:
        return protocol.encode(message)
    except ValueError as error:
        if "id" not in message or "method" in message:
            raise MindscapeError(f"A message cannot be sent: {error}.") from error
        unsent: Json = {"code": protocol.INTERNAL_ERROR, "message": f"The answer cannot be sent: {error}."}
        unsent["data"] = {"exit_code": MindscapeError.exit_code}
        return protocol.encode({"jsonrpc": "2.0", "id": message["id"], "error": unsent})


def serve_child(descriptor: int, handler: Handler) -> None:
    """Serve a parent process over an inherited socket until that closes; then exit at once."""

    async def run() -> None:
        link = socket.socket(fileno=descriptor)
        reader, writer = await asyncio.open_unix_connection(sock=link, limit=protocol.MAX_MESSAGE_BYTES)
        await Peer(reader, writer, handler).run()
        # Native threads may be in the middle of a long call: nobody wants its result any more.
        os._exit(0)

    asyncio.run(run())
