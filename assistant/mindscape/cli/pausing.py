"""`mindscape pause` and `mindscape resume`: background work stops, and goes on."""

from __future__ import annotations

import argparse

from mindscape import client
from mindscape.cli.output import emit, out
from mindscape.paths import Paths

_SAID = {
    "pause": "Background work is paused. Questions are still answered. To go on: mindscape resume",
    "resume": "Background work goes on.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """There are no arguments."""


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Ask for what the command's name says."""
    result = client.request(paths, args.command, {})
    if args.json:
        emit(result)
    else:
        out().paragraph(_SAID[args.command])
    return 0
