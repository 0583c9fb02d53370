"""Answering without a model: the sentences that cover the question, quoted as they stand.

Sentences are chosen greedily: how much of the question they hold, how near their vectors are, how well their
passage ranked; then what they add to those already chosen. So a question in two parts, answered in two files,
gets a sentence from each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from mindscape.ask.evidence import Source
from mindscape.ask.language import all_terms, terms
from mindscape.ask.orders import gives_orders
from mindscape.ask.spans import Span, parts, trimmed, within

MAX_QUOTES = 3
MAX_QUOTES_OF_PARTS = 4
"""All in all, for a question that asks several things."""
MAX_SENTENCES = 48
"""Sentences that are compared with the question by vector: a fraction of a second on two cores."""
MAX_CHARACTERS = 500
"""A longer sentence (a list, a log line) is quoted in part."""
COVERAGE, NEARNESS, RANK = 1.0, 1.0, 0.5
NEIGHBOUR = 0.3
"""Of the better neighbour's worth: what answers a question often stands beside what repeats its words."""
NOVELTY, SAMENESS = 1.0, 0.5
REPEATED = 0.8
"""Sentences that share so much of their words say the same: one is enough."""
WORTH = 0.7
"""A further sentence must be worth this share of the first."""
POINTER, POINTER_PROSE = 0.5, 0.35
"""What a line that is mostly a link is worth; the share of its letters outside of links that spares it."""
ORDER = 0.4
"""What a sentence is worth that tells whoever answers what to say."""
ANSWERED = 0.4
"""Share of the question from which no such sentence is quoted beside those that hold it."""

_BLANK = re.compile(r"[^\S\r\n]*(?:(?:\r\n|\n|\r(?!\n))[^\S\r\n]*[\r\n]|\f)")
_LINK = re.compile(r"\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|\[\[[^\]]*\]\]|https?://\S+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that could be quoted: `source` is its index, the span lies in that passage's text."""

    source: int
    passage: str
    start: int
    end: int
    terms: frozenset[str]
    context: frozenset[str]
    """Terms it stands under (title, headings), so that "It leaves at 7:40." can answer for the ferry."""
    row: bool = False
    """True for a row of a CSV file or a log, which says nothing about the rows beside it."""
    part: int = 0
    """Which part of the passage (paragraph, row, item) it belongs to: quotes never span two."""

    @property
    def text(self) -> str:
        """The sentence, as it stands in the passage."""
        return self.passage[self.start : self.end]


def candidates(question: str, sources: Sequence[Source], most: int = MAX_SENTENCES) -> list[Sentence]:
    """At most `most` sentences, in order: those that share most with the question, and neighbours.

    A sentence of a better ranked passage goes before one that shares a word more.
    """
    wanted = frozenset(terms(question)) or frozenset(all_terms(question))
    found: list[Sentence] = []
    worth: list[float] = []
    for index, source in enumerate(sources):
        mine = _sentences(index, source)
        shared = [float(len(one.terms & wanted)) for one in mine]
        found += mine
        worth += [
            shared[at]
            + 0.5 * (shared[at] if one.row else max(shared[max(at - 1, 0) : at + 2]))
            - 2.0 * index / len(sources)
            for at, one in enumerate(mine)
        ]
    best = sorted(range(len(found)), key=lambda at: (-worth[at], at))[:most]
    return [found[at] for at in sorted(best)]


def _sentences(index: int, source: Source) -> list[Sentence]:
    """What could be quoted of a source: no title or heading, nor the names of a table's columns."""
    context, passage, header = source.context, source.passage.text, source.header
    if header:
        context = f"{context}\n{passage[slice(*header)]}"
    titles = {_bare(title) for title in (source.document.title or "", *source.passage.heading)}
    under = frozenset(all_terms(context))
    return [
        Sentence(index, passage, *span, frozenset(all_terms(passage[slice(*span)])), under, source.rows, part)
        for part, whole in enumerate(parts(passage, source.breaks, source.rows))
        for span in ([_short(passage, whole)] if source.rows else quotable_in(passage, whole))
        if whole != header and _says_something(passage, span) and _bare(passage[slice(*span)]) not in titles
    ]


def _says_something(text: str, span: Span) -> bool:
    return any(char.isalnum() for char in text[slice(*span)])


def _bare(text: str) -> str:
    """Letters and digits only: a title is the same with its marks and without."""
    return "".join(char for char in text.casefold() if char.isalnum())


def quotable(text: str) -> list[Span]:
    """Spans worth quoting: sentences; of lists and tables single lines; no headings, rules or lone marks."""
    return [span for part in parts(text) for span in quotable_in(text, part)]


def quotable_in(text: str, part: Span) -> list[Span]:
    """The same of one part of a text."""
    spans = [_short(text, span) for span in within(text, part)]
    return [(a, b) for a, b in spans if sum(char.isalnum() for char in text[a:b]) >= 2 and text[a] != "#"]


def choose(
    question: str,
    found: Sequence[Sentence],
    nearness: Sequence[float] | None,
    ranks: Sequence[float],
    rarity: Mapping[str, float],
    most: int = MAX_QUOTES,
) -> list[Sentence]:
    """One to `most` of `found`, best first; none when there are none.

    `nearness` holds each sentence's cosine with the question (None without vectors), `ranks` each source's
    worth in 0..1, `rarity` the weight of a question's term (1.0 where it is not given).
    """
    weights = _weights(question, rarity)
    holds = [_held(sentence, weights) for sentence in found]
    worth = _worths(found, holds, nearness, ranks)
    orders = {at for at, one in enumerate(found) if gives_orders(one.text)}
    chosen: list[int] = []
    have: dict[str, float] = {}
    while len(chosen) < most:
        value = {
            index: _value(
                worth[index], holds[index], have, [_alike(found[index], found[one]) for one in chosen]
            )
            for index in range(len(found))
            if index not in chosen and not (index in orders and sum(have.values()) >= ANSWERED)
        }
        best = max(value, key=lambda index: (value[index], -index), default=None)
        if best is None or (chosen and value[best] < WORTH * worth[chosen[0]]):
            break
        chosen.append(best)
        have |= {term: max(share, have.get(term, 0.0)) for term, share in holds[best].items()}
    return _joined(found, chosen)


def _worths(
    found: Sequence[Sentence],
    holds: Sequence[Mapping[str, float]],
    nearness: Sequence[float] | None,
    ranks: Sequence[float],
) -> list[float]:
    near = nearness if nearness is not None else [0.0] * len(found)
    own = [
        (COVERAGE * sum(held.values()) + NEARNESS * cosine + RANK * ranks[sentence.source])
        * (POINTER if _points_elsewhere(sentence.text) else 1.0)
        * (ORDER if gives_orders(sentence.text) else 1.0)
        for sentence, held, cosine in zip(found, holds, near, strict=True)
    ]
    labels = [_is_label(one) for one in found]
    beside = [0.0] * len(found)
    for at in range(1, len(found)):
        if found[at].source == found[at - 1].source and not found[at].row:
            beside[at] = 0.0 if labels[at] else max(beside[at], own[at - 1])
            beside[at - 1] = 0.0 if labels[at - 1] else max(beside[at - 1], own[at])
    return [mine + NEIGHBOUR * other for mine, other in zip(own, beside, strict=True)]


def _is_label(one: Sentence) -> bool:
    """True for a line above a blank one that ends like no sentence: it names what follows."""
    text = one.text
    return _BLANK.match(one.passage, one.end) is not None and "\n" not in text and text[-1].isalnum()


def _joined(found: Sequence[Sentence], chosen: Sequence[int]) -> list[Sentence]:
    """The chosen, best first; those that follow each other in a passage become one quote."""
    quotes: list[Sentence] = []
    done: set[int] = set()
    for index in chosen:
        if index in done:
            continue
        first = last = index
        while first - 1 in chosen and _adjoin(found[first - 1], found[first]):
            first -= 1
        while last + 1 in chosen and _adjoin(found[last], found[last + 1]):
            last += 1
        done.update(range(first, last + 1))
        words = frozenset[str]().union(*(one.terms for one in found[first : last + 1]))
        quotes.append(replace(found[first], end=found[last].end, terms=words))
    return quotes


def _adjoin(one: Sentence, following: Sentence) -> bool:
    same = (one.source, one.part) == (following.source, following.part) and not one.row
    return same and not one.passage[one.end : following.start].strip()


def _weights(question: str, rarity: Mapping[str, float]) -> dict[str, float]:
    """Each content term's share of the question; the shares add up to 1."""
    wanted = set(terms(question)) or set(all_terms(question))
    total = sum(rarity.get(term, 1.0) for term in wanted)
    return {term: rarity.get(term, 1.0) / total for term in sorted(wanted)}


def _held(sentence: Sentence, weights: Mapping[str, float]) -> dict[str, float]:
    """How much of each term a sentence holds: all of what it says, half of what it only stands under."""
    said = {term: weight for term, weight in weights.items() if term in sentence.terms}
    return {term: weight / 2 for term, weight in weights.items() if term in sentence.context} | said


def _value(
    worth: float, held: Mapping[str, float], have: Mapping[str, float], alike: Sequence[float]
) -> float:
    """What a sentence would add to those chosen: `alike` says how much it repeats each of them."""
    if not alike:
        return worth
    if max(alike) >= REPEATED:
        return 0.0
    new = sum(max(0.0, share - have.get(term, 0.0)) for term, share in held.items())
    return worth + NOVELTY * new - SAMENESS * max(alike)


def _alike(one: Sentence, other: Sentence) -> float:
    union = one.terms | other.terms
    return len(one.terms & other.terms) / len(union) if union else 1.0


def _points_elsewhere(text: str) -> bool:
    """True for a line that is hardly more than a link: it says where an answer may stand, not what it is."""
    letters = sum(char.isalnum() for char in text)
    return sum(char.isalnum() for char in _LINK.sub("", text)) < POINTER_PROSE * letters


def _short(text: str, span: Span) -> Span:
    """The span, or its beginning up to a space where it is longer than a quote may be."""
    start, end = span
    if end - start <= MAX_CHARACTERS:
        return span
    end = start + MAX_CHARACTERS
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return trimmed(text, start, space if space > start else end)
