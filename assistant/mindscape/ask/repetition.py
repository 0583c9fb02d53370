"""A model that repeats itself for ever: seen after a few copies, stopped, and its copies never shown.

Compared are the letters alone: a list that counts up, or a sentence that lost its marker, is the same again.
What may turn out to be a copy waits; in ordinary text that is a few letters.
"""

from __future__ import annotations

import numpy as np

PERIOD = 240
"""Letters of the longest copy that is looked for: three of them fill an answer."""
SHORT = 24
"""Letters: what is shorter has to come once more, for words may be repeated on purpose."""
LEAST = 48
"""Letters that have to be copies."""
_ENDS = (".", "!", "?", "]", "\u3002", "\uff01", "\uff1f")
MOST_BLANK = 60
"""Blanks and line ends in a row."""


class RepetitionGate:
    """Feed it what a model writes; it returns what may be shown. `stopped` says when to stop reading."""

    def __init__(self) -> None:
        self.stopped = False
        self._letters = np.zeros(PERIOD, np.int32)
        """The last letters, the latest first."""
        self._runs = np.zeros(PERIOD, np.int32)
        """At p - 1: how many of the latest letters are those from p letters before them."""
        self._held = ""
        self._starts: list[int] = []
        """Where in what is held each of its letters stands."""
        self._blank = 0
        self._copies = False
        self._shown = ""
        """The end of what was shown."""

    def feed(self, piece: str) -> str:
        """The next piece: what can be shown of all so far."""
        shown: list[str] = []
        for char in piece:
            if self.stopped:
                break
            shown.append(self._take(char))
        return "".join(shown)

    def close(self) -> str:
        """No more pieces: the rest; in place of copies, where they begin within a sentence, an ellipsis."""
        rest, self._held, self._starts = self._held, "", []
        if not self._copies:
            return rest
        return "" if self._shown.rstrip().endswith(_ENDS) else "\u2026"

    def _take(self, char: str) -> str:
        self._blank = self._blank + 1 if char.isspace() else 0
        self.stopped = self._blank > MOST_BLANK
        self._held += char
        if char.isalpha():
            self._starts.append(len(self._held) - 1)
            self._compare(ord(char.lower()[0]))
        return self._let_go()

    def _compare(self, letter: int) -> None:
        self._runs = np.where(self._letters == letter, self._runs + 1, 0).astype(np.int32)
        self._letters = np.concatenate(([letter], self._letters[:-1])).astype(np.int32)
        periods = np.arange(1, PERIOD + 1)
        needed = np.maximum(LEAST, np.where(periods < SHORT, 3, 2) * periods)
        self._copies = bool((self._runs >= needed).any())
        self.stopped = self._copies

    def _let_go(self) -> str:
        """What stands before the longest run of letters that may be copies."""
        waiting = int(self._runs.max(initial=0))
        free = len(self._starts) - waiting
        end = self._starts[free] if waiting and free >= 0 and self._starts else len(self._held)
        shown, self._held = self._held[:end], self._held[end:]
        self._starts = [start - end for start in self._starts if start >= end]
        self._shown = (self._shown + shown)[-MOST_BLANK:]
        return shown
