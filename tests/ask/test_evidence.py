"""What a result says of what it could draw on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ask.library import Library

from mindscape.ask.evidence import coverage
from mindscape_models.fake import FakeEmbedder
from mindscape_storage import documents
from mindscape_storage.records import FileStat


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    made = Library(tmp_path / "library.db", {"/a.md": ["One."], "/b.md": ["Two."]}, FakeEmbedder())
    yield made
    made.close()


def pending(library: Library, name: str) -> None:
    root = documents.list_documents(library.conn)[0].root_id
    documents.upsert_pending(library.conn, root, name.encode(), name, FileStat(1, 1, 1, 1))


def test_one_document_is_and_two_are(library: Library) -> None:
    pending(library, "/c.md")
    assert coverage(library.conn, library.encoder_id, True)["notes"] == ["1 document is still to be read."]
    pending(library, "/d.md")
    assert coverage(library.conn, library.encoder_id, True)["notes"] == ["2 documents are still to be read."]


@pytest.mark.parametrize(
    ("names", "said"), [(["/a.md"], "1 document is"), (["/a.md", "/b.md"], "2 documents are")]
)
def test_documents_without_vectors_are_counted_in_grammar(
    tmp_path: Path, names: list[str], said: str
) -> None:
    made = Library(tmp_path / "library.db", {name: [f"In {name}."] for name in names}, FakeEmbedder())
    made.conn.execute("UPDATE contents SET embedded_by = NULL")
    notes = coverage(made.conn, made.encoder_id, True)["notes"]
    made.close()
    assert len(notes) == 1
    assert notes[0].startswith(f"{said} not embedded yet")


def test_an_empty_query_is_not_called_a_failure_of_the_embedder(library: Library) -> None:
    said = coverage(library.conn, library.encoder_id, has_vector=False, has_query=False)
    assert said["legs"] == []
    assert said["notes"] == ["There was nothing to search for: the query is empty."]
