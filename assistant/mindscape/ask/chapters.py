"""Which part of a document is meant by its name: "chapter 3", "the winter of the closed sound"."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mindscape.ask.language import all_terms, folded
from mindscape_storage.records import Section

_NUMBERS = (
    "one eins un uno",
    "two zwei deux dos",
    "three drei trois tres",
    "four vier quatre cuatro",
    "five funf cinq cinco",
    "six sechs six seis",
    "seven sieben sept siete",
    "eight acht huit ocho",
    "nine neun neuf nueve",
    "ten zehn dix diez",
    "eleven elf onze once",
    "twelve zwolf douze doce",
)
_SPELT = {word: number for number, words in enumerate(_NUMBERS, 1) for word in words.split()}
_CHINESE = {char: number for number, char in enumerate("一二三四五六七八九十", 1)}
_ROMAN = re.compile(r"(x{0,3})(ix|iv|v?i{0,3})")
_PART = re.compile(
    r"(?:chapter|section|part|kapitel|abschnitt|teil|chapitre|section|partie|capitulo|seccion|parte|capitolo)"
    r"\s+(?:number |nr\.? )?(?P<number>\w+)"
    r"|第(?P<chinese>\w+)[章节節回部]"
)
_LEADING = re.compile(r"(?P<number>\d+|[ivx]+)(?=[\s.:)\u2013\u2014-]|$)")


def find_section(sections: Sequence[Section], about: str) -> Section | None:
    """The section of a document with this number or this name; None where there is none."""
    called = folded(about).strip()
    numbered = _PART.search(called)
    if numbered is not None:
        wanted = _value(numbered["number"] or numbered["chinese"])
        return next((one for one in sections if wanted is not None and _number(one.heading) == wanted), None)
    words = all_terms(about)
    exact = [one for one in sections if all_terms(one.heading) == words]
    holding = [one for one in sections if words and set(words) <= set(all_terms(one.heading))]
    return next(iter([*exact, *holding]), None)


def _number(heading: str) -> int | None:
    plain = folded(heading).strip()
    found = _PART.match(plain)
    if found is not None:
        return _value(found["number"] or found["chinese"])
    leading = _LEADING.match(plain)
    return None if leading is None else _value(leading["number"])


def _value(word: str) -> int | None:
    """A number in digits, in letters up to twelve, or as the Romans or the Chinese write it."""
    if word.isdecimal():
        return int(word) if len(word) < 6 else None
    roman = _ROMAN.fullmatch(word)
    if roman is not None and word:
        ones = {"": 0, "i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6, "vii": 7, "viii": 8, "ix": 9}
        return 10 * len(roman[1]) + ones[roman[2]]
    if len(word) == 2 and word[0] == "十" and word[1] in _CHINESE:
        return 10 + _CHINESE[word[1]]
    return _SPELT.get(word, _CHINESE.get(word))
