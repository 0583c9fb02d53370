"""What quoting mode gives: how often it answers, from the right place, and how much of the answer it holds.

python tests/quality/measure_quotes.py SET... [--documents N] [--questions N] [--vectors FILE] [--library]
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

from tests.quality.library import Indexed, indexed_set
from tests.quality.sets import Question, options, recall

from mindscape.ask.check import share
from mindscape.ask.language import all_terms, terms
from mindscape.ask.pipeline import EmbedFn, ask
from mindscape.evaluate.library import Encoder
from mindscape.protocol import Json
from mindscape_storage.database import Connection


def main() -> None:
    """Measure every set given."""
    given = options(__doc__, library="one index over all documents of a set")
    for folder in given.sets:
        measure(folder, given)


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Print one line for one set."""
    rows: list[tuple[float, float, float, float]] = []
    for library, questions in indexed_set(folder, given):
        rows += [_scores(one, asyncio.run(_ask(library, one.text))) for one in questions]
    answered, place, held, length = (fmean(column) for column in zip(*rows, strict=True))
    print(
        f"\n{folder.name}, {len(rows)} questions: answered {answered:.1%}, a quote inside the gold evidence "
        f"{place:.1%}, words of the answer in the quotes {held:.1%}, {length:.0f} characters quoted"
    )


async def _ask(library: Indexed, question: str) -> Json:
    async def read(work: Callable[[Connection], Any]) -> Any:
        return work(library.conn)

    return await ask(
        question,
        scope=None,
        mode="passages",
        read=read,
        embed_query=_embedding(library.embedder),
        writer=None,
        emit=lambda _: None,
        encoder_id=library.encoder_id,
    )


def _embedding(embedder: Encoder) -> EmbedFn:
    async def embed(texts: list[str]) -> Any:
        return embedder.encode_queries(texts)

    return embed


def _scores(question: Question, result: Json) -> tuple[float, float, float, float]:
    quotes = result["citations"]
    spans = [(Path(one["path"]).name, one["start"], one["end"]) for one in quotes]
    said = set(all_terms(" ".join(one["quote"] for one in quotes)))
    held = max((share(set(terms(answer)), said) for answer in question.answers), default=0.0)
    length = sum(len(one["quote"]) for one in quotes)
    return float(result["answered"]), float(recall(question.evidence, spans) > 0), held, float(length)


if __name__ == "__main__":
    main()
