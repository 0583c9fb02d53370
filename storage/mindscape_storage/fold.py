"""Words as they are searched: one spelling for what a reader takes to be the same word.

Only the index and the query are folded, so offsets into the text are never affected.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

# Scripts written without spaces (and Hangul, whose particles stick to the word): one token a character.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Myanmar, Khmer
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099-\u30ff\u3100-\u312f\u3130-\u318f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_UNSPACED}]+|[^\\s{_UNSPACED}]+")
_ONE = re.compile(f"([{_UNSPACED}])")
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff"
    "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u065f\u0670]"
)
# Letters that a reader takes for one: the Turkish i without its dot (the small form of I), alef with and
# without hamza, the yeh and kaf of Arabic and Persian keyboards; and the digits of every script.
_SAME = dict(
    zip(
        "\u0131\u0622\u0623\u0625\u0671\u0649\u06cc\u06a9",
        "i\u0627\u0627\u0627\u0627\u064a\u064a\u0643",
        strict=True,
    )
) | {
    chr(code): str(unicodedata.digit(chr(code)))
    for code in range(0x80, 0x10000)
    if unicodedata.category(chr(code)) == "Nd"
}
_OTHER_FORM = re.compile(f"[{''.join(_SAME)}]")
_LINE_END = re.compile(r"(?<=[^\W\d_])([-\u2010\u00ad])[ \t]*(?:\r\n|\r|\n)[ \t]*(?=([^\W\d_]))")
_QUOTED = re.compile(r'"([^"]+)"')

MAX_TERMS = 64
MAX_PHRASE = 16


def fold(text: str) -> str:
    """The text as the full-text index sees it: normalised, and characters of unspaced scripts apart."""
    return _ONE.sub(r" \1 ", _normalise(text)).replace("\0", " ")


def query_terms(query: str) -> list[tuple[str, ...]]:
    """What to look for, most specific first: each term is one word, or several that follow each other.

    Any text will do; no characters have a meaning but double quotes, which add what they enclose as a
    phrase. A run of an unspaced script gives its pairs of characters, a single character itself.
    """
    found: dict[tuple[str, ...], None] = {}
    for quoted in _QUOTED.findall(query):
        phrase = tuple(_words(fold(quoted)))
        if 1 < len(phrase) <= MAX_PHRASE:
            found[phrase] = None
    for run in _RUN.findall(_normalise(query)):
        for term in _pairs(run) if _ONE.match(run) else _compound(run):
            found[term] = None
    return list(found)[:MAX_TERMS]


def _normalise(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = _LINE_END.sub(_join, text)
    text = _INVISIBLE.sub("", text.casefold())
    return _OTHER_FORM.sub(lambda match: _SAME[match[0]], text)


def _join(match: re.Match[str]) -> str:
    """A hyphen at a line's end goes, unless a capital follows (Jean-Paul); a soft one always goes."""
    return "" if match[1] == "\u00ad" or match[2].islower() else " "


def _pairs(run: str) -> list[tuple[str, ...]]:
    letters = _words(" ".join(run))
    if len(letters) < 2:
        return [(letter,) for letter in letters]
    return list(pairwise(letters))


def _compound(run: str) -> list[tuple[str, ...]]:
    """`multi-agent` as the two words in a row, as one word, and each alone."""
    words = _words(run)
    if len(words) < 2:
        return [(word,) for word in words]
    whole = [tuple(words[:MAX_PHRASE])]
    joined = [("".join(words),)] if "-" in run or "\u2010" in run else []
    return whole + joined + [(word,) for word in words if len(word) > 1]


def _words(text: str) -> list[str]:
    """Runs of letters, numbers and marks: exactly what the index takes for tokens."""
    kept = [char if unicodedata.category(char)[0] in "LNM" else " " for char in text]
    return "".join(kept).split()
