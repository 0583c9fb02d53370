"""Guess a legacy encoding.

East Asian encodings are told by how many characters fall on their commonest letters, because almost any
pairs of high bytes decode in each of them; encodings of one byte a letter by charset-normalizer.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable
from dataclasses import dataclass

from charset_normalizer import from_bytes

# In order of preference where the evidence is equal. EBCDIC, UTF-7 and the rarer pages are left out:
# on short texts they win by accident far more often than they are right.
_ONE_BYTE = [
    "cp1252", "cp1251", "cp1250", "iso8859_2", "koi8_r", "cp1253", "iso8859_7", "cp1254", "cp1255",
    "cp1256", "cp1257", "tis_620", "iso8859_5", "cp866", "cp855", "mac_cyrillic", "cp437", "cp850",
]  # fmt: skip
_SAMPLE_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class _EastAsian:
    """An encoding, and the lead bytes of the letters that ordinary text in it consists of."""

    name: str
    strict: str
    """The codec of the common core of `name`: what it cannot encode is not common."""
    common: Callable[[int], bool]
    least: float


# The order matters: Korean text in GB 18030 would be common Chinese, Japanese text as well.
_EAST_ASIAN = (
    _EastAsian("cp932", "shift_jis", lambda lead: 0x81 <= lead <= 0x83 or 0x88 <= lead <= 0x97, 0.9),
    _EastAsian("cp949", "euc_kr", lambda lead: lead == 0xA1 or 0xB0 <= lead <= 0xC8, 0.95),
    _EastAsian("euc_jp", "euc_jp", lambda lead: lead in (0xA1, 0xA4, 0xA5) or 0xB0 <= lead <= 0xCF, 0.9),
    _EastAsian("gb18030", "gb2312", lambda lead: lead in (0xA1, 0xA3) or 0xB0 <= lead <= 0xD7, 0.8),
    _EastAsian("big5", "big5", lambda lead: 0xA1 <= lead <= 0xC6, 0.8),
)
_LEAST_KANA = 0.2


def guess(sample: bytes) -> tuple[str, float]:
    """The likeliest encoding of `sample` and a confidence from 0 to 0.9; never fails."""
    for candidate in _EAST_ASIAN:
        share = _common_share(sample, candidate)
        if share >= candidate.least:
            return candidate.name, round(min(0.9, share), 2)
    matches = from_bytes(sample, cp_isolation=_ONE_BYTE, threshold=0.4)
    ranked = [
        (round(match.chaos / 0.02), -_letters(sample, name), -round(match.coherence, 1), order)
        for match in matches
        for order, name in enumerate(_ONE_BYTE)
        if name in match.could_be_from_charset
    ]
    if not ranked:
        return "cp1252", 0.1
    chaos, _, _, order = min(ranked)
    return _ONE_BYTE[order], round(max(0.1, 0.8 - chaos * 0.02), 2)


def _letters(sample: bytes, encoding: str) -> float:
    """The share of letters among the characters beyond ASCII, in twentieths."""
    others = [character for character in sample.decode(encoding, "ignore") if character > "\x7f"]
    return round(20 * sum(character.isalpha() for character in others) / max(1, len(others))) / 20


def _common_share(sample: bytes, candidate: _EastAsian) -> float:
    """The share of common letters among those beyond ASCII; 0 when the bytes do not decode."""
    try:
        text = codecs.getincrementaldecoder(candidate.name)().decode(sample)
    except UnicodeDecodeError:
        return 0.0
    letters = [character for character in text if character > "\x7f"][:_SAMPLE_CHARACTERS]
    if len(letters) < 2:
        return 0.0
    common = 0
    for letter in letters:
        encoded = letter.encode(candidate.strict, "ignore")
        common += len(encoded) == 2 and candidate.common(encoded[0])
    if candidate.name == "euc_jp" and sum("\u3040" <= letter <= "\u30ff" for letter in letters) < (
        _LEAST_KANA * len(letters)
    ):
        return 0.0
    return common / len(letters)
