"""`mindscape rm PATH...`: stop watching. Files are never touched, only what was indexed of them."""

from __future__ import annotations

import argparse

from mindscape import client
from mindscape.cli.output import emit, out
from mindscape.cli.places import encoded_path
from mindscape.paths import Paths
from mindscape.tui.wording import counted


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a watched folder or file")
    parser.add_argument(
        "--forget", action="store_true", help="also drop what is kept for a while in case the files return"
    )


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Say how many documents went; a path that is not watched is refused by the daemon."""
    encoded = [encoded_path(path) for path in args.paths]
    result = client.request(paths, "rm", {"paths_b64": encoded, "forget": args.forget})
    removed = int(result["removed"])
    if args.json:
        emit(result)
    else:
        out().line(f"{counted(removed, 'document')} removed from the library")
    return 0
