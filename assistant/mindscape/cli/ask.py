"""`mindscape ask QUESTION`: an answer as it is written, then the sources it rests on."""

from __future__ import annotations

import argparse
import re
from typing import Any

from mindscape import client
from mindscape.cli.layout import Flow, clip
from mindscape.cli.output import Printer, bold, coloured, dim, emit, err, out
from mindscape.cli.places import limits
from mindscape.errors import UsageError
from mindscape.paths import Paths
from mindscape.text import printable
from mindscape.tui.wording import coverage_note, one_line, stage_name, where

Json = dict[str, Any]
_ID = re.compile(r"c\d+")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("question", nargs="*", metavar="QUESTION", help="in your own words")
    parser.add_argument(
        "--continue",
        dest="resumed",
        nargs="?",
        const="last",
        metavar="ID",
        help="go on with the last conversation, or with the one called so (c12)",
    )
    parser.add_argument("--in", dest="scope", metavar="SCOPE", help="only from this folder or document")
    parser.add_argument("--upto", metavar="PLACE", help="only from what stands up to there, it included")
    modes = ("auto", "passages", "global")
    parser.add_argument("--mode", choices=modes, default="auto", help="how to look (auto)")
    parser.add_argument("--no-stream", action="store_true", help="print the answer when it is whole")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Exit code 1 when the documents do not answer the question."""
    conversation, words = _conversation(args)
    if not words:
        raise UsageError("the question is missing: mindscape ask QUESTION")
    params: Json = {"question": " ".join(words), "mode": args.mode, "stream": not args.no_stream}
    params["conversation"] = conversation
    params |= limits(args, paths)
    if args.json:
        result = client.request(paths, "ask", params, on_stream=None if args.no_stream else _emit_token)
        emit(result)
        return 0 if result["answered"] else 1
    printer = out()
    live = _Live(printer)
    try:
        result = client.request(paths, "ask", params, on_stream=live.take)
    finally:
        live.end()
    if rewritten := result.get("rewritten"):
        err().line(f"Understood as: {one_line(rewritten)}")
    if one_line(live.shown) != one_line(result["answer"]):
        if live.shown:
            err().line("That was a draft; checked against the sources, the answer is:")
        printer.paragraph(result["answer"])
    if citations := result.get("citations"):
        _print_sources(printer, "Sources", citations, shown=result["answer"])
    elif near := result.get("near"):
        _print_sources(printer, "Closest passages", near, shown="")
    if note := coverage_note(result.get("coverage") or {}):
        err().line(note)
    return 0 if result["answered"] else 1


def _conversation(args: argparse.Namespace) -> tuple[str, list[str]]:
    """Which conversation the question belongs to, and its words: the first may stand after `--continue`."""
    resumed: str | None = args.resumed
    if resumed is None:
        return "new", args.question
    if resumed == "last" or _ID.fullmatch(resumed):
        return resumed, args.question
    return "last", [resumed, *args.question]


def _emit_token(message: Json) -> None:
    if "token" in message:
        emit({"token": message["token"]})


class _Live:
    """The answer as its pieces arrive; until the first, the stage on stderr where it can be erased."""

    def __init__(self, printer: Printer) -> None:
        self.shown = ""
        self._stream = printer.stream
        self._flow = Flow(self._stream.write, printer.width)
        self._stages = err()
        self._stage_up = False

    def take(self, message: Json) -> None:
        """One streamed message: a piece of the answer or the name of a stage."""
        if token := message.get("token"):
            self._erase_stage()
            self.shown += token
            self._flow.feed(printable(token))
            self._stream.flush()
        elif (stage := message.get("stage")) and self._stages.lively and not self.shown:
            self._erase_stage()
            self._stages.stream.write(
                self._stages.render(dim(clip(f"{stage_name(stage)}…", self._stages.room - 1)))
            )
            self._stages.stream.flush()
            self._stage_up = True

    def end(self) -> None:
        """No more pieces: finish the line."""
        self._erase_stage()
        self._flow.close()

    def _erase_stage(self) -> None:
        if self._stage_up:
            self._stages.stream.write("\r\x1b[K")
            self._stages.stream.flush()
            self._stage_up = False


def _print_sources(printer: Printer, title: str, citations: list[Json], shown: str) -> None:
    """`[n] path:line`, and the quote below it unless it has been shown."""
    printer.line()
    printer.line(bold(title))
    for citation in citations:
        doubt = (
            coloured("  not confirmed by the text", "yellow") if citation.get("supported") is False else ""
        )
        printer.line(
            bold(f"{'[' + str(citation['n']) + ']':>5} "),
            coloured(where(citation["path"], citation), "cyan"),
            doubt,
        )
        quote = one_line(str(citation["quote"]))
        if quote not in one_line(shown):
            printer.paragraph(f"“{quote}”", indent="      ")
