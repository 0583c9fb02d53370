"""The [n] in a streamed answer: found in every shape models write them, checked, and written one way.

A marker is kept when it names a source that was given; any other is removed. Text in code is left alone,
links lose their address. The decision never depends on where the stream was cut into chunks, so that what was
shown is exactly the final text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from mindscape.text import printable

_CLOSERS = {"[": "]", "\uff3b": "\uff3d", "\u3010": "\u3011"}
_MARKER_LIMIT = 64
_LINK_LIMIT = 2048
_AFTER_REMOVED = frozenset(".,;:!?\u3002\uff0c")
"""Marks that stand right after a word: the space in front of a removed marker goes with it."""
_LIST = re.compile(
    r"(?:(?:id|source|sources|src|ref|passage|doc)\s*:?\s*)?"
    r"\^?\d+(?:\s*[-\u2013]\s*\^?\d+)?(?:\s*[,;\u3001\uff0c]\s*\^?\d+(?:\s*[-\u2013]\s*\^?\d+)?)*",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(\d+)(?:\s*[-\u2013]\s*\^?(\d+))?")
_INDEXED = re.compile(r"(?:^|[^\w])(?:[A-Za-z]|\w*_\w*|(?=\w*\d)(?=\w*[A-Za-z])\w+)$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation that was kept: source `n`, written at `position` of the visible text."""

    n: int
    position: int


class CitationStream:
    """Feed it chunks; it returns the text that may be shown. `text` and `markers` are final after `close`."""

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._buffer = ""
        self._space = ""
        self._removed = False
        self._fence = ""
        self._parts: list[str] = []
        self._length = 0
        self._tail = ""
        self.markers: list[Marker] = []

    @property
    def text(self) -> str:
        """All text returned so far."""
        return "".join(self._parts)

    @property
    def cited(self) -> list[int]:
        """The sources cited, in order of first appearance, no repeats."""
        return list(dict.fromkeys(marker.n for marker in self.markers))

    def feed(self, chunk: str) -> str:
        """Take the next piece of the model's output; return what can already be shown."""
        self._buffer += printable(chunk.replace("\r", "")).replace("\ufffd", "")
        return self._drain(final=False)

    def close(self) -> str:
        """No more input: return the rest. White space at either end of the answer is not shown."""
        return self._drain(final=True)

    def _drain(self, final: bool) -> str:
        shown = len(self._parts)
        while self._buffer:
            used = self._step(final)
            if used == 0:
                break
            self._buffer = self._buffer[used:]
        return "".join(self._parts[shown:])

    def _step(self, final: bool) -> int:
        """Decide about the start of the buffer: how many characters are done, 0 to wait for more."""
        char = self._buffer[0]
        if char == "`":
            return self._ticks(final)
        if char.isspace():
            # A removed marker leaves one space behind, not two.
            self._space += "" if self._removed and self._space and char == " " else char
            if char == "\n" and self._fence == "`":
                self._fence = ""
            return 1
        if self._fence:
            self._show(char)
            return 1
        if char == "!" and len(self._buffer) == 1 and not final:
            return 0
        if self._buffer[0] in _CLOSERS:
            return self._bracket(final, 0)
        if char == "!" and self._buffer[1:2] in _CLOSERS and self._buffer[1:2]:
            return self._bracket(final, 1)
        self._show(char)
        return 1

    def _ticks(self, final: bool) -> int:
        run = len(self._buffer) - len(self._buffer.lstrip("`"))
        if run == len(self._buffer) and not final:
            return 0
        ticks = "`" * run
        self._show(ticks)
        if not self._fence:
            self._fence = "```" if run >= 3 else "`"
        elif (run >= 3) == (self._fence == "```"):
            self._fence = ""
        return run

    def _bracket(self, final: bool, image: int) -> int:
        """A bracket at `image` (1 after an exclamation mark): a marker with its link, or plain text."""
        closed = self._closing(image)
        if closed is None:
            if final or len(self._buffer) > _MARKER_LIMIT or "\n" in self._buffer:
                self._show(self._buffer[: image + 1])
                return image + 1
            return 0
        inner = self._buffer[image : closed + 1].strip("[]\uff3b\uff3d\u3010\u3011 ")
        if not _LIST.fullmatch(inner) or (not image and _INDEXED.search(self._tail) and not self._space):
            self._show(self._buffer[: image + 1])
            return image + 1
        end = self._past_link(closed + 1, final)
        if end:
            self._removed = True
            if not image:
                self._cite(inner)
        return end

    def _closing(self, start: int) -> int | None:
        """Index of the last closing bracket of the (perhaps doubled) bracket at `start`, within the limit."""
        opener = self._buffer[start]
        doubled = self._buffer[start + 1 : start + 2] == opener
        closer = _CLOSERS[opener] * (2 if doubled else 1)
        found = self._buffer.find(closer, start + 1, start + _MARKER_LIMIT)
        if found < 0 or "\n" in self._buffer[start:found]:
            return None
        return found + len(closer) - 1

    def _past_link(self, end: int, final: bool) -> int:
        """Where the marker ends, a Markdown link's address included; 0 to wait for more."""
        rest = self._buffer[end:]
        if not rest:
            return end if final else 0
        if rest[0] != "(":
            return end
        closing = rest.find(")")
        line = rest.find("\n")
        if closing >= 0 and (line < 0 or closing < line):
            return end + closing + 1
        if final or line >= 0 or len(rest) > _LINK_LIMIT:
            return end
        return 0

    def _cite(self, inner: str) -> None:
        for match in _ITEM.finditer(inner):
            first = _bounded(match.group(1), self._sources)
            last = _bounded(match.group(2), self._sources) if match.group(2) else first
            for n in range(max(first, 1), min(last, self._sources) + 1):
                self._flush_space()
                self.markers.append(Marker(n, self._length))
                self._put(f"[{n}]")
                self._removed = False

    def _show(self, text: str) -> None:
        if self._removed and text in _AFTER_REMOVED:
            self._space = ""
        self._removed = False
        self._flush_space()
        self._put(text)

    def _flush_space(self) -> None:
        if self._parts:
            self._put(self._space)
        self._space = ""

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)
            self._tail = (self._tail + text)[-40:]


def _bounded(digits: str, sources: int) -> int:
    """The number, or just past the last source when it is larger: digits may be endless."""
    return sources + 1 if len(digits) > 9 else min(int(digits), sources + 1)
