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
SAMPLE_BYTES = 1 << 16
"""What a guess looks at, and enough of a file that is not read whole."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]+")
_LINE_END = re.compile(r"\r\n|\r|\n")
_NUL_RUN = re.compile(rb"\x00{4,}")
# Bytes that no text has, in any encoding made of ASCII and high bytes; ESC starts ISO-2022 sequences.
_BINARY_BYTES = bytes(b for b in range(32) if b not in b"\t\n\v\f\r\x1a\x1b") + b"\x7f"
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([JI])")
_ESCAPED = re.compile("[\ud800-\udfff]")
_SLOW = ("punycode", "idna")
"""Codecs of Python's that no file is written in, and that take time by the square of the text."""


@dataclass(frozen=True, slots=True)
class Detected:
    """How to read a file, told from its beginning."""

    encoding: str
    """A codec of Python's that knows no byte order mark (utf-16-le, never utf-16)."""
    confidence: float
    """1.0 when the bytes prove it, less when it was guessed."""
    mark: int = 0
    """Bytes of the byte order mark, which is no part of the text: decoding starts after it."""
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
            return Detected(name, 1.0, _marks(sample, mark))
    if wide := wide_encoding(sample):
        return Detected(wide, 0.9)
    if looks_binary(sample):
        raise ParseFailure(
            Status.UNSUPPORTED, "The file is not text: it holds binary data. Convert it to a known type."
        )
    if _ISO_2022_JP.search(sample[:SAMPLE_BYTES]):
        return Detected("iso2022_jp", 0.9)
    if declared and (named := _declared(sample, declared, whole)):
        return Detected(named, 1.0)
    if confidence := _utf8_confidence(sample, whole):
        return Detected("utf-8", confidence)
    return _guessed(sample)


class TextDecoder:
    """Decodes a file in chunks cut anywhere; what it gives, joined, is the file's text by the text rule."""

    def __init__(self, detected: Detected) -> None:
        self._encoding = detected.encoding
        self._decoder = codecs.getincrementaldecoder(detected.encoding)()
        self._bad = 0
        self._cut = False

    def feed(self, chunk: bytes, final: bool = False) -> str:
        """The text of the next bytes as far as it is complete; `final` with the last of them."""
        if final:
            chunk = self._without_half(chunk)
        state = self._decoder.getstate()
        try:
            text = self._decoder.decode(chunk, final)
        except UnicodeDecodeError:
            self._decoder.setstate(state)
            self._decoder.errors = _ERRORS
            text, bad = _ESCAPED.subn("\ufffd", self._decoder.decode(chunk, final))
            self._decoder.errors = "strict"
            self._bad += bad
        return clean(text)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences about what could not be decoded so far."""
        said: list[str] = []
        if self._cut:
            said.append("The file ends in the middle of a character, which is left out.")
        if self._bad:
            what = "characters" if self._encoding in _UNIT_BYTES else "bytes"
            said.append(f"{self._bad} {what} are not {self._encoding} and are shown as \ufffd.")
        return tuple(said)

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


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Each bad byte as one lone surrogate, which no text has; of wide encodings each bad character."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    if error.encoding.startswith(("utf-16", "utf-32", "utf16", "utf32")):
        return "\udcff", error.end
    return "".join(chr(0xDC00 + byte) for byte in error.object[error.start : error.end]), error.end


_ERRORS = "mindscape.escape"
codecs.register_error(_ERRORS, _escape)


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
    sample = data[: min(len(data), SAMPLE_BYTES) & ~3]
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


def _marks(sample: bytes, mark: bytes) -> int:
    """The length of the marks at the start: files joined by careless tools have several."""
    length = len(mark)
    while sample.startswith(mark, length):
        length += len(mark)
    return length


def _declared(sample: bytes, declared: str, whole: bool) -> str | None:
    try:
        encoding = codecs.lookup(declared).name
        # What is labelled GB2312 or Latin-1 on the web is really its superset.
        encoding = {"gb2312": "gb18030", "gbk": "gb18030", "iso8859-1": "cp1252"}.get(encoding, encoding)
        # A LookupError for codecs that are no encodings: a page that calls itself "zip" is not unpacked.
        " ".encode(encoding)
        if encoding in _SLOW:
            return None
        codecs.getincrementaldecoder(encoding)().decode(sample, whole)
    except (LookupError, UnicodeError, ValueError, AssertionError):
        return None
    return encoding


def _utf8_confidence(sample: bytes, whole: bool) -> float:
    """1.0 for valid UTF-8, 0.9 for what is UTF-8 but for a few bytes, else 0."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, whole)
    except UnicodeDecodeError:
        bad = len(_ESCAPED.findall(sample.decode("utf-8", _ERRORS)))
        # High bytes that form proper sequences by chance are rare in every other encoding.
        good = len(sample) - bad - _count_ascii(sample)
        return 0.9 if good >= 2 * bad else 0.0
    return 1.0


def _count_ascii(data: bytes) -> int:
    return len(data.translate(None, bytes(range(128, 256))))


def _guessed(sample: bytes) -> Detected:
    # The detector takes most of a worker's start, and few files need it.
    from mindscape.ingest.guess import guess

    encoding, confidence = guess(sample[:SAMPLE_BYTES])
    warning = f"The encoding was guessed: {encoding}, confidence {confidence:.0%}."
    return Detected(encoding, confidence, 0, (warning,))
