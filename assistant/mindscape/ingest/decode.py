"""Bytes to text: byte order marks, then strict UTF-8, then evidence, then a guess that says so.

The text rule for every text-like file: the decoded file, code point for code point after the byte
order mark; NUL and the other control characters except tab, form feed and line ends become a space
each; a line ends at LF, CR or CRLF and nowhere else.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from mindscape.ingest.guess import guess, guess_seven_bit, is_implausible, named
from mindscape.ingest.mixed import page_of_bad_bytes, read_bad_bytes
from mindscape.ingest.parsed import ParseFailure
from mindscape.ingest.wide import wide_encoding
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
SAMPLE_BYTES = 1 << 16
"""What a guess looks at, and enough of a file that is not read whole."""
_PIECE_BYTES = 1 << 20
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]+")
_NO_CONTROLS = bytes(byte for byte in range(256) if byte in b"\t\n\f\r" or (byte >= 32 and byte != 127))
_LINE_END = re.compile(r"\r\n|\r|\n")
_NUL_RUN = re.compile(rb"\x00{4,}")
# Bytes that no text has, in any encoding made of ASCII and high bytes; ESC starts ISO-2022 sequences.
_BINARY_BYTES = bytes(b for b in range(32) if b not in b"\t\n\v\f\r\x1a\x1b") + b"\x7f"
# What ISO-2022, HZ and UTF-7 begin their letters with. Terminal colours (ESC [) are not among them.
_SHIFTS = re.compile(rb"\x1b(?:\$[@ABCD()]|\([BIJ])|~\{|\+[A-Za-z0-9+/]{3,}")
# ISO-2022-KR announces itself, and then uses control characters to go to Korean and back.
_SHIFT_OUT = re.compile(rb"^[\x09-\x7f]*\x1b\$\)C")
_ESCAPED = re.compile("[\ud800-\udfff]")
_AS_UNKNOWN = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_HIGH = bytes(range(0x80, 0x100))
_LEAST_HIGH = 8
"""Bytes beyond ASCII that prove UTF-8 when they are all valid."""
_MOST_DAMAGED = 4
"""Pieces of a file that are looked at for what their bad bytes may be."""


@dataclass(frozen=True, slots=True)
class Detected:
    """How to read a file, told from its beginning."""

    encoding: str
    """A codec of Python's that knows no byte order mark (utf-16-le, never utf-16)."""
    confidence: float
    """1.0 when the bytes prove it, less when it was guessed."""
    mark: int = 0
    """Bytes of the byte order mark, which is no part of the text: decoding starts after it."""
    page: str | None = None
    """The 8-bit encoding of single bytes that are not in `encoding`; without one they become U+FFFD."""
    warnings: tuple[str, ...] = ()


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
    detected = detect(data, declared)
    decoder = TextDecoder(detected)
    text = decoder.feed(data[detected.mark :], final=True)
    return Decoded(text, detected.encoding, detected.confidence, detected.warnings + decoder.warnings)


def detect(sample: bytes, declared: str | None = None, whole: bool = True) -> Detected:
    """The encoding of the file that begins with `sample`; `whole` when that is all of it.

    Otherwise the sample may end inside a character. Raises ParseFailure(UNSUPPORTED) when the bytes are
    not text in any encoding.
    """
    for mark, name in _BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            length = _marks(sample, mark)
            page = _utf8(sample[length:], whole).page if name == "utf-8" else None
            return Detected(name, 1.0, length, page)
    if wide := wide_encoding(sample):
        return Detected(wide, 0.9)
    if looks_binary(sample) and not _SHIFT_OUT.search(sample, 0, 4096):
        raise ParseFailure(
            Status.UNSUPPORTED, "The file is not text: it holds binary data. Convert it to a known type."
        )
    label = named(declared) if declared else None
    utf8 = _utf8(sample, whole)
    if not utf8.bad:
        return _valid_utf8(sample, label)
    if label and label != "utf-8" and _fits(sample, label) and not _is_wrong(sample, label):
        return Detected(label, 1.0)
    if utf8.is_mixed:
        return Detected("utf-8", 0.9, page=utf8.page)
    return _guessed(*guess(sample[:SAMPLE_BYTES], believing=label is None))


class TextDecoder:
    """Decodes a file in chunks cut anywhere; what it gives, joined, is the file's text by the text rule."""

    def __init__(self, detected: Detected) -> None:
        self._encoding = detected.encoding
        self._page = detected.page
        self._decoder = codecs.getincrementaldecoder(detected.encoding)()
        self._read = 0
        self._bad = 0
        self._cut = False

    def feed(self, chunk: bytes, final: bool = False) -> str:
        """The text of the next bytes as far as it is complete; `final` with the last of them."""
        if final:
            chunk = self._without_half(chunk)
        text, damaged = _decode_some(self._decoder, chunk, final)
        return clean(self._repaired(text) if damaged else text)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what could not be decoded so far."""
        said: list[str] = []
        if self._cut:
            said.append("The file ends in the middle of a character, which is left out.")
        if self._read:
            said.append(f"{self._read} bytes are not {self._encoding} and are read as {self._page}.")
        if self._bad:
            what = "characters" if self._encoding in _UNIT_BYTES else "bytes"
            said.append(f"{self._bad} {what} are not {self._encoding} and are shown as \ufffd.")
        return tuple(said)

    def _repaired(self, text: str) -> str:
        before = _bad_bytes(text)
        if self._page:
            text = read_bad_bytes(text, self._page)
        bad = _bad_bytes(text)
        self._read += before - bad
        self._bad += bad
        return text.translate(_AS_UNKNOWN) if bad else text

    def _without_half(self, chunk: bytes) -> bytes:
        """All that is left, without half a character at the end of a cut UTF-16 or UTF-32 file."""
        held, flags = self._decoder.getstate()
        surplus = (len(held) + len(chunk)) % _UNIT_BYTES.get(self._encoding, 1)
        if not surplus:
            return chunk
        self._cut = True
        left = held + chunk
        self._decoder.setstate((b"", flags))
        return left[: len(left) - surplus]


def clean(text: str) -> str:
    """The text rule's control characters: each becomes one space, so that offsets hold."""
    if text.isprintable() or _is_clean(text.encode("utf-8", "surrogatepass")):
        return text
    return _CONTROLS.sub(lambda run: " " * len(run[0]), text)


def _is_clean(utf8: bytes) -> bool:
    """True when there is no control character for sure: a tenth of the time that looking for them takes."""
    return b"\xc2" not in utf8 and not utf8.translate(None, _NO_CONTROLS)


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


def _decode_some(decoder: codecs.IncrementalDecoder, chunk: bytes, final: bool) -> tuple[str, bool]:
    """The text of the chunk; True where it holds bad bytes, each as the lone surrogate U+DC00 + byte."""
    state = decoder.getstate()
    try:
        return decoder.decode(chunk, final), False
    except UnicodeDecodeError as error:
        # Python's own way is a hundred times as fast where all may be bad, but knows no bad ASCII.
        decoder.errors = "surrogateescape" if error.encoding in ("utf-8", "charmap") else _ERRORS
    decoder.setstate(state)
    text = decoder.decode(chunk, final)
    decoder.errors = "strict"
    return text, True


def _bad_bytes(text: str) -> int:
    """How many bytes of `text` are marked as bad: a lone surrogate takes three bytes where it is let pass."""
    return (len(text.encode("utf-8", "surrogatepass")) - len(text.encode("utf-8", "ignore"))) // 3


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Each bad byte as one lone surrogate, which no text has; of wide encodings each bad character."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if error.encoding.startswith(("utf-16", "utf-32", "utf16", "utf32")):
        return "\udcff", error.end
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


_ERRORS = "mindscape.escape"
codecs.register_error(_ERRORS, _escape)


def _marks(sample: bytes, mark: bytes) -> int:
    """The length of the marks at the start: files joined by careless tools have several."""
    length = len(mark)
    while sample.startswith(mark, length):
        length += len(mark)
    return length


@dataclass(frozen=True, slots=True)
class _Utf8:
    """How far bytes are UTF-8."""

    bad: int
    """Bytes that are no part of it."""
    is_mixed: bool
    """True when the good sequences cannot all be there by chance, as some are in every other encoding."""
    page: str | None
    """Of mixed bytes: what the bad ones are in."""


def _utf8(sample: bytes, whole: bool) -> _Utf8:
    decoder = codecs.getincrementaldecoder("utf-8")()
    high = bad = proven = 0
    damaged: list[str] = []
    for start in range(0, len(sample), _PIECE_BYTES):
        piece = sample[start : start + _PIECE_BYTES]
        text, has_bad = _decode_some(decoder, piece, whole and start + _PIECE_BYTES >= len(sample))
        in_piece = _high_bytes(piece)
        high += in_piece
        proven += _in_good_lines(text) if has_bad else in_piece
        if has_bad:
            bad += _bad_bytes(text)
            damaged.append(text)
            del damaged[_MOST_DAMAGED:]
    is_mixed = bad > 0 and (high >= 3 * bad or proven * 10 >= high)
    return _Utf8(bad, is_mixed, page_of_bad_bytes("".join(damaged)) if is_mixed else None)


def _in_good_lines(text: str) -> int:
    """Bytes beyond ASCII in lines that are all UTF-8 and have a few such letters: none by chance."""
    lines = [line for line in _LINE_END.split(text) if not line.isascii() and not _ESCAPED.search(line)]
    return sum(high for line in lines if (high := _high_bytes(line.encode())) >= _LEAST_HIGH)


def _valid_utf8(sample: bytes, label: str | None) -> Detected:
    """UTF-8, unless the bytes are ASCII that stands for other letters, or too few to prove it."""
    high = _high_bytes(sample)
    if label and label != "utf-8" and high < _LEAST_HIGH and not _one_byte(label) and _fits(sample, label):
        return Detected(label, 1.0)
    shifts = None if high else _SHIFTS.search(sample, 0, SAMPLE_BYTES)
    if shifts and (found := guess_seven_bit(sample[:SAMPLE_BYTES])):
        return _guessed(found, 0.9)
    return Detected("utf-8", 1.0)


def _fits(sample: bytes, encoding: str) -> bool:
    """True when all but a few of the bytes beyond ASCII are text in `encoding`."""
    piece = sample[:_PIECE_BYTES]
    text, has_bad = _decode_some(codecs.getincrementaldecoder(encoding)(), piece, len(piece) == len(sample))
    return not has_bad or _bad_bytes(text) * 100 <= _high_bytes(piece)


def _is_wrong(sample: bytes, label: str) -> bool:
    """Any bytes fit an encoding of one byte; enough of them tell whether they read as text in it."""
    sample = sample[:SAMPLE_BYTES]
    return _one_byte(label) and _high_bytes(sample) >= _LEAST_HIGH and is_implausible(sample, label)


def _one_byte(encoding: str) -> bool:
    return len(b"\xe9\xe9".decode(encoding, "ignore")) == 2


def _high_bytes(data: bytes) -> int:
    return len(data) - len(data.translate(None, _HIGH))


def _guessed(encoding: str, confidence: float) -> Detected:
    warning = f"The encoding was guessed: {encoding}, confidence {confidence:.0%}."
    return Detected(encoding, confidence, warnings=(warning,))
