"""What a whole is about, told by its summary: each sentence with the passage that says it.

A summary that was chosen from the text is made of its sentences, so each has a place; one that a model wrote
is compared with the passage that is nearest to it. The place is found from the top of the tree down, through
the child whose summary shares most with the sentence: a few comparisons on each level, whatever the size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple, Protocol

from mindscape.ask.check import best_sentence, is_supported, share
from mindscape.ask.evidence import Source, load
from mindscape.ask.language import terms
from mindscape.ask.retrieve import Ranked
from mindscape.sentences import sentences
from mindscape_storage.database import Connection
from mindscape_storage.records import Told

MAX_LINES = 16
"""Lines or sentences of an answer: of what lists many things it is the first that are read."""
NEAR = 0.6
"""Share of a sentence's content that a passage has to hold to be its place."""
SAMPLES = 8
"""Documents of which a sentence is told where the summary of a folder has room for names only."""
_FOLDERS = ("library", "folder", "group")
_ITEM, _DASH, _DOT = "\u2022 ", " \u2014 ", " \u00b7 "


class View(Protocol):
    """A node of the mindscape, as it is shown."""

    @property
    def id(self) -> str:
        """d12, d12.2.3, f7 or p123."""
        ...

    @property
    def kind(self) -> str:
        """library, folder, group, document, section or passage."""
        ...

    @property
    def title(self) -> str:
        """Of the node."""
        ...

    @property
    def told(self) -> Told:
        """Its summary."""
        ...

    @property
    def stale(self) -> bool:
        """Whether the summary may be older than what is below."""
        ...

    def children(self) -> Sequence[View]:
        """What it stands over; nothing for a passage."""
        ...


class Line(NamedTuple):
    """A sentence or a line of a summary."""

    text: str
    source: Source | None
    """The passage that says it; None for what only names something."""
    start: int = 0
    end: int = 0
    """Of the sentence in the passage's text."""
    supported: bool = True
    verbatim: bool = False
    """Whether the passage says it word for word."""
    breaks: str = " "
    """What stands before it."""


class Whole(NamedTuple):
    """What is told of nodes."""

    ids: list[str]
    lines: list[Line]
    model: str | None
    """Who wrote it, where that is a model."""
    stale: bool


def tell_whole(conn: Connection, views: Sequence[View]) -> Whole | None:
    """What the summaries of nodes say, with places; None when there is nothing yet. Call it in a snapshot."""
    lines: list[Line] = []
    for view in views:
        placed = (_placed(conn, view, text, breaks) for text, breaks in _said(view))
        # What stood there before an edit may be told no more: then only what stands below word for word is.
        kept = (one for one in placed if one.verbatim or not view.stale)
        lines += islice(kept, MAX_LINES - len(lines))
    if not any(line.source for line in lines):
        lines += _samples(conn, views)
    models = [
        view.told.made_by for view in views if view.told.made_by not in ("text", "extractive", "nothing")
    ]
    if not lines:
        return None
    return Whole([one.id for one in views], lines, next(iter(models), None), any(one.stale for one in views))


def _said(view: View) -> Iterator[tuple[str, str]]:
    """The lines of a list, the sentences of a text, each with what stands before it."""
    names: list[str] = []
    for row in [*view.told.text.splitlines(), ""]:
        if row.startswith(_ITEM) and _DASH not in row:
            names.append(row.removeprefix(_ITEM).strip())
            continue
        if names:
            # Nothing is said of them: one line is enough.
            yield _ITEM + _DOT.join(names), "\n"
            names = []
        if row.startswith(_ITEM):
            yield row.strip(), "\n"
        else:
            spans = [(start, end) for start, end in sentences(row) if row[start:end].strip()]
            yield from ((row[a:b].strip(), " " if at else "\n") for at, (a, b) in enumerate(spans))


def _placed(conn: Connection, view: View, text: str, breaks: str) -> Line:
    claim = text
    if text.startswith(_ITEM):
        _, _, claim = text.partition(_DASH)
    source = None if text.startswith(_ITEM) and _DOT in claim else _source(conn, view, claim)
    if source is None:
        return Line(text, None, breaks=breaks)
    passage = source.passage.text
    start, end = best_sentence(claim, passage, source.units)
    supported = is_supported(claim, f"{source.context}\n{passage}")
    return Line(text, source, start, end, supported, _flat(claim) in _flat(passage), breaks)


def _samples(conn: Connection, views: Sequence[View]) -> Iterator[Line]:
    """Of the first documents in each part of a folder the first sentence of each summary with a place."""
    streams = [_documents(below) for view in views if view.kind in _FOLDERS for below in _parts(view)]
    turns = (one for turn in zip_longest(*streams) for one in turn if one is not None)
    for document in islice(turns, SAMPLES):
        placed = (_placed(conn, document, text, "\n") for text, _ in _said(document))
        said = next((line for line in placed if line.source is not None), None)
        if said is not None:
            yield said._replace(text=f"{_ITEM}{document.title}{_DASH}{said.text}")


def _parts(view: View) -> Sequence[View]:
    """What a folder is divided into, below any that only hold another."""
    below = view.children()
    return _parts(below[0]) if len(below) == 1 and below[0].kind in _FOLDERS else below


def _documents(view: View) -> Iterator[View]:
    if view.kind not in _FOLDERS:
        yield view
        return
    for below in view.children():
        yield from _documents(below)


def _source(conn: Connection, view: View, claim: str) -> Source | None:
    wanted = set(terms(claim))
    flat = _flat(claim)

    def nearness(one: View) -> float:
        text = one.told.text
        return 2.0 if flat in _flat(text) else share(wanted, set(terms(f"{one.title}\n{text}")))

    if not wanted:
        return None
    while view.kind != "passage":
        below = view.children()
        if not below:
            return None
        view = max(below, key=nearness)
    if nearness(view) < NEAR:
        return None
    found = load(conn, [Ranked(int(view.id.removeprefix("p")), 1.0)])
    return found[0] if found else None


def _flat(text: str) -> str:
    return " ".join(text.split())
