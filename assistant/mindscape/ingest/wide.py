"""UTF-16 and UTF-32 without a byte order mark, told by where the zero bytes stand."""

from __future__ import annotations

import codecs
import unicodedata
from collections import Counter

_SAMPLE_BYTES = 1 << 16
# A run of eight and more is no text in any form, but the tail of a preallocated file; taken out in eights,
# so that the places of all other bytes in their units stay what they were.
_NO_TEXT = b"\0" * 8
_ASCII = -1
_EMOJI = 0x1F0
_CHINESE = 0x4E
_SENTENCE = 50
"""Characters: a longer text has a space or a line end in it, unless it is Chinese or Japanese."""
_STRANGE = ("Cc", "Cn", "Co", "Cs")
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\n\r"


def wide_encoding(data: bytes) -> str | None:
    """The codec of UTF-16 or UTF-32 text that has no mark; None for every other kind of bytes."""
    sample = data[:_SAMPLE_BYTES].replace(_NO_TEXT, b"")
    sample = sample[: len(sample) & ~3] if len(sample) > 3 else b""
    if len(sample) < 8 or 0 not in sample:
        return None
    zeros = [sample[place::4].count(0) * 4 / len(sample) for place in range(4)]
    for name, top, second, low in (("utf-32-le", 3, 2, 0), ("utf-32-be", 0, 1, 3)):
        # The second byte is not zero in emoji and rare ideographs.
        if zeros[top] > 0.98 and zeros[second] > 0.3 > zeros[low] and _reads(sample, name):
            return name
    # Zeros are the upper half of ASCII and Latin letters; the lower half of a few others, so both are tried.
    orders = [((zeros[1] + zeros[3]) / 2, "utf-16-le"), ((zeros[0] + zeros[2]) / 2, "utf-16-be")]
    for share, name in sorted(orders, reverse=True):
        # Where the zeros are few, as in Chinese, the rest must not be what it is in ASCII with a stray NUL.
        if (share > 0.25 or not _mostly_ascii(sample)) and _reads(sample, name):
            return name
    return None


def _mostly_ascii(sample: bytes) -> bool:
    rest = sample.replace(b"\0", b"")
    return len(rest.translate(None, _PRINTABLE)) * 20 < len(rest)


def _reads(sample: bytes, encoding: str) -> bool:
    """True when nearly every character is one that texts hold."""
    # The sample may end inside a surrogate pair; the incremental decoder does not mind.
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        text = sample.decode(encoding, "replace")
    strange = sum(
        character == "\ufffd"
        or (unicodedata.category(character) in _STRANGE and character not in "\t\n\v\f\r")
        for character in text
    )
    return strange * 50 <= len(text) and _is_one_script(text)


def _is_one_script(text: str) -> bool:
    """True when most letters beyond ASCII are of one script, and spaced: other bytes read as any."""
    scripts = Counter(_script(character) for character in text if not "\u2000" <= character <= "\u27ff")
    for anywhere in (_ASCII, _EMOJI):
        scripts.pop(anywhere, None)
    if not scripts:
        return True
    (script, most), *_ = scripts.most_common(1)
    is_spaced = script == _CHINESE or len(text) < _SENTENCE or any(map(str.isspace, text))
    return is_spaced and most * 20 >= scripts.total() * 17


def _script(character: str) -> int:
    """A number for the block of 256; one for all of Chinese and Japanese, of Korean, of emoji, of Latin."""
    if character < "\x80":
        return _ASCII
    page = ord(character) >> 8
    if 0x4E <= page <= 0x9F or page in (0x30, 0xFF):
        return _CHINESE
    if 0xAC <= page <= 0xD7:
        return 0xAC
    if page >= 0x1F0:
        return _EMOJI
    return 0x03 if page in (0x00, 0x01, 0x02, 0x1E) else page
