"""What a question is conditioned on, from a real library: its pool and signature, a document's mindscape."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.ask.library import Library, grow

from mindscape.ask.conditioned import UNDER, Gathered, Told, by_coverage, by_rank, gather, mindscape_of
from mindscape.ask.retrieve import Ranked, retrieve
from mindscape.daemon.tree import view_of
from mindscape.ingest.passages import count_tokens
from mindscape_models.fake import FakeEmbedder
from mindscape_storage import contents, documents, vectors
from mindscape_storage.records import Document, Passage, Scope

WORDS = "mill tide wheel gate sluice eel lamp stone fog ferry quay bell"
BOOK, NOTE, COPY = "/books/mill.md", "/notes/ferry.md", "/copies/mill.md"
PASSAGES = [
    f"{word} number {at} of the {WORDS.split()[at % 7]}. " for at, word in enumerate(WORDS.split() * 10)
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    """A book of 120 passages twice, and a short note; each summary is the beginning of what it tells."""
    files = {BOOK: PASSAGES, NOTE: ["The ferry leaves at nineteen to twelve. "], COPY: PASSAGES}
    made = Library(tmp_path_factory.mktemp("library") / "library.db", files, FakeEmbedder())
    grow(made.conn, lambda texts: f"{len(texts)} parts, from {texts[0]}")
    yield made
    made.close()


def document(library: Library, path: str) -> Document:
    found = documents.find_document(library.conn, path.encode())
    assert found is not None
    return found


def passages(library: Library, path: str) -> list[Passage]:
    content = document(library, path).content_id
    assert content is not None
    return list(contents.passages_of(library.conn, content))


def ranked(passages: list[Passage]) -> list[Ranked]:
    return [Ranked(one.id, -float(at)) for at, one in enumerate(passages)]


def gathered(library: Library, found: list[Passage], scope: Scope | None = None) -> Gathered:
    return gather(library.conn, ranked(found), library.encoder_id, library.embedder.dimensions, scope)


def span(library: Library, told: Told) -> tuple[int, int]:
    """Where a node stands that is called as readers call it, and says what it says there."""
    view = view_of(library.conn, told.id)
    assert view.told.text == told.text
    return view.start, view.end


def test_each_passage_is_told_by_the_highest_node_over_few_enough(library: Library) -> None:
    found = passages(library, BOOK)[::-3]
    pool = gathered(library, found)
    assert len(pool.over) == len(pool.vectors) == len(found)
    for passage, place in zip(found, pool.over, strict=True):
        start, end = span(library, pool.told[place])
        assert start <= passage.start
        assert passage.end <= end
        below = [one for one in passages(library, BOOK) if start <= one.start < end]
        assert len(below) <= UNDER
    assert list(dict.fromkeys(pool.over)) == list(range(len(pool.told)))
    assert len({one.id for one in pool.told}) == len(pool.told) > 1


def test_a_short_document_is_told_by_its_own_summary(library: Library) -> None:
    pool = gathered(library, passages(library, NOTE))
    assert [one.id for one in pool.told] == [f"d{document(library, NOTE).id}"]
    assert pool.over == [0]


def test_only_fifty_passages_count(library: Library) -> None:
    pool = gathered(library, passages(library, BOOK))
    assert len(pool.over) == 50


def test_a_node_is_called_by_the_document_that_is_asked_about(library: Library) -> None:
    found = passages(library, BOOK)[:3]
    for path in (BOOK, COPY):
        holder = document(library, path)
        (told,) = gathered(library, found, Scope(prefix=path.encode())).told
        assert told.id.split(".")[0] == f"d{holder.id}"


def test_of_a_book_read_to_a_bookmark_no_node_tells_more(library: Library) -> None:
    every = passages(library, BOOK)
    for upto in (every[20].end, every[70].end - 1):
        scope = Scope(document_id=document(library, BOOK).id, upto=upto)
        read = [one for one in every if one.end <= upto]
        pool = gathered(library, read[:50], scope)
        assert pool.told
        for told in (*pool.told, *mindscape_of(library.conn, scope)):
            assert span(library, told)[1] <= upto


def test_before_the_end_of_the_first_node_there_is_nothing_to_tell(library: Library) -> None:
    scope = Scope(document_id=document(library, BOOK).id, upto=passages(library, BOOK)[0].end)
    assert gathered(library, passages(library, BOOK)[:1], scope).told == []
    assert mindscape_of(library.conn, scope) == []


def test_nodes_that_say_the_same_are_one(tmp_path: Path) -> None:
    files = {BOOK: PASSAGES, NOTE: ["The ferry leaves at nineteen to twelve. "]}
    library = Library(tmp_path / "library.db", files, FakeEmbedder())
    try:
        before = gathered(library, passages(library, BOOK))
        assert before.told == before.over == []
        assert before.vectors.shape == (0, library.embedder.dimensions)
        grow(library.conn)
        pool = gathered(library, [*passages(library, BOOK)[:40], *passages(library, NOTE)])
        assert [one.text for one in pool.told] == ["A summary."]
        assert pool.over == [0] * 41
    finally:
        library.close()


def test_without_a_tree_a_document_has_no_mindscape(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.db", {BOOK: PASSAGES}, FakeEmbedder())
    try:
        assert mindscape_of(library.conn, Scope(document_id=document(library, BOOK).id)) == []
        assert mindscape_of(library.conn, Scope(document_id=999)) == []
    finally:
        library.close()


@pytest.mark.parametrize("budget", [1, 60, 200, 1000])
def test_the_mindscape_of_a_document_tiles_it_within_a_budget(library: Library, budget: int) -> None:
    scope = Scope(document_id=document(library, BOOK).id)
    told = mindscape_of(library.conn, scope, budget)
    assert sum(count_tokens(one.text) for one in told) <= budget
    spans = [span(library, one) for one in told]
    if budget > 1:
        every = passages(library, BOOK)
        assert [start for start, _ in spans] == [0, *(end for _, end in spans[:-1])]
        assert spans[-1][1] == every[-1].end
    assert (len(told) > 1) == (budget >= 200)


def test_the_signature_is_at_most_five_of_the_pool(library: Library) -> None:
    question = library.embedder.encode_queries(["the fog and the ferry bell"])[0]
    found = retrieve(library.conn, "the fog and the ferry bell", question, library.encoder_id, 50, None)
    pool = gather(library.conn, found, library.encoder_id, library.embedder.dimensions, None)
    encoded = library.embedder.encode_passages([one.text for one in pool.told])
    for chosen in (by_coverage(pool, question, encoded), by_rank(pool)):
        assert len(chosen) == len(set(chosen)) == min(5, len(pool.told)) > 1
        assert set(chosen) <= set(pool.told)
    assert by_rank(pool) == pool.told[:5]


def test_a_passage_that_is_not_embedded_yet_covers_nothing(tmp_path: Path) -> None:
    library = Library(tmp_path / "library.db", {NOTE: ["The ferry leaves at noon. "]}, FakeEmbedder())
    try:
        grow(library.conn)
        found = ranked(passages(library, NOTE))
        other = vectors.encoder_id(library.conn, "another", 4)
        pool = gather(library.conn, found, other, 4, None)
        assert pool.vectors.tolist() == [[0.0] * 4]
        assert by_coverage(pool, np.eye(4, dtype=np.float32)[0], np.eye(4, dtype=np.float32)[:1]) == pool.told
    finally:
        library.close()
