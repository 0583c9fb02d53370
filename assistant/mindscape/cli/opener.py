"""`mindscape open PLACE`: the file itself, at the line or page."""

from __future__ import annotations

import argparse
import subprocess

from mindscape import client
from mindscape.cli.output import emit
from mindscape.cli.places import absolute_place
from mindscape.errors import Refused
from mindscape.paths import Paths
from mindscape.tui.opening import Opening, opening_for


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("place", metavar="PLACE", help="as for get: id, path, PATH:START-END or p123")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Open it; an editor in the terminal is waited for, a viewer is not."""
    place = client.request(paths, "get", {"place": absolute_place(args.place)})
    opening = opening_for(place)
    _start(opening)
    if args.json:
        emit({"path": place["document"]["path"], "line": place.get("line"), "page": place.get("page")})
    return 0


def _start(opening: Opening) -> None:
    program = opening.command[0]
    try:
        if opening.in_terminal:
            code = subprocess.call(opening.command)
            if code:
                raise Refused(f"{program} ended with code {code}.")
        else:
            quiet = subprocess.DEVNULL
            subprocess.Popen(opening.command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    except OSError as error:
        raise Refused(f"{program} could not be started: {error.strerror}.") from error
