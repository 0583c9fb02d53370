"""What is written where: data on stdout, narration on stderr, nothing that a terminal could obey.

Every human line goes through `Printer`, which makes the text printable before it adds its own
colours; every JSON document goes through `emit`, which escapes what JSON allows but terminals obey.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any, NamedTuple, TextIO

from mindscape.cli.layout import Flow
from mindscape.text import printable

_PIPE_WIDTH = 100
_OBEYED = re.compile(r"[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Styled(NamedTuple):
    """Text with an SGR code, which only a terminal gets to see."""

    text: str
    code: str


Part = str | Styled


def bold(text: str) -> Styled:
    """Heavier."""
    return Styled(text, "1")


def dim(text: str) -> Styled:
    """Lighter."""
    return Styled(text, "2")


def coloured(text: str, colour: str) -> Styled:
    """In one of the terminal's own colours: red, green, yellow, cyan."""
    return Styled(text, {"red": "31", "green": "32", "yellow": "33", "cyan": "36"}[colour])


def lively(stream: TextIO) -> bool:
    """Whether colour and animation are welcome: a terminal, not a dumb one, no NO_COLOR."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


class Printer:
    """One of the two streams, with the width that text is broken at (None: not a terminal)."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.lively = lively(stream)
        self.width = _columns(stream) if stream.isatty() else None

    @property
    def room(self) -> int:
        """Columns to lay tables and snippets out in, on a terminal or not."""
        return self.width or _PIPE_WIDTH

    def line(self, *parts: Part) -> None:
        """One line."""
        self.stream.write(self.render(*parts) + "\n")

    def paragraph(self, text: str, indent: str = "") -> None:
        """Text broken between words at the terminal's width; unbroken off a terminal."""
        flow = Flow(self.stream.write, self.width, indent)
        flow.feed(printable(text))
        flow.close()

    def render(self, *parts: Part) -> str:
        """The parts as one string, safe to show."""
        shown: list[str] = []
        for part in parts:
            if isinstance(part, Styled):
                text = printable(part.text)
                shown.append(f"\x1b[{part.code}m{text}\x1b[0m" if self.lively and text else text)
            else:
                shown.append(printable(part))
        return "".join(shown)


def out() -> Printer:
    """stdout: the data that was asked for."""
    return Printer(sys.stdout)


def err() -> Printer:
    """stderr: messages about the work."""
    return Printer(sys.stderr)


def emit(value: Any) -> None:
    """One JSON document on one line of stdout."""
    text = json.dumps(value, ensure_ascii=False)
    sys.stdout.write(_OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n")
    sys.stdout.flush()


def _columns(stream: TextIO) -> int:
    """The terminal's width. (shutil's function would import four compression libraries first.)"""
    try:
        return max(20, int(os.environ["COLUMNS"]))
    except (KeyError, ValueError):
        try:
            return max(20, os.get_terminal_size(stream.fileno()).columns or 80)
        except OSError:
            return 80
