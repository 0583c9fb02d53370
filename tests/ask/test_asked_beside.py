"""Questions searched for a second time, beside what they are about: with what, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.ask.library import Library, grow

from mindscape.ask.conditioning import Conditioning
from mindscape.ask.pipeline import BookmarkFn, ask
from mindscape.ask.retrieve import retrieve
from mindscape.errors import Cancelled, MindscapeError
from mindscape.protocol import Json
from mindscape_models.fake import FakeEmbedder
from mindscape_models.queries import fused
from mindscape_storage import documents
from mindscape_storage.database import Connection
from mindscape_storage.records import Document

FERRY, MILL = "/notes/ferry.md", "/books/mill.md"
FILES = {
    FERRY: [
        "The ferry leaves Norrby at 7:40 every morning. ",
        "Captain Lindqvist bought the ferry in 1987. ",
    ],
    MILL: [f"The mill, part {number}: the miller turns the wheel of the tide mill. " for number in range(90)],
}
QUESTION = "Who bought the ferry in 1987?"


class Desk:
    """What the daemon supplies, with an encoder that counts what it is asked."""

    def __init__(self, library: Library, error: Exception | None = None) -> None:
        self.library, self._error = library, error
        self.encoded: list[str] = []
        self.mindscapes: list[list[str]] = []
        self.reads = 0

    async def read(self, work: Any) -> Any:
        self.reads += 1
        return work(self.library.conn)

    async def embed(self, texts: list[str]) -> NDArray[np.float32]:
        return self.library.embedder.encode_queries(texts)

    async def encode(self, texts: list[str]) -> NDArray[np.float32]:
        self.encoded += texts
        return self.library.embedder.encode_passages(texts)

    async def condition(self, questions: list[str], mindscapes: list[list[str]]) -> NDArray[np.float32]:
        if self._error is not None:
            raise self._error
        self.mindscapes += mindscapes
        return fused(*self.library.embedder.query_states(questions, mindscapes), delta=0.5)

    async def ask(
        self,
        question: str,
        *,
        scope: str | None = None,
        upto: BookmarkFn | None = None,
        conditioned: bool = True,
    ) -> Json:
        return await ask(
            question,
            scope=scope,
            mode="auto",
            read=self.read,
            embed_query=self.embed,
            encoder_id=self.library.encoder_id,
            writer=None,
            emit=lambda _: None,
            upto=upto,
            conditioning=Conditioning(self.encode, self.condition) if conditioned else None,
        )


def summary(texts: Sequence[str]) -> str:
    return f"{len(texts)} parts. {texts[0]}"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "library.db", FILES, FakeEmbedder())
    grow(made.conn, summary)
    yield made
    made.close()


def document(library: Library, path: str) -> str:
    found = documents.find_document(library.conn, path.encode())
    assert found is not None
    return f"d{found.id}"


def stages(result: Json) -> list[str]:
    return [entry["stage"] for entry in result["ledger"]]


async def test_a_question_of_the_library_is_conditioned_on_the_signature_it_induces(library: Library) -> None:
    desk = Desk(library)
    result = await desk.ask(QUESTION)
    assert document(library, FERRY) in result["signature"]
    assert len(result["signature"]) == len(desk.mindscapes[0]) <= 5
    assert set(desk.mindscapes[0]) <= set(desk.encoded)
    assert result["coverage"]["legs"] == ["words", "vector", "conditioned"]
    assert "signature" in stages(result)
    assert result["citations"][0]["quote"] == "Captain Lindqvist bought the ferry in 1987."


async def test_a_question_of_one_document_is_conditioned_on_its_mindscape(library: Library) -> None:
    desk = Desk(library)
    result = await desk.ask("What does the miller turn?", scope=MILL)
    assert {one.split(".")[0] for one in result["signature"]} == {document(library, MILL)}
    # The cut through the tree needs no vectors, and is more than five.
    assert desk.encoded == []
    assert len(desk.mindscapes[0]) == len(result["signature"]) > 5


async def test_of_a_book_read_to_a_bookmark_only_that_is_told(library: Library) -> None:
    mill = documents.find_document(library.conn, MILL.encode())
    assert mill is not None

    def bookmark(conn: Connection) -> tuple[Document, int]:
        return mill, 30 * len(FILES[MILL][0])

    desk = Desk(library)
    await desk.ask("What does the miller turn?", upto=bookmark)
    assert desk.mindscapes
    assert not any(f"part {number}:" in text for text in desk.mindscapes[0] for number in range(30, 90))


async def test_each_part_of_a_question_has_a_signature_of_its_own(library: Library) -> None:
    desk = Desk(library)
    result = await desk.ask("Who bought the ferry in 1987? And what does the miller turn?")
    assert len(desk.mindscapes) == 2
    assert len(result["signature"]) == len(set(result["signature"]))


async def test_without_conditioning_nothing_is_read_or_encoded_for_it(library: Library) -> None:
    desk = Desk(library)
    alone = await desk.ask(QUESTION, conditioned=False)
    reads = desk.reads
    await desk.ask(QUESTION)
    assert desk.reads == 2 * reads + 1
    assert alone["signature"] == []
    assert alone["coverage"]["legs"] == ["words", "vector"]
    assert "signature" not in stages(alone)


async def test_before_there_are_summaries_the_question_stands_alone_and_that_is_said(tmp_path: Path) -> None:
    bare = Library(tmp_path / "library.db", FILES, FakeEmbedder())
    try:
        desk = Desk(bare)
        for scope in (None, MILL):
            result = await desk.ask(QUESTION, scope=scope)
            assert result["signature"] == []
            assert result["coverage"]["legs"] == ["words", "vector"]
            assert any("nothing here is summarised yet" in note for note in result["coverage"]["notes"])
        assert desk.mindscapes == []
    finally:
        bare.close()


async def test_an_encoder_that_fails_costs_the_signature_and_not_the_answer(library: Library) -> None:
    result = await Desk(library, MindscapeError("The engine ended.")).ask(QUESTION)
    assert result["answered"] is True
    assert result["signature"] == []
    assert any("could not be encoded" in note for note in result["coverage"]["notes"])
    (entry,) = [entry for entry in result["ledger"] if entry["stage"] == "signature"]
    assert entry["failed"] is True
    with pytest.raises(Cancelled):
        await Desk(library, Cancelled("Stopped.")).ask(QUESTION)


def test_a_leg_that_knows_nothing_else_makes_nothing_worse(library: Library) -> None:
    vector = library.embedder.encode_queries([QUESTION])[0]
    alone = retrieve(library.conn, QUESTION, vector, library.encoder_id, 1, None)
    both = retrieve(library.conn, QUESTION, vector, library.encoder_id, 1, None, conditioned=vector)
    assert [one.passage_id for one in both] == [one.passage_id for one in alone]
    assert both[0].legs["conditioned"] == both[0].legs["vector"]


def test_a_vector_beside_something_else_finds_what_the_question_alone_does_not(library: Library) -> None:
    question, beside = library.embedder.encode_queries(["qqq", "Captain Lindqvist"])
    found = retrieve(library.conn, "qqq", question, library.encoder_id, 1, None, conditioned=beside)
    assert "conditioned" in found[0].legs
    alone = retrieve(library.conn, "qqq", question, library.encoder_id, 1, None)
    assert found[0].passage_id != alone[0].passage_id
