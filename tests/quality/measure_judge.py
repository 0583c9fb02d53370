"""How often an answerable question is refused, and one asked of the wrong documents is.

    python tests/quality/measure_judge.py SET... [--documents N] [--questions N] [--vectors FILE] [--library]

One index a document: each question is asked of its own document and of another. With --library: of the half
of the set that holds its document, and of the other half.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.quality.library import Indexed, open_remembering
from tests.quality.sets import Question, options, read_documents, read_questions

from mindscape.ask.evidence import load, rarity
from mindscape.ask.judge import features, is_answerable
from mindscape.ask.pipeline import RETRIEVED
from mindscape.ask.retrieve import retrieve


def main() -> None:
    """Measure every set given."""
    given = options(__doc__, library="two halves of the set instead of single documents")
    for folder in given.sets:
        measure(folder, given)


def measure(folder: Path, given: argparse.Namespace) -> None:
    """Print four lines for one set: with and without vectors."""
    texts = read_documents(folder, given.documents)
    questions = read_questions(folder, list(texts), given.questions)
    names = list(texts)
    groups = [names[::2], names[1::2]] if given.library else [[name] for name in names]
    answered: defaultdict[tuple[bool, bool], list[bool]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as temporary:
        embedder = open_remembering(given.vectors or Path(temporary) / "vectors.npz")
        for number, group in enumerate(groups):
            library = Indexed(
                Path(temporary) / f"{number}.db", [(f"/{n}", texts[n]) for n in group], embedder
            )
            own = [one for one in questions if set(one.documents) <= set(group)]
            others = [one for one in questions if not set(one.documents) & set(group)]
            # As many of others as of its own, so that every document counts alike on both sides.
            drawn = random.Random(number).sample(others, min(len(own), len(others)))
            for vectors in (True, False):
                answered[True, vectors] += [is_answered(library, one, vectors) for one in own]
                answered[False, vectors] += [is_answered(library, one, vectors) for one in drawn]
            library.close()
        embedder.save()
    print(f"\n{folder.name}, {'halves of the library' if given.library else 'one index a document'}")
    for vectors in (True, False):
        refused, caught = (_refused(answered[own, vectors]) for own in (True, False))
        print(
            f"  {'words and vectors' if vectors else 'words only':18}answerable refused {refused:5.1%} of "
            f"{len(answered[True, vectors])}, others refused {caught:5.1%} of {len(answered[False, vectors])}"
        )


def is_answered(library: Indexed, question: Question, vectors: bool) -> bool:
    """Whether the judge lets the library answer the question."""
    vector = library.embedder.encode_queries([question.text])[0] if vectors else None
    encoder = library.encoder_id if vectors else None
    ranked = retrieve(library.conn, question.text, vector, encoder, RETRIEVED, None)
    weights = rarity(library.conn, question.text)
    return is_answerable(features(question.text, load(library.conn, ranked), weights))


def _refused(values: Sequence[bool]) -> float:
    return values.count(False) / max(len(values), 1)


if __name__ == "__main__":
    main()
