"""Do the passages found hold an answer at all? Decided from nearness and shared words, before any writing.

A logistic sum of a few features of the best evidence, fitted on questions asked of their own document and of
one that cannot answer them (the two training sets, one index a document, and fairy tales as a library of 45);
`tests/quality/measure_judge.py` measures it. On other sets 1 to 7% of answerable questions are refused, and
18% of vague ones about meetings. Of questions about another document 79 to 100% are, when one document is
searched, but of fairy tales in half a library of fairy tales only 53%: something near is then nearly always
found. A question about what is there, but not said, passes: shared words cannot tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mindscape.ask.evidence import Source
from mindscape.ask.language import all_terms, is_unspaced, names, numbers, terms

READ = 5
"""Passages looked at: an answer that stands lower is not one we would find to quote."""
HOPELESS = 0.05
"""Below this not even a model is asked, which can refuse by itself and may know better than word overlap."""


@dataclass(frozen=True, slots=True)
class Features:
    """What is known of how well the evidence fits the question; all in 0..1 except the cosine (-1..1)."""

    cosine: float | None
    """Best cosine of a passage with the question; None without vectors that can be trusted."""
    best: float
    """Share of the question's content, weighted by rarity, in the best single passage."""
    names: float
    """Share of the question's names and numbers that no passage holds."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Of the logistic sum."""

    bias: float
    cosine: float
    best: float
    names: float
    enough: float
    """Probability from which quotes are given. Low, because people ask in other words than documents use."""


WITH_VECTORS = Weights(-7.1, 10.0, 4.6, -3.3, 0.2)
WORDS_ONLY = Weights(-3.0, 0.0, 6.2, -3.6, 0.25)


def features(question: str, sources: Sequence[Source], rarity: Mapping[str, float]) -> Features:
    """Compare a question with its best sources; `rarity` weighs its terms (1.0 where not given)."""
    wanted = set(terms(question)) or set(all_terms(question))
    total = sum(rarity.get(term, 1.0) for term in wanted) or 1.0
    read = sources[:READ]
    held = [set(all_terms(f"{source.context}\n{source.passage.text}")) for source in read]
    shares = [sum(rarity.get(term, 1.0) for term in wanted & here) / total for here in held]
    called, figures = names(question), numbers(question)
    known = numbers("\n".join(f"{source.context}\n{source.passage.text}" for source in read))
    absent = len(called.difference(*held)) + len(figures - known)
    return Features(
        cosine=_cosine(question, read),
        best=max(shares, default=0.0),
        names=absent / max(len(called) + len(figures), 1),
    )


def is_answerable(seen: Features) -> bool:
    """True when sentences of the evidence should be quoted as an answer."""
    return probability(seen) >= _weights(seen).enough


def is_hopeless(seen: Features) -> bool:
    """True when not even a model should be asked."""
    return probability(seen) < HOPELESS


def probability(seen: Features) -> float:
    """That the evidence holds an answer."""
    weights = _weights(seen)
    total = weights.bias + weights.cosine * (seen.cosine or 0.0)
    total += weights.best * seen.best + weights.names * seen.names
    return 1.0 / (1.0 + math.exp(-total))


def _weights(seen: Features) -> Weights:
    return WORDS_ONLY if seen.cosine is None else WITH_VECTORS


def _cosine(question: str, read: Sequence[Source]) -> float | None:
    """The starter embedder has hardly seen unspaced scripts: everything in them is near everything."""
    if is_unspaced(question):
        return None
    return max((source.legs["vector"] for source in read if "vector" in source.legs), default=None)
