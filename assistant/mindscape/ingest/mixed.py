"""The bytes of a UTF-8 file that are not UTF-8: what an older program, or a paste, wrote between the rest."""

from __future__ import annotations

import re

from mindscape.ingest.guess import guess

# In order of preference where the rest of the text says nothing.
_PAGES = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257")
_ENOUGH_TO_GUESS = 40
_LEAST_PLAUSIBLE = 0.8
_BAD = re.compile("[\udc80-\udcff]")
_WORD = re.compile("[^\x00-\x7f]+")
_PIECE = 1 << 20
_LINE = re.compile("[^\r\n]*[\udc80-\udcff][^\r\n]*")
_READ_WELL = re.compile("[^\x00-\x7f\udc80-\udcff]+")
_MARKS = "\u2018\u2019\u201c\u201d\u201e\u201a\u2013\u2014\u2026\xa0\xab\xbb"
_APART = (
    "\u20ac\xa3\xa5\xa7\xa9\xae\xb0\xb7\u2022\u2122\xb1\xb2\xb3\xb5\xbd\xbc\xbe\xd7\xa1\xbf\xba\xaa\u2116"
)


def page_of_bad_bytes(text: str) -> str | None:
    """The 8-bit encoding in which the bad bytes of `text` read as text; None when they do in none.

    `text` is UTF-8 decoded, each byte that is not UTF-8 as the lone surrogate U+DC00 + byte.
    """
    lines = [line[0] for line in _LINE.finditer(text)]
    bad = sum(len(_BAD.findall(line)) for line in lines)
    page = _guessed(lines) if bad >= _ENOUGH_TO_GUESS else None
    for candidate in (page, _page_of(text)):
        if candidate and _plausible("\n".join(lines), candidate) >= _LEAST_PLAUSIBLE:
            return candidate
    return None


def read_bad_bytes(text: str, page: str) -> str:
    """`text` with each bad byte as its character in `page`; where it has none, the byte stays marked.

    A word that is bad for the most part is so as a whole: in Cyrillic pages, two letters in a row often
    happen to be valid UTF-8.
    """
    table = _table(page)

    def read(word: re.Match[str]) -> str:
        if len(_BAD.findall(word[0])) * 2 <= len(word[0]):
            return word[0].translate(table)
        return word[0].encode("utf-8", "surrogateescape").decode(page, "surrogateescape")

    # In pieces, because millions of words take much memory at once.
    pieces = (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))
    return "".join(_WORD.sub(read, piece) if _BAD.search(piece) else piece for piece in pieces)


def _table(page: str) -> dict[int, str]:
    decoded = {0xDC00 + byte: bytes([byte]).decode(page, "ignore") for byte in range(0x80, 0x100)}
    return {mark: character for mark, character in decoded.items() if character}


def _guessed(lines: list[str]) -> str | None:
    """By the bad bytes and the ASCII around them: where whole lines are bad, that is all there is."""
    kept = _READ_WELL.sub("", "\n".join(lines))
    name, _ = guess(kept.encode("ascii", "surrogateescape"))
    return name if len(b"\xe9".decode(name, "ignore")) == 1 else None


def _page_of(text: str) -> str:
    """The page that has most of the letters beyond ASCII that the good part of the text uses."""
    letters = {character for character in text if character > "\x7f" and character.isalpha()}
    return max(_PAGES, key=lambda page: sum(bool(letter.encode(page, "ignore")) for letter in letters))


def _plausible(text: str, page: str) -> float:
    """The share of bad bytes that fit where they stand."""
    read = text.translate(_table(page))
    places = [match.start() for match in _BAD.finditer(text)]
    return sum(_fits(read, place) for place in places) / max(1, len(places))


def _fits(read: str, place: int) -> bool:
    character = read[place]
    before, after = read[place - 1 : place] or " ", read[place + 1 : place + 2] or " "
    if character.isalpha() and character != "\xff":  # the filler byte of broken writers, hardly ever a letter
        joins = before.isalpha() or after.isalpha() or (before.isspace() and after.isspace())
        return joins and not (character.isupper() and before.islower())
    if character in _APART:
        return not (before.isalpha() and after.isalpha())
    return character in _MARKS
