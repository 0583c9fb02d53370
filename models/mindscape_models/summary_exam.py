"""The exam a generator sits before it may write summaries: of a few texts, in several languages."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from mindscape_models.exam import holds

ENOUGH_ACCEPTED: Final = 0.75
"""Share of the texts whose summary must pass the caller's checks."""
ENOUGH_NAMES: Final = 0.75
"""Share of the names that must be in the summaries."""
ENOUGH_SUPPORTED: Final = 0.9
"""Share of the sentences that the texts must say."""

Summarise = Callable[[Sequence[str]], str | None]
"""From the passages of a text to their summary; None when what the model wrote was rejected."""
Support = Callable[[str, str], Sequence[bool]]
"""(summary, text) -> for each sentence of the summary whether the text says it."""


@dataclass(frozen=True, slots=True)
class ExamText:
    """Passages that follow each other, and the names that nobody may leave out."""

    passages: tuple[str, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SummaryResult:
    """Shares in 0..1: of the texts with a summary, of the names kept, of the sentences that are supported."""

    accepted: float
    names: float
    """A rejected summary has none of its text's."""
    supported: float
    summaries: tuple[str | None, ...]
    """In the order of `texts()`."""

    @property
    def passed(self) -> bool:
        """Whether the model earns the capability `summarise`."""
        return (
            self.accepted >= ENOUGH_ACCEPTED
            and self.names >= ENOUGH_NAMES
            and self.supported >= ENOUGH_SUPPORTED
        )


def examine_summaries(summarise: Summarise, support: Support) -> SummaryResult:
    """Have every text summarised as the caller does it; takes about a minute on a slow machine."""
    summaries: list[str | None] = []
    names: list[bool] = []
    supported: list[bool] = []
    for text in texts():
        summary = summarise(text.passages)
        summaries.append(summary)
        names += [holds(summary or "", [name]) for name in text.names]
        if summary is not None:
            supported += support(summary, "\n\n".join(text.passages))
    accepted = sum(summary is not None for summary in summaries)
    return SummaryResult(
        accepted / len(summaries),
        sum(names) / len(names),
        sum(supported) / max(1, len(supported)),
        tuple(summaries),
    )


@cache
def texts() -> tuple[ExamText, ...]:
    """The texts of the exam."""
    with (Path(__file__).parent / "summary_exam.toml").open("rb") as file:
        table = tomllib.load(file)
    return tuple(ExamText(tuple(row["passages"]), tuple(row["names"])) for row in table["texts"])
