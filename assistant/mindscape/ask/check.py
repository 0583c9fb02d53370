"""Does a passage say what a sentence claims? Word and number overlap: deterministic, no model.

It catches invented facts and citations of the wrong source. It cannot see a wrong relation between words that
are all there ("the dog bit the man"); `docs/limits.md` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mindscape.ask.language import all_terms, names, numbers, terms
from mindscape.ask.spans import Span, units
from mindscape.sentences import sentences

SUPPORT = 0.5
"""Share of a claim's content words that must be in the passage."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer, and the sources it cites."""

    text: str
    cited: tuple[int, ...]


def is_supported(claim: str, passage: str, context: str = "") -> bool:
    """True when the passage holds every number and name of the claim and at least half of its content words.

    `context` is the question: its words are given, so they cannot speak against a claim that repeats them.
    """
    wanted = set(terms(claim)) or set(all_terms(claim))
    if not wanted:
        return False
    here = set(all_terms(passage))
    given = set(all_terms(context))
    if not numbers(claim) <= numbers(passage) | numbers(context):
        return False
    if not names(claim) <= here | given:
        return False
    new = wanted - given
    if not new:
        return share(wanted, here) >= SUPPORT
    return share(new, here) >= SUPPORT


def share(wanted: set[str], here: set[str]) -> float:
    """The part of `wanted` that is in `here`; 0.0 for an empty wish."""
    return len(wanted & here) / len(wanted) if wanted else 0.0


def best_sentence(claim: str, passage: str, spans: Sequence[Span] | None = None) -> Span:
    """The span of the passage's sentence that shares most with the claim; the first on a tie. Trimmed.

    `spans` are those to choose from (the passage's sentences when not given).
    """
    wanted, figures = set(all_terms(claim)), numbers(claim)
    content = set(terms(claim))

    def overlap(span: tuple[int, int]) -> tuple[float, float]:
        text = passage[span[0] : span[1]]
        here = set(all_terms(text))
        strong = len(content & here) + 2 * len(figures & numbers(text))
        return strong, share(wanted, here)

    spans = units(passage) if spans is None else spans
    return max(spans, key=overlap) if spans else (0, len(passage))


def claims(answer: str, markers: Sequence[tuple[int, int]]) -> list[Claim]:
    """The answer's sentences without their markers, each with the sources it cites.

    `markers` are (n, position) of each "[n]" in `answer`, in order. A marker after a full stop belongs to
    the sentence it follows, as writers mean it; one at the very start to the sentence it opens.
    """
    clean: list[str] = []
    at: list[tuple[int, int]] = []
    end = length = 0
    for n, position in markers:
        clean.append(answer[end:position])
        length += position - end
        at.append((n, length))
        end = position + len(f"[{n}]")
    text = "".join([*clean, answer[end:]])
    spans = sentences(text)
    cited: list[list[int]] = [[] for _ in spans]
    for n, position in at:
        before = len(text[:position].rstrip())
        owner = max(before - 1, 0)
        for index, (start, stop) in enumerate(spans):
            if start <= owner < stop:
                cited[index].append(n)
    return [
        Claim(text[start:stop].strip(), tuple(dict.fromkeys(numbers_)))
        for (start, stop), numbers_ in zip(spans, cited, strict=True)
        if text[start:stop].strip()
    ]
