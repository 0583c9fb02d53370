"""Log files: the file itself, cut by lines and nowhere else."""

from __future__ import annotations

from collections.abc import Iterator

from mindscape.ingest.parsed import Parsed, Source
from mindscape.ingest.runs import Window, runs
from mindscape.ingest.stream import Stretch, gathered, stretch


def parse(source: Source, media_type: str) -> Parsed:
    """The decoded file in blocks whose units are lines; times and levels stay as they are."""
    return gathered(source, media_type, stream)


def stream(window: Window, media_type: str) -> Iterator[Stretch]:
    """A stretch for as many lines as a run may have."""
    del media_type
    for run in runs(window, blank_lines=False):
        yield stretch(run, "properties")
