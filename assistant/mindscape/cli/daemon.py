"""`mindscape daemon`: the process that owns the library; other commands start it when they need it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import deque
from typing import Any

from mindscape import client
from mindscape.cli.output import emit, err, out
from mindscape.errors import DaemonUnreachable, NotFound, Refused
from mindscape.paths import Paths
from mindscape.text import printable

_STOP_SECONDS = 10.0
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
    """What the running daemon says of itself; None when there is none. Never starts one."""
    try:
        return client.request(paths, "hello", {}, start=False)
    except DaemonUnreachable:
        return None


def _report(args: argparse.Namespace, hello: dict[str, Any] | None, paths: Paths) -> int:
    """Exit code 3 when it is not running."""
    if args.json:
        emit({"running": hello is not None, "socket": str(paths.socket), **(hello or {})})
    elif hello is None:
        err().line("The daemon is not running; any command that needs it starts it.")
    else:
        out().line(f"running, process {hello['pid']}, version {hello['version']}")
    return 0 if hello is not None else DaemonUnreachable.exit_code


def _stop(args: argparse.Namespace, paths: Paths) -> int:
    """Stop it and wait until it is gone; not running is also stopped."""
    hello = _hello(paths)
    if hello is not None:
        client.request(paths, "shutdown", {}, start=False)
        _wait_for_end(int(hello["pid"]))
    if args.json:
        emit({"running": False})
    else:
        out().line("stopped" if hello is not None else "it was not running")
    return 0


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
