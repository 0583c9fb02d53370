"""What a reader takes for one character is never cut: marks, emoji sequences, flags, Hangul and conjuncts.

The rules of Unicode's UAX 29 as far as the standard library knows the properties; a library would be a
dependency whose version moves the boundaries of passages.
"""

from __future__ import annotations

import unicodedata

_JOINER = "\u200d"
_VIRAMA = 9
"""Canonical combining class of the signs that join two consonants."""


def is_boundary(text: str, at: int, since: int = 0) -> bool:
    """True when `text` may be cut in front of index `at`; flags count from `since`, an earlier boundary."""
    if not since < at < len(text):
        return True
    before, after = text[at - 1], text[at]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if extends(after) or _joins_hangul(before, after):
        return False
    if before == _JOINER:
        return after.isspace()
    if _is_flag(before) and _is_flag(after):
        return _flags_before(text, at, since) % 2 == 0
    return not (unicodedata.combining(before) == _VIRAMA and after.isalpha())


def extends(character: str) -> bool:
    """True for what belongs to the character in front of it."""
    if character < "\u0300":
        return False
    return (
        unicodedata.category(character)[0] == "M"
        or character in "\u200c\u200d\u0e33\u0eb3\uff9e\uff9f"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, at: int, since: int) -> int:
    start = at
    while start > since and _is_flag(text[start - 1]):
        start -= 1
    return at - start


def _joins_hangul(before: str, after: str) -> bool:
    """Leading consonants, vowels and trailing consonants of one syllable, composed or not."""
    if not "\u1100" <= before <= "\ud7ff" or not "\u1100" <= after <= "\ud7ff":
        return False
    first, second = _hangul(before), _hangul(after)
    if first == "L":
        return second in ("L", "V", "LV", "LVT")
    if first in ("V", "LV"):
        return second in ("V", "T")
    return first in ("T", "LVT") and second == "T"


def _hangul(character: str) -> str:
    if "\u1100" <= character <= "\u115f" or "\ua960" <= character <= "\ua97c":
        return "L"
    if "\u1160" <= character <= "\u11a7" or "\ud7b0" <= character <= "\ud7c6":
        return "V"
    if "\u11a8" <= character <= "\u11ff" or "\ud7cb" <= character <= "\ud7fb":
        return "T"
    if "\uac00" <= character <= "\ud7a3":
        return "LV" if (ord(character) - 0xAC00) % 28 == 0 else "LVT"
    return ""
