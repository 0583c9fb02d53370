"""The socket: what misbehaving clients get, and that the others do not notice."""

from __future__ import annotations

import json
import os
import stat
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mindscape import protocol
from mindscape.daemon.server import MAX_CLIENTS
from mindscape.errors import DaemonUnreachable, MindscapeError, NotFound, Refused, UsageError
from mindscape.protocol import MAX_MESSAGE_BYTES, encode
from tests.daemon.harness import Daemon


def exchange(daemon: Daemon, data: bytes) -> dict[str, Any]:
    with daemon.connect() as link:
        link.sendall(data)
        return json.loads(link.makefile("rb").readline())


@pytest.mark.parametrize(
    "line",
    [b"not json\n", b"[1,2]\n", b'{"a":\n', b"\xff\xfe\n", b"[" * 5000 + b"\n"],
    ids=["text", "array", "half", "not utf-8", "deep"],
)
def test_a_line_that_is_no_message_gets_a_parse_error(daemon: Daemon, line: bytes) -> None:
    assert exchange(daemon, line)["error"]["code"] == protocol.PARSE_ERROR


@pytest.mark.parametrize(
    "message",
    [
        {"id": 1, "method": 5, "params": {}},
        {"id": 1, "method": "hello", "params": [1]},
        {"id": [1], "method": "hello", "params": {}},
        {"method": "hello"},
    ],
)
def test_a_malformed_request_is_refused(daemon: Daemon, message: dict[str, Any]) -> None:
    assert exchange(daemon, encode(message))["error"]["code"] == protocol.INVALID_REQUEST


def test_an_oversized_message_is_refused_and_the_connection_goes_on(daemon: Daemon) -> None:
    with daemon.connect() as link, link.makefile("rb") as lines:
        link.sendall(b'{"x":"' + b"a" * MAX_MESSAGE_BYTES + b'"}\n')
        assert json.loads(lines.readline())["error"]["code"] == protocol.INVALID_REQUEST
        link.sendall(encode({"id": 7, "method": "hello", "params": {}}))
        assert json.loads(lines.readline())["id"] == 7


def test_a_message_of_the_largest_size_is_read(daemon: Daemon) -> None:
    frame = len(encode({"id": 1, "method": "get", "params": {"place": ""}}))
    message = {"id": 1, "method": "get", "params": {"place": "x" * (MAX_MESSAGE_BYTES - frame)}}
    assert len(encode(message)) == MAX_MESSAGE_BYTES
    assert exchange(daemon, encode(message))["error"]["code"] in (NotFound.rpc_code, UsageError.rpc_code)


def test_half_a_message_is_answered_with_an_error_and_others_are_served(daemon: Daemon) -> None:
    with daemon.connect() as half, daemon.connect() as silent:
        silent.sendall(b'{"jsonrpc"')
        half.sendall(b'{"jsonrpc": "2.0", "id": 1, "meth')
        assert daemon.call("hello")["protocol"] == protocol.PROTOCOL
        half.shutdown(1)
        assert json.loads(half.makefile("rb").readline())["error"]["code"] == protocol.PARSE_ERROR
    assert daemon.call("hello")["pid"]


def test_an_unknown_method_and_wrong_parameters_say_what_is_right(daemon: Daemon) -> None:
    with pytest.raises(MindscapeError, match="There is no method"):
        daemon.call("nonsense")
    with pytest.raises(UsageError, match="query must be given"):
        daemon.call("search")
    with pytest.raises(UsageError, match="k is a whole number"):
        daemon.call("search", query="x", k=0)
    with pytest.raises(UsageError, match="not an absolute path"):
        daemon.call("add", paths=["notes"])
    with pytest.raises(NotFound, match="no file or folder"):
        daemon.call("add", paths=["/nowhere/at/all"])
    with pytest.raises(UsageError, match="is not a tier"):
        daemon.call("wait", tier="polished")
    for timeout in (-1, True, "soon", 10**400):
        with pytest.raises(UsageError, match="timeout is a number of seconds"):
            daemon.call("wait", tier="searchable", timeout=timeout)
    with pytest.raises(UsageError, match="NUL"):
        daemon.call("models.use", path="/a\0b")
    with pytest.raises(Refused, match="measured good enough to write summaries"):
        daemon.call("wait", tier="refined")
    with pytest.raises(Refused, match="not built by this version"):
        daemon.call("wait", tier="recorded")


def test_one_client_too_many_is_told_so(daemon: Daemon) -> None:
    with ExitStack() as stack:
        for _ in range(MAX_CLIENTS):
            stack.enter_context(daemon.connect())
        with pytest.raises(DaemonUnreachable, match=f"too many clients \\({MAX_CLIENTS}\\)"):
            daemon.call("hello")


def test_cancelling_a_request_ends_it_with_its_own_error(daemon: Daemon) -> None:
    with daemon.connect() as link, link.makefile("rb") as lines:
        link.sendall(encode({"id": "s", "method": "subscribe", "params": {}}))
        assert json.loads(lines.readline())["params"]["progress"]["total"] == 0
        link.sendall(encode({"method": "$/cancel", "params": {"id": "s"}}))
        answer = json.loads(lines.readline())
    assert answer["id"] == "s"
    assert answer["error"]["code"] == -32800


def test_everything_of_ours_is_readable_by_the_owner_only(daemon: Daemon, folder: Path) -> None:
    (folder / "a.md").write_text("# A\n\nWords.\n")
    daemon.call("add", paths=[str(folder)])
    daemon.wait()
    assert stat.S_IMODE(daemon.paths.runtime.stat().st_mode) == 0o700
    files = [path for path in daemon.home.rglob("*") if not path.is_dir()]
    assert {path.name for path in files} >= {"library.db", "library.db-wal", "daemon.sock", "daemon.log"}
    assert [path.name for path in files if stat.S_IMODE(path.stat().st_mode) & 0o077] == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_cannot_talk_to_the_daemon(daemon: Daemon) -> None:
    daemon.paths.runtime.chmod(0o777)
    daemon.paths.socket.chmod(0o777)
    for parent in daemon.paths.runtime.parents:
        parent.chmod(parent.stat().st_mode | 0o011)
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            with daemon.connect() as link:
                link.sendall(encode({"id": 1, "method": "hello", "params": {}}))
                os._exit(1 if link.recv(1) else 0)
        except OSError:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
