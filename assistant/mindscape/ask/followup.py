"""A question that leans on the ones before is made whole before anything is looked for.

By a model that was measured good enough, whose rewriting is checked; else the names and content words of the
last question, and the names in what answered it, are put before it, for search to find.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, cast

from mindscape import prompts
from mindscape.ask.language import STOP, all_terms, folded, is_unspaced, numbers, parts, terms
from mindscape.ask.leaning import SIGNS, TOKEN, Before
from mindscape.ask.tongue import is_small, language_of
from mindscape.sentences import sentences
from mindscape.text import inert

Message = dict[str, str]
FillFn = Callable[[list[Message], int, dict[str, Any]], Awaitable[str]]
"""(messages, max_tokens, JSON schema) -> the whole text."""

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"question": {"type": "string"}},
    "required": ["question"],
}
REWRITE_TOKENS = 120
SHOWN = 300
"""Characters that a model is shown of each question and answer before."""
MAX_WORDS = 8
"""Carried from the last question and its answer: more would drown the question."""
MAX_REWRITTEN = 400
"""Characters."""

_STOPS = re.compile(
    "什么时候|什么|怎么|怎样|哪里|哪个|哪些|多少|为什么|[谁几的了吗呢吧是在有和与也都就这那他她它们哪]|[ぁ-ゟ]+"
)
_PERSON = re.compile(r"\b(?:he|him|his|she|her|hers)\b|[他她]", re.IGNORECASE)
_THING = re.compile(
    r"\b(?:it|its|they|them|their|there|that|this|these|those|one|else|and|about)\b|[它这那]", re.IGNORECASE
)
"""Without one of these a question about someone needs the name only."""


def carried(question: str, before: Sequence[Before]) -> str:
    """The question, with what the last one was about before it: "Lindqvist, ferry: And in 1912?"."""
    last = before[-1]
    own = set(all_terms(question))
    dated = bool(numbers(question))
    found: dict[str, str] = {}
    called = [*_names_in(last.question), *_names_in(last.said)]
    someone = bool(called) and _PERSON.search(question) is not None and _THING.search(question) is None
    for word in called if someone else [*called, *_content_of(last.question)]:
        stems = all_terms(word)
        known = not stems or own.issuperset(stems) or (dated and numbers(word))
        if not known and folded(word) not in found:
            found[folded(word)] = word
    words = list(found.values())[:MAX_WORDS]
    return f"{', '.join(words)}: {question}" if words else question


def _names_in(text: str) -> Iterator[str]:
    """Words that are written with a capital, other than small words and the first of each sentence."""
    for start, end in sentences(text):
        for found in list(TOKEN.finditer(text, start, end))[1:]:
            if found.group()[0].isupper() and folded(found.group()) not in STOP:
                yield found.group()


def _content_of(question: str) -> Iterator[str]:
    """The content words as they are written; of a script without spaces, what is left between small words."""
    language = language_of(question)
    for found in TOKEN.finditer(question):
        word = found.group()
        if is_unspaced(word):
            yield from (piece for piece in _STOPS.split(word) if len(piece) > 1)
        elif folded(word) not in STOP and not _asks(word) and not is_small(word, language):
            yield word


def _asks(word: str) -> bool:
    if "-t-" in word:
        return True
    return any(word.lower() in signs.asks | signs.pronouns | signs.possessives for signs in SIGNS.values())


def messages_for(question: str, before: Sequence[Before]) -> list[Message]:
    """The prompt: the questions before, the latest last, each of bounded length, and the question whole."""
    shown = "\n".join(
        f"Question: {_short(one.question)}" + (f"\nAnswer: {_short(one.said)}" if one.said else "")
        for one in before
    )
    return prompts.render("rewrite", conversation=shown, question=inert(question))


def _short(text: str) -> str:
    line = inert(" ".join(text.split()))
    return line if len(line) <= SHOWN else line[:SHOWN].rstrip() + "\u2026"


def checked(reply: str, question: str, before: Sequence[Before]) -> str | None:
    """The question in a model's reply; None where it is none, an old one, or loses or invents something."""
    try:
        parsed = json.loads(reply, strict=False)
    except ValueError:
        return None
    held = cast(dict[str, Any], parsed).get("question") if isinstance(parsed, dict) else None
    if not isinstance(held, str):
        return None
    written = " ".join(held.split())
    if not written or len(written) > MAX_REWRITTEN + len(question):
        return None
    here = set(all_terms(written))
    if not set(terms(question)) - _leaning(question) <= here or not numbers(question) <= numbers(written):
        return None
    if any(all_terms(written) == all_terms(one.question) for one in before):
        return None
    known = "\n".join([question, *(f"{one.question}\n{one.said}" for one in before)])
    invented = set(terms(written)) - set(all_terms(known))
    return None if invented or not numbers(written) <= numbers(known) else written


def _leaning(question: str) -> set[str]:
    """Terms that a rewriting may replace."""
    signs = SIGNS.get(language_of(question))
    if signs is None:
        return set(terms(question)) if is_unspaced(question) else set()
    small = signs.pronouns | signs.possessives | signs.asks | signs.prepositions
    return {term for word in small | set(" ".join(signs.begins).split()) for term in all_terms(word)}


def parts_of(whole: str, question: str) -> list[str]:
    """The questions inside a question that was made whole; what was put before it stands before each."""
    if not whole.endswith(f": {question}"):
        return parts(whole)
    carried_over = whole[: -len(question)]
    return [carried_over + part for part in parts(question)]


async def understand(question: str, before: Sequence[Before], fill: FillFn | None) -> str | None:
    """What to look for instead of a question that leans on those before; None where nothing is to be added.

    Raises MindscapeError when the model that is called fails.
    """
    if fill is not None:
        reply = await fill(messages_for(question, before), REWRITE_TOKENS, SCHEMA)
        written = checked(reply, question, before)
        if written is not None:
            return None if written == question else written
    whole = carried(question, before)
    return None if whole == question else whole
