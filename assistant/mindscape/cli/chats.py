"""`mindscape chats [ID]`: the conversations, or one of them with its answers and where they come from."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from mindscape import client
from mindscape.cli.layout import clip
from mindscape.cli.output import Printer, bold, coloured, dim, emit, err, out
from mindscape.errors import UsageError
from mindscape.paths import Paths
from mindscape.tui.wording import counted, one_line, where

Json = dict[str, Any]
_FORGOTTEN = "(Forgotten, with a document that it was made from.)"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("id", nargs="?", metavar="ID", help="a conversation, as the list names it (c12)")
    parser.add_argument("--delete", metavar="ID", help="delete this conversation")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Exit code 1 when there are none, or none of this name."""
    if args.delete is not None:
        if args.id is not None:
            raise UsageError("either read a conversation or delete one")
        deleted = client.request(paths, "conversations.delete", {"id": args.delete})
        if args.json:
            emit(deleted)
        else:
            out().line(f"{deleted['deleted']} is deleted.")
        return 0
    if args.id is not None:
        whole = _whole(paths, args.id)
        if args.json:
            emit(whole)
        else:
            _print_conversation(out(), whole)
        return 0
    listed = client.request(paths, "conversations.list", {})
    if args.json:
        emit(listed)
    elif not listed["conversations"]:
        err().line("There is no conversation yet: mindscape ask QUESTION begins one.")
    else:
        _print_list(out(), listed)
    return 0 if listed["conversations"] else 1


def _whole(paths: Paths, id_: str) -> Json:
    """A conversation with all its turns, which come a page at a time, the last first."""
    whole = client.request(paths, "conversations.get", {"id": id_})
    while before := whole["earlier"]:
        page = client.request(paths, "conversations.get", {"id": id_, "before": before})
        whole = {**whole, "turns": [*page["turns"], *whole["turns"]], "earlier": page["earlier"]}
    return whole


def _print_list(printer: Printer, listed: Json) -> None:
    for one in listed["conversations"]:
        beside = f"{one['id']:>6}  {_when(one['last'])}  "
        count = f"  {counted(one['questions'], 'question')}"
        title = clip(one_line(one["title"]), max(20, printer.room - len(beside) - len(count)))
        printer.line(bold(f"{one['id']:>6}"), f"  {_when(one['last'])}  ", title, dim(count))
    if more := listed["total"] - len(listed["conversations"]):
        err().line(f"There are {more:,} more.")


def _print_conversation(printer: Printer, whole: Json) -> None:
    printer.line(bold(one_line(whole["title"])), dim(f"  {whole['id']}  {_when(whole['started'])}"))
    for turn in whole["turns"]:
        printer.line()
        printer.line(bold("> "), one_line(turn["question"]))
        if turn["rewritten"]:
            printer.line(dim(f"  understood as: {one_line(turn['rewritten'])}"))
        printer.paragraph(turn["answer"] or _FORGOTTEN)
        for citation in turn["citations"]:
            place = where(citation["path"], citation) if citation["path"] else _FORGOTTEN
            changed = "" if citation["current"] or not citation["path"] else "  changed since"
            printer.line(
                bold(f"{'[' + str(citation['n']) + ']':>5} "),
                coloured(place, "cyan"),
                coloured(changed, "yellow"),
            )


def _when(seconds: int) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
