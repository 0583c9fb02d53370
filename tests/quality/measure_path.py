"""Gold evidence found by each leg, by their fusions, and by what ships; the trees are real.

python tests/quality/measure_path.py SET... [--documents N] [--questions N] [--vectors FILE]
                                     [--collections | --library]

R@K is the share of gold spans that the first K cover, which one passage does, however long the span is. For
gold longer than a passage: gold@K is the share of the passages covering it that are among the first K, norm@K
the share of its characters inside the first K, of what the best K passages of the index would hold.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.quality.library import Indexed, indexed_set
from tests.quality.sets import Question, Span, interval, options, recall

from mindscape.ask.language import keywords
from mindscape.ask.retrieve import POOL, retrieve
from mindscape_storage import contents, documents, search

DEPTHS = (3, 10)
RRF = 60
SHIPS = "around"
Asked = tuple[str, NDArray[np.float32]]
"""A question and its vector (d,)."""
Way = Callable[[Indexed, Asked], list[int]]
"""Question to passage ids, best first."""


def by_words(library: Indexed, asked: Asked) -> list[int]:
    return [hit.passage_id for hit in search.words(library.conn, keywords(asked[0]), POOL)]


def by_vector(library: Indexed, asked: Asked) -> list[int]:
    return [hit.passage_id for hit in search.nearest(library.conn, library.encoder_id, asked[1], POOL)]


def by_ranks(library: Indexed, asked: Asked) -> list[int]:
    """Reciprocal-rank fusion."""
    scores: defaultdict[int, float] = defaultdict(float)
    for way in (by_words, by_vector):
        for rank, id_ in enumerate(way(library, asked), 1):
            scores[id_] += 1 / (RRF + rank)
    return sorted(scores, key=lambda id_: (-scores[id_], id_))


def by_sums(library: Indexed, asked: Asked) -> list[int]:
    """What ships, were nothing around the passages."""
    ranked = retrieve(library.conn, *asked, library.encoder_id, max(DEPTHS), None, ancestors=False)
    return [one.passage_id for one in ranked]


def by_paths(library: Indexed, asked: Asked) -> list[int]:
    """What `search` and `ask` do."""
    ranked = retrieve(library.conn, *asked, library.encoder_id, max(DEPTHS), None)
    return [one.passage_id for one in ranked]


WAYS: dict[str, Way] = {
    "words": by_words,
    "vector": by_vector,
    "rrf": by_ranks,
    "sum": by_sums,
    SHIPS: by_paths,
}


def main() -> None:
    """Measure every set given."""
    given = options(__doc__, library="one index over all documents of a set", collections=True)
    for folder in given.sets:
        measure(folder, given)


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Print a table for one set."""
    found: dict[str, list[list[float]]] = {name: [] for name in WAYS}
    documents_asked = 0
    for library, questions in indexed_set(folder, given):
        passages = _all_spans(library)
        documents_asked += len(passages)
        for one in questions:
            asked = one.text, library.embedder.encode_queries([one.text])[0]
            for name, way in WAYS.items():
                found[name].append(_shares(library, way(library, asked), one, passages))
    what = "library" if given.library else f"one index a {'collection' if given.collections else 'document'}"
    print(f"\n{folder.name}, {what}, {documents_asked} documents, {len(found[SHIPS])} questions")
    _print(found)


def _print(found: dict[str, list[list[float]]]) -> None:
    """Each way's shares, and by how much what ships is ahead of it on the same questions."""
    titles = [f"{what}@{k}" for what in ("R", "gold", "norm") for k in DEPTHS]
    ships = np.array(found[SHIPS])
    for name, rows in found.items():
        for what, values in ((name, np.array(rows)), (f"  {SHIPS} - {name}", ships - np.array(rows))):
            if what.strip() != f"{SHIPS} - {SHIPS}":
                cells = "   ".join(f"{t} {_cell(column)}" for t, column in zip(titles, values.T, strict=True))
                print(f"  {what:22}{cells}")


def _shares(
    library: Indexed, ids: Sequence[int], question: Question, passages: dict[str, list[tuple[int, int]]]
) -> list[float]:
    spans = _spans(library, ids[: max(DEPTHS)])
    gold = _merged(question.evidence)
    held = [_inside(gold, span) for span in spans]
    every = [(id_, *span) for id_ in question.documents for span in passages[id_]]
    best = sorted((_inside(gold, span) for span in every), reverse=True)
    covering = {span for span in every if recall(question.evidence, [span]) > 0}
    return [
        *(recall(question.evidence, spans[:k]) for k in DEPTHS),
        *(len(covering.intersection(spans[:k])) / max(1, len(covering)) for k in DEPTHS),
        *(sum(held[:k]) / max(1, sum(best[:k])) for k in DEPTHS),
    ]


def _merged(spans: Sequence[Span]) -> list[Span]:
    """The same characters, each in one span."""
    merged: list[Span] = []
    for id_, start, end in sorted(spans):
        if merged and merged[-1][0] == id_ and start <= merged[-1][2]:
            merged[-1] = id_, merged[-1][1], max(end, merged[-1][2])
        else:
            merged.append((id_, start, end))
    return merged


def _inside(gold: Sequence[Span], span: Span) -> int:
    """Characters of a passage that are gold."""
    return sum(max(0, min(one[2], span[2]) - max(one[1], span[1])) for one in gold if one[0] == span[0])


def _all_spans(library: Indexed) -> dict[str, list[tuple[int, int]]]:
    """Start and end of every passage, by document."""
    spans: dict[str, list[tuple[int, int]]] = {}
    for one in documents.list_documents(library.conn):
        assert one.content_id is not None
        held = contents.passages_of(library.conn, one.content_id)
        spans[one.display[1:]] = [(passage.start, passage.end) for passage in held]
    return spans


def _spans(library: Indexed, ids: Sequence[int]) -> list[Span]:
    passages = contents.passages_by_id(library.conn, ids)
    owner = {
        one.content_id: documents.documents_of_content(library.conn, one.content_id)[0].display[1:]
        for one in passages.values()
    }
    return [(owner[p.content_id], p.start, p.end) for p in (passages[id_] for id_ in ids)]


def _cell(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{100 * np.mean(values):5.1f} [{100 * low:.1f}, {100 * high:.1f}]"


if __name__ == "__main__":
    main()
