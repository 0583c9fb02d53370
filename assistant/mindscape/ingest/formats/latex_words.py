"""LaTeX source as the words a reader sees, for titles, names and table headers."""

from __future__ import annotations

import re
import unicodedata

MAX_GROUP = 5_000
_COMMENT = re.compile(r"(?<!\\)%[^\r\n]*(?:\r\n|\r|\n|$)")
_DROPPED = re.compile(
    r"\\(?:thanks|footnote(?:mark|text)?|label|index|[vh]space|email|orcid(?:ID|link)?|cite[a-z]*|begin|end"
    r"|parbox|rule)(?![A-Za-z])\*?"
)
_ACCENT = re.compile(
    r"\\([`'^\"~=.]|[Hcduvkrb](?![A-Za-z]))\s*(?:\{\s*\\?([A-Za-z])\s*\}|\\([ij])\b ?|([A-Za-z]))"
)
_MARKS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    '"': "\u0308",
    "~": "\u0303",
    "=": "\u0304",
    ".": "\u0307",
    "H": "\u030b",
    "c": "\u0327",
    "d": "\u0323",
    "u": "\u0306",
    "v": "\u030c",
    "k": "\u0328",
    "r": "\u030a",
    "b": "\u0331",
}
_OPTION = re.compile(r"\[[^\[\]]{0,200}\]")
_LETTERS = {
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "aa": "å",
    "AA": "Å",
    "i": "i",
    "j": "j",
    "LaTeX": "LaTeX",
    "TeX": "TeX",
    "textbackslash": "\\",
    "ldots": "…",
    "dots": "…",
}
_COMMAND = re.compile(r"\\([A-Za-z@]+)\*?[ \t]?(?:\[[^\[\]]{0,200}\])?|\\(.)", re.S)
_SIGN = re.compile(r"~|---?|``|''")
_SIGNS = {"~": " ", "--": "\u2013", "---": "\u2014", "``": "“", "''": "”"}


def group_end(text: str, at: int) -> int:
    """The offset after the group that opens at `at`; `at` itself when none opens there, or none closes."""
    if not text.startswith("{", at):
        return at
    depth = 0
    for place in _BRACE.finditer(text, at, min(len(text), at + MAX_GROUP)):
        depth += {"{": 1, "}": -1}.get(place[0], 0)
        if depth == 0:
            return place.end()
    return at


_BRACE = re.compile(r"\\.|[{}]|(?<!\\)%[^\r\n]*", re.S)


def plain(source: str) -> str:
    """The words of a short piece of source."""
    source = _without_notes(_COMMENT.sub("", source))
    source = _ACCENT.sub(_accented, source)
    source = _COMMAND.sub(_said, source)
    source = _SIGN.sub(lambda sign: _SIGNS[sign[0]], source.replace("{", "").replace("}", ""))
    return " ".join(unicodedata.normalize("NFC", source).split())


def _without_notes(source: str) -> str:
    pieces: list[str] = []
    at = 0
    for note in _DROPPED.finditer(source):
        if note.start() < at:
            continue
        pieces.append(source[at : note.start()])
        at = note.end()
        if bracket := _OPTION.match(source, at):
            at = bracket.end()
        at = group_end(source, at)
        if note[0] == "\\rule":
            at = group_end(source, at)
    return "".join([*pieces, source[at:]])


def _accented(found: re.Match[str]) -> str:
    return (found[2] or found[3] or found[4]) + _MARKS[found[1]]


def _said(found: re.Match[str]) -> str:
    if found[2] is not None:
        return " " if found[2] in "\\,;:! \n" else found[2] if found[2] in "%&$#_{}" else ""
    return _LETTERS.get(found[1], " " if found[1] in _BREAKS else "")


_BREAKS = ("newline", "and", "And", "AND", "quad", "qquad", "linebreak", "protect", "hfill")
