"""From a question to ranked passages and to the results of a search, over a real library in a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ask.library import Library, grow

from mindscape.ask.evidence import coverage, load, rarity, search_results
from mindscape.ask.language import stem
from mindscape.ask.retrieve import MAX_QUESTION, Ranked, resolve_scope, retrieve, shorten
from mindscape.errors import NotFound, UsageError
from mindscape_models.fake import FakeEmbedder
from mindscape_storage import contents, paths
from mindscape_storage.database import Connection
from mindscape_storage.records import Scope

FILES = {
    "/notes/ferry.md": ["The ferry leaves Norrby at 7:40.", "Captain Lindqvist bought the ferry in 1987."],
    "/notes/people/lindqvist.md": ["Lindqvist keeps bees behind the church."],
    "/notes/copy of ferry.md": [
        "The ferry leaves Norrby at 7:40.",
        "Captain Lindqvist bought the ferry in 1987.",
    ],
    "/notes/渡轮.md": ["渡轮早上七点四十分离开北村。"],
    "/books/honey.txt": ["Honey is made by bees.", "The ferry leaves Norrby at 7:40."],
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    made = Library(tmp_path_factory.mktemp("library") / "library.db", FILES, FakeEmbedder())
    yield made
    made.close()


def find(
    library: Library, question: str, k: int = 5, scope: str | None = None, vectors: bool = True
) -> list[Ranked]:
    vector = library.embedder.encode_queries([question])[0] if vectors else None
    encoder = library.encoder_id if vectors else None
    return retrieve(library.conn, question, vector, encoder, k, resolve_scope(library.conn, scope))


def texts(library: Library, ranked: list[Ranked]) -> list[str]:
    return [source.passage.text for source in load(library.conn, ranked)]


def test_the_passage_that_answers_comes_first(library: Library) -> None:
    assert (
        texts(library, find(library, "Who bought the ferry?"))[0]
        == "Captain Lindqvist bought the ferry in 1987."
    )


def test_words_alone_will_do(library: Library) -> None:
    found = find(library, "bees and honey", vectors=False)
    assert texts(library, found)[0] == "Honey is made by bees."
    assert set(found[0].legs) <= {"words", "names"}


def test_chinese_is_found_by_its_characters(library: Library) -> None:
    assert texts(library, find(library, "渡轮几点离开？"))[0] == FILES["/notes/渡轮.md"][0]


def test_a_document_is_found_by_its_name(library: Library) -> None:
    best = load(library.conn, find(library, "the lindqvist note"))[0]
    assert best.document.display == "/notes/people/lindqvist.md"


def test_a_text_that_stands_in_three_files_is_one_result_naming_the_others(library: Library) -> None:
    results = search_results(library.conn, find(library, "when does the ferry leave Norrby"))
    same = [one for one in results if one["text"] == "The ferry leaves Norrby at 7:40."]
    assert len(same) == 1
    paths = {same[0]["document"]["path"], *(other["path"] for other in same[0]["also"])}
    assert paths == {"/notes/ferry.md", "/notes/copy of ferry.md", "/books/honey.txt"}


def test_results_have_the_shape_of_a_search(library: Library) -> None:
    result = search_results(library.conn, find(library, "bees"))[0]
    assert set(result) == {
        *("rank", "score", "passage_id", "document", "also", "start", "end"),
        *("page", "line", "heading", "text", "legs"),
    }
    assert result["rank"] == 1
    assert set(result["document"]) == {"id", "path", "title"}
    assert result["end"] - result["start"] == len(result["text"])


@pytest.mark.parametrize(
    ("scope", "holds"),
    [
        ("/books", "Honey is made by bees."),
        ("/books/", "Honey is made by bees."),
        ("people", "Lindqvist keeps bees behind the church."),
        ("lindqvist.md", "Lindqvist keeps bees behind the church."),
    ],
)
def test_a_scope_limits_the_search(library: Library, scope: str, holds: str) -> None:
    assert texts(library, find(library, "bees", scope=scope))[0] == holds
    assert len(load(library.conn, find(library, "bees", scope=scope))) <= 2


def test_a_result_in_a_scope_names_the_document_inside_it(library: Library) -> None:
    found = search_results(
        library.conn, find(library, "ferry Norrby", scope="/books"), resolve_scope(library.conn, "/books")
    )
    assert found[0]["document"]["path"] == "/books/honey.txt"


def test_a_scope_that_is_not_there_is_said(library: Library) -> None:
    with pytest.raises(NotFound, match="mindscape ls"):
        resolve_scope(library.conn, "no such folder")
    with pytest.raises(NotFound):
        resolve_scope(library.conn, "9" * 30)


def test_a_scope_that_names_several_documents_is_refused() -> None:
    with pytest.raises(UsageError, match="write more of it"):
        resolve_scope_twice()


def resolve_scope_twice() -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        made = Library(Path(folder) / "l.db", {"/a/x.md": ["One."], "/b/x.md": ["Two."]}, FakeEmbedder())
        try:
            resolve_scope(made.conn, "x.md")
        finally:
            made.close()


def test_coverage_says_which_legs_were_used(library: Library) -> None:
    with_vectors = coverage(library.conn, library.encoder_id, has_vector=True)
    assert with_vectors == {
        "documents": 5,
        "behind": 0,
        "without_text": 0,
        "legs": ["words", "vector"],
        "notes": [],
    }
    words_only = coverage(library.conn, None, has_vector=False)
    assert words_only["legs"] == ["words"]
    assert words_only["notes"] == ["Searched by words only: no embedder answered."]


def test_rare_words_weigh_more(library: Library) -> None:
    weights = rarity(library.conn, "Does the ferry carry honey?")
    assert weights[stem("honey")] > weights["ferri"]


@given(st.text(max_size=60), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_any_text_is_a_question(library: Library, question: str, k: int) -> None:
    for vectors in (False, bool(question.strip())):
        found = find(library, question, k, vectors=vectors)
        assert len(found) <= k
        assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_a_pasted_book_is_shortened_at_a_space() -> None:
    assert shorten("short") == "short"
    assert len(shorten("word " * 20_000)) <= MAX_QUESTION
    assert shorten("word " * 20_000).endswith("word")
    assert len(shorten("渡" * 20_000)) == MAX_QUESTION


def test_an_empty_library_finds_nothing(tmp_path: Path) -> None:
    made = Library(tmp_path / "library.db", {}, FakeEmbedder())
    assert find(made, "anything") == []
    assert_connection(made.conn)
    made.close()


def assert_connection(conn: Connection) -> None:
    assert coverage(conn, None, has_vector=False)["documents"] == 0


def test_a_passage_of_white_space_is_not_a_result(tmp_path: Path) -> None:
    made = Library(tmp_path / "library.db", {"/a.md": ["The ferry is blue.", " \n" * 500]}, FakeEmbedder())
    assert texts(made, find(made, "What is blue?")) == ["The ferry is blue."]
    made.close()


def test_a_result_is_placed_where_the_words_of_the_query_stand(tmp_path: Path) -> None:
    made = Library(tmp_path / "library.db", {"/a.md": ["The mill.\nThe weir.\nThe heron.\n"]}, FakeEmbedder())
    lines = {
        query: search_results(made.conn, find(made, query, vectors=False), None, query)[0]["line"]
        for query in ("heron", "where is the weir?", "the mill and the heron")
    }
    made.close()
    assert lines == {"heron": 3, "where is the weir?": 2, "the mill and the heron": 1}


@pytest.mark.parametrize(
    ("name", "text", "query", "line"),
    [
        ("/data.csv", "tool,price\nplane,48\nchisel,12\n", "price of the chisel", 3),
        ("/data.csv", "tool,price\nplane,48\nchisel,12\n", "price", 1),
        ("/data.tsv", "tool\tprice\nplane\t48\nchisel\t12\n", "chisel", 3),
        ("/weir.log", "pump on\npump off\nsluice alarm\n", "sluice", 3),
        ("/weir.txt", "1.3.2024 pump\n1.3.2024 heron\n1.3.2024 sluice\n", "heron", 2),
        ("/todo.org", "* House\n- [ ] roof\n- [X] gutter\n- [ ] chimney\n", "chimney", 4),
        ("/todo.txt", "1. roof\n2. gutter\n3. chimney\n", "gutter", 2),
        ("/table.md", "| a | b |\n|---|---|\n| mill | 3 |\n| weir | 4 |\n", "weir", 4),
    ],
)
def test_a_result_is_placed_at_the_row_that_holds_the_words(
    tmp_path: Path, name: str, text: str, query: str, line: int
) -> None:
    made = Library(tmp_path / "library.db", {name: [text]}, FakeEmbedder())
    found = search_results(made.conn, find(made, query, vectors=False), None, query)
    made.close()
    assert [one["line"] for one in found] == [line]


TALK = [f"Speaker {number}: and so on about item {number}, as we said." for number in range(60)]


@pytest.mark.parametrize("vectors", [False, True])
def test_of_two_alike_the_one_whose_neighbours_fit_the_question_comes_first(
    tmp_path: Path, vectors: bool
) -> None:
    apart, together = list(TALK), list(TALK)
    apart[20] = "We will do that by Friday, the weir included."
    together[20] = "We will do that by Friday, the weir and all."
    together[19] = "The weir leaks under the mill, and the weir gate at the mill is stuck."
    files = {"/a.txt": apart, "/b.txt": together}
    made = Library(tmp_path / "library.db", files, FakeEmbedder())
    grow(made.conn)
    found = texts(made, find(made, "weir mill Friday", vectors=vectors))
    made.close()
    assert found.index(together[20]) < found.index(apart[20])


def test_within_a_document_a_passage_is_lifted_by_those_under_its_own_node(tmp_path: Path) -> None:
    talk = list(TALK)
    talk[5], talk[30] = "The gate was painted in May.", "The gate was mended in May."
    talk[32] = "The sluice has a gate, and the sluice leaks."
    made = Library(tmp_path / "library.db", {"/a.txt": talk}, FakeEmbedder())
    five, thirty, best = (p.id for p in contents.passages_of(made.conn, 1) if p.ordinal in (5, 30, 32))
    flat = [one.passage_id for one in find(made, "sluice gate", vectors=False)]
    grow(made.conn)
    above = paths.paths_of(made.conn, [five, thirty, best])
    assert above[thirty][0] == above[best][0] != above[five][0]
    tree = [one.passage_id for one in find(made, "sluice gate", vectors=False)]
    made.close()
    assert (flat, tree) == ([best, five, thirty], [best, thirty, five])


def test_what_stands_right_beside_the_best_is_found_though_no_leg_named_it(tmp_path: Path) -> None:
    talk = [f"The weir, item {number}: the weir and its gate, as we said." for number in range(300)]
    talk[149], talk[151] = "Norrby agrees.", "Lindqvist does not."
    talk[150] = "The sluice gate of the weir leaks."
    made = Library(tmp_path / "library.db", {"/a.txt": talk}, FakeEmbedder())
    question = "Where does the sluice gate of the weir leak?"
    vector = made.embedder.encode_queries([question])[0]

    def found(**options: Any) -> set[str]:
        ranked = retrieve(made.conn, question, vector, made.encoder_id, 300, **options)
        return set(texts(made, ranked)) & {talk[149], talk[150], talk[151]}

    read = sum(len(text) for text in talk[:151])
    everything, alone, upto = (
        found(scope=None),
        found(scope=None, ancestors=False),
        found(scope=Scope(upto=read)),
    )
    made.close()
    assert (everything, alone, upto) == (
        {talk[149], talk[150], talk[151]},
        {talk[150]},
        {talk[149], talk[150]},
    )


def test_of_a_text_that_stands_twice_in_a_document_the_first_place_is_shown(tmp_path: Path) -> None:
    talk = list(TALK)
    talk[10] = talk[40] = "The gate was mended in May, but it leaks."
    talk[41] = "The sluice gate leaks."
    made = Library(tmp_path / "library.db", {"/a.txt": talk}, FakeEmbedder())
    best, second = find(made, "sluice gate leaks", k=2)
    number = {passage.id: passage.ordinal for passage in contents.passages_of(made.conn, 1)}
    made.close()
    assert number[best.passage_id] == 41
    assert (number[second.passage_id], [number[id_] for id_ in second.twins]) == (10, [40])
