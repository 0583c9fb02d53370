"""The extractive summary of a node: the sentences of its children that say most of it, in their order.

A sentence counts for what it shares with the others of the node (degree centrality over overlaps of words:
the random walk of LexRank chose no better), for the names it brings, and for how well it stands alone; what
repeats a chosen one counts less. Nothing but the children's texts enters. All sums are of whole numbers small
enough to be exact in floating point: so every machine, in whatever order it adds, chooses the same sentences.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import log

import numpy as np
import numpy.typing as npt

from mindscape.graphemes import is_boundary
from mindscape.ingest.candidates import (
    ASIDE,
    CODE,
    FRAGMENT,
    HEADING,
    ITEM,
    PROSE,
    ROW,
    Candidate,
    candidates,
    is_whole,
)
from mindscape.ingest.markup import UNSPACED
from mindscape.ingest.passages import count_tokens
from mindscape.ingest.standing import standing
from mindscape_storage.fold import fold

Floats = npt.NDArray[np.float64]

MAX_CANDIDATES = 600
"""Sentences that are compared with each other; of more, as many at even distances."""
ENOUGH = 0.3
"""Share of the budget that sentences must fill for fragments, headings, rows and code to be left out."""
STEM = 6
"""Letters by which two words are the same: a stemmer for any language that writes its endings behind."""
COMMON = 0.5
"""Share of the sentences from which on a word says nothing about any of them."""
NAME = 2
"""Weight of a name against another word: who does what is what a summary is read for."""
NEW_NAME = 2
"""How much more a sentence is worth that brings the commonest of the names not yet in the summary."""
LONG = 40
"""Tokens from which on a sentence is worth less: it takes the room of others."""
SAMENESS = 0.7
"""Share of its worth that a sentence loses when another one that says the very same is chosen."""
CROWDING = 0.8
"""Of the other sentences of a child when one is chosen, so that every child has a chance."""
_SCALE = 1 << 18
_WEIGHTS = 16

_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"
_TERM = re.compile(rf"[{UNSPACED}{_HANGUL}](?:  [{UNSPACED}{_HANGUL}])*|[^\W_{UNSPACED}{_HANGUL}]+")
_SINGLE = re.compile(rf"[{UNSPACED}{_HANGUL}]")
_CAPITAL = r"[A-Z\u00c0-\u00de\u0391-\u03a9\u0410-\u042f][^\W\d_]+"
_NAME = re.compile(rf"(?<=[^\W\d_] ){_CAPITAL}|(?<=[,;] ){_CAPITAL}")
_CLAUSE = re.compile(r"[,;:\u2014\u2013)]+(?=\s)|[\u3001\uff0c\uff1b\uff1a\u060c\u061b](?=.)")
_WIDE_END = re.compile(
    rf"(?:[\u3002\uff01\uff1f\uff61\u300d\u300f]|(?<=[{UNSPACED}])\u2026)[\u201d\u2019\uff09\u300d\u300f]*$"
)
_WIDE_START = re.compile(rf"[\u300c\u300e\u201c\u2018\uff08]*[{UNSPACED}]|[\u300c\u300e]")
"""Between these there is no space."""


def extract(children: Sequence[str], budget: int) -> str:
    """One paragraph of at most `budget` tokens (as `count_tokens` counts): whole sentences of the children.

    `children` are the consecutive passages under a node, or the summaries of its children. What fits is its
    own summary, without markup. A sentence longer than the budget is cut at a clause. Empty for texts that
    say nothing.
    """
    found = _distinct([one for ordinal, child in enumerate(children) for one in candidates(child, ordinal)])
    if any(one.kind in (PROSE, ITEM) for one in found):
        found = [one for one in found if one.kind != ASIDE]
    if sum(map(_cost, found)) <= budget:
        return joined(found)
    found = _worth_reading(found, budget)
    if min(map(_cost, found)) > budget:
        return _shortened(found[0].text, budget)
    return joined([found[at] for at in choose(found, budget)])


def _distinct(found: Sequence[Candidate]) -> list[Candidate]:
    seen: dict[str, Candidate] = {}
    for one in found:
        seen.setdefault(one.text, one)
    return list(seen.values())


def _cost(one: Candidate) -> int:
    """Its tokens, and one for the mark that sets it apart from the next."""
    return one.tokens + (not is_whole(one.text))


def _worth_reading(found: Sequence[Candidate], budget: int) -> list[Candidate]:
    """The candidates of the best classes, as many classes as it takes to fill a part of the budget."""
    kept: list[Candidate] = []
    for worst in (ITEM, FRAGMENT, HEADING, ROW, CODE, ASIDE):
        kept = [one for one in found if one.kind <= worst]
        if sum(one.tokens for one in kept) >= ENOUGH * budget:
            break
    step = -(-len(kept) // MAX_CANDIDATES)
    return kept[::step]


def choose(found: Sequence[Candidate], budget: int) -> list[int]:
    """Ordinals of the candidates in the summary: one after the other, that which adds most and still fits."""
    terms = [_terms(one.text) for one in found]
    names = _names(found)
    overlaps = _overlaps(terms, names)
    costs = np.array([_cost(one) for one in found])
    owners = np.array([one.child for one in found])
    worth = overlaps.sum(axis=1) * np.array([standing(one) for one in found])
    worth *= np.sqrt(np.minimum(1, LONG / costs)) / _SCALE
    held = [term & names for term in terms]
    often = Counter(name for one in held for name in one)
    chosen: list[int] = []
    while (fits := costs <= budget).any():
        bonus = np.array([sum(often[name] for name in one) for one in held]) / max(1, *often.values(), 1)
        value = np.where(fits, np.round(worth * (1 + NEW_NAME * np.minimum(1, bonus)), 6), -1)
        best = int(np.argmax(value))
        chosen.append(best)
        budget -= int(costs[best])
        costs[best] = budget + 1
        for name in held[best]:
            often[name] = 0
        worth *= 1 - SAMENESS * overlaps[best] / _SCALE
        worth[owners == owners[best]] *= CROWDING
    return sorted(chosen)


def _overlaps(terms: Sequence[frozenset[str]], names: frozenset[str]) -> Floats:
    """Cosines between the candidates' weighted words, in whole parts of _SCALE; 0 on the diagonal."""
    spread = Counter(term for held in terms for term in held)
    weights = {term: _weight(term, count, len(terms), names) for term, count in spread.items() if count > 1}
    columns = {term: at for at, term in enumerate(term for term, weight in weights.items() if weight)}
    matrix = np.zeros((len(terms), len(columns)))
    alone = np.zeros(len(terms))
    for row, held in enumerate(terms):
        for term in held:
            if (at := columns.get(term)) is not None:
                matrix[row, at] = weights[term]
            elif term not in weights:
                alone[row] += _weight(term, 1, len(terms), names) ** 2
    products = matrix @ matrix.T
    lengths = np.sqrt(np.diag(products) + alone)
    lengths[lengths == 0] = 1
    shared = np.rint(_SCALE * products / lengths[:, None] / lengths[None, :])
    np.fill_diagonal(shared, 0)
    return shared


def _weight(term: str, count: int, sentences: int, names: frozenset[str]) -> int:
    """By how few sentences hold the word; nothing for the commonest and the shortest."""
    if sentences > 8 and count > COMMON * sentences:
        return 0
    weight = round(_WEIGHTS * log((sentences + 1) / count))
    return weight * NAME if term in names else weight


def _terms(text: str) -> frozenset[str]:
    """Folded words without their ends, and pairs of characters where a script has no spaces."""
    found: set[str] = set()
    for run in _TERM.findall(fold(text)):
        if _SINGLE.match(run):
            letters = run.split()
            found.update(one + two for one, two in pairwise(letters))
        elif len(run) > 2 or run.isdigit():
            found.add(run[:STEM])
    return frozenset(found)


def _names(found: Sequence[Candidate]) -> frozenset[str]:
    """Words with a capital where no sentence begins, as `_terms` has them."""
    return frozenset(
        name[:STEM] for one in found for word in _NAME.findall(one.text) for name in fold(word).split()
    )


def _shortened(text: str, budget: int) -> str:
    """The beginning of a sentence that is too long: to the end of a clause, else of a word."""
    fits = bisect_right(range(len(text)), budget - 1, key=lambda end: count_tokens(text[:end])) - 1
    ends = [match.start() for match in _CLAUSE.finditer(text, fits // 2, fits)]
    if not ends and (space := text.rfind(" ", fits // 2, fits)) > 0:
        ends = [space]
    end = ends[-1] if ends else next((at for at in range(fits, 0, -1) if is_boundary(text, at)), 0)
    return f"{text[:end]}\u2026" if end else ""


def joined(chosen: Sequence[Candidate]) -> str:
    """The candidates as one paragraph, in this order."""
    parts: list[str] = []
    for at, one in enumerate(chosen):
        parts.append(one.text)
        if at + 1 < len(chosen):
            parts.append(_between(one, chosen[at + 1]))
    return "".join(parts)


def _between(one: Candidate, following: Candidate) -> str:
    if not is_whole(one.text):
        return ": " if one.kind == HEADING else "; "
    return "" if _WIDE_END.search(one.text) and _WIDE_START.match(following.text) else " "
