"""What questions are conditioned on when a set is measured: in the leg `conditioned`, and in what ships."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mindscape.evaluate.answers import Asking, conditioning
from mindscape.evaluate.conditions import CONDITIONS, Conditions
from mindscape.evaluate.legs import DEFAULT, Searched, Way
from mindscape.evaluate.library import Indexed
from mindscape.evaluate.sets import Question
from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Source
from mindscape_models.embedding import Task, Vectors
from mindscape_models.fake import FakeEmbedder
from tests.evaluate.made import BOOK, CHAPTERS

QUESTION = "Who set the last stone of the wall?"


class Recording(FakeEmbedder):
    """Knows beside what questions were encoded, and how many summaries were encoded for it."""

    def __init__(self) -> None:
        super().__init__()
        self.beside: list[list[str]] = []

    def encode_queries(
        self,
        questions: Sequence[str],
        mindscapes: Sequence[Sequence[str]] | None = None,
        task: Task = "passage",
    ) -> Vectors:
        self.beside += [[*one] for one in mindscapes or ()]
        return super().encode_queries(questions, mindscapes, task)

    def query_states(
        self, questions: Sequence[str], mindscapes: Sequence[Sequence[str]], task: Task = "passage"
    ) -> tuple[Vectors, Vectors]:
        self.beside += [[*one] for one in mindscapes]
        return super().query_states(questions, mindscapes, task)


@pytest.fixture(params=[1, 3], ids=["one document", "three documents"])
def library(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Indexed]:
    files = [BOOK / name for name in CHAPTERS.values()][: request.param]
    made = Indexed(
        tmp_path / "library.db",
        [(f"/{file.name}", parse(Source(file, file.read_bytes()))) for file in files],
        Recording(),
    )
    yield made
    made.close()


def beside(library: Indexed) -> list[list[str]]:
    assert isinstance(library.embedder, Recording)
    return library.embedder.beside


def test_each_condition_is_what_it_is_called_and_read_once_for_all_weights(library: Indexed) -> None:
    vector = library.embedder.encode_queries([QUESTION])[0]
    conditions = Conditions(library)
    for condition in CONDITIONS:
        for alpha in (0.0, 0.5, 1.0):
            conditions.query(QUESTION, vector, condition, alpha)
    document, coverage, first = beside(library)
    several = library.only is None
    assert (document == []) is several
    assert 0 < len(coverage) == len(first) <= 5
    assert len(set(coverage)) == len(coverage)


def test_what_ships_is_conditioned_where_the_embedder_takes_that_in(library: Indexed) -> None:
    names = {f"/{name}": id_ for id_, name in CHAPTERS.items()}
    for takes in (None, conditioning(library.embedder)):
        searched = Searched(library, names, takes)
        found = searched.find(Way(DEFAULT), searched.ask(QUESTION), 5)
        answer = Asking(library, "passages", None, takes).mark(Question(QUESTION, ("wall",)))
        assert len(found) == 5
        assert answer.said[0].answered
    # The search and the answer, each once, both beside the same.
    search, asked = beside(library)
    assert search == asked != []
