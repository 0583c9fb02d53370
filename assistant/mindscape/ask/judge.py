"""Do the passages found hold an answer at all? Decided from overlap and nearness, before anything is written.

A logistic sum of a few features of the best evidence. Weights: see WITH_VECTORS.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mindscape.ask.evidence import Source
from mindscape.ask.language import all_terms, names, numbers, terms

READ = 5
"""Passages looked at: an answer that stands lower is not one we would find to quote."""


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of how well the evidence fits the question; all in 0..1 except the cosine (-1..1)."""

    cosine: float | None
    """Best cosine of a passage with the question; None without vectors."""
    best: float
    """Share of the question's content, by rarity, in the best single passage."""
    union: float
    """The same for the passages together."""
    names: float
    """Share of the question's names that no passage holds."""
    numbers: float
    """Share of its numbers that no passage holds."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the logistic sum."""

    bias: float
    cosine: float
    best: float
    union: float
    names: float
    numbers: float
    threshold: float


WITH_VECTORS = Weights(-4.0, 6.0, 2.0, 2.0, -1.5, -1.5, 0.5)
WORDS_ONLY = Weights(-1.0, 0.0, 2.0, 2.0, -1.5, -1.5, 0.5)


def features(question: str, sources: Sequence[Source], rarity: Mapping[str, float]) -> Features:
    """Compare a question with its best sources; `rarity` weighs its terms (1.0 where not given)."""
    wanted = set(terms(question)) or set(all_terms(question))
    total = sum(rarity.get(term, 1.0) for term in wanted) or 1.0
    read = sources[:READ]
    held = [set(all_terms(source.passage.text)) | set(all_terms(source.context)) for source in read]
    together: set[str] = set().union(*held)

    def share(here: set[str]) -> float:
        return sum(rarity.get(term, 1.0) for term in wanted & here) / total

    cosines = [source.legs["vector"] for source in read if "vector" in source.legs]
    figures = numbers(question)
    known = numbers("\n".join(f"{source.context}\n{source.passage.text}" for source in read))
    called = names(question)
    return Features(
        cosine=max(cosines) if cosines else None,
        best=max(map(share, held), default=0.0),
        union=share(together),
        names=len(called - together) / len(called) if called else 0.0,
        numbers=len(figures - known) / len(figures) if figures else 0.0,
    )


def probability(seen: Features) -> float:
    """That the evidence holds an answer."""
    weights = WORDS_ONLY if seen.cosine is None else WITH_VECTORS
    total = (
        weights.bias
        + weights.cosine * (seen.cosine or 0.0)
        + weights.best * seen.best
        + weights.union * seen.union
        + weights.names * seen.names
        + weights.numbers * seen.numbers
    )
    return 1.0 / (1.0 + math.exp(-total))


def is_answerable(seen: Features) -> bool:
    """True when the probability reaches the threshold of its weights."""
    weights = WORDS_ONLY if seen.cosine is None else WITH_VECTORS
    return seen.union > 0.0 and probability(seen) >= weights.threshold
