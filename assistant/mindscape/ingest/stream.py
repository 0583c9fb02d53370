"""Text of any length: in stretches with their blocks, as a format finds them in a window.

A format that can be read so has `stream(window, media_type)`; `gathered` makes its `Parsed` for a file that
is held whole, `TextStream` its passages for one that is not: the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from mindscape.ingest.decode import SAMPLE_BYTES, Detected, TextDecoder, decode
from mindscape.ingest.formats.outline import Heading, Outline, sections_of
from mindscape.ingest.parsed import Block, BlockKind, Parsed, Source
from mindscape.ingest.passages import Region, block_at, cut_regions, waits
from mindscape.ingest.runs import Run, Window
from mindscape_storage.records import NewPassage, Section

MAX_HEADINGS = 20_000
"""Of one text: more are no outline, and they are held in memory until its end."""
_NOT_PLAIN = re.compile(rb"[\x00\x1b\x80-\xff]")
"""NUL and ESC are in encodings that use ASCII bytes for other characters."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """The next part of a text, of bounded length; it begins where no block of the part before it goes on."""

    start: int
    """Offset in the whole text."""
    text: str
    blocks: tuple[Block, ...] = ()
    """With offsets in the whole text."""
    heading: Heading | None = None
    """The heading it begins with."""


def stretch(run: Run, kind: BlockKind, header: str = "", heading: Heading | None = None) -> Stretch:
    """A run as one block, with the white space after it."""
    block = Block(kind, run.start, run.end, header)
    return Stretch(run.start, run.text + run.space, (block,) if run.text else (), heading)


Stream = Callable[[Window, str], Iterator[Stretch]]


def gathered(source: Source, media_type: str, stream: Stream) -> Parsed:
    """The whole of a decoded file, its blocks and sections, by the stretches it has."""
    decoded = decode(source.data)
    stretches = list(stream(Window([decoded.text]), media_type))
    headings = [stretch.heading for stretch in stretches if stretch.heading][:MAX_HEADINGS]
    return Parsed(
        text=decoded.text,
        media_type=media_type,
        text_like=True,
        blocks=tuple(block for stretch in stretches for block in stretch.blocks),
        sections=sections_of(headings, len(decoded.text)),
        encoding=decoded.encoding,
        encoding_confidence=decoded.confidence,
        warnings=decoded.warnings,
    )


class Sample:
    """What tells the encoding of a long file: its first bytes; if these are ASCII, the first others."""

    def __init__(self) -> None:
        self.data = b""
        self._complete = False

    def add(self, piece: bytes) -> None:
        """Take what is needed of the next piece of the file."""
        if self._complete:
            return
        self.data = self.data or piece[:SAMPLE_BYTES]
        if _NOT_PLAIN.search(self.data):
            self._complete = True
        elif other := _NOT_PLAIN.search(piece):
            # Nothing but ASCII stands in front of it, so no character is cut in two.
            self.data = piece[other.start() : other.start() + SAMPLE_BYTES]
            self._complete = True


class TextStream:
    """The passages of a text that is never held whole; what is said of all of it is known at the end."""

    def __init__(self, pieces: Iterable[bytes], detected: Detected, media_type: str, stream: Stream) -> None:
        self._decoder = TextDecoder(detected)
        self._detected = detected
        self._stretches = stream(Window(decoded(pieces, detected, self._decoder)), media_type)
        self._headings: list[Heading] = []
        self.length = 0
        """Code points so far."""

    def passages(self) -> Iterator[NewPassage]:
        """To be called once."""
        return cut_regions(_regions(self._counted()), text_like=True)

    @property
    def sections(self) -> tuple[Section, ...]:
        """Of the whole text."""
        return sections_of(self._headings, self.length)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the decoder has to say."""
        return self._detected.warnings + self._decoder.warnings

    def _counted(self) -> Iterator[Stretch]:
        for one in self._stretches:
            self.length += len(one.text)
            if one.heading and len(self._headings) == MAX_HEADINGS:
                one = replace(one, heading=None)
            if one.heading:
                self._headings.append(one.heading)
            yield one


def decoded(pieces: Iterable[bytes], detected: Detected, decoder: TextDecoder) -> Iterator[str]:
    """The text of a file's pieces, piece by piece."""
    skip = detected.mark
    for piece in pieces:
        yield decoder.feed(piece[skip:])
        skip = max(0, skip - len(piece))
    yield decoder.feed(b"", final=True)


def _regions(stretches: Iterable[Stretch]) -> Iterator[Region]:
    """Each stretch under its headings: what `passages.regions` says of a whole text, as it comes.

    Stretches that say nothing of their own yet are held until the next one decides whether they join it.
    """
    outline = Outline()
    path: tuple[str, ...] = ()
    held: list[Stretch] = []
    own, begin, waiting = "", 0, True
    for stretch in stretches:
        if stretch.heading:
            if not waiting:
                held, begin, waiting = [], stretch.start, True
            own, path = "", outline.enter(stretch.heading)
        if not waiting:
            yield _region(stretch, path, opens=False)
            continue
        held.append(stretch)
        own += stretch.text
        if not waits(own, stretch.start + len(stretch.text) - begin, titled=bool(path)):
            waiting = False
            yield from (_region(one, path, opens=one is held[0]) for one in held)
    if waiting:
        yield from (_region(one, path, opens=one is held[0]) for one in held)


def _region(stretch: Stretch, path: tuple[str, ...], *, opens: bool) -> Region:
    blocks = [block_at(block, -stretch.start) for block in stretch.blocks]
    return Region(stretch.text, blocks, path, opens)
