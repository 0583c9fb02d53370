"""Where sentences end, in scripts with and without spaces. Spans tile the text exactly.

A small rule set of our own, not a library: the boundaries decide where passages are cut, so they must
never change with a dependency's version, and they must keep every code point.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mindscape.graphemes import extends

_LATIN = ".!?\u2026\u203c\u2047-\u2049\u037e"
_WIDE = "\u3002\uff01\uff1f\uff61"
_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff66-\uff9f"
# Danda, Arabic and Urdu, Armenian, Ethiopic, Burmese, Khmer, Tibetan, Mongolian, Sinhala.
_OTHERS = (
    "\u0964\u0965\u061f\u06d4\u0589\u1362\u1367\u1368\u104b\u17d4\u17d5\u0f0d\u0f0e\u0f11\u1803\u1809\u0df4"
)
_GREEK = "\u0370-\u03ff\u1f00-\u1fff"
_CLOSERS = "\"'\u201d\u2019\u201c\u2018\xbb\u203a)\\]*_"
_WIDE_CLOSERS = "\"'\u201d\u2019\u300d\u300f\uff09\u300b\u3009\u3011\u3015)\\]"
_LINE = r"(?:\r\n|\n|\r)"
# One class comes first, so that the scan from one candidate to the next is fast.
_MARKED = rf"""
    [{_LATIN}{_WIDE}{_OTHERS}\uff0e;\r\n]
    (?: (?<=[{_LATIN}]) (?<![{_LATIN}]{{2}})                    # of several the first, or it takes the square
        [{_LATIN}]*+ [{_CLOSERS}]*+ (?: [ \xa0\u202f] [\xbb\u203a] )? (?=\s)
      | (?<=[{_CJK}][!?]) [!?]* [{_WIDE_CLOSERS}]* (?=[{_CJK}])
      | (?<=\u2026) \u2026 [{_WIDE_CLOSERS}]+
      | (?<=[{_WIDE}]) [{_WIDE}!?]* [{_WIDE_CLOSERS}]*
      | (?<=\uff0e) (?![\d\uff0e]) [{_WIDE_CLOSERS}]*
      | (?<=[{_OTHERS}]) [{_OTHERS}!?]* (?: \s [\u0f0d\u0f0e]+ )* [{_CLOSERS}]*
      | (?<=[{_GREEK}];) [{_CLOSERS}]* (?=\s)
      | (?<=[\r\n]) (?<!\r(?=\n)) [^\S\r\n]* {_LINE}
    )
    \s*
"""
# Thai and Lao end their sentences with a space, and put spaces elsewhere too; Burmese and Khmer have marks.
_THAI = "\u0e00-\u0eff"
_SPACELESS = f"{_THAI}\u1000-\u109f\u1780-\u17ff"
_SPACE = rf"(?<=[{_SPACELESS}]) [ \u3000]+ (?=[{_SPACELESS}]) (?![\u0e46\u0e2f\u0ec6])"
_END = re.compile(_MARKED, re.VERBOSE)
_END_OR_SPACE = re.compile(f"(?:{_MARKED})|{_SPACE}", re.VERBOSE)
_HAS_SPACELESS = re.compile(f"[{_SPACELESS}]")
_LEAST_THAI = 60
_LEAST_MARKED = 300
"""Characters of a piece that a space ends, where the script has no marks, and where it has."""

_LISTED = """
    Mr Mrs Ms Dr Prof St Mt Jr Sr Rev Hon Gen Col Capt Lt Sgt No Nos Vol Vols Fig Figs Eq Eqs Ch Sec Secs Inc
    Ltd Co Corp Dept Ed Eds vs etc cf al ca approx est viz resp incl e.g i.e a.m p.m
    Nr Hr Fr Frl Dipl Ing Abb Bd Bde Jh Mio Mrd Tel Str Abs bzw usw z.B d.h u.a o.ä s.o s.u evtl ggf inkl exkl
    geb gest vgl i.d.R u.U v.a bspw sog z.T
    M Mm MM Mme Mmes Mlle Mgr Me Ste av apr env éd chap p.ex J.-C tél
    Sra Srta Sres Dña Dra Ud Uds pág págs núm EE.UU p.ej
    Sig Sig.ra Dott Dott.ssa Avv ecc pag pagg
    dhr mevr bijv o.a enz blz d.w.z t.w t.ex bl.a d.v.s osv t.o.m f.eks dvs esim ks mm
    np tj ul godz tzw tzn św zob např tzv č atd apod popř stb ún
    vb bkz örn Sn
    т.е т.д т.п т.к др г гг вв ул стр рис им проф акад см руб тыс млн млрд напр
    π.χ κ κ.λπ δηλ σελ βλ
    """
_ABBREVIATIONS = frozenset(_LISTED.split())
_BEFORE_FIGURES = frozenset(
    ("no", "nr", "p", "pp", "s", "n", "art", "fig", "vol", "ch", "sec", "abs", "pt", "str", "с", "ст")
)
# After a figure and a full stop these go on: "am 3. Mai", "im 19. Jahrhundert".
_COUNTED = re.compile(
    r"(?:Jan|J\u00e4n|Feb|M\u00e4r|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|Jahr|Jh|Kap|Auf|Klass|Stock|Welt|Tag|Woche)"
)
_OPENER = re.compile(r"(?:[\"'\u201c\u201e\u2018\xab(\[*_]|[-\u2013\u2014]\s)*(.)", re.DOTALL)
_OPENERS = "([\"'\u201c\u2018\u201e\xab*_\xbf\xa1"


def sentences(text: str) -> list[tuple[int, int]]:
    """Half-open spans of the sentences; joined they are the text, trailing white space included."""
    spans: list[tuple[int, int]] = []
    start = 0
    for end in _ends(text):
        spans.append((start, end))
        start = end
    if start < len(text):
        spans.append((start, len(text)))
    return spans


def _ends(text: str) -> Iterator[int]:
    """Increasing offsets behind the first character at which sentences end."""
    spaced = _HAS_SPACELESS.search(text) is not None
    start = 0
    for match in (_END_OR_SPACE if spaced else _END).finditer(text):
        end = match.end()
        if end < len(text) and not text[end].isascii() and extends(text[end]):
            continue
        mark = text[match.start()]
        if mark in " \u3000":
            least = _LEAST_THAI if "\u0e00" <= text[match.start() - 1] <= "\u0eff" else _LEAST_MARKED
            if match.start() - start < least:
                continue
        elif mark in ".!?\u2026;" and not _blank_line(match.group()) and _continues(text, match):
            continue
        start = end
        yield end


def _blank_line(gap: str) -> bool:
    return gap.count("\n") > 1 or gap.count("\r") > 1


def _continues(text: str, match: re.Match[str]) -> bool:
    """True after an abbreviation, an initial or the number of a list, and where a small letter follows."""
    following = _OPENER.match(text, match.end())
    first = following[1] if following else ""
    if first.islower():
        return True
    mark = match.start()
    if text[mark] == ";":
        return not first.isupper()
    if text[mark] != "." or text[mark + 1 : mark + 2] == ".":
        return False
    begin = max(0, mark - 14)
    words = text[begin:mark].split()
    if not words or text[mark - 1].isspace():
        return False
    word = words[-1].lstrip(_OPENERS)
    if (
        (len(word) == 1 and word.isupper())
        or word in _ABBREVIATIONS
        or word[:1].lower() + word[1:] in _ABBREVIATIONS
    ):
        return True
    if first.isdigit() and word.lower() in _BEFORE_FIGURES:
        return True
    if not word.isalnum() or len(word) > 3:
        return False
    if word.isdigit() and following and _COUNTED.match(text, following.start(1)):
        return True
    # The number of an item stands at the start of a line.
    before = text[begin : mark - len(word)].rstrip(" \t>*+-#(")
    numbers = word.isdigit() or len(word) == 1 or not word.strip("IVXivx")
    return numbers and (before.endswith(("\n", "\r")) or (not before and begin == 0))
