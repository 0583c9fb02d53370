"""Sets of documents and questions with gold evidence, as laid out in the data's own README."""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mindscape.evaluate.metrics import Span as Span
from mindscape.evaluate.metrics import recall as recall
from mindscape.evaluate.sets import Question as Question
from mindscape.evaluate.sets import read_document, read_listed
from mindscape.evaluate.sets import read_questions as read_all
from mindscape.ingest.parsed import Parsed


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
    return {one.id: read_document(one) for one in read_listed(folder)[:limit]}


def read_collections(folder: Path, known: Sequence[str]) -> list[list[str]]:
    """The documents of each collection that the set names; one that is in none stands alone."""
    groups: dict[str, list[str]] = {}
    for one in read_listed(folder):
        if one.id in known:
            groups.setdefault(one.fields.get("collection") or one.id, []).append(one.id)
    return list(groups.values())


def read_questions(folder: Path, documents: Sequence[str], limit: int | None = None) -> list[Question]:
    """Questions with evidence in these documents; `limit` of them, drawn with a fixed seed."""
    known = set(documents)
    every = read_all(folder, [one.id for one in read_listed(folder)])
    found = [one for one in every if one.evidence and set(one.documents) <= known]
    return found if limit is None or len(found) <= limit else random.Random(1).sample(found, limit)


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95% bootstrap interval of the mean."""
    drawn = np.random.default_rng(1).choice(np.asarray(values), (1000, len(values)))
    low, high = np.percentile(drawn.mean(axis=1), [2.5, 97.5])
    return float(low), float(high)
