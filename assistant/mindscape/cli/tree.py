"""`mindscape tree [SCOPE]`: what the library, a folder or a document is about, as an outline."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from mindscape import client
from mindscape.cli.layout import clip, wrap
from mindscape.cli.output import Part, Printer, bold, coloured, dim, emit, err, out
from mindscape.cli.places import limits
from mindscape.paths import Paths
from mindscape.text import printable
from mindscape.tui.wording import one_line

Json = dict[str, Any]
_INDENT = "  "
_LISTING = ("library", "folder", "group")
_LINES = 3
"""Of a summary, except of what was asked for."""
_NARROWEST = 24
_BETWEEN = " \t.,:;!?-\u2013\u2014\u3001\u3002\uff0c\uff1a\uff1b"
"""What stands between a title and what is said after it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "scope", nargs="?", metavar="SCOPE", help="a folder, a document, or a node as the tree names it"
    )
    parser.add_argument("--depth", type=_depth, default=2, metavar="N", help="levels below it (2)")
    parser.add_argument("--upto", metavar="PLACE", help="only what stands up to there, it included")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Exit code 1 when there is nothing."""
    params: Json = {"depth": args.depth}
    params |= limits(args, paths)
    root = client.request(paths, "tree", params)
    there = bool(root["summary"] or root["children"] or root["more"])
    if args.json:
        emit(root)
    elif there:
        _print(out(), root)
    elif root["kind"] == "library":
        err().line("The library is empty. Add a folder: mindscape add PATH")
    else:
        err().line("There is nothing yet.")
    return 0 if there else 1


def _print(printer: Printer, root: Json) -> None:
    """Each node: its title and id, and below them the beginning of its summary."""
    for node, depth in _walk(root, 0):
        indent = _INDENT * min(depth, max(0, printer.room - _NARROWEST) // len(_INDENT))
        room = printer.room - len(indent)
        title, rest = _told(node)
        printer.line(indent, *_heading(node, title, room))
        for line in _summary(node, rest, room - len(_INDENT), whole=not depth):
            printer.line(indent, _INDENT, dim(line))


def _summary(node: Json, rest: str, width: int, *, whole: bool) -> list[str]:
    """What of the summary is shown: of what lists its children, a line for each unless they follow."""
    rows = [clip(printable(row), width) for row in str(node["summary"]).splitlines() if row.strip()]
    if node["kind"] not in _LISTING:
        rows = wrap(printable(rest), width)
    elif node["children"]:
        return []
    if whole or len(rows) <= _LINES:
        return rows
    if node["kind"] in _LISTING:
        return [*rows[: _LINES - 1], f"and {len(rows) - _LINES + 1} more"]
    return [*rows[: _LINES - 1], clip(" ".join(rows[_LINES - 1 :]), width)]


def _walk(node: Json, depth: int) -> Iterator[tuple[Json, int]]:
    yield node, depth
    for child in node["children"] or ():
        yield from _walk(child, depth + 1)


def _told(node: Json) -> tuple[str, str]:
    """The title, and what the summary says after it: the title may be its beginning."""
    title, summary = one_line(str(node["title"])), one_line(str(node["summary"]))
    begun = title.removesuffix("\u2026")
    return (begun, summary[len(begun) :].lstrip(_BETWEEN)) if summary.startswith(begun) else (title, summary)


def _heading(node: Json, title: str, room: int) -> list[Part]:
    below = f" +{node['more']}" if node["more"] else ""
    beside = f"  {node['id']}{below}"
    stale = "  out of date" if node["stale"] else ""
    return [bold(clip(title, room - len(beside) - len(stale))), dim(beside), coloured(stale, "yellow")]


def _depth(text: str) -> int:
    """An argparse type: a whole number."""
    if not (text.isascii() and text.isdigit() and len(text) < 4):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of levels from 0 to 100")
    return int(text)
