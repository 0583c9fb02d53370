"""`mindscape open PLACE`: the file itself, at the line or page."""

from __future__ import annotations

import argparse

from mindscape import client
from mindscape.cli.output import emit
from mindscape.cli.places import absolute_place, document_called
from mindscape.errors import NotFound
from mindscape.paths import Paths
from mindscape.tui.opening import launch, opening_for


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("place", metavar="PLACE", help="as for get: an id, a path, PATH:LINE, p123, ...")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Open it; an editor in the terminal is waited for, a viewer is not."""
    try:
        place = client.request(paths, "get", {"place": absolute_place(args.place, paths)})
    except NotFound:
        # A picture, say, has no text to be a place in, but can be looked at.
        document = document_called(args.place, paths)
        if document is None:
            raise
        place = {"document": document}
    launch(opening_for(place))
    if args.json:
        emit({"path": place["document"]["path"], "line": place.get("line"), "page": place.get("page")})
    return 0
