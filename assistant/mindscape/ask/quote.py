"""Answering without a model: the sentences that cover the question, quoted as they stand.

Sentences are chosen greedily: how much of the question they hold, how near their vectors are, how well their
passage ranked; then what they add to those already chosen. So a question in two parts, answered in two files,
gets a sentence from each.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mindscape.ask.check import trimmed
from mindscape.ask.evidence import Source
from mindscape.ask.language import all_terms, terms
from mindscape.sentences import sentences

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

_LINK = re.compile(r"\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])|\[\[[^\]]*\]\]|https?://\S+")
_LISTED = ("-", "*", "+", "|", "#", "\u2022")
_ROWS = (".csv", ".tsv")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")


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
    """True for a row of a CSV file, which says nothing about the rows beside it."""

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
    """What could be quoted of a source: no title or heading, and of a CSV file its rows."""
    context, passage = source.context, source.passage.text
    rows = source.document.display.lower().endswith(_ROWS)
    spans = _rows(passage) if rows else quotable(passage)
    if rows and source.passage.start == 0 and _names_columns(passage, spans):
        context = f"{context}\n{passage[slice(*spans.pop(0))]}"
    titles = {_bare(title) for title in (source.document.title or "", *source.passage.heading)}
    under = frozenset(all_terms(context))
    return [
        Sentence(index, passage, start, end, frozenset(all_terms(passage[start:end])), under, rows)
        for start, end in spans
        if _bare(passage[start:end]) not in titles
    ]


def _rows(text: str) -> list[tuple[int, int]]:
    """The lines that say something, each at most MAX_CHARACTERS long."""
    spans = [trimmed(text, *line.span()) for line in _LINE.finditer(text)]
    return [(a, min(b, a + MAX_CHARACTERS)) for a, b in spans if any(char.isalnum() for char in text[a:b])]


def _names_columns(text: str, rows: Sequence[tuple[int, int]]) -> bool:
    """True when the first row has no figure and the second does: it says what the figures are."""
    return len(rows) > 1 and [any(c.isdigit() for c in text[a:b]) for a, b in rows[:2]] == [False, True]


def _bare(text: str) -> str:
    """Letters and digits only: a title is the same with its marks and without."""
    return "".join(char for char in text.casefold() if char.isalnum())


def quotable(text: str) -> list[tuple[int, int]]:
    """Spans worth quoting: sentences; of lists and tables single lines; no headings, rules or lone marks."""
    spans: list[tuple[int, int]] = []
    for start, end in sentences(text):
        for a, b in _lines(text, start, end):
            a, b = trimmed(text, a, b)
            if b - a > MAX_CHARACTERS:
                b = _cut(text, a, a + MAX_CHARACTERS)
            if sum(char.isalnum() for char in text[a:b]) >= 2 and not text[a:b].startswith("#"):
                spans.append((a, b))
    return spans


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
    chosen: list[int] = []
    have: dict[str, float] = {}
    while len(chosen) < most:
        value = {
            index: _value(
                worth[index], holds[index], have, [_alike(found[index], found[one]) for one in chosen]
            )
            for index in range(len(found))
            if index not in chosen
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
        for sentence, held, cosine in zip(found, holds, near, strict=True)
    ]
    beside = [0.0] * len(found)
    for at in range(1, len(found)):
        if found[at].source == found[at - 1].source and not found[at].row:
            beside[at] = max(beside[at], own[at - 1])
            beside[at - 1] = max(beside[at - 1], own[at])
    return [mine + NEIGHBOUR * other for mine, other in zip(own, beside, strict=True)]


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
    same = one.source == following.source and not one.row
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


def _lines(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A span's rows when it is a table, its items when it is a list, else itself, wrapped or not."""
    lines = [(m.start(), m.end()) for m in _LINE.finditer(text, start, end) if m.end() > m.start()]
    if sum(" | " in text[a:b] or "\t" in text[a:b].strip() for a, b in lines) > 1:
        return lines
    begins = [a for a, b in lines if text[a:b].lstrip()[:1] in _LISTED]
    if not begins:
        return [(start, end)]
    # A wrapped item is one: a line that does not begin an item goes on with the one above it.
    edges = sorted({start, *begins, end})
    return list(pairwise(edges))


def _points_elsewhere(text: str) -> bool:
    """True for a line that is hardly more than a link: it says where an answer may stand, not what it is."""
    letters = sum(char.isalnum() for char in text)
    return sum(char.isalnum() for char in _LINK.sub("", text)) < POINTER_PROSE * letters


def _cut(text: str, start: int, end: int) -> int:
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return space if space > start else end
