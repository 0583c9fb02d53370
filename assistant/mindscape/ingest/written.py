"""Summaries that a model writes: what it is told, how much it is shown, and what counts of what it says.

The texts are data: nothing in them ends a turn. The model chooses the likeliest word each time, so a second
attempt differs only by what it is told of the fault of the first.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from hashlib import blake2b
from math import ceil
from typing import NamedTuple

from mindscape import prompts
from mindscape.graphemes import is_boundary
from mindscape.ingest.judged import Fault, judged
from mindscape.ingest.passages import count_tokens
from mindscape.ingest.summarise import BUDGETS, Kind
from mindscape.sentences import sentences
from mindscape.text import inert

CHECKS = "2"
"""Of what is checked and how: another one lets every summary be written again."""
SOURCE_TOKENS = 3000
"""Of a model, for the texts: in a context of 4,096 the instructions and the summary have room beside them."""
MOST_TOKENS = 4
"""Of a model for one of ours, at most, when it writes."""


class Written(NamedTuple):
    """What came of asking a model for a summary."""

    text: str | None
    """None when every attempt failed a check."""
    reason: str
    """Why the last attempt was rejected, in a few words; empty when it was not."""
    calls: int


Message = dict[str, str]
Generate = Callable[[list[Message], int], Awaitable[str]]
"""(messages, max_tokens) -> the whole text."""


_PART = "Summarise what this part of a document says: who does what, where, and what comes of it. Keep names."
_PARTS = (
    "Make one summary of these of consecutive parts: who does what, where, and what comes of it. Keep names."
)
_FOLDER = (
    "Summarise what is in this folder: what its documents are about, and the names of the most important."
)
_TASKS = {
    Kind.PASSAGES: (_PART, "two or three sentences"),
    Kind.NODES: (_PARTS, "three or four sentences"),
    Kind.CHILDREN: (_FOLDER, "three or four sentences"),
    Kind.LISTINGS: (_FOLDER, "three or four sentences"),
}

_GAP = re.compile(r"(\s)\1{3,}")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[^\s\x00-\x7f]+| \d|\S|\n")
_LETTERS = 3
"""Of one token, in a word of an alphabet that vocabularies hold."""
_LONGEST = 30
"""Letters of a word; what is longer is none, and a token a byte at worst."""
_ACCENTED, _ALPHABETS = "\u0250", "\u0530"
"""Latin letters with accents stand before: they break a word in three. Greek and Cyrillic ones are a token
each at most; those behind, one a byte."""


@cache
def how() -> str:
    """Changes whenever the prompt or the checks change: part of the keys of summaries."""
    said = [f"{turn['role']}: {turn['content']}" for kind in Kind for turn in _messages(kind, "", None)]
    parts = [CHECKS, *said, *(fault.hint for fault in Fault)]
    return blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


async def write_summary(kind: Kind, children: Sequence[str], generate: Generate) -> Written:
    """Let a model summarise the texts of a node's children: at most BUDGETS[kind] tokens, or none at all.

    Asks a second time when the first answer fails a check. What `generate` raises is raised.
    """
    source = shown(children)
    budget = BUDGETS[kind]
    instructions = " ".join(turn["content"] for turn in _messages(kind, "", None))
    fault: Fault | None = None
    for call in (1, 2):
        written = await generate(_messages(kind, source, fault), _room(source, budget))
        found = judged(written, source, instructions, budget)
        if isinstance(found, str):
            return Written(found, "", call)
        fault = found
    return Written(None, fault.reason if fault else "", 2)


def shown(children: Sequence[str], limit: int = SOURCE_TOKENS) -> str:
    """The texts as a model may read them, within `limit` tokens of a model; the longest are cut evenly."""
    texts = [inert(_GAP.sub(r"\1\1", child)).strip() for child in children]
    sizes = [model_tokens(text) + 2 for text in texts]
    share, left, waiting = limit, limit, len(sizes)
    for size in sorted(sizes):
        share = left // waiting
        if size > share:
            break
        left, waiting = left - size, waiting - 1
    else:
        share = limit
    cut = [_cut(text, share - 2) if size > share else text for text, size in zip(texts, sizes, strict=True)]
    return "\n\n".join(text for text in cut if text)


def model_tokens(text: str) -> int:
    """Tokens of a text in the vocabulary of a model: rather too many, and at most a tenth too few."""
    return sum(map(_cost, _PIECE.findall(text)))


def _cost(piece: str) -> int:
    if len(piece) > _LONGEST:
        return len(piece.encode("utf-8", "replace"))
    if piece.isalpha() and piece.isascii():
        return -(-len(piece) // _LETTERS)
    return sum(
        1 if _ACCENTED <= char < _ALPHABETS or char.isascii() else len(char.encode("utf-8", "replace"))
        for char in piece
    )


def _cut(text: str, limit: int) -> str:
    """The beginning of a text: to the end of a sentence if one is near, else of a character."""
    ends = range(len(text) + 1)
    fits = bisect_right(ends, limit, key=lambda end: model_tokens(text[:end])) - 1
    whole = [end for _, end in sentences(text[:fits]) if fits // 2 < end < fits]
    end = whole[-1] if whole else next((at for at in range(fits, 0, -1) if is_boundary(text, at)), 0)
    return text[:end].strip()


def _messages(kind: Kind, source: str, fault: Fault | None) -> list[Message]:
    hint = f" {fault.hint}" if fault else ""
    task, length = _TASKS[kind]
    return prompts.render("summarise", task=task, source=source, length=length, hint=hint)


def _room(source: str, budget: int) -> int:
    """Tokens of a model for a summary in the language of the source; an endless one stops there."""
    each = model_tokens(source) / max(1, count_tokens(source))
    return ceil(budget * min(MOST_TOKENS, max(1.0, each)))
