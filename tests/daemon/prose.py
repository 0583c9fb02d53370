"""Paragraphs and documents made up from a seed, so long that their summaries have to choose."""

from __future__ import annotations

import random
from pathlib import Path

WHO = ("The keeper", "A miller", "The pilot", "Her brother", "The widow", "A carter", "The clerk", "Old Mara")
DID = ("mended the sluice gate", "sold nine barrels of herring", "crossed the wide bay", "lit the great lamp")
WHEN = ("before the winter storm", "in the dry year", "at low tide", "on the third day of the fair")


def paragraph(rng: random.Random) -> str:
    sentences = (
        f"{rng.choice(WHO)} {rng.choice(DID)} {rng.choice(WHEN)}, as page {rng.randrange(10**6)} tells."
        for _ in range(8)
    )
    return " ".join(sentences)


def novel(rng: random.Random, paragraphs: int) -> list[str]:
    return [paragraph(rng) for _ in range(paragraphs)]


def write(path: Path, paragraphs: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(paragraphs) + "\n")
