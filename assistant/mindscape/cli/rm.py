"""`mindscape rm PATH...`: stop watching. Files are never touched, only what was indexed of them."""

from __future__ import annotations

import argparse
import os

from mindscape import client
from mindscape.cli.output import emit, err, out
from mindscape.cli.places import encoded_path
from mindscape.errors import NotFound
from mindscape.paths import Paths
from mindscape.tui.wording import counted, one_line


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a watched folder or file")
    parser.add_argument(
        "--forget", action="store_true", help="also drop what is kept for a while in case the files return"
    )


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Say how many documents went; a path that is not watched is refused by the daemon."""
    encoded = [encoded_path(path) for path in args.paths]
    try:
        result = client.request(paths, "rm", {"paths_b64": encoded, "forget": args.forget})
    except NotFound as error:
        raise NotFound(f"{error}{_hint(args.paths, paths)}") from error
    removed = int(result["removed"])
    if args.json:
        emit(result)
    else:
        out().line(f"{counted(removed, 'document')} removed from the library")
        for path in result.get("not_watched") or ():
            err().line(f"{one_line(path)} is not watched; what was kept of files that are gone is forgotten.")
    return 0


def _hint(given: list[str], paths: Paths) -> str:
    """How to leave out what lies inside a watched folder, which is not watched by itself."""
    folders = [str(folder["path"]) for folder in client.request(paths, "status", {})["folders"]]
    for path in given:
        real = os.path.realpath(path)
        for folder in folders:
            if real.startswith(folder.rstrip("/") + "/"):
                return f" To leave out {one_line(path)}, name it in {folder.rstrip('/')}/.mindscapeignore."
    return ""
