"""The exam a generator sits before it may answer: a model that cannot do the job is not given it."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Protocol

ENOUGH_RIGHT: Final = 0.75
"""Share of the answerable questions that must be right."""
ENOUGH_REFUSED: Final = 0.5
"""Share of the unanswerable ones that must be refused."""
_ANSWER_TOKENS: Final = 60

Render = Callable[[str, str], Sequence[Mapping[str, str]]]
"""(numbered passages, question) -> messages."""


@dataclass(frozen=True, slots=True)
class ExamQuestion:
    """Three short passages and a question; without `answers` they do not hold the answer."""

    passages: tuple[str, ...]
    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExamResult:
    """Shares in 0..1: `right` of the answerable questions, `refused` of the unanswerable."""

    right: float
    refused: float
    replies: tuple[str, ...]
    """What was written, in the order of `questions()`."""

    @property
    def passed(self) -> bool:
        """Whether the model earns the capability `answer`."""
        return self.right >= ENOUGH_RIGHT and self.refused >= ENOUGH_REFUSED


class Answering(Protocol):
    """What the exam needs of a generator."""

    def generate(self, messages: Sequence[Mapping[str, str]], max_tokens: int) -> Iterator[str]:
        """Stream an answer."""
        ...


def examine(generator: Answering, render: Render, is_refusal: Callable[[str], bool]) -> ExamResult:
    """Ask every question with the caller's own prompt; takes about a minute on a slow machine."""
    right = refused = 0
    replies: list[str] = []
    for question in questions():
        shown = "\n\n".join(f"[{n}] {text}" for n, text in enumerate(question.passages, 1))
        reply = "".join(generator.generate(render(shown, question.question), _ANSWER_TOKENS))
        replies.append(reply)
        if not question.answers:
            refused += is_refusal(reply)
        elif not is_refusal(reply):
            right += holds(reply, question.answers)
    answerable = sum(1 for question in questions() if question.answers)
    return ExamResult(right / answerable, refused / (len(replies) - answerable), tuple(replies))


@cache
def questions() -> tuple[ExamQuestion, ...]:
    """The exam, answerable questions first."""
    with (Path(__file__).parent / "exam.toml").open("rb") as file:
        table = tomllib.load(file)
    return tuple(
        ExamQuestion(tuple(row["passages"]), row["question"], tuple(row["answers"]))
        for row in table["questions"]
    )


def holds(reply: str, answers: Sequence[str]) -> bool:
    """Whether one of the answers stands in the reply: as whole words, where its script has them."""
    said = _plain(re.sub(r"\[\d+\]", " ", reply))
    return any(
        re.search(rf"(?<![0-9a-z]){re.escape(_plain(answer))}(?![0-9a-z])", said) for answer in answers
    )


def _plain(text: str) -> str:
    wide = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in wide if not unicodedata.combining(char))
