"""What an answer is made from: ranked passages with the documents and places they stand in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from mindscape.ask.language import all_terms, surface_forms, terms
from mindscape.ask.retrieve import Ranked, inside
from mindscape.ask.spans import Span, trimmed, units
from mindscape_storage import contents, documents
from mindscape_storage.database import Connection
from mindscape_storage.frequencies import frequencies
from mindscape_storage.records import Document, Passage, Place, Scope, Status

_TABLES = (".csv", ".tsv")
_ROWS = (*_TABLES, ".log", ".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage as evidence."""

    passage: Passage
    document: Document
    also: tuple[Document, ...]
    """Other documents in which the same text stands."""
    place: Place
    score: float
    legs: dict[str, float]
    breaks: tuple[int, ...] = ()
    """Offsets in the passage's text at which a page, a chapter or a row of a sheet begins."""

    @property
    def rows(self) -> bool:
        """True when each line stands for itself, as in a CSV file or a log."""
        return self.document.display.lower().endswith(_ROWS)

    @property
    def units(self) -> list[Span]:
        """Spans of the passage's sentences or rows: what can be cited."""
        return units(self.passage.text, self.breaks, self.rows)

    @property
    def header(self) -> Span | None:
        """The row that names the columns, where the passage begins with it."""
        if self.passage.start == 0 and self.document.display.lower().endswith(_TABLES):
            return names_columns(self.passage.text, self.units)
        return None

    @property
    def context(self) -> str:
        """What the passage stands under: title or file name, headings, and a table's header."""
        name = self.document.display.rsplit("/", 1)[-1].rsplit(".", 1)[0]
        return "\n".join([self.document.title or "", name, *self.passage.heading, self.passage.prefix])


def load(
    conn: Connection, ranked: Sequence[Ranked], scope: Scope | None = None, query: str = ""
) -> list[Source]:
    """The sources of ranked passages, in order; a document inside the scope stands before its copies outside.

    The place of a source is where the words of the query stand in its passage, else where that begins. A
    passage whose document has just gone is left out.
    """
    wanted = frozenset(terms(query) or all_terms(query))
    ids = [id_ for one in ranked for id_ in (one.passage_id, *one.twins)]
    passages = contents.passages_by_id(conn, ids)
    owners: dict[int, list[Document]] = {}
    for passage in passages.values():
        if passage.content_id not in owners:
            owners[passage.content_id] = documents.documents_of_content(conn, passage.content_id)
    sources: list[Source] = []
    for one in ranked:
        same = [passages[id_] for id_ in (one.passage_id, *one.twins) if id_ in passages]
        holders = {doc.id: doc for passage in same for doc in owners[passage.content_id]}
        if same and holders:
            first, *rest = sorted(holders.values(), key=lambda document: not inside(scope, document))
            breaks = tuple(at - same[0].start for at in contents.marked_in(conn, same[0]))
            source = Source(same[0], first, tuple(rest), Place(), one.score, one.legs, breaks)
            offset = same[0].start + _offset_of(wanted, source)
            sources.append(replace(source, place=contents.locate_in(conn, same[0], offset)))
    return sources


def _offset_of(wanted: frozenset[str], source: Source) -> int:
    """Where the first sentence or row with the most of the wanted terms starts: a passage can span pages.

    The names of the columns are taken only when no row holds a word: they are no place of their own.
    """
    text = source.passage.text
    best, most = trimmed(text, 0, len(text))[0], 0
    if not wanted:
        return best
    header = source.header
    spans = [span for span in source.units if span != header]
    for start, end in spans:
        held = len(wanted.intersection(all_terms(text[start:end])))
        if held > most:
            best, most = start, held
    return best


def names_columns(text: str, rows: Sequence[Span]) -> Span | None:
    """The first row when it has no figure and the second does: it says what the figures are."""
    figures = [any(char.isdigit() for char in text[a:b]) for a, b in rows[:2]]
    return rows[0] if figures == [False, True] else None


def rarity(conn: Connection, question: str) -> dict[str, float]:
    """Weight of each term of a question: near 0 when every passage has it, 1.0 when none has."""
    forms = surface_forms(question)
    total, found = frequencies(conn, forms)
    whole = math.log(2 + total)
    return {forms[word]: max(0.05, 1.0 - math.log(1 + count) / whole) for word, count in found.items()}


def coverage(
    conn: Connection, encoder_id: int | None, has_vector: bool, has_query: bool = True
) -> dict[str, Any]:
    """What an answer could draw on, and what it could not: documents, those behind, those without text.

    `legs` are those that were used; `notes` are sentences about what was left out. Without a query nothing
    was searched, and nothing failed.
    """
    known = documents.counts(conn, encoder_id)
    waiting = known["by_status"].get(Status.PENDING.value, 0)
    not_embedded = known["searchable"] - known["embedded"] if encoder_id is not None else 0
    notes: list[str] = []
    if not has_query:
        notes.append("There was nothing to search for: the query is empty.")
    elif not has_vector:
        notes.append("Searched by words only: no embedder answered.")
    elif not_embedded:
        notes.append(
            "1 document is not embedded yet; it was searched by words only."
            if not_embedded == 1
            else f"{not_embedded:,} documents are not embedded yet; they were searched by words only."
        )
    away = known["by_status"].get(Status.AWAY.value, 0)
    if away:
        notes.append(
            "1 document is away: its file is not there now, and what was read of it before is searched."
            if away == 1
            else f"{away:,} documents are away: their files are not there now, "
            "and what was read of them before is searched."
        )
    if waiting:
        notes.append(
            "1 document is still to be read."
            if waiting == 1
            else f"{waiting:,} documents are still to be read."
        )
    return {
        "documents": known["searchable"] + away,
        "behind": waiting + (not_embedded if has_vector else 0),
        "without_text": known["by_status"].get(Status.NO_TEXT.value, 0),
        "legs": ["words", "vector"][: has_query + has_vector],
        "notes": notes,
    }


def result_of(source: Source, rank: int) -> dict[str, Any]:
    """One result of the `search` shape."""
    passage = source.passage
    return {
        "rank": rank,
        "score": round(source.score, 6),
        "passage_id": passage.id,
        "document": document_of(source.document),
        "also": [document_of(other) for other in source.also],
        "start": passage.start,
        "end": passage.end,
        "page": source.place.page,
        "line": source.place.line,
        "heading": list(passage.heading),
        "text": passage.text,
        "legs": {name: round(score, 6) for name, score in source.legs.items()},
    }


def document_of(document: Document) -> dict[str, Any]:
    """A document as results name it; `away` says why its file is not there now."""
    named = {"id": document.id, "path": document.display, "title": document.title}
    return {**named, "away": document.reason} if document.status is Status.AWAY else named


def search_results(
    conn: Connection, ranked: Sequence[Ranked], scope: Scope | None = None, query: str = ""
) -> list[dict[str, Any]]:
    """The `results` of the `search` shape: one for each distinct text, `also` naming its other documents."""
    return [result_of(source, rank) for rank, source in enumerate(load(conn, ranked, scope, query), 1)]
