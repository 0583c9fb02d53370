"""Measures how questions are made whole that lean on others: by the rule, and by generators.

    python tests/quality/measure_followups.py [MODEL.gguf...]

Over the labelled pairs of `tests/ask/followups.py`: how many rewritings hold what search needs. A model's
counts when it passes the checks; else the rule stands in, as it does for users.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from typing import Any

from tests.ask.followups import HELD, PAIRS, Pair

from mindscape.ask.followup import REWRITE_TOKENS, SCHEMA, Message, carried, checked, messages_for
from mindscape.ask.leaning import Before, leans
from mindscape_models.generation import Generator, open_generator


def holds(pair: Pair, text: str) -> bool:
    return pair.carries is not None and all(word.lower() in text.lower() for word in pair.carries)


def by_model(generator: Generator, pair: Pair, before: list[Before]) -> str | None:
    async def fill(messages: list[Message], max_tokens: int, schema: dict[str, Any]) -> str:
        return "".join(generator.generate(messages, max_tokens, schema))

    reply = asyncio.run(fill(messages_for(pair.follows, before), REWRITE_TOKENS, SCHEMA))
    return checked(reply, pair.follows, before)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("models", nargs="*", type=Path)
    options.add_argument("-v", action="store_true", dest="shown")
    given = options.parse_args()
    every = [*PAIRS, *HELD]
    seen = [pair for pair in every if leans(pair.follows, [Before(pair.asked, pair.said)])]
    print(f"{len(every)} pairs, {len(seen)} seen to lean on the question before")
    leaning = [pair for pair in every if pair.carries is not None]
    rule = [holds(pair, carried(pair.follows, [Before(pair.asked, pair.said)])) for pair in leaning]
    print(f"rule: {sum(rule)} of {len(leaning)} rewritings hold what search needs")
    for path in given.models:
        with open_generator(path) as generator:
            measure(generator, leaning, shown=given.shown)


def measure(generator: Generator, pairs: list[Pair], *, shown: bool) -> None:
    began, passed, right, instead = time.monotonic(), 0, 0, 0
    for pair in pairs:
        before = [Before(pair.asked, pair.said)]
        written = by_model(generator, pair, before)
        passed += written is not None
        right += written is not None and holds(pair, written)
        instead += holds(pair, written or carried(pair.follows, before))
        if shown:
            print(f"  {pair.follows!r} -> {written!r}", flush=True)
    seconds = (time.monotonic() - began) / len(pairs)
    print(
        f"{generator.name}: {passed} of {len(pairs)} pass the checks, {right} of them hold what search needs;"
        f" with the rule for the others {instead}; {seconds:.1f} s each"
    )


if __name__ == "__main__":
    main()
