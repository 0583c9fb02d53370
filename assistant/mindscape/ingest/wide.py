"""UTF-16 and UTF-32 without a byte order mark, told by where the zero bytes stand."""

from __future__ import annotations

import codecs
import unicodedata

_SAMPLE_BYTES = 1 << 16
# A run of eight and more is no text in any form, but the tail of a preallocated file; taken out in eights,
# so that the places of all other bytes in their units stay what they were.
_NO_TEXT = b"\0" * 8
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
        if zeros[top] > 0.98 and zeros[second] > 0.3 and zeros[low] < 0.1 and _reads(sample, name):
            return name
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    name, high, low = ("utf-16-le", odd, even) if odd > even else ("utf-16-be", even, odd)
    # Where the zeros are few, as in Chinese, the rest must not be what it is in ASCII with a stray NUL.
    if low <= high / 10 and (high > 0.25 or not _mostly_ascii(sample)) and _reads(sample, name):
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
    return strange * 50 <= len(text)
