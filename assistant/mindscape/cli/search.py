"""`mindscape search QUERY`: passages, best first."""

from __future__ import annotations

import argparse
import re
from typing import Any

from mindscape import client
from mindscape.cli.commands import positive
from mindscape.cli.layout import wrap
from mindscape.cli.output import Part, Printer, bold, coloured, dim, emit, err, out
from mindscape.cli.places import limits
from mindscape.cli.snippet import matches, snippet
from mindscape.paths import Paths
from mindscape.text import printable
from mindscape.tui.wording import coverage_note, heading_of, where

_SNIPPET_LINES = 3
_KNOWN = ("documents", "behind", "without_text")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "query", nargs="+", metavar="QUERY", help="any text; after -- it may start with a dash"
    )
    parser.add_argument("-k", type=positive, default=10, metavar="N", help="at most N passages (10)")
    parser.add_argument("--in", dest="scope", metavar="SCOPE", help="only in this folder or document")
    parser.add_argument("--upto", metavar="PLACE", help="only what stands up to there, it included")
    parser.add_argument("--tag", metavar="T", help="only in documents with this tag")
    parser.add_argument("--since", metavar="DATE", help="only in documents changed since YYYY-MM-DD")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Exit code 1 when nothing was found."""
    query = " ".join(args.query)
    params: dict[str, Any] = {"query": query, "k": args.k, "tag": args.tag, "since": args.since}
    params |= limits(args, paths)
    result = client.request(paths, "search", params)
    found: list[dict[str, Any]] = result["results"]
    if args.json:
        emit(result)
        return 0 if found else 1
    printer = out()
    for hit in found:
        _print_hit(printer, hit, matches(query))
    coverage: dict[str, Any] = result.get("coverage") or {}
    if not found and coverage and not any(coverage.get(what) for what in _KNOWN):
        err().line("The library is empty. Add a folder: mindscape add PATH")
        return 1
    if not found:
        err().line("Nothing was found.")
    if note := coverage_note(coverage):
        err().line(note)
    return 0 if found else 1


def _print_hit(printer: Printer, hit: dict[str, Any], words: re.Pattern[str] | None) -> None:
    """Rank and place; then the heading and the words around the match, indented."""
    place = where(hit["document"]["path"], hit)
    parts: list[Part] = [bold(f"{hit['rank']:>3}  "), coloured(place, "cyan")]
    if also := hit.get("also"):
        parts.append(dim(f"  and {len(also)} more with the same text"))
    printer.line(*parts)
    if heading := heading_of(hit):
        printer.line("     ", dim(heading))
    width = printer.room - 5
    for line in wrap(printable(snippet(hit["text"], words, width * _SNIPPET_LINES)), width):
        printer.line("     ", *_emphasised(line, words))
    printer.line()


def _emphasised(line: str, words: re.Pattern[str] | None) -> list[Part]:
    """The line with the words that were asked for in bold."""
    if words is None:
        return [line]
    parts: list[Part] = []
    end = 0
    for found in words.finditer(line):
        parts += [line[end : found.start()], bold(found[0])]
        end = found.end()
    return [*parts, line[end:]]
