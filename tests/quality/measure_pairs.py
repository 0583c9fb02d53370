"""How an encoder should read a question beside its summaries: forms of h_t, none of them trained.

python tests/quality/measure_pairs.py SET... [--documents N] [--questions N]

R@5 of questions inside their one document, by vectors alone: its mean, and the paired difference to the
question by itself with its interval, in points. Each form reads the mindscape of the document, and First-K.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.conditioned import by_rank, gather, mindscape_of
from mindscape.ask.retrieve import retrieve
from mindscape.ask.signature import PASSAGES
from mindscape.evaluate.bootstrap import estimate
from mindscape.evaluate.legs import Asked, Searched
from mindscape.evaluate.library import Indexed
from mindscape.evaluate.metrics import recall
from mindscape.evaluate.sets import Question, read_document, read_listed, read_questions
from mindscape_models.bundle import open_bundle, shipped_folder
from mindscape_models.embedding import OnnxEmbedder
from mindscape_models.queries import EncoderQueries, Vectors, fused, unit
from mindscape_models.session import Ids, Session
from mindscape_models.tokeniser import Tokeniser
from mindscape_storage import documents
from mindscape_storage.records import Scope

STARTER = "all-minilm-l6-v2-int8"
DELTAS = (0.0, 0.5, 0.75)
DEPTH = 5


class OneWindow(EncoderQueries):
    """All summaries in one window, as far as they fit."""

    def _pairs(self, question: str, summaries: Sequence[str]) -> list[list[int]]:
        return super()._pairs(question, ["\n".join(summaries)])


class NoSeparator(EncoderQueries):
    """Question and summary as one text."""

    def _pairs(self, question: str, summaries: Sequence[str]) -> list[list[int]]:
        [end] = self._tokeniser.after
        pairs = super()._pairs(question, summaries)
        return [[*(number for number in ids[:-1] if number != end), end] for ids in pairs]


class TwoSegments(Session):
    """The summary is the encoder's second segment, as in the training of the model below the starter."""

    separator = 102

    def _feeds(self, ids: Ids, mask: Ids) -> dict[str, Ids]:
        ended = (ids == self.separator).cumsum(axis=1)
        pair = ended[:, -1:] == 2
        second = pair & (mask > 0) & ((ended == 2) | ((ended == 1) & (ids != self.separator)))
        return {**super()._feeds(ids, mask), "token_type_ids": second.astype(np.int64)}


class Form(OnnxEmbedder):
    """The starter with another way to read a pair."""

    def __init__(self, queries: type[EncoderQueries], session: type[Session] = Session) -> None:
        bundle = open_bundle(shipped_folder() / STARTER)
        assert bundle.encoder is not None
        tokeniser = Tokeniser(bundle.path(bundle.encoder.tokeniser))
        super().__init__(bundle, session(bundle.path(bundle.encoder.graph), device="cpu"), tokeniser)
        self._queries = queries(tokeniser, bundle.encoder)


def measured(
    library: Indexed, names: dict[str, str], questions: Sequence[Question], forms: dict[str, Form]
) -> Iterator[dict[str, float]]:
    """For each question R@5 by name of the way."""
    searched = Searched(library, names)
    [document] = documents.list_documents(library.conn)
    told = {"document": [one.text for one in mindscape_of(library.conn, Scope(document_id=document.id))]}
    for question in questions:
        text, vector = searched.ask(question.text)
        ranked = retrieve(library.conn, text, vector, library.encoder_id, PASSAGES, None)
        pool = gather(library.conn, ranked, library.encoder_id, len(vector), None)
        told["first"] = [one.text for one in by_rank(pool)]

        def found(vector: NDArray[np.float32], question: Question = question) -> float:
            near = searched.vector(Asked(question.text, vector), DEPTH)
            return recall(question.evidence, near)

        row = {"alone": found(vector)}
        for condition, summaries in told.items():
            states: dict[str, tuple[Vectors, Vectors]] = {
                name: form.query_states([text], [summaries]) for name, form in forms.items()
            }
            if summaries:
                mean = library.embedder.encode_passages(summaries).sum(axis=0, keepdims=True)
                states["summaries without the question"] = vector[None], unit(mean)
            for name, both in states.items():
                for delta in DELTAS:
                    row[f"{condition}, {name}, delta {delta}"] = found(fused(*both, delta)[0])
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--questions", type=int, default=12)
    options = parser.parse_args()
    forms = {
        "pairs (ships)": Form(EncoderQueries),
        "pairs, two segments": Form(EncoderQueries, TwoSegments),
        "pairs, no separator": Form(NoSeparator),
        "one window": Form(OneWindow),
    }
    for folder in options.sets:
        drawing = random.Random(3)
        listed = read_listed(folder)
        asked: defaultdict[str, list[Question]] = defaultdict(list)
        for question in read_questions(folder, [one.id for one in listed]):
            if len(question.documents) == 1 and question.evidence:
                asked[question.documents[0]].append(question)
        found: defaultdict[str, list[float]] = defaultdict(list)
        clusters: list[str] = []
        chosen = drawing.sample([one for one in listed if one.id in asked], options.documents)
        for one in chosen:
            few = drawing.sample(asked[one.id], min(options.questions, len(asked[one.id])))
            with tempfile.TemporaryDirectory() as work:
                files = [(f"/{one.id}", read_document(one))]
                library = Indexed(Path(work) / "library.db", files, forms["pairs (ships)"])
                for row in measured(library, {f"/{one.id}": one.id}, few, forms):
                    clusters.append(one.id)
                    for name, value in row.items():
                        found[name].append(value)
                library.close()
        print(f"\n{folder.name}: {len(clusters)} questions\n")
        print(f"| way | R@{DEPTH} | against alone |\n|---|---|---|")
        for name, values in found.items():
            gains = [value - alone for value, alone in zip(values, found["alone"], strict=True)]
            gain = estimate(gains, clusters, seed=0)
            shown = f"{100 * gain.value:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"
            print(f"| {name} | {100 * np.mean(values):.1f} | {shown} |")


if __name__ == "__main__":
    main()
