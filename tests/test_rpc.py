"""One peer against raw bytes: what a misbehaving other side gets, and that it cannot make us grow."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from mindscape import protocol, rpc
from mindscape.errors import MindscapeError
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode
from mindscape.rpc import Handler, Peer, PeerGone, Stream


class Other:
    """A peer with its handler, and the raw other end of its connection."""

    def __init__(self, peer: Peer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peer = peer
        self.reader = reader
        self.writer = writer
        self.running = asyncio.create_task(peer.run())
        self.handler: Handler = answer_nothing

    async def exchange(self, data: bytes) -> Json:
        self.writer.write(data)
        return await self.answer()

    async def answer(self) -> Json:
        return json.loads(await self.reader.readline())


async def answer_nothing(method: str, params: Json, stream: Stream) -> Any:
    return {}


@pytest_asyncio.fixture
async def other() -> AsyncIterator[Other]:
    ours, theirs = socket.socketpair()

    async def handle(method: str, params: Json, stream: Stream) -> Any:
        return await it.handler(method, params, stream)

    peer = Peer(*await asyncio.open_unix_connection(sock=ours, limit=MAX_MESSAGE_BYTES), handle)
    it = Other(peer, *await asyncio.open_unix_connection(sock=theirs, limit=MAX_MESSAGE_BYTES))
    yield it
    it.writer.close()
    await it.running


@pytest.mark.parametrize("number", [b"NaN", b"1e999", b"1.5", b"true", b"null", b'"%s"' % (b"x" * 2000)])
async def test_an_id_that_is_none_is_refused_and_the_connection_goes_on(other: Other, number: bytes) -> None:
    refused = await other.exchange(b'{"id": %s, "method": "hello", "params": {}}\n' % number)
    assert refused["id"] is None
    assert refused["error"]["code"] == protocol.INVALID_REQUEST
    assert (await other.exchange(b'{"id": 1, "method": "hello"}\n'))["result"] == {}


async def test_a_line_over_the_limit_that_ends_with_the_connection_gets_an_error_and_a_clean_end(
    other: Other,
) -> None:
    other.writer.write(b"x" * (MAX_MESSAGE_BYTES + 1_000_000))
    other.writer.write_eof()
    assert (await other.answer())["error"]["code"] == protocol.INVALID_REQUEST
    await other.running
    assert other.running.exception() is None


async def test_an_answer_that_cannot_be_sent_is_an_error_with_its_exit_code(other: Other) -> None:
    async def handle(method: str, params: Json, stream: Stream) -> Any:
        return float("nan")

    other.handler = handle
    error = (await other.exchange(b'{"id": 1, "method": "x"}\n'))["error"]
    assert error["message"].startswith("The answer cannot be sent")
    assert error["data"] == {"exit_code": MindscapeError.exit_code}


async def test_more_requests_than_allowed_at_once_are_refused(other: Other) -> None:
    go = asyncio.Event()

    async def handle(method: str, params: Json, stream: Stream) -> Any:
        await go.wait()

    other.handler = handle
    for number in range(rpc.MAX_RUNNING):
        other.writer.write(encode({"id": number, "method": "x"}))
    refused = await other.exchange(encode({"id": "more", "method": "x"}))
    assert refused["id"] == "more"
    assert f"{rpc.MAX_RUNNING} requests" in refused["error"]["message"]
    go.set()
    answered = {(await other.answer())["id"] for _ in range(rpc.MAX_RUNNING)}
    assert answered == set(range(rpc.MAX_RUNNING))


async def test_a_peer_that_reads_nothing_is_cut_off_and_its_answers_wait_unencoded(
    other: Other, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc, "SEND_SECONDS", 0.1)
    encoded = 0

    def count(message: Json) -> bytes:
        nonlocal encoded
        encoded += 1
        return encode(message)

    async def handle(method: str, params: Json, stream: Stream) -> Any:
        return "x" * 4_000_000

    monkeypatch.setattr(protocol, "encode", count)
    other.handler = handle
    other.writer.transport.pause_reading()  # pyright: ignore[reportAttributeAccessIssue]
    for number in range(10):
        other.writer.write(encode({"id": number, "method": "x"}))
    await asyncio.wait_for(other.running, 30)
    assert encoded == 1


async def test_a_request_cancelled_in_the_same_breath_is_answered(other: Other) -> None:
    request = encode({"jsonrpc": "2.0", "id": 1, "method": "ask", "params": {}})
    cancel = encode({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": 1}})
    assert (await asyncio.wait_for(other.exchange(request + cancel), 30))["id"] == 1


async def test_a_cancelled_call_stays_cancelled_when_the_peer_cannot_be_told() -> None:
    ours, theirs = socket.socketpair()
    peer = Peer(*await asyncio.open_unix_connection(sock=ours))
    call = asyncio.create_task(peer.call("x", {}))
    with theirs:
        assert await asyncio.to_thread(theirs.recv, 1000)
        peer.close()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_a_call_over_a_lost_connection_says_that_the_peer_is_gone(other: Other) -> None:
    other.peer.close()
    with pytest.raises(PeerGone):
        await other.peer.call("x", {})
