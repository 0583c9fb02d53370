"""Answering with a model: the prompt, the stream, and what is made of an answer that cites badly.

The model's output is data: control characters are stripped, markers that name no source are removed while it
streams. An answer without a valid marker gets those its sentences are supported by; when there is none, it is
labelled so and the closest sentences are quoted below it.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from mindscape import prompts
from mindscape.ask.check import best_sentence, claims, is_supported
from mindscape.ask.citations import CitationStream
from mindscape.ask.evidence import Source
from mindscape.ask.phrases import phrases, refusals
from mindscape.ask.repetition import RepetitionGate
from mindscape.text import inert

Message = dict[str, str]
GenerateFn = Callable[[list[Message], int], AsyncGenerator[str]]
"""(messages, max_tokens) -> pieces of text; closing them stops the model."""

ANSWER_TOKENS = 320
PROMPT_TOKENS = 220
"""Room for the instructions and the chat template."""
PATIENCE = 12.0
"""Seconds of prompt reading a user waits for the first word: on a slow machine fewer passages are read."""
MIN_EVIDENCE = 400
"""Tokens of evidence even on the slowest machine."""
MAX_SOURCES = 8

_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_BRACKET = re.compile(r"[\[\uff3b\u3010](?=\s*\^?\d)")
_OWN = "|".join(re.escape(one.rstrip(".。")) for one in refusals())
_REFUSAL = re.compile(
    r"\b(?:(?:do(?:es)?|did|is|are|was|were|can|could)\s?(?:not|n['\u2019]t)|cannot|not|no|never|without)\b"
    r"[^.!?]{0,60}\b(?:stated?|says?|said|mention\w*|contain\w*|provided?|specif\w+|given|found?|find|information"
    r"|answer\w*|include\w*|described?|discussed?|know|tell)\b"
    r"|\u6ca1\u6709(?:\u63d0|\u8bf4|\u627e|\u76f8\u5173|\u7b54\u6848)|\u672a(?:\u63d0|\u8bf4)|\u65e0\u6cd5(?:\u56de\u7b54|\u627e)"
    rf"|{_OWN}|not in (?:your|the) (?:documents|passages|sources|text)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Draft:
    """What the model wrote, as it was shown."""

    text: str
    markers: tuple[tuple[int, int], ...]
    """(n, position of "[n]" in `text`), in order."""
    tokens: int
    repeated: bool = False
    """Whether the model was stopped because it repeated itself."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A source an answer cites: the best sentence of it, and whether it says what is claimed."""

    n: int
    start: int
    end: int
    """Span in the passage's text."""
    supported: bool


def estimate_tokens(text: str) -> int:
    """Tokens of a text for a typical vocabulary: one a character without spaces, else one for 3.5."""
    unspaced = len(_UNSPACED.findall(text))
    return unspaced + int((len(text) - unspaced) / 3.5) + 1


def evidence_budget(context: int, tokens_per_second: float | None) -> int:
    """Tokens of evidence that fit the context and that this machine reads within PATIENCE."""
    room = context - ANSWER_TOKENS - PROMPT_TOKENS
    if tokens_per_second is None:
        return max(room, 0)
    return max(min(room, max(MIN_EVIDENCE, int(tokens_per_second * PATIENCE))), 0)


def within(text: str, tokens: int) -> str:
    """The text, or as much of its beginning as is about so many tokens."""
    while (spent := estimate_tokens(text)) > max(tokens, 1):
        text = text[: min(len(text) - 1, len(text) * tokens // spent)]
    return text


def fitting(sources: Sequence[Source], budget: int) -> list[Source]:
    """The best sources that fit the budget together, at most MAX_SOURCES; always at least one."""
    kept: list[Source] = []
    spent = 0
    for source in sources[:MAX_SOURCES]:
        spent += estimate_tokens(_shown(len(kept) + 1, source))
        if kept and spent > budget:
            break
        kept.append(source)
    return kept


def messages_for(question: str, sources: Sequence[Source]) -> list[Message]:
    """The prompt. The question comes last, so that what stands before it is read once and reused."""
    shown = "\n\n".join(_shown(n, source) for n, source in enumerate(sources, 1))
    *before, last = prompts.render("answer", passages=shown, question=_inert(question))
    # It stands last, behind all that comes from elsewhere.
    head, _, tail = last["content"].rpartition(prompts.NOT_STATED)
    own = phrases(question).not_stated
    return [*before, {**last, "content": f"{head}{own}{tail}"}]


async def write(
    question: str, sources: Sequence[Source], generate: GenerateFn, show: Callable[[str], None]
) -> Draft:
    """Stream an answer; everything shown, joined, is the draft's text. One that repeats itself is stopped."""
    gate = RepetitionGate()
    stream = CitationStream(len(sources))
    tokens = 0
    async with aclosing(generate(messages_for(question, sources), ANSWER_TOKENS)) as pieces:
        async for piece in pieces:
            tokens += 1
            if text := stream.feed(gate.feed(piece)):
                show(text)
            if gate.stopped:
                break
    if text := stream.feed(gate.close()) + stream.close():
        show(text)
    markers = tuple((marker.n, marker.position) for marker in stream.markers)
    return Draft(stream.text, markers, tokens, gate.stopped)


def is_refusal(draft: Draft) -> bool:
    """True when the model says, briefly and at once, that the documents do not hold the answer."""
    said = claims(draft.text, draft.markers)
    return not said or (len(said) <= 2 and _REFUSAL.search(said[0].text) is not None)


def cite(question: str, draft: Draft, sources: Sequence[Source]) -> list[Cited]:
    """The sources the draft cites, in order of first appearance, each with its best sentence."""
    said = claims(draft.text, draft.markers)
    cited: list[Cited] = []
    for n in dict.fromkeys(n for n, _ in draft.markers):
        mine = [claim for claim in said if n in claim.cited]
        passage = sources[n - 1]
        text = " ".join(claim.text for claim in mine) or question
        start, end = best_sentence(f"{text} {question}", passage.passage.text, passage.units)
        supported = bool(mine) and all(_supports(passage, claim.text, question) for claim in mine)
        cited.append(Cited(n, start, end, supported))
    return cited


def attribute(question: str, draft: Draft, sources: Sequence[Source]) -> list[Cited]:
    """For a draft that cites nothing: the best ranked source that supports each sentence, at most 3."""
    found: dict[int, Cited] = {}
    for claim in claims(draft.text, draft.markers):
        for n, source in enumerate(sources, 1):
            if _supports(source, claim.text, question):
                start, end = best_sentence(f"{claim.text} {question}", source.passage.text, source.units)
                found.setdefault(n, Cited(n, start, end, True))
                break
    return list(found.values())[:3]


def _supports(source: Source, claim: str, question: str) -> bool:
    return is_supported(claim, f"{source.context}\n{source.passage.text}", question)


def _shown(n: int, source: Source) -> str:
    where = " > ".join(
        dict.fromkeys(part for part in (source.document.title, *source.passage.heading) if part)
    )
    name = source.document.display.rsplit("/", 1)[-1]
    body = f"{source.passage.prefix}\n{source.passage.text}" if source.passage.prefix else source.passage.text
    return f"[{n}] {_inert(f'{name}: {where}' if where else name)}\n{_inert(body.strip())}"


def _inert(text: str) -> str:
    """Text of a document as a model may read it: nothing in it can end the passage or look like a marker."""
    return _BRACKET.sub("(", inert(text))
