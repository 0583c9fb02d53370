"""Bytes to text: byte order marks, then strict UTF-8, then evidence, then a guess that says so.

The text rule for every text-like file: the decoded file, code point for code point after the byte
order mark; NUL and the other control characters except tab, form feed and line ends become a space
each; a line ends at LF, CR or CRLF and nowhere else.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (b"\x84\x31\x95\x33", "gb18030"),
)
_UNIT_BYTES = {"utf-32-le": 4, "utf-32-be": 4, "utf-16-le": 2, "utf-16-be": 2}
_SAMPLE_BYTES = 1 << 16
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NUL_RUN = re.compile(rb"\x00{4,}")
# Bytes that no text has, in any encoding made of ASCII and high bytes; ESC starts ISO-2022 sequences.
_BINARY_BYTES = bytes(b for b in range(32) if b not in b"\t\n\v\f\r\x1a\x1b") + b"\x7f"
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([JI])")
_ESCAPED = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """A file as text under the text rule."""

    text: str
    encoding: str
    confidence: float
    """1.0 when the bytes prove it, less when it was guessed."""
    warnings: tuple[str, ...] = ()


def decode(data: bytes, declared: str | None = None) -> Decoded:
    """The text of `data`; `declared` is an encoding the file itself names, believed when it fits.

    Raises ParseFailure(UNSUPPORTED) when the bytes are not text in any encoding.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return _decoded(data[len(mark) :], name, 1.0)
    wide = wide_encoding(data)
    if wide:
        return _decoded(data, wide, 0.9)
    if looks_binary(data):
        raise ParseFailure(
            Status.UNSUPPORTED, "The file is not text: it holds binary data. Convert it to a known type."
        )
    if _ISO_2022_JP.search(data[:_SAMPLE_BYTES]):
        return _decoded(data, "iso2022_jp", 0.9)
    if declared and (decoded := _as_declared(data, declared)):
        return decoded
    return _as_utf8(data) or _as_guessed(data)


def clean(text: str) -> str:
    """The text rule's control characters: each becomes one space, so that offsets hold."""
    return _CONTROLS.sub(lambda run: " " * len(run[0]), text)


def line_starts(text: str) -> list[int]:
    """Offsets at which lines start, by the text rule (never `str.splitlines`, which knows ten line ends)."""
    return [0, *(end.end() for end in _LINE_END.finditer(text))]


def looks_binary(data: bytes) -> bool:
    """True when more than a twentieth of the bytes are controls that no text holds.

    A long run of NULs counts once: editors that crash leave preallocated text files full of them.
    """
    rest = _NUL_RUN.sub(b"\0", data)
    controls = len(rest) - len(rest.translate(None, _BINARY_BYTES))
    return controls * 20 > len(rest) and controls > 1


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a byte order mark, told by where the zero bytes stand."""
    sample = data[: min(len(data), _SAMPLE_BYTES) & ~3]
    if len(sample) < 8 or 0 not in sample:
        return None
    zeros = [sample[place::4].count(0) * 4 / len(sample) for place in range(4)]
    for name, always, never in (("utf-32-le", (2, 3), 0), ("utf-32-be", (0, 1), 3)):
        if min(zeros[place] for place in always) > 0.9 and zeros[never] < 0.1 and _decodes(sample, name):
            return name
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    for name, high, low in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        # A stray NUL or two in an ASCII file is no evidence.
        if high > 0.05 and high * len(sample) > 8 and low < high / 50 and _decodes(sample, name):
            return name
    return None


def _decodes(sample: bytes, encoding: str) -> bool:
    # The sample may end inside a surrogate pair; the incremental decoder does not mind.
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return False
    return len(_CONTROLS.findall(text)) * 50 < len(text) or len(text) < 50


def _as_declared(data: bytes, declared: str) -> Decoded | None:
    try:
        encoding = codecs.lookup(declared).name
        # What is labelled GB2312 or Latin-1 on the web is really its superset.
        encoding = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252"}.get(encoding, encoding)
        data.decode(encoding)
    except (LookupError, UnicodeError, ValueError):
        return None
    return _decoded(data, encoding, 1.0)


def _as_utf8(data: bytes) -> Decoded | None:
    """UTF-8, also with a few bad bytes: then each becomes one U+FFFD and everything else is kept."""
    text = data.decode("utf-8", "surrogateescape")
    text, bad = _ESCAPED.subn("\ufffd", text)
    if not bad:
        return Decoded(clean(text), "utf-8", 1.0)
    # High bytes that form proper sequences by chance are rare in every other encoding.
    good = len(data) - bad - _count_ascii(data)
    if good < 2 * bad:
        return None
    return Decoded(clean(text), "utf-8", 0.9, (f"{bad} bytes are not UTF-8 and are shown as \ufffd.",))


def _count_ascii(data: bytes) -> int:
    return len(data.translate(None, bytes(range(128, 256))))


def _as_guessed(data: bytes) -> Decoded:
    # The detector takes most of a worker's start, and few files need it.
    from mindscape.ingest.guess import guess

    encoding, confidence = guess(data[:_SAMPLE_BYTES])
    warning = f"The encoding was guessed: {encoding}, confidence {confidence:.0%}."
    decoded = _decoded(data, encoding, confidence)
    return Decoded(decoded.text, encoding, confidence, (warning, *decoded.warnings))


def _decoded(data: bytes, encoding: str, confidence: float) -> Decoded:
    surplus = len(data) % _UNIT_BYTES.get(encoding, 1)
    warnings: list[str] = []
    if surplus:
        data = data[:-surplus]
        warnings.append("The file ends in the middle of a character, which is left out.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        warnings.append(f"Some bytes are not {encoding} and are shown as \ufffd.")
    return Decoded(clean(text), encoding, confidence, tuple(warnings))
