"""Places, headings and numbers as people read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindscape.tui.library_state import LibraryState
from mindscape.tui.wording import breadcrumb, counted, coverage_note, heading_of, made_note, short_path, where


def test_a_path_is_shown_as_one_would_type_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path / "notes")
    assert short_path(f"{tmp_path}/notes/a/b.md") == "a/b.md"
    assert short_path(f"{tmp_path}/books/c.epub") == "~/books/c.epub"
    assert short_path("/elsewhere/d.md") == "/elsewhere/d.md"
    (tmp_path / "notes").rmdir()
    assert short_path(f"{tmp_path}/notes/a/b.md") == "~/notes/a/b.md"


def test_a_place_is_a_line_or_a_page_or_the_document() -> None:
    assert where("/x/a.md", {"line": 3, "page": None}) == "/x/a.md:3"
    assert where("/x/a.pdf", {"line": None, "page": "xii"}) == "/x/a.pdf p. xii"
    assert where("/x/a\nb.txt", {}) == "/x/a b.txt"


def test_headings_come_as_a_list_or_as_text() -> None:
    assert heading_of({"heading": ["Trips", "Lisbon\n"]}) == "Trips › Lisbon"
    assert heading_of({"heading": "Trips > Lisbon"}) == "Trips > Lisbon"
    assert heading_of({"heading": []}) == heading_of({}) == ""


def test_what_was_not_covered_is_a_sentence_and_full_coverage_is_none() -> None:
    assert coverage_note({"documents": 3, "behind": 0, "without_text": 0, "notes": []}) == ""
    assert coverage_note({"without_text": 2}) == "2 documents have no text that can be searched."


def test_it_is_said_who_made_a_summary_and_how_long_it_is() -> None:
    made = {"kind": "folder", "made_by": "extractive", "made_at": None, "tokens": 1}
    assert made_note(made) == "folder · sentences chosen from the text · 1 token"
    assert made_note({**made, "made_by": "qwen"}) == "folder · summarised by qwen · 1 token"
    assert made_note({**made, "made_by": "nothing"}) == "folder · not summarised yet"


def test_the_titles_above_a_node_are_cut_and_made_printable() -> None:
    path = [{"title": "Library"}, {"title": "a\x1b" + "b" * 50}, {"title": "itself"}]
    assert breadcrumb({"path": path}) == "Library › a\ufffd" + "b" * 38 + "…"
    assert breadcrumb({}) == ""


def test_numbers_agree_with_their_nouns() -> None:
    assert counted(1, "document") == "1 document"
    assert counted(12_000, "document") == "12,000 documents"


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (LibraryState(), "Starting the daemon…"),
        (LibraryState(lost="It died."), "No daemon: ctrl+r reconnects"),
        (LibraryState(connected=True), "Connected"),
        (LibraryState(connected=True, documents=0), "The library is empty"),
        (LibraryState(connected=True, documents=2, searchable=2), "2 documents"),
        (LibraryState(connected=True, documents=2, searchable=1), "2 documents, 1 searchable"),
    ],
)
def test_the_library_is_said_in_a_few_words(state: LibraryState, sentence: str) -> None:
    assert state.sentence == sentence
