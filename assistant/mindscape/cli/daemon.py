"""`mindscape daemon`: the process that owns the library; other commands start it when they need it."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from typing import Any

from mindscape import client
from mindscape.cli.output import emit, err, out
from mindscape.errors import DaemonUnreachable, NotFound, Refused
from mindscape.paths import Paths
from mindscape.text import printable

_STOP_SECONDS = 10.0
_END_SECONDS = 5.0
_LOG_LINES = 100


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=("start", "stop", "status", "run", "logs"))


def run(args: argparse.Namespace, paths: Paths) -> int:
    """One of the five."""
    match args.action:
        case "start":
            return _report(args, client.request(paths, "hello", {}), paths)
        case "stop":
            return _stop(args, paths)
        case "status":
            return _report(args, _hello(paths), paths)
        case "run":
            sys.stdout.flush()
            return os.execv(sys.executable, [sys.executable, "-P", "-m", "mindscape.daemon"])
        case _:
            return _logs(args, paths)


def _hello(paths: Paths) -> dict[str, Any] | None:
    """What the running daemon says of itself; None when none answers. Never starts one."""
    try:
        return client.request(paths, "hello", {}, start=False)
    except DaemonUnreachable:
        return None


def _report(args: argparse.Namespace, hello: dict[str, Any] | None, paths: Paths) -> int:
    """Exit code 3 when it is not running, or runs but does not answer."""
    holder = client.lock_holder(paths) if hello is None else None
    if args.json:
        emit({"running": bool(hello or holder), "socket": str(paths.socket), **(hello or {})})
    if hello is not None:
        if not args.json:
            out().line(f"running, process {hello['pid']}, version {hello['version']}")
        return 0
    if holder is not None:
        err().line(
            f"The daemon runs (process {holder}) but does not answer; 'mindscape daemon stop' ends it."
        )
    elif not args.json:
        err().line("The daemon is not running; any command that needs it starts it.")
    return DaemonUnreachable.exit_code


def _stop(args: argparse.Namespace, paths: Paths) -> int:
    """Stop it and wait until it is gone; not running is also stopped."""
    hello = _hello(paths)
    holder = client.lock_holder(paths) if hello is None else None
    if hello is not None:
        client.request(paths, "shutdown", {}, start=False)
        _wait_for_end(int(hello["pid"]))
    elif holder is not None:
        _end(paths, holder)
    if args.json:
        emit({"running": False})
    else:
        out().line("stopped" if hello or holder else "it was not running")
    return 0


def _end(paths: Paths, holder: str) -> None:
    """Signal a daemon that does not answer, and wait until the lock it holds is free."""
    try:
        with suppress(ProcessLookupError):  # just gone: then the lock is free
            for number in (signal.SIGTERM, signal.SIGCONT):  # it may have been stopped
                os.kill(int(holder), number)
    except (ValueError, PermissionError) as error:
        raise Refused(f"The process {holder} that holds {paths.lock} cannot be ended: {error}.") from error
    deadline = time.monotonic() + _END_SECONDS
    while client.lock_holder(paths) is not None:
        if time.monotonic() > deadline:
            raise Refused(
                f"The daemon (process {holder}) was asked to end and has not; 'kill -9 {holder}' ends it."
            )
        time.sleep(0.02)


def _wait_for_end(pid: int) -> None:
    """Poll the process: it need not be our child. One that has ended but was never reaped has ended."""
    import psutil

    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline:
        try:
            if psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
                return
        except psutil.NoSuchProcess:
            return
        time.sleep(0.02)
    raise Refused(f"The daemon (process {pid}) took the request but has not ended; 'kill {pid}' ends it.")


def _logs(args: argparse.Namespace, paths: Paths) -> int:
    """The end of the log."""
    try:
        with paths.log.open(encoding="utf-8", errors="replace") as log:
            lines = [printable(line.rstrip("\n")) for line in deque(log, _LOG_LINES)]
    except FileNotFoundError as error:
        raise NotFound(f"There is no log yet; the daemon will write it to {paths.log}.") from error
    if args.json:
        emit({"path": str(paths.log), "lines": lines})
    else:
        printer = out()
        for line in lines:
            printer.line(line)
    return 0
