"""`mindscape status`: what is indexed; with --wait, until everything is."""

from __future__ import annotations

import argparse
from typing import Any

from mindscape import client
from mindscape.cli.output import Part, Printer, bold, coloured, dim, emit, out
from mindscape.cli.progress import about, shown_progress
from mindscape.errors import UsageError
from mindscape.paths import Paths
from mindscape.protocol import READY_TIERS, TIERS
from mindscape.tui.wording import counted, one_line, short_path

Json = dict[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--wait",
        choices=_Tiers(READY_TIERS),
        metavar="TIER",
        help=f"wait until all is {' or '.join(READY_TIERS)}",
    )
    parser.add_argument("--timeout", type=_seconds, metavar="S", help="give up after S seconds (exit code 4)")


class _Tiers(tuple[str, ...]):
    """Offers what is built and takes every tier there is: the daemon says why it does not build one."""

    def __contains__(self, tier: object) -> bool:
        return tier in TIERS


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Print the status, after waiting if asked to."""
    if args.timeout is not None and args.wait is None:
        raise UsageError("--timeout is for --wait TIER.")
    if args.wait:
        with shown_progress() as on_stream:
            params = {"tier": args.wait, "timeout": args.timeout}
            result = client.request(paths, "wait", params, on_stream=on_stream)
    else:
        result = client.request(paths, "status", {})
    if args.json:
        emit(result)
    else:
        _print_status(out(), result)
    return 0


def _print_status(printer: Printer, status: Json) -> None:
    """A label and a value a line, only what there is to say."""
    documents: Json = status["documents"]
    total = int(documents["total"])
    tiers = [f"{documents[tier]:,} {tier}" for tier in TIERS if documents.get(tier)]
    _row(printer, "documents", bold(f"{total:,}"), dim("  " + " · ".join(tiers)) if tiers else "")
    _row(printer, "state", _counts(documents.get("by_status") or {}) if total else "nothing indexed yet")
    _row(printer, "jobs", _counts(status.get("jobs") or {}) or "none")
    if left := _left(status.get("work_left") or {}):
        _row(printer, "left", left)
    if status.get("paused"):
        _row(printer, "paused", coloured("background work waits; to go on: mindscape resume", "yellow"))
    elif held := status.get("held"):
        _row(printer, "held", f"{held}: heavy work waits; at once: mindscape status --wait embedded")
    for number, folder in enumerate(status.get("folders") or []):
        note = counted(int(folder["documents"]), "document") + (
            "" if folder["mode"] == "events" else f", {folder['mode']}"
        )
        note += ", scans read by OCR" if folder.get("ocr") else ""
        _row(printer, "" if number else "folders", one_line(short_path(folder["path"])), dim(f"  {note}"))
        if reason := folder.get("reason"):
            _row(printer, "", coloured(one_line(str(reason)), "yellow"))
    for kind in ("embedder", "generator"):
        model = (status.get("models") or {}).get(kind) or {}
        device = f"  {model['device']}" if model.get("device") else ""
        idle = kind == "generator" and model.get("name") and not model.get("capabilities")
        note = "  not good enough to answer or summarise: mindscape models" if idle else ""
        _row(printer, kind, str(model.get("name") or "none"), dim(f"{device}{note}"))
    if trouble := status.get("trouble"):
        _row(printer, "trouble", coloured(one_line(str(trouble)), "yellow"))
    _row(printer, "computed", _counts(status.get("work") or {}) or "nothing yet")


def _left(left: Json) -> str:
    """`3,200 passages to embed, about 4 min · 12 trees to make`, what is done left out."""
    items = (
        ("embedded", "passage", "to embed"),
        ("summarised", "tree", "to make"),
        ("refined", "model call", "to make"),
    )
    parts: list[str] = []
    for tier, item, verb in items:
        one: Json = left.get(tier) or {}
        if number := one.get("items"):
            seconds = one.get("seconds")
            parts.append(f"{counted(number, item)} {verb}" + (f", {about(seconds)}" if seconds else ""))
    return " · ".join(parts)


def _row(printer: Printer, label: str, *value: Part) -> None:
    printer.line(dim(f"{label:<11}"), *value)


def _counts(counts: Json) -> str:
    """`3 parses · 40 passage embeddings`, zeros left out."""
    return " · ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items() if number)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
