"""Asking the real pipeline, and what its answers are worth.

With a generator that may answer, it does; without one the answer is what is quoted. An answer that is not
given counts as an empty one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape.ask import pipeline
from mindscape.ask.answer import PATIENCE
from mindscape.ask.check import is_supported
from mindscape.ask.conditioning import Conditioning
from mindscape.ask.pipeline import Writer
from mindscape.evaluate.library import Encoder, Indexed
from mindscape.evaluate.metrics import exact_match, letter, nearest, rouge_l, token_f1, verdict
from mindscape.evaluate.sets import Question
from mindscape.protocol import Json
from mindscape_models.generation import Generator
from mindscape_storage.database import Connection

EVIDENCE = 600
"""Tokens of passages a generator is given, on any machine: the daemon's own choice follows its speed."""
_MARKER = re.compile(r"\s*\[\d+\]")


class Said(NamedTuple):
    """What was asked, and what came back."""

    asked: str
    text: str
    """Without markers; of quoting mode the quotes alone; empty where no answer was given."""
    answered: bool
    made_by: str
    citations: list[tuple[str, int, int, str]]
    """Path, start, end, quote."""


class Marked(NamedTuple):
    """The answers to one question, and their values by metric."""

    said: list[Said]
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Asking:
    """Asks a library in one mode."""

    library: Indexed
    mode: str
    writer: Writer | None
    conditioning: Conditioning | None = None

    def mark(self, question: Question) -> Marked:
        """Ask, and value the answer by every metric that the set has data for."""
        if not question.answerable:
            said = self._ask(question.text)
            return Marked([said], {"refusal": float(not said.answered)})
        if question.claim is not None:
            return self._claims(question, truth=question.claim)
        if question.options:
            return self._choice(question)
        said = self._ask(question.text)
        values = {"refusal": float(not said.answered)}
        if question.answers:
            values["f1"] = token_f1(said.text, question.answers)
            values["em"] = exact_match(said.text, question.answers)
            values["rouge_l"] = rouge_l(said.text, question.answers)
        return Marked([said], values)

    def _claims(self, question: Question, *, truth: bool) -> Marked:
        said = [self._claim(question.text)]
        right = [self._holds(said[0]) is truth]
        values = {"refusal": float(not said[0].answered)}
        if question.false_claim is not None:
            said.append(self._claim(question.false_claim))
            right.append(self._holds(said[1]) is False)
            values["pair_accuracy"] = float(all(right))
        return Marked(said, {"accuracy": sum(right) / len(right), **values})

    def _claim(self, claim: str) -> Said:
        said = self._ask(claim if self.writer is None else f"Is this true or false? {claim}")
        return said._replace(asked=claim)

    def _holds(self, said: Said) -> bool | None:
        """What was said of a claim; quotes say that it is true when one of them supports it."""
        if said.made_by == "model":
            return verdict(said.text)
        return any(is_supported(said.asked, quote) for *_, quote in said.citations)

    def _choice(self, question: Question) -> Marked:
        listed = "\n".join(f"{letter}. {text}" for letter, text in question.options.items())
        said = self._ask(question.text if self.writer is None else f"{question.text}\n{listed}")
        named = letter(said.text, question.options) if said.made_by == "model" else None
        chosen = named or nearest(said.text, question.options)
        right = chosen is not None and bool({chosen, question.options[chosen]} & set(question.answers))
        return Marked([said], {"accuracy": float(right), "refusal": float(not said.answered)})

    def _ask(self, text: str) -> Said:
        result = asyncio.run(self._result(text))
        cited = [(one["path"], one["start"], one["end"], one["quote"]) for one in result["citations"]]
        by_model = result["made_by"] == "model"
        words = _MARKER.sub("", result["answer"]) if by_model else " ".join(quote for *_, quote in cited)
        return Said(text, words if result["answered"] else "", result["answered"], result["made_by"], cited)

    async def _result(self, text: str) -> Json:
        async def read(work: Callable[[Connection], Any]) -> Any:
            return work(self.library.conn)

        async def embed(texts: list[str]) -> NDArray[np.float32]:
            return self.library.embedder.encode_queries(texts)

        return await pipeline.ask(
            text,
            scope=self.library.scope,
            mode=self.mode,
            read=read,
            embed_query=embed,
            writer=self.writer,
            emit=lambda _: None,
            encoder_id=self.library.encoder_id,
            conditioning=self.conditioning,
        )


def conditioning(embedder: Encoder) -> Conditioning:
    """An embedder as the pipeline asks it to take in what a question is about."""

    async def encode(texts: list[str]) -> NDArray[np.float32]:
        return embedder.encode_passages(texts)

    async def condition(questions: list[str], mindscapes: list[list[str]]) -> NDArray[np.float32]:
        return embedder.encode_queries(questions, mindscapes)

    return Conditioning(encode, condition)


def writing(generator: Generator) -> Writer:
    """A generator as the pipeline asks it, with EVIDENCE tokens of passages."""

    async def generate(messages: list[dict[str, str]], max_tokens: int) -> AsyncGenerator[str]:
        for piece in generator.generate(messages, max_tokens):
            yield piece

    return Writer(generator.name, generate, generator.context, EVIDENCE / PATIENCE)
