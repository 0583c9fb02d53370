"""Sources made by hand, for the stages that need no library."""

from __future__ import annotations

from mindscape.ask.evidence import Source
from mindscape_storage.records import Document, FileStat, Passage, Place, Status


def source(
    text: str,
    path: str = "/notes/ferry.md",
    number: int = 1,
    score: float = 1.0,
    cosine: float | None = None,
    heading: tuple[str, ...] = (),
    title: str | None = None,
    start: int = 100,
) -> Source:
    document = Document(
        number, 1, path.encode(), path, FileStat(1, 1, 1, 1), Status.OK, None, number, title=title, passages=1
    )
    passage = Passage(number, number, 0, start, start + len(text), text, 7, heading)
    legs = {"words": score} if cosine is None else {"words": score, "vector": cosine}
    return Source(passage, document, (), Place(line=7, heading=heading), score, legs)
