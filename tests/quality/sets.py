"""Sets of documents and questions with gold evidence, as laid out in the data's own README."""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, Source

Span = tuple[str, int, int]
"""Document id, start, end."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one or more documents, with the spans that answer it."""

    text: str
    documents: tuple[str, ...]
    evidence: tuple[Span, ...]
    answers: tuple[str, ...]


def options(description: str | None, library: str, *, collections: bool = False) -> argparse.Namespace:
    """The arguments that every measurement over sets takes; `library` says what --library means there.

    With `collections` there is also a way between one index a document and one for all.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=Path, help="folders with docs.jsonl and questions.jsonl")
    parser.add_argument("--documents", type=int, help="only the first N documents of each set")
    parser.add_argument("--questions", type=int, help="only N questions of each set")
    parser.add_argument("--vectors", type=Path, help="keep vectors in this .npz file, for a quick second run")
    together = parser.add_mutually_exclusive_group()
    together.add_argument("--library", action="store_true", help=library)
    if collections:
        what = "one index over the documents of each collection that docs.jsonl names"
        together.add_argument("--collections", action="store_true", help=what)
    return parser.parse_args()


def read_documents(folder: Path, limit: int | None = None) -> dict[str, Parsed]:
    """Document id -> its text, parsed as the daemon would; the first `limit` of the set."""
    rows = _lines(folder / "docs.jsonl")[:limit]
    return {row["doc_id"]: _read(folder / row["file"]) for row in rows}


def read_collections(folder: Path, known: Sequence[str]) -> list[list[str]]:
    """The documents of each collection that the set names; one that is in none stands alone."""
    groups: dict[str, list[str]] = {}
    for row in _lines(folder / "docs.jsonl"):
        if row["doc_id"] in known:
            groups.setdefault(row.get("collection") or row["doc_id"], []).append(row["doc_id"])
    return list(groups.values())


def read_questions(folder: Path, documents: Sequence[str], limit: int | None = None) -> list[Question]:
    """Questions with evidence in these documents; `limit` of them, drawn with a fixed seed."""
    known = set(documents)
    found = [
        Question(
            row["question"],
            tuple(row["doc_ids"]),
            tuple((one["doc_id"], one["start"], one["end"]) for one in _evidence(row)),
            tuple(row.get("answers") or ()),
        )
        for row in _lines(folder / "questions.jsonl")
        if row.get("evidence") and set(row["doc_ids"]) <= known
    ]
    return found if limit is None or len(found) <= limit else random.Random(1).sample(found, limit)


def recall(evidence: Sequence[Span], passages: Sequence[Span]) -> float:
    """Share of gold spans that a passage covers: they overlap by at least half of the shorter."""
    return sum(any(_covers(gold, one) for one in passages) for gold in evidence) / len(evidence)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95% bootstrap interval of the mean."""
    drawn = np.random.default_rng(1).choice(np.asarray(values), (1000, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def _covers(gold: Span, passage: Span) -> bool:
    shared = min(gold[2], passage[2]) - max(gold[1], passage[1])
    shorter = min(gold[2] - gold[1], passage[2] - passage[1])
    return gold[0] == passage[0] and shared > 0 and 2 * shared >= shorter


def _evidence(row: Any) -> Any:
    """The finest that may be trusted: of whole novels passages for some questions, for others chapters."""
    return row["evidence_fine"] if row.get("fine_ok") else row["evidence"]


def _read(path: Path) -> Parsed:
    parsed = parse(Source(path, path.read_bytes()))
    # Gold offsets count in the text as it stands in the file; a parser that changed it would move them.
    if parsed.text != path.read_bytes().decode("utf-8"):
        raise ValueError(f"{path} is not read as it stands, so its gold offsets cannot be used.")
    return parsed


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
