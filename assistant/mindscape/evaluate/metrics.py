"""What a result is worth: shares of gold spans found, and how near an answer is to its references.

All values lie in 0..1. Spans are half open, in code points of a document's text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

Span = tuple[str, int, int]
"""Document id, start, end."""

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
"""Inside a class of a regular expression: characters of scripts that write no spaces."""

_TOKEN = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
_DROPPED = re.compile(r"[^\w\s]|_")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_WORD = re.compile(rf"[{UNSPACED}]|[^\s{UNSPACED}]+")
_VERDICT = re.compile(r"\b(?:(not\s+true|untrue|false|incorrect)|(true|correct))\b")
_LETTER = re.compile(
    r"\W*(?:(?i:(?:the\s+)?(?:correct\s+)?(?:answer|option)\b(?:\s+is\b)?)\W*([A-Z])\b|([A-Z])(?:[).:,]|\s*$))"
)


def covers(gold: Span, found: Span) -> bool:
    """Whether they overlap by at least half of the shorter."""
    shared = min(gold[2], found[2]) - max(gold[1], found[1])
    shorter = min(gold[2] - gold[1], found[2] - found[1])
    return gold[0] == found[0] and shared > 0 and 2 * shared >= shorter


def recall(evidence: Sequence[Span], found: Sequence[Span]) -> float:
    """The share of gold spans that something found covers."""
    return sum(any(covers(gold, one) for one in found) for gold in evidence) / len(evidence)


def hit(evidence: Sequence[Span], found: Sequence[Span]) -> float:
    """1 when anything found covers any gold span, else 0."""
    return float(any(covers(gold, one) for gold in evidence for one in found))


def norm(evidence: Sequence[Span], found: Sequence[Span], every: Sequence[Span], k: int) -> float:
    """Gold characters inside the first `k` found, as a share of what the best `k` of `every` could hold.

    Characters count once. Where the spans of `every` overlap (windows), the best are taken to hold no
    character twice, which makes the value a little too small.
    """
    gold = merged(evidence)
    held = sum(inside(gold, one) for one in merged(found[:k]))
    best = sum(sorted((inside(gold, one) for one in every), reverse=True)[:k])
    return held / max(1, min(best, sum(end - start for _, start, end in gold)))


def merged(spans: Sequence[Span]) -> list[Span]:
    """The same characters, each in one span."""
    found: list[Span] = []
    for id_, start, end in sorted(spans):
        if found and found[-1][0] == id_ and start <= found[-1][2]:
            found[-1] = id_, found[-1][1], max(end, found[-1][2])
        else:
            found.append((id_, start, end))
    return found


def inside(gold: Sequence[Span], span: Span) -> int:
    """Characters of a span that are gold; gold spans must not overlap."""
    return sum(max(0, min(one[2], span[2]) - max(one[1], span[1])) for one in gold if one[0] == span[0])


def normalised(text: str) -> str:
    """As SQuAD compares answers: lower case, no punctuation, no articles, single spaces."""
    return " ".join(_ARTICLE.sub(" ", _DROPPED.sub("", text.lower())).split())


def exact_match(answer: str, references: Sequence[str]) -> float:
    """1 when the answer is one of the references but for case, punctuation, articles and spaces."""
    return float(any(normalised(answer) == normalised(one) for one in references))


def token_f1(answer: str, references: Sequence[str]) -> float:
    """Harmonic mean of precision and recall of tokens, of the best reference.

    Tokens are the words of `normalised`; in scripts without spaces each character is one.
    """
    return max(_f1(_words(answer), _words(one)) for one in references)


def rouge_l(answer: str, references: Sequence[str]) -> float:
    """The F measure of the longest common subsequence of tokens, of the best reference; no stemming."""
    said = _TOKEN.findall(answer.lower())
    return max(_rouge(said, _TOKEN.findall(one.lower())) for one in references)


def verdict(answer: str) -> bool | None:
    """What an answer says of a claim: the first `true` or `false` in it; None when it says neither."""
    found = _VERDICT.search(answer.lower())
    return None if found is None else found[2] is not None


def letter(answer: str, options: Mapping[str, str]) -> str | None:
    """The letter an answer begins with, if an option has it: as in `B`, `(B) since` or `The answer is B.`"""
    found = _LETTER.match(answer)
    said = None if found is None else found[1] or found[2]
    return said if said in options else None


def nearest(answer: str, options: Mapping[str, str]) -> str | None:
    """The letter of the option of whose words an answer holds the largest share; the first on a tie.

    None when it shares no word with any.
    """
    here = set(_words(answer))
    shares = {letter: _share(set(_words(text)), here) for letter, text in options.items()}
    best = max(shares, key=lambda letter: shares[letter], default=None)
    return best if best is not None and shares[best] else None


def common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence (Hyyr\u00f6's bit-parallel way: one step a token)."""
    places: dict[str, int] = {}
    for at, token in enumerate(first):
        places[token] = places.get(token, 0) | 1 << at
    every = (1 << len(first)) - 1
    row = every
    for token in second:
        matched = row & places.get(token, 0)
        row = (row + matched | row - matched) & every
    return len(first) - row.bit_count()


def _words(text: str) -> list[str]:
    return _WORD.findall(normalised(text))


def _f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    if not said or not wanted:
        return float(said == wanted)
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted))


def _rouge(said: Sequence[str], wanted: Sequence[str]) -> float:
    return 2 * common(said, wanted) / (len(said) + len(wanted)) if said and wanted else 0.0


def _share(wanted: set[str], here: set[str]) -> float:
    return len(wanted & here) / len(wanted) if wanted else 0.0
