"""`mindscape get PLACE`: the text at a place, as it is in the document."""

from __future__ import annotations

import argparse

from mindscape import client
from mindscape.cli.output import dim, emit, err, out
from mindscape.cli.places import absolute_place
from mindscape.paths import Paths
from mindscape.text import printable
from mindscape.tui.wording import heading_of, where


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "place",
        metavar="PLACE",
        help="an id or a path, PATH:LINE, PATH:START-END (characters), 'PATH p. PAGE', a passage or a node",
    )


def run(args: argparse.Namespace, paths: Paths) -> int:
    """The text on stdout; where it is, for a person watching, on stderr."""
    result = client.request(paths, "get", {"place": absolute_place(args.place, paths)})
    if args.json:
        emit(result)
        return 0
    if err().lively:
        heading = heading_of(result)
        err().line(dim(where(result["document"]["path"], result) + (f"  {heading}" if heading else "")))
    text = printable(result["text"])
    out().stream.write(text if text.endswith("\n") else text + "\n")
    return 0
