"""How common words are."""

from __future__ import annotations

from pathlib import Path

from mindscape_models.fake import FakeEmbedder
from mindscape_storage.fold import MAX_TERMS
from mindscape_storage.frequencies import frequencies
from tests.ask.library import Library

FILES = {"/a.md": ["The ferry is blue.", "Blue honey."], "/b.md": ["A ferry."]}


def test_passages_are_counted_not_occurrences(tmp_path: Path) -> None:
    made = Library(tmp_path / "library.db", FILES, FakeEmbedder())
    assert frequencies(made.conn, ["ferry", "Blue", "honey", "sextant", "?!"]) == (
        3,
        {"ferry": 2, "Blue": 2, "honey": 1, "sextant": 0, "?!": 0},
    )
    made.close()


def test_an_endless_list_of_words_is_cut(tmp_path: Path) -> None:
    made = Library(tmp_path / "library.db", FILES, FakeEmbedder())
    assert len(frequencies(made.conn, [f"word{n}" for n in range(500)])[1]) == MAX_TERMS
    made.close()
