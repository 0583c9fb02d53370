"""`mindscape add PATH...`: watch folders and files."""

from __future__ import annotations

import argparse
from typing import Any

from mindscape import client
from mindscape.cli.output import dim, emit, err, out
from mindscape.cli.places import encoded_path
from mindscape.paths import Paths
from mindscape.tui.wording import counted, one_line, short_path


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a folder (with all below it) or a file")
    parser.add_argument(
        "--ocr",
        action=argparse.BooleanOptionalAction,
        help="read scans and pictures there by OCR, which takes seconds a page (or stop doing so)",
    )


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Hand the paths to the daemon, which indexes them in the background."""
    chosen: dict[str, Any] = {"paths_b64": [encoded_path(path) for path in args.paths]}
    if args.ocr is not None:
        chosen["ocr"] = args.ocr
    result = client.request(paths, "add", chosen)
    if args.json:
        emit(result)
        return 0
    printer = out()
    for folder in result["folders"]:
        known = int(folder.get("documents") or 0)
        note = f"  {counted(known, 'document')} so far" if known else ""
        note += "  scans are read by OCR" if folder.get("ocr") else ""
        printer.line("watching ", one_line(short_path(folder["path"])), dim(note))
    if err().lively:
        err().line("Indexing goes on in the background; 'mindscape status --wait embedded' waits for it.")
    return 0
