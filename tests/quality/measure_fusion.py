"""Recall of each leg and of their fusions, one index a document and one over all of a set.

python tests/quality/measure_fusion.py SET... [--documents N] [--questions N] [--vectors FILE] [--library]
"""

from __future__ import annotations

import argparse
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from tests.quality.library import Indexed, open_remembering
from tests.quality.sets import Question, Span, interval, options, read_documents, read_questions, recall

from mindscape.ask.retrieve import POOL, retrieve
from mindscape_storage import contents, documents, search

DEPTHS = (3, 10)
RRF = 60
Way = Callable[[Indexed, str], list[int]]
"""Question to passage ids, best first."""


def by_words(library: Indexed, question: str) -> list[int]:
    return [hit.passage_id for hit in search.words(library.conn, question, POOL)]


def by_vector(library: Indexed, question: str) -> list[int]:
    vector = library.embedder.encode_queries([question])[0]
    return [hit.passage_id for hit in search.nearest(library.conn, library.encoder_id, vector, POOL)]


def by_ranks(library: Indexed, question: str) -> list[int]:
    """Reciprocal-rank fusion."""
    scores: defaultdict[int, float] = defaultdict(float)
    for way in (by_words, by_vector):
        for rank, id_ in enumerate(way(library, question), 1):
            scores[id_] += 1 / (RRF + rank)
    return sorted(scores, key=lambda id_: (-scores[id_], id_))


def by_sums(library: Indexed, question: str) -> list[int]:
    """What `search` and `ask` do."""
    vector = library.embedder.encode_queries([question])[0]
    ranked = retrieve(library.conn, question, vector, library.encoder_id, max(DEPTHS), None)
    return [one.passage_id for one in ranked]


WAYS: dict[str, Way] = {"words": by_words, "vector": by_vector, "rrf": by_ranks, "sum": by_sums}


def main() -> None:
    """Measure every set given."""
    given = options(__doc__, library="one index over all documents of a set")
    for folder in given.sets:
        measure(folder, given)


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Print a table for one set."""
    texts = read_documents(folder, given.documents)
    questions = read_questions(folder, list(texts), given.questions)
    with tempfile.TemporaryDirectory() as temporary:
        embedder = open_remembering(given.vectors or Path(temporary) / "vectors.npz")
        groups = [list(texts)] if given.library else [[id_] for id_ in texts]
        found: dict[str, list[list[float]]] = {name: [] for name in WAYS}
        for number, group in enumerate(groups):
            mine = [one for one in questions if set(one.documents) <= set(group)]
            if not mine:
                continue
            files = [(f"/{id_}", texts[id_]) for id_ in group]
            library = Indexed(Path(temporary) / f"{number}.db", files, embedder)
            for name, way in WAYS.items():
                found[name] += [_recalls(library, way, one) for one in mine]
            library.close()
        embedder.save()
    what = "library" if given.library else "one index a document"
    print(f"\n{folder.name}, {what}, {len(questions)} questions")
    for name, rows in found.items():
        cells = [_cell([row[at] for row in rows]) for at in range(len(DEPTHS))]
        print(f"  {name:8}" + "   ".join(f"R@{k} {cell}" for k, cell in zip(DEPTHS, cells, strict=True)))


def _recalls(library: Indexed, way: Way, question: Question) -> list[float]:
    ids = way(library, question.text)[: max(DEPTHS)]
    spans = _spans(library, ids)
    return [recall(question.evidence, spans[:k]) for k in DEPTHS]


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
