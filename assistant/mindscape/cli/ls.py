"""`mindscape ls`: the documents, and sentences on what could not be read, or not all of it."""

from __future__ import annotations

import argparse
from typing import Any

from mindscape import client
from mindscape.cli.output import Printer, coloured, dim, emit, err, out
from mindscape.paths import Paths
from mindscape.tui.wording import one_line, short_path


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments but --json."""


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Exit code 1 when the library is empty."""
    result = client.request(paths, "ls", {})
    documents: list[dict[str, Any]] = result["documents"]
    if args.json:
        emit(result)
    elif not documents:
        err().line("The library is empty; 'mindscape add FOLDER' fills it.")
    else:
        printer = out()
        for document in documents:
            _print_document(printer, document)
    return 0 if documents else 1


def _print_document(printer: Printer, document: dict[str, Any]) -> None:
    """Id, state, passages, path; below it the reason when there is one, and the warnings."""
    state = str(document.get("tier") or document["status"])
    colour = "green" if document.get("tier") else "yellow"
    printer.line(
        f"{document['id']:>6}  ",
        coloured(f"{state:<12}", colour),
        f"{document.get('passages') or 0:>6}  ",
        one_line(short_path(document["path"])),
        dim(f"  ({document['spelling']} letters)") if document.get("spelling") else "",
    )
    for sentence in (document.get("reason"), *(document.get("warnings") or ())):
        if sentence:
            printer.line(" " * 8, dim(one_line(str(sentence))))
