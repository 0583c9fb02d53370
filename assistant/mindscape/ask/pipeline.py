"""One question from beginning to end: retrieve, judge, then quote or answer, then check.

The only file that knows the order of the stages. Everything slow is passed in: `read` runs a function with a
reader connection in a thread, `embed_query` and `generate` call the engine.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindscape.ask import followup, judge
from mindscape.ask.check import best_sentence
from mindscape.ask.conditioned import Where
from mindscape.ask.conditioning import Conditioned, Conditioning, tell
from mindscape.ask.evidence import Source, coverage, load, rarity
from mindscape.ask.language import all_terms, parts
from mindscape.ask.leaning import Before, leans
from mindscape.ask.retrieve import MAX_QUESTION, retrieve, shorten
from mindscape.ask.router import GLOBAL, PASSAGES, Route, route
from mindscape.ask.turn import (
    RETRIEVED,
    EmbedFn,
    Found,
    Ledger,
    Outcome,
    Part,
    Said,
    Turn,
    Writer,
    citation_of,
    embedded,
    quoted,
    show_whole,
    written,
)
from mindscape.ask.whole import View, Whole, tell_whole
from mindscape.errors import Cancelled, MindscapeError, UsageError
from mindscape.protocol import Citation, Json
from mindscape.text import printable
from mindscape_storage import contents
from mindscape_storage.database import Connection, snapshot
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import Document, Place

log = logging.getLogger(__name__)

ReadFn = Callable[[Callable[[Connection], Any]], Awaitable[Any]]
"""Runs a function with a reader connection in a thread."""
BookmarkFn = Callable[[Connection], tuple[Document, int]]
"""Finds the document that is read, and up to which offset. Raises NotFound."""
WholeFn = Callable[[Connection, str], Sequence[View]]
"""The nodes that tell of the scope, or of what is named in it; none when nothing is called so."""

MODES = ("auto", PASSAGES, GLOBAL)
LATER = ("agent", "records")
AS_ASKED = "as it was asked for"
STALE = "The summary is being brought up to date; what it says that is no longer in the text is left out."
CARRIED = 0.5
"""Weight of a word from the questions before, against one of the question itself."""
NEAR = 3
"""Passages named beside the answer that it does not cite: where a reader would look next."""


async def ask(
    question: str,
    *,
    scope: str | None,
    mode: str,
    read: ReadFn,
    embed_query: EmbedFn | None,
    writer: Writer | None,
    emit: Callable[[Json], None],
    encoder_id: int | None = None,
    packed: PackedVectors | None = None,
    upto: BookmarkFn | None = None,
    conditioning: Conditioning | None = None,
    before: Sequence[Before] = (),
    rewriter: followup.FillFn | None = None,
    whole: WholeFn | None = None,
) -> Json:
    """Answer a question: the `ask` shape.

    A question that leans on those `before` it is made whole first, by `rewriter` where there is one.
    Streams `{"stage": name}` and `{"token": text}` through `emit`; the tokens joined are the `answer`.
    `embed_query` and `encoder_id` belong together; without them the vector leg is left out and said so.
    `writer` is given only when a generator was measured good enough for answers; with `upto` nothing that
    comes after it is read. With `conditioning` the question is searched for a second time, beside what it is
    about; with `whole` a question about a whole is answered by its summary. Raises UsageError for an empty
    question or an unknown mode, NotFound for an unknown scope or place.
    """
    asked = _checked(question, mode)
    ledger = Ledger()
    rewritten = await _rewritten(shorten(asked), before, rewriter, ledger)
    way = _way(mode, rewritten or shorten(asked), whole)
    if way.mode == GLOBAL and whole is not None:
        turn = Turn(asked, rewritten, Found([], {}, []), None, Said(emit), ledger)
        outcome = await _tell(turn, way, whole, read)
        if outcome is not None:
            return _shape(turn, outcome, way)
        way = Route(PASSAGES, "asks about a whole, of which nothing is summarised here")
    emit({"stage": "retrieve"})
    texts = parts(shorten(asked)) if rewritten is None else followup.parts_of(rewritten, shorten(asked))
    vectors = await embedded(embed_query, texts, ledger, "embed")
    where = Where(scope, upto, encoder_id, packed)
    conditioned = await _conditioned(conditioning, texts, vectors, where, read, ledger)
    with ledger.stage("retrieve", calls=len(texts)):
        found: Found = await read(lambda conn: _find(conn, texts, vectors, where, conditioned))
    if conditioning is not None and vectors is not None:
        tell(found.coverage, conditioned)
    if rewritten is not None:
        found = _lighter(found, shorten(asked), rewritten)
    if len(asked) > MAX_QUESTION:
        found.coverage["notes"].append(
            f"Only the first {MAX_QUESTION:,} characters of the question were read."
        )
    with ledger.stage("judge"):
        seen = [judge.features(part.text, part.sources, part.rarity) for part in found.parts if part.sources]
        # A model can refuse by itself, so it is asked unless that is pointless.
        answerable = any(judge.is_answerable(f) if writer is None else not judge.is_hopeless(f) for f in seen)
    turn = Turn(asked, rewritten, found, embed_query, Said(emit), ledger)
    if not answerable:
        turn.said.show(turn.own.not_found if found.coverage["documents"] else turn.own.nothing_yet)
        outcome = Outcome(False, "none", [])
    elif writer is not None:
        emit({"stage": "answer"})
        outcome = await written(turn, writer)
    else:
        emit({"stage": "quote"})
        outcome = await quoted(turn, turn.own.quoting)
    with ledger.stage("check"):
        await _settle(read, outcome.citations, [one for part in found.parts for one in part.sources])
    return _shape(turn, outcome, way)


def _checked(question: str, mode: str) -> str:
    if mode in LATER:
        raise UsageError(f"The mode {mode!r} is not built yet; use one of: {', '.join(MODES)}.")
    if mode not in MODES:
        raise UsageError(f"There is no mode {mode!r}; use one of: {', '.join(MODES)}.")
    # Half of a surrogate pair can arrive in JSON but cannot be encoded again.
    asked = question.encode("utf-8", "replace").decode("utf-8")
    if not printable(asked).replace("\ufffd", "").strip():
        raise UsageError("The question is empty: write what you want to know.")
    return asked


def _way(mode: str, question: str, whole: WholeFn | None) -> Route:
    """How the question is answered; `auto` decides by how it is asked."""
    if mode == PASSAGES:
        return Route(PASSAGES, AS_ASKED)
    if whole is None:
        return route(question, {PASSAGES})
    found = route(question, {PASSAGES, GLOBAL})
    return Route(GLOBAL, AS_ASKED, found.about) if mode == GLOBAL else found


async def _tell(turn: Turn, way: Route, whole: WholeFn, read: ReadFn) -> Outcome | None:
    """The summary of what is asked about, each sentence with its place; None where there is none."""

    def find(conn: Connection) -> tuple[Whole | None, Json]:
        with snapshot(conn):
            views = whole(conn, way.about)
            # Asked for by its name the mode tells of the scope, whatever the question is.
            views = views or (whole(conn, "") if way.why == AS_ASKED else [])
            return tell_whole(conn, views), coverage(conn, None, has_vector=True)

    turn.said.stage("summary")
    with turn.ledger.stage("summary"):
        told, covered = await read(find)
        if told is None:
            return None
        turn.found.coverage.update(covered | {"legs": []})
        turn.found.signature.extend(told.ids)
        if told.stale:
            turn.found.coverage["notes"].append(STALE)
        outcome = show_whole(turn, told)
    with turn.ledger.stage("check"):
        await _settle(read, outcome.citations, [line.source for line in told.lines if line.source])
    return outcome


async def _rewritten(
    question: str, before: Sequence[Before], rewriter: followup.FillFn | None, ledger: Ledger
) -> str | None:
    """The question made whole; None where it stands alone."""
    if not leans(question, before):
        return None
    with ledger.stage("rewrite", calls=int(rewriter is not None)) as entry:
        try:
            return await followup.understand(question, before, rewriter)
        except Cancelled:
            raise
        except MindscapeError as error:
            log.warning("The question was not rewritten by the model: %s", error)
            entry["failed"] = True
            return await followup.understand(question, before, None)


def _lighter(found: Found, question: str, rewritten: str) -> Found:
    """What was found, with less weight on the words that a question did not say itself."""
    light = set(all_terms(rewritten)) - set(all_terms(question))
    weighed = [
        replace(part, rarity=part.rarity | {term: part.rarity.get(term, 1.0) * CARRIED for term in light})
        for part in found.parts
    ]
    return replace(found, parts=weighed)


async def _conditioned(
    conditioning: Conditioning | None,
    texts: list[str],
    vectors: NDArray[np.float32] | None,
    where: Where,
    read: ReadFn,
    ledger: Ledger,
) -> Conditioned | None:
    """The questions beside what they are about; None when that is not wanted, or an encoder fails."""
    if conditioning is None or vectors is None:
        return None
    with ledger.stage("signature", calls=1) as entry:
        found = await conditioning.attempt(
            texts, vectors, await read(lambda c: where.about(c, texts, vectors))
        )
        if found is None:
            entry["failed"] = True
        return found


def _find(
    conn: Connection,
    texts: list[str],
    vectors: NDArray[np.float32] | None,
    where: Where,
    conditioned: Conditioned | None,
) -> Found:
    """Everything the library has to say, from one snapshot of it."""
    with snapshot(conn):
        limits = where.limits(conn)
        found: list[Part] = []
        for at, text in enumerate(texts):
            vector = None if vectors is None else vectors[at]
            second = None if conditioned is None or not conditioned.told[at] else conditioned.vectors[at]
            ranked = retrieve(
                conn, text, vector, where.encoder, RETRIEVED, limits, where.packed, conditioned=second
            )
            found.append(Part(text, vector, load(conn, ranked, limits), rarity(conn, text)))
        told = [one.id for each in conditioned.told for one in each] if conditioned else []
        covered = coverage(conn, where.encoder, has_vector=vectors is not None)
        return Found(found, covered, list(dict.fromkeys(told)))


async def _settle(read: ReadFn, citations: list[Citation], sources: Sequence[Source]) -> None:
    """Give each citation the place of its quote; one whose source has gone meanwhile is not supported."""
    content = {source.passage.id: source.passage.content_id for source in sources}

    def places(conn: Connection) -> list[Place | None]:
        with snapshot(conn):
            there = contents.passages_by_id(conn, [one["passage_id"] for one in citations])
            return [
                contents.locate(conn, content[one["passage_id"]], one["start"])
                if one["passage_id"] in there
                else None
                for one in citations
            ]

    found: list[Place | None] = await read(places) if citations else []
    for citation, place in zip(citations, found, strict=True):
        if place is None:
            citation["supported"] = False
        else:
            citation["page"], citation["line"] = place.page, place.line
            citation["heading"] = list(place.heading)


def _shape(turn: Turn, outcome: Outcome, way: Route) -> Json:
    """The `ask` shape; `sources` and `near` list what was read and not cited."""
    cited = {citation["passage_id"] for citation in outcome.citations}
    others = [source for source in turn.found.sources[:NEAR] if source.passage.id not in cited]
    near = [
        citation_of(n, source, *best_sentence(turn.question, source.passage.text, source.units), None)
        for n, source in enumerate(others, 1)
    ]
    return {
        "question": turn.asked,
        "rewritten": turn.rewritten,
        "answer": turn.said.text,
        "answered": outcome.answered,
        "mode": way.mode,
        "why": way.why,
        "made_by": outcome.made_by,
        "model": outcome.model,
        "citations": outcome.citations,
        "near": near,
        "read": sorted({*outcome.read, *cited}),
        "signature": turn.found.signature,
        "steps": [],
        "coverage": turn.found.coverage,
        "ledger": turn.ledger.entries,
    }
