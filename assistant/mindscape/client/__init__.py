"""Reach the daemon over its socket, starting it when it is not running.

This module is the blocking form, for commands that live for a few milliseconds: it imports neither asyncio
nor anything else that is slow to load. `client.session` is the asyncio form, for the TUI.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from mindscape import errors
from mindscape.paths import Paths
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode

HELLO_SECONDS = 10.0
START_SECONDS = 30.0
LISTEN_SECONDS = 10.0
"""For a daemon that runs already to listen; one that is stopping ends sooner than this."""


def request(
    paths: Paths,
    method: str,
    params: Json,
    on_stream: Callable[[Json], None] | None = None,
    *,
    start: bool = True,
) -> Any:
    """One request and its result. Raises the MindscapeError the daemon answered with, or DaemonUnreachable.

    KeyboardInterrupt tells the daemon to cancel, then propagates.
    """
    with connect(paths, start=start) as link, link.makefile("rb") as lines:
        _send(link, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        try:
            return _await_result(lines, 1, on_stream)
        except KeyboardInterrupt:
            _send(link, {"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": 1}})
            raise


def connect(paths: Paths, *, start: bool = True) -> socket.socket:
    """A connected socket whose daemon has said hello."""
    link = _try_connect(paths)
    if link is None:
        if not start:
            raise errors.DaemonUnreachable("The daemon is not running. Start it with: mindscape daemon start")
        start_daemon(paths)
        link = _try_connect(paths)
    if link is None:
        raise errors.DaemonUnreachable(f"The daemon started but its socket {paths.socket} cannot be reached.")
    try:
        link.settimeout(HELLO_SECONDS)
        _send(link, {"jsonrpc": "2.0", "id": 0, "method": "hello", "params": {}})
        with link.makefile("rb", buffering=0) as lines:
            _await_result(lines, 0, None)
    except BaseException as error:
        link.close()
        if not isinstance(error, TimeoutError):
            raise
        raise errors.DaemonUnreachable(
            f"The daemon{_pid_note(paths)} does not respond. Look at {paths.log}, or: mindscape daemon stop"
        ) from None
    link.settimeout(None)
    return link


def start_daemon(paths: Paths) -> None:
    """Start the daemon in the background and wait until it listens.

    Raises DaemonUnreachable with what it said when it could not start.
    """
    said = _launch(paths)
    if said.startswith("already running") and not _wait_for_socket(paths):
        said = _launch(paths)  # that one was stopping
    if said != "ready" and not said.startswith("already running"):
        raise errors.DaemonUnreachable(said or f"The daemon stopped while starting. Look at {paths.log}.")


def lock_holder(paths: Paths) -> str | None:
    """What the lock's file says of the daemon that holds it (its process id); None when nobody does.

    Unlike the socket this holds for a daemon that hangs, or whose socket was removed.
    """
    import fcntl

    try:
        with paths.lock.open("rb") as file:
            try:
                # Shared, so that two who look at the same time do not take each other for a daemon.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(32).decode("ascii", "replace").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return None


def _launch(paths: Paths) -> str:
    """Start the process; what it says once it listens, or why it does not."""
    import subprocess

    read_end, write_end = os.pipe()
    # The process works in another folder, where a relative MINDSCAPE_HOME would mean something else.
    environment = dict(os.environ)
    if environment.get("MINDSCAPE_HOME"):
        environment["MINDSCAPE_HOME"] = os.fspath(paths.data)
    command = [sys.executable, "-P", "-m", "mindscape.daemon", "--ready-fd", str(write_end)]
    # From the user's folder would be wrong: it may vanish, or hold a package of ours by accident (hence -P).
    subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[write_end],
        start_new_session=True,
        cwd="/",
        env=environment,
    )
    os.close(write_end)
    return _read_ready(read_end)


def _read_ready(fd: int) -> str:
    """What the daemon writes once it listens, or the reason why it does not."""
    said = b""
    deadline = time.monotonic() + START_SECONDS
    with open(fd, "rb", buffering=0) as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                return f"The daemon did not start within {START_SECONDS:.0f} seconds."
            piece = pipe.read(65536)
            if not piece:
                return said.decode("utf-8", "replace").strip()
            said += piece


def _wait_for_socket(paths: Paths) -> bool:
    """A daemon runs: another client started it just now, or it is stopping. Whether it came to listen."""
    deadline = time.monotonic() + LISTEN_SECONDS
    while time.monotonic() < deadline:
        if link := _try_connect(paths):
            link.close()
            return True
        if lock_holder(paths) is None:
            return False
        time.sleep(0.02)
    raise errors.DaemonUnreachable(
        f"A daemon{_pid_note(paths)} holds {paths.lock} but does not listen. "
        "End it with: mindscape daemon stop"
    )


def _try_connect(paths: Paths) -> socket.socket | None:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        link.connect(os.fspath(paths.socket))
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        link.close()
        return None
    except OSError as error:
        link.close()
        raise errors.DaemonUnreachable(
            f"The daemon's socket {paths.socket} cannot be used: {error.strerror}."
        ) from error
    return link


def _pid_note(paths: Paths) -> str:
    try:
        return f" (process {int(paths.lock.read_text())})"
    except (OSError, ValueError):
        return ""


def _send(link: socket.socket, message: Json) -> None:
    """Send; that nobody reads it shows when the answer is awaited, which may have come before the end."""
    with suppress(ConnectionError):
        link.sendall(encode(message))


def _next_line(lines: Any) -> bytes:
    """The next line, whole; empty at the connection's end."""
    try:
        line: bytes = lines.readline(MAX_MESSAGE_BYTES)
    except ConnectionError:
        return b""
    return line if line.endswith(b"\n") else b""


def _await_result(lines: Any, number: int, on_stream: Callable[[Json], None] | None) -> Any:
    while line := _next_line(lines):
        message = json.loads(line)
        if message.get("method") == "$/stream":
            if on_stream:
                on_stream(message["params"])
        elif "error" in message:
            raise error_from(message["error"])
        elif message.get("id") == number:
            return message["result"]
    raise errors.DaemonUnreachable(
        "The daemon stopped before it answered. Its log says why: mindscape daemon logs"
    )


def error_from(error: Json) -> errors.MindscapeError:
    """The exception of ours that the daemon's error object stands for."""
    kinds = (errors.UsageError, errors.NotFound, errors.Refused, errors.DaemonUnreachable, errors.Cancelled)
    kind = next((k for k in kinds if k.rpc_code == error.get("code")), errors.MindscapeError)
    result = kind(str(error.get("message", "The daemon answered with an error.")))
    result.exit_code = (error.get("data") or {}).get("exit_code", kind.exit_code)
    return result
