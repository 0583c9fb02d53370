"""Text in columns: widths in terminal cells, and wrapping of text that arrives in pieces."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable


def cells(text: str) -> int:
    """How many terminal columns the text takes: wide characters two, combining marks none."""
    return len(text) if text.isascii() else sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def clip(text: str, width: int) -> str:
    """The text, or as much of it as fits before an ellipsis."""
    if cells(text) <= width:
        return text
    kept, used = 0, 1
    for character in text:
        used += _cell(character)
        if used > width:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def wrap(text: str, width: int) -> list[str]:
    """The lines of `text` at most `width` columns wide, broken between words."""
    written: list[str] = []
    flow = Flow(written.append, width)
    flow.feed(text)
    flow.close()
    return "".join(written).splitlines()


class Flow:
    """Writes text that arrives in pieces, broken between words; with no width, as it comes."""

    def __init__(self, write: Callable[[str], object], width: int | None, indent: str = "") -> None:
        self._write = write
        self._width = width
        self._indent = indent
        self._column = 0
        self._space = ""
        self._word = ""

    def feed(self, piece: str) -> None:
        """Write what is certain; the last word waits for its end."""
        for character in piece:
            if character == "\n":
                self._end_word()
                self._break()
            elif character.isspace() and character != "\u00a0":
                self._end_word()
                self._space += character if self._width is None else " "
            elif self._width is not None and _cell(character) == 2:  # may be broken on either side
                self._end_word()
                self._word = character
                self._end_word()
            else:
                self._word += character

    def close(self) -> None:
        """Write the last word and end the line, if one was begun."""
        self._end_word()
        if self._column:
            self._break()

    def _end_word(self) -> None:
        word, self._word = self._word, ""
        while word:
            space = self._space if self._column else self._space[:8]
            room = None if self._width is None else self._width - self._column - len(space)
            if room is None or cells(word) <= room:
                self._put(space + word)
                return
            if self._column > len(self._indent):
                self._break()
                continue
            head = self._fitting(word, room)
            self._put(head)
            word = word[len(head) :]

    def _fitting(self, word: str, room: int) -> str:
        """The part of an overlong word that fits a line; at least one character."""
        end, used = 0, 0
        while end < len(word) and (used := used + _cell(word[end])) <= room:
            end += 1
        return word[: max(1, end)]

    def _put(self, text: str) -> None:
        if not self._column:
            self._write(self._indent)
            self._column = len(self._indent)
        self._write(text)
        self._column += cells(text)
        self._space = ""

    def _break(self) -> None:
        self._write("\n")
        self._column, self._space = 0, ""
