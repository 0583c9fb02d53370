"""The table of commands, and how their arguments are read."""

from __future__ import annotations

import argparse
import importlib
import sys
from typing import NamedTuple, NoReturn, Protocol, cast

from mindscape.cli.output import out
from mindscape.errors import UsageError
from mindscape.paths import Paths


class Command(Protocol):
    """What a command's module offers."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, args: argparse.Namespace, paths: Paths) -> int:
        """Do it and return the exit code; raise MindscapeError to say why not."""
        ...


class Entry(NamedTuple):
    """A row of the table; the module is imported when the command is used."""

    module: str
    summary: str
    group: str


COMMANDS: dict[str, Entry] = {
    "add": Entry("add", "watch a folder or a file", "Library"),
    "rm": Entry("rm", "stop watching; the files themselves are never touched", "Library"),
    "ls": Entry("ls", "list the documents and what became of them", "Library"),
    "status": Entry("status", "what is indexed; --wait TIER waits until it is done", "Library"),
    "pause": Entry("pausing", "stop background work, until it is resumed", "Library"),
    "resume": Entry("pausing", "let background work go on", "Library"),
    "search": Entry("search", "find passages", "Reading"),
    "ask": Entry("ask", "answer a question from your documents, with sources", "Reading"),
    "chats": Entry("chats", "list the conversations, read one, or delete it", "Reading"),
    "tree": Entry("tree", "what it is all about, from the library down", "Reading"),
    "get": Entry("get", "print the text at a document, PATH:START-END, passage or node", "Reading"),
    "open": Entry("opener", "open a place in your editor or a viewer", "Reading"),
    "daemon": Entry("daemon", "start, stop, status, run, logs", "Machinery"),
    "models": Entry("models", "list the models, or use another", "Machinery"),
    "eval": Entry("evaluate", "measure search and answers on a set with known answers", "Machinery"),
    "doctor": Entry("doctor", "check the library and the models; --repair mends", "Machinery"),
    "completion": Entry("completion", "a completion script for bash, zsh or fish", "Machinery"),
}


class Parser(argparse.ArgumentParser):
    """argparse whose errors are ours: a sentence on stderr and exit code 2."""

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message}. '{self.prog} --help' shows how it is used.")


class _Formatter(argparse.HelpFormatter):
    """Measures the terminal as `output` does."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28, width=min(out().room, 100))


def parse(words: list[str]) -> tuple[Command, argparse.Namespace]:
    """The command that `words[0]` names and its arguments. Raises UsageError."""
    name, *rest = words
    if name not in COMMANDS:
        raise UsageError(f"there is no command {name!r}{_nearest(name)} 'mindscape --help' lists them.")
    command, parser = command_parser(name)
    # Options may stand between the words of a question; after `--` everything is words.
    read = parser.parse_args if "--" in rest else parser.parse_intermixed_args
    return command, read(rest)


def command_parser(name: str) -> tuple[Command, argparse.ArgumentParser]:
    """The module of a command and its configured parser."""
    entry = COMMANDS[name]
    command = cast(Command, importlib.import_module(f"mindscape.cli.{entry.module}"))
    parser = Parser(
        prog=f"mindscape {name}", description=_sentence(entry.summary), formatter_class=_Formatter
    )
    parser.set_defaults(command=name)
    parser.add_argument("--json", action="store_true", help="JSON on stdout, messages on stderr")
    command.configure(parser)
    return command, parser


def help_text() -> str:
    """`mindscape --help`."""
    lines = [
        "mindscape: your notes and books, answered with citations, on your own machine.",
        "",
        "  mindscape                 the terminal interface",
        "  mindscape COMMAND ...     one of these; each has --help, and --json where it prints",
    ]
    for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
        lines += ["", group]
        lines += [f"  {name:<12}{entry.summary}" for name, entry in COMMANDS.items() if entry.group == group]
    lines += ["", "Exit codes: 0 done, 1 nothing found or a check failed, 2 wrong usage,"]
    lines += ["3 the daemon cannot be reached, 4 refused or failed with a stated reason."]
    return "\n".join(lines) + "\n"


def positive(text: str) -> int:
    """An argparse type: a whole number above zero."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 0 < number <= sys.maxsize:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above zero")
    return number


def _sentence(summary: str) -> str:
    return summary[0].upper() + summary[1:] + "."


def _nearest(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else "."
