"""`mindscape doctor`: named checks, what each found, and what to do about it."""

from __future__ import annotations

import argparse
from typing import Any

from mindscape import client
from mindscape.cli.output import Printer, coloured, emit, out
from mindscape.cli.progress import shown_progress
from mindscape.errors import DaemonUnreachable
from mindscape.paths import Paths

_MOVE_AWAY = "Move the file away and add your folders again; your documents are untouched."
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--repair", action="store_true", help="mend what can be mended without loss")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Exit code 1 when a check failed."""
    try:
        with shown_progress() as on_stream:
            result = client.request(paths, "doctor", {"repair": args.repair}, on_stream=on_stream)
    except DaemonUnreachable as error:
        if f"The library {paths.database} is damaged" not in str(error):
            raise
        result = {"checks": [{"name": "file", "state": "fail", "message": str(error), "fix": _MOVE_AWAY}]}
    checks: list[dict[str, Any]] = result["checks"]
    if args.json:
        emit(result)
    else:
        printer = out()
        for check in checks:
            _print_check(printer, check)
    return 1 if any(check["state"] == "fail" for check in checks) else 0


def _print_check(printer: Printer, check: dict[str, Any]) -> None:
    state = str(check["state"])
    printer.line(
        coloured(f"{state:<5}", _COLOURS.get(state, "yellow")), f"{check['name']}: {check['message']}"
    )
    if check.get("fix") and state != "ok":
        printer.line("     ", str(check["fix"]))
