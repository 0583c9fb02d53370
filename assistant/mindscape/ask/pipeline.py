"""One question from beginning to end: retrieve, judge, then quote or answer, then check.

The only file that knows the order of the stages. Everything slow is passed in: `read` runs a function with a
reader connection in a thread, `embed_query` and `generate` call the engine.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindscape.ask import answer as answering
from mindscape.ask import followup, judge, quote
from mindscape.ask.answer import GenerateFn
from mindscape.ask.check import best_sentence
from mindscape.ask.conditioned import Where
from mindscape.ask.conditioning import Conditioned, Conditioning, tell
from mindscape.ask.evidence import Source, coverage, load, rarity
from mindscape.ask.language import all_terms, is_unspaced, parts
from mindscape.ask.leaning import Before, leans
from mindscape.ask.phrases import Phrases, phrases
from mindscape.ask.retrieve import MAX_QUESTION, retrieve, shorten
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
EmbedFn = Callable[[list[str]], Awaitable[NDArray[np.float32]]]
"""Questions or sentences to unit vectors (n, dimensions), comparable with the passages'."""
BookmarkFn = Callable[[Connection], tuple[Document, int]]
"""Finds the document that is read, and up to which offset. Raises NotFound."""

MODES = ("auto", "passages")
LATER = ("agent", "records", "global")
RETRIEVED = 12
CARRIED = 0.5
"""Weight of a word from the questions before, against one of the question itself."""
QUESTION_SHARE = 4
"""Of a model's context a question takes at most this part."""
NEAR = 3
"""Passages named beside the answer that it does not cite: where a reader would look next."""


@dataclass(frozen=True, slots=True)
class Writer:
    """A generator that may answer: its name, its context in tokens, and how fast it reads here."""

    name: str
    generate: GenerateFn
    context: int
    tokens_per_second: float | None = None
    """Measured prompt speed of this machine; None while unknown."""


@dataclass
class Ledger:
    """What each stage cost."""

    entries: list[Json] = field(default_factory=list[Json])

    @contextmanager
    def stage(self, name: str, calls: int = 0, tokens: int = 0) -> Generator[Json]:
        """Time a stage; the caller may correct `calls` and `tokens` in the entry."""
        entry: Json = {"stage": name, "calls": calls, "tokens": tokens, "ms": 0.0}
        started = time.perf_counter()
        try:
            yield entry
        finally:
            entry["ms"] = round((time.perf_counter() - started) * 1000, 1)
            self.entries.append(entry)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the things a question asks, with what was found for it."""

    text: str
    vector: NDArray[np.float32] | None
    sources: list[Source]
    rarity: dict[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """What one snapshot of the library gave for a question."""

    parts: list[Part]
    coverage: Json
    signature: list[str]
    """Ids of the nodes that the question was conditioned on."""

    @property
    def sources(self) -> list[Source]:
        """The sources of all parts: the best of each, then the second of each, and so on; none twice."""
        ranks = zip_longest(*(part.sources for part in self.parts))
        merged = {one.passage.id: one for rank in ranks for one in rank if one is not None}
        return list(merged.values())[:RETRIEVED]


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
) -> Json:
    """Answer a question: the `ask` shape.

    A question that leans on those `before` it is made whole first, by `rewriter` where there is one.
    Streams `{"stage": name}` and `{"token": text}` through `emit`; the tokens joined are the `answer`.
    `embed_query` and `encoder_id` belong together; without them the vector leg is left out and said so.
    `writer` is given only when a generator was measured good enough for answers; with `upto` nothing that
    comes after it is read. With `conditioning` the question is searched for a second time, beside what it is
    about. Raises UsageError for an empty question or an unknown mode, NotFound for an unknown scope or place.
    """
    asked = _checked(question, mode)
    ledger = Ledger()
    rewritten = await _rewritten(shorten(asked), before, rewriter, ledger)
    emit({"stage": "retrieve"})
    texts = parts(shorten(asked)) if rewritten is None else followup.parts_of(rewritten, shorten(asked))
    vectors = await _embedded(embed_query, texts, ledger, "embed")
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
    turn = _Turn(asked, rewritten, found, embed_query, _Said(emit), ledger)
    if not answerable:
        turn.said.show(turn.own.not_found if found.coverage["documents"] else turn.own.nothing_yet)
        outcome = Outcome(False, "none", [])
    elif writer is not None:
        emit({"stage": "answer"})
        outcome = await _answer(turn, writer)
    else:
        emit({"stage": "quote"})
        outcome = await _quote(turn, turn.own.quoting)
    with ledger.stage("check"):
        await _settle(read, outcome.citations, [one for part in found.parts for one in part.sources])
    return _shape(turn, outcome, writer)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question was answered."""

    answered: bool
    made_by: str
    """`model`, `quotes`, or `none` when nothing was written."""
    citations: list[Citation]
    read: Sequence[int] = ()
    """Ids of the passages that a model was given."""


class _Said:
    """Everything shown, in order: so the streamed text and the final one cannot differ."""

    def __init__(self, emit: Callable[[Json], None]) -> None:
        self._emit = emit
        self._parts: list[str] = []

    def show(self, text: str) -> None:
        self._parts.append(text)
        self._emit({"token": text})

    @property
    def text(self) -> str:
        return "".join(self._parts)


@dataclass(frozen=True, slots=True)
class _Turn:
    """What the last stages share."""

    asked: str
    rewritten: str | None
    """The question made whole, where it leans on those before."""
    found: Found
    embed: EmbedFn | None
    said: _Said
    ledger: Ledger

    @property
    def question(self) -> str:
        """What is answered."""
        return self.rewritten or shorten(self.asked)

    @property
    def own(self) -> Phrases:
        """What is said beside what documents say."""
        return phrases(self.asked)


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


async def _embedded(
    embed: EmbedFn | None, texts: list[str], ledger: Ledger, name: str
) -> NDArray[np.float32] | None:
    """Vectors of `texts`, or None when there is no embedder or it fails: the other legs go on without."""
    if embed is None or not texts:
        return None
    with ledger.stage(name, calls=1, tokens=sum(map(answering.estimate_tokens, texts))) as entry:
        try:
            return await embed(texts)
        except Cancelled:
            raise
        except MindscapeError as error:
            log.warning("The embedder did not answer: %s", error)
            entry["failed"] = True
            return None


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


async def _quote(turn: _Turn, label: str, supported: bool = True) -> Outcome:
    """The best sentences as they stand, each with its marker; the label says that they are quotes."""
    asked = turn.found.parts
    most = quote.MAX_SENTENCES // len(asked)
    sentences = [quote.candidates(part.text, part.sources, most) for part in asked]
    near = await _nearness(turn, sentences)
    each = quote.MAX_QUOTES if len(asked) == 1 else max(1, quote.MAX_QUOTES_OF_PARTS // len(asked))
    chosen: dict[tuple[int, int], tuple[Source, quote.Sentence]] = {}
    with turn.ledger.stage("quote"):
        for part, mine, cosines in zip(asked, sentences, near, strict=True):
            for one in quote.choose(part.text, mine, cosines, _worths(part.sources), part.rarity, each):
                source = part.sources[one.source]
                chosen.setdefault((source.passage.id, one.start), (source, one))
    if not chosen:
        turn.said.show(turn.own.not_found)
        return Outcome(False, "none", [])
    turn.said.show(label + "\n")
    citations: list[Citation] = []
    for n, (source, one) in enumerate(chosen.values(), 1):
        turn.said.show(f"\n\u201c{printable(one.text)}\u201d [{n}]")
        citations.append(_citation(n, source, one.start, one.end, supported))
    return Outcome(True, "quotes", citations)


async def _nearness(turn: _Turn, sentences: list[list[quote.Sentence]]) -> list[list[float] | None]:
    """The cosine of each part's sentences with it; None where vectors are missing or say nothing."""
    unknown: list[list[float] | None] = [None] * len(sentences)
    asked = [part.vector for part in turn.found.parts if part.vector is not None]
    if len(asked) < len(sentences) or any(is_unspaced(part.text) for part in turn.found.parts):
        return unknown
    texts = [one.text for mine in sentences for one in mine]
    vectors = await _embedded(turn.embed, texts, turn.ledger, "embed sentences")
    if vectors is None:
        return unknown
    near: list[list[float] | None] = []
    start = 0
    for vector, mine in zip(asked, sentences, strict=True):
        near.append([float(value) for value in vectors[start : start + len(mine)] @ vector])
        start += len(mine)
    return near


async def _answer(turn: _Turn, writer: Writer) -> Outcome:
    """The model's answer with its citations checked; quotes where it gives nothing that can be checked."""
    question = answering.within(turn.question, writer.context // QUESTION_SHARE)
    room = writer.context - answering.estimate_tokens(question)
    budget = answering.evidence_budget(room, writer.tokens_per_second)
    sources = answering.fitting(turn.found.sources, budget)
    given = [source.passage.id for source in sources]
    with turn.ledger.stage("answer", calls=1) as entry:
        try:
            draft = await answering.write(question, sources, writer.generate, turn.said.show)
        except Cancelled:
            raise
        except MindscapeError as error:
            log.warning("The generator stopped: %s", error)
            quotes = await _quote(turn, f"\n\n{turn.own.stopped}" if turn.said.text else turn.own.stopped)
            return replace(quotes, read=given)
        entry["tokens"] = draft.tokens
    if not draft.text:
        return await _quote(turn, turn.own.quoting)
    if answering.is_refusal(draft):
        return Outcome(False, "model", [], given)
    if draft.markers:
        cited = answering.cite(turn.question, draft, sources)
    else:
        cited = answering.attribute(turn.question, draft, sources)
        for one in cited:
            turn.said.show(f" [{one.n}]")
    if cited:
        citations = [_citation(c.n, sources[c.n - 1], c.start, c.end, c.supported) for c in cited]
        return Outcome(True, "model", citations, given)
    quotes = await _quote(turn, f"\n\n{turn.own.uncited}", supported=False)
    return Outcome(quotes.answered, "model", quotes.citations, given)


def _worths(sources: Sequence[Source]) -> list[float]:
    """Each source's fused score on a scale from 0 (the last) to 1 (the first)."""
    scores = [source.score for source in sources]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _citation(n: int, source: Source, start: int, end: int, supported: bool | None) -> Citation:
    passage = source.passage
    return Citation(
        n=n,
        passage_id=passage.id,
        path=source.document.display,
        start=passage.start + start,
        end=passage.start + end,
        page=source.place.page,
        line=source.place.line,
        heading=list(source.place.heading),
        quote=passage.text[start:end],
        supported=supported,
    )


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


def _shape(turn: _Turn, outcome: Outcome, writer: Writer | None) -> Json:
    """The `ask` shape; `sources` and `near` list what was read and not cited."""
    cited = {citation["passage_id"] for citation in outcome.citations}
    others = [source for source in turn.found.sources[:NEAR] if source.passage.id not in cited]
    near = [
        _citation(n, source, *best_sentence(turn.question, source.passage.text, source.units), None)
        for n, source in enumerate(others, 1)
    ]
    return {
        "question": turn.asked,
        "rewritten": turn.rewritten,
        "answer": turn.said.text,
        "answered": outcome.answered,
        "mode": "passages",
        "made_by": outcome.made_by,
        "model": writer.name if writer is not None and outcome.made_by == "model" else None,
        "citations": outcome.citations,
        "near": near,
        "read": sorted({*outcome.read, *cited}),
        "signature": turn.found.signature,
        "steps": [],
        "coverage": turn.found.coverage,
        "ledger": turn.ledger.entries,
    }
