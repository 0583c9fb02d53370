"""Text in pieces to runs: paragraphs between blank lines, wherever the pieces were cut.

No run is longer than MAX_RUN, so a text of any length passes through a window of fixed size. A run without
a blank line for so long (a log, a table, a book in one line) ends where a hash of what is written there says
so: an edit moves few of these ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from zlib import crc32

from mindscape.graphemes import is_boundary
from mindscape.ingest.passages import MAX_CHARACTERS

MAX_RUN = 1 << 16
MIN_RUN = 1 << 15
"""Code points of a run that is ended for its length."""
MAX_SPACE = MAX_CHARACTERS
"""Of the white space that stays with the run before it; what is left follows in pieces of this length."""

_BLANK_LINE = re.compile(r"(?:\r\n|\r(?!\n)|\n)[^\S\r\n]*[\r\n]")
_SPACE = re.compile(r"\s*")
_LINE_END = re.compile(r"(?:\r\n|\r|\n)\s*")
_SENTENCE_END = re.compile("[.!?\u2026\u3002\uff01\uff1f][\"')\\]\u2019\u201d\u300d\u300f]*\\s*")
_ONE_IN = 8
_SEEN = 32


class Run(NamedTuple):
    """A stretch of lines and the white space after it; white space alone has no `text`."""

    start: int
    """Offset in the whole text."""
    text: str
    """Without white space around it."""
    space: str
    indented: bool
    """True when a space or tab stands in front of it."""

    @property
    def end(self) -> int:
        """Offset of the end of its text."""
        return self.start + len(self.text)


class Window:
    """What is in sight of a text that arrives in pieces, from a place that only moves on."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self._dropped = 0
        self.text = ""
        self.at = 0
        """Place in `text`."""
        self.ended = False
        """True when `text` holds all the rest."""

    @property
    def offset(self) -> int:
        """The place, in the whole text."""
        return self._dropped + self.at

    def look(self, length: int) -> bool:
        """Have `length` code points from the place on in sight, or all there are; False at the end."""
        if len(self.text) - self.at < length and not self.ended:
            self._dropped += self.at
            parts, held = [self.text[self.at :]], len(self.text) - self.at
            self.at = 0
            while held < length:
                piece = next(self._pieces, None)
                if piece is None:
                    self.ended = True
                    break
                parts.append(piece)
                held += len(piece)
            self.text = "".join(parts)
        return self.at < len(self.text)


def runs(window: Window, *, blank_lines: bool = True) -> Iterator[Run]:
    """The runs from the place on; joined they are the text. Without `blank_lines` only length ends one."""
    indented = False
    while window.look(MAX_RUN + MAX_SPACE + 1):
        text, start, offset = window.text, window.at, window.offset
        end = start if text[start].isspace() else _end(window, blank_lines)
        after = _after_space(text, end)
        yield Run(offset, text[start:end], text[end:after], indented)
        indented = text[after - 1] in " \t"
        window.at = after


def joins(start: int, run: Run) -> bool:
    """Whether a block of runs that began at `start` still takes this one: the same rule of length."""
    if run.end - start > MAX_RUN:
        return False
    return run.start - start < MIN_RUN or not _chosen(run.text[:_SEEN])


def _end(window: Window, blank_lines: bool) -> int:
    """Where the run that begins at the window's place ends."""
    text, start = window.text, window.at
    limit = start + MAX_RUN
    if blank_lines and (blank := _BLANK_LINE.search(text, start, limit)):
        end = blank.start()
    elif len(text) <= limit:
        end = len(text)
    else:
        end = start + _cut(text[start:limit])
    return start + len(text[start:end].rstrip())


def _cut(text: str) -> int:
    """Where a run that goes on beyond `text` ends: at a line, a sentence or a word if it has one."""
    for pattern in (_LINE_END, _SENTENCE_END):
        for place in pattern.finditer(text, MIN_RUN):
            if _chosen(text[max(0, place.start() - _SEEN) : place.start()]):
                return place.end()
    word = re.search(r"\s\S*\Z", text[MIN_RUN:])
    if word:
        return MIN_RUN + word.start()
    return next((end for end in range(len(text) - 1, MIN_RUN, -1) if is_boundary(text, end)), len(text))


def _chosen(text: str) -> bool:
    return crc32(text.encode("utf-8", "replace")) % _ONE_IN == 0


def _after_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at, at + MAX_SPACE)
    return match.end() if match else at
