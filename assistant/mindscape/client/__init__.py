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
from typing import Any

from mindscape import errors
from mindscape.paths import Paths
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode

HELLO_SECONDS = 10.0
START_SECONDS = 30.0


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
    with connect(paths, start=start) as link:
        lines = link.makefile("rb")
        link.sendall(encode({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
        try:
            return _await_result(lines, 1, on_stream)
        except KeyboardInterrupt:
            link.sendall(encode({"jsonrpc": "2.0", "method": "$/cancel", "params": {"id": 1}}))
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
        link.sendall(encode({"jsonrpc": "2.0", "id": 0, "method": "hello", "params": {}}))
        _await_result(link.makefile("rb", buffering=0), 0, None)
    except TimeoutError:
        link.close()
        raise errors.DaemonUnreachable(
            f"The daemon{_pid_note(paths)} does not respond. Look at {paths.log}, or stop that process."
        ) from None
    link.settimeout(None)
    return link


def start_daemon(paths: Paths) -> None:
    """Start the daemon in the background and wait until it listens.

    Raises DaemonUnreachable with what it said when it could not start.
    """
    import subprocess

    read_end, write_end = os.pipe()
    paths.state.mkdir(parents=True, exist_ok=True, mode=0o700)
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
    )
    os.close(write_end)
    said = _read_ready(read_end)
    if said == "ready":
        return
    if said.startswith("already running"):
        _wait_for_socket(paths)
        return
    raise errors.DaemonUnreachable(said or f"The daemon stopped while starting. Look at {paths.log}.")


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


def _wait_for_socket(paths: Paths) -> None:
    """Another client won the race to start it: wait until that daemon listens."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if link := _try_connect(paths):
            link.close()
            return
        time.sleep(0.02)
    raise errors.DaemonUnreachable(
        f"A daemon{_pid_note(paths)} holds {paths.lock} but does not listen. Look at {paths.log}, or stop it."
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


def _await_result(lines: Any, number: int, on_stream: Callable[[Json], None] | None) -> Any:
    while line := lines.readline(MAX_MESSAGE_BYTES):
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
