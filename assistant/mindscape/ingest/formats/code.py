"""Source code: the file itself, in blocks of the lines that stand together, under what they define."""

from __future__ import annotations

from collections.abc import Iterator

from mindscape.ingest.formats.definitions import definition
from mindscape.ingest.formats.outline import Heading
from mindscape.ingest.parsed import Block, Parsed, Source
from mindscape.ingest.runs import Run, Window, joins, runs
from mindscape.ingest.stream import Stretch, gathered

_CLOSING = tuple(")]}")


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file; a block starts at a line without indentation that follows a blank line."""
    return gathered(source, media_type, stream)


def stream(window: Window, media_type: str) -> Iterator[Stretch]:
    """A stretch for each block; one that defines something starts a section."""
    del media_type
    held: list[Run] = []
    for run in runs(window):
        if held and not (_goes_on(run) and joins(held[0].start, run)):
            yield _stretch(held)
            held = []
        held.append(run)
        if not run.text:
            yield _stretch(held)
            held = []
    if held:
        yield _stretch(held)


def _goes_on(run: Run) -> bool:
    return bool(run.text) and (run.indented or run.text.startswith(_CLOSING))


def _stretch(held: list[Run]) -> Stretch:
    first, last = held[0], held[-1]
    text = "".join(run.text + run.space for run in held)
    if not last.text:
        return Stretch(first.start, text)
    name = definition(text)
    heading = Heading(1, name, first.start) if name else None
    return Stretch(first.start, text, (Block("code", first.start, last.end),), heading)
