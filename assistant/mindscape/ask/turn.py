"""One question on its way to an answer: what was found for it, what is said of it, and what that cost.

An answer is written by a model, with its citations checked, or made of the best sentences, quoted as they
stand, or of the summary of a whole.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from mindscape.ask import answer as answering
from mindscape.ask import quote
from mindscape.ask.answer import GenerateFn
from mindscape.ask.evidence import Source
from mindscape.ask.language import is_unspaced
from mindscape.ask.phrases import Phrases, phrases
from mindscape.ask.retrieve import shorten
from mindscape.ask.whole import Whole
from mindscape.errors import Cancelled, MindscapeError
from mindscape.protocol import Citation, Json
from mindscape.text import printable

log = logging.getLogger(__name__)

EmbedFn = Callable[[list[str]], Awaitable[NDArray[np.float32]]]
"""Questions or sentences to unit vectors (n, dimensions), comparable with the passages'."""

RETRIEVED = 12
REPEATED = "The model began to repeat itself and was stopped."
QUESTION_SHARE = 4
"""Of a model's context a question takes at most this part."""


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a question was answered."""

    answered: bool
    made_by: str
    """`model`, `quotes`, `summary`, or `none` when nothing was written."""
    citations: list[Citation]
    read: Sequence[int] = ()
    """Ids of the passages that a model was given."""
    model: str | None = None
    """The model that wrote it."""


class Said:
    """Everything shown, in order: so the streamed text and the final one cannot differ."""

    def __init__(self, emit: Callable[[Json], None]) -> None:
        self._emit = emit
        self._parts: list[str] = []

    def stage(self, name: str) -> None:
        """Say what is being done."""
        self._emit({"stage": name})

    def show(self, text: str) -> None:
        """The next piece of the answer."""
        self._parts.append(text)
        self._emit({"token": text})

    @property
    def text(self) -> str:
        """All of it so far."""
        return "".join(self._parts)


@dataclass(frozen=True, slots=True)
class Turn:
    """What the last stages share."""

    asked: str
    rewritten: str | None
    """The question made whole, where it leans on those before."""
    found: Found
    embed: EmbedFn | None
    said: Said
    ledger: Ledger

    @property
    def question(self) -> str:
        """What is answered."""
        return self.rewritten or shorten(self.asked)

    @property
    def own(self) -> Phrases:
        """What is said beside what documents say."""
        return phrases(self.asked)


async def embedded(
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


async def quoted(turn: Turn, label: str, supported: bool = True) -> Outcome:
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
        citations.append(citation_of(n, source, one.start, one.end, supported))
    return Outcome(True, "quotes", citations)


async def _nearness(turn: Turn, sentences: list[list[quote.Sentence]]) -> list[list[float] | None]:
    """The cosine of each part's sentences with it; None where vectors are missing or say nothing."""
    unknown: list[list[float] | None] = [None] * len(sentences)
    asked = [part.vector for part in turn.found.parts if part.vector is not None]
    if len(asked) < len(sentences) or any(is_unspaced(part.text) for part in turn.found.parts):
        return unknown
    texts = [one.text for mine in sentences for one in mine]
    vectors = await embedded(turn.embed, texts, turn.ledger, "embed sentences")
    if vectors is None:
        return unknown
    near: list[list[float] | None] = []
    start = 0
    for vector, mine in zip(asked, sentences, strict=True):
        near.append([float(value) for value in vectors[start : start + len(mine)] @ vector])
        start += len(mine)
    return near


async def written(turn: Turn, writer: Writer) -> Outcome:
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
            quotes = await quoted(turn, f"\n\n{turn.own.stopped}" if turn.said.text else turn.own.stopped)
            return replace(quotes, read=given)
        entry["tokens"] = draft.tokens
        if draft.repeated:
            entry["stopped"] = "repetition"
            turn.found.coverage["notes"].append(REPEATED)
    if not draft.text:
        return await quoted(turn, turn.own.quoting)
    if answering.is_refusal(draft):
        return Outcome(False, "model", [], given, writer.name)
    if draft.markers:
        cited = answering.cite(turn.question, draft, sources)
    else:
        cited = answering.attribute(turn.question, draft, sources)
        for one in cited:
            turn.said.show(f" [{one.n}]")
    if cited:
        citations = [citation_of(c.n, sources[c.n - 1], c.start, c.end, c.supported) for c in cited]
        return Outcome(True, "model", citations, given, writer.name)
    quotes = await quoted(turn, f"\n\n{turn.own.uncited}", supported=False)
    return Outcome(quotes.answered, "model", quotes.citations, given, writer.name)


def _worths(sources: Sequence[Source]) -> list[float]:
    """Each source's fused score on a scale from 0 (the last) to 1 (the first)."""
    scores = [source.score for source in sources]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def show_whole(turn: Turn, whole: Whole) -> Outcome:
    """The summary as it stands, each line or sentence with the place where it is said."""
    numbers: dict[tuple[int, int], int] = {}
    citations: list[Citation] = []
    for at, line in enumerate(whole.lines):
        turn.said.show((line.breaks if at else "") + printable(line.text))
        if line.source is None:
            continue
        place = line.source.passage.id, line.start
        if place not in numbers:
            numbers[place] = len(numbers) + 1
            citations.append(citation_of(len(numbers), line.source, line.start, line.end, line.supported))
        turn.said.show(f" [{numbers[place]}]")
    return Outcome(True, "summary", citations, model=whole.model)


def citation_of(n: int, source: Source, start: int, end: int, supported: bool | None) -> Citation:
    """A sentence of a source, at a span of its passage's text, as a citation."""
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
