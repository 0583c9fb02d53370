"""The `mindscape` command: parse, ask the daemon, print; nothing else.

Read `commands.py` first: the table of commands. Only the named command's module is imported, and
none of those that a search needs imports asyncio, Rich or Textual: starting is most of its time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from mindscape.cli.commands import help_text, parse
from mindscape.cli.output import err
from mindscape.errors import MindscapeError, Refused

_INTERRUPTED = 130
_BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, 1, 2, 3, 4 as in README, 130 on Ctrl-C."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _open_streams()
        _never_fail_to_print()
        code = _run(words)
        sys.stdout.flush()
    except MindscapeError as error:
        _complain(str(error))
        return error.exit_code
    except BrokenPipeError:
        # The reader (head, less) has what it wanted.
        _discard_output()
        return _BROKEN_PIPE
    except OSError as error:
        _discard_output()
        what = f"{error.filename} cannot be used" if error.filename else "The output cannot be written"
        _complain(f"{what}: {error.strerror}.")
        return Refused.exit_code
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _run(words: list[str]) -> int:
    if not words:
        return _terminal_interface()
    if words[0] in ("-h", "--help", "help"):
        sys.stdout.write(help_text())
        return 0
    if words[0] in ("-V", "--version"):
        from mindscape import __version__

        sys.stdout.write(f"mindscape {__version__}\n")
        return 0
    from mindscape.paths import find_paths

    command, arguments = parse(words)
    return command.run(arguments, find_paths())


def _terminal_interface() -> int:
    """The TUI on a terminal that can show it; the help text elsewhere."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("TERM") in (None, "", "dumb"):
        sys.stdout.write(help_text())
        return 0
    from mindscape.paths import find_paths
    from mindscape.tui.app import run

    return run(find_paths())


def _open_streams() -> None:
    """Python leaves out a stream that was closed before it began. Raises Refused without stdout.

    The descriptors are taken in any case, or the next socket would be one of them.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # always the lowest that is free
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - for the process's life
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        raise Refused("The output is closed. To discard it, add: > /dev/null")


def _complain(sentence: str) -> None:
    """The sentence on stderr, if anything can be written there."""
    with suppress(OSError):
        err().paragraph(f"mindscape: {sentence}")


def _discard_output() -> None:
    """Python would try once more to write what is left, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _never_fail_to_print() -> None:
    """A character that the terminal's encoding lacks becomes `?`, not a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")
