"""The demo's library holds what the demo promises: size, links, facts in one place, valid files."""

from __future__ import annotations

import re
import unicodedata
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import docx
import pypdfium2
import pytest
from lxml import etree

from tests.demo import report
from tests.demo.epub import read_chapters
from tests.demo.library import HERE, apply_edit, write_library
from tests.demo.questions import BOOK, CHINESE, EDIT, LETTER, NOWHERE, QUESTIONS, REPORT, Edit

_WIKILINK = re.compile(r"\[\[([^\]|#]+)[^\]]*\]\]")
_MARKDOWN_LINK = re.compile(r"\]\(([^)]+\.md)\)")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    write_library(folder)
    return folder


@pytest.fixture(scope="module")
def texts(library: Path) -> dict[str, str]:
    """The text a reader sees in each file, on one line, by the file's path in the library."""
    return {
        path.relative_to(library).as_posix(): " ".join(_text(path).split())
        for path in sorted(library.rglob("*"))
        if path.is_file()
    }


def _text(path: Path) -> str:
    match path.suffix:
        case ".epub":
            return " ".join(_chapters(path))
        case ".pdf":
            return _pdf_text(path)
        case ".docx":
            return _docx_text(path)
        case _:
            return path.read_text(encoding="utf-8")


def _chapters(path: Path) -> list[str]:
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.startswith("OEBPS/chapter")]
        roots = [etree.fromstring(archive.read(name)) for name in names]
    return ["".join(str(part) for part in root.itertext()) for root in roots]


def _pdf_text(path: Path) -> str:
    document: Any = pypdfium2.PdfDocument(path)
    try:
        return "\n".join(str(page.get_textpage().get_text_range()) for page in document)
    finally:
        document.close()


def _docx_text(path: Path) -> str:
    document = docx.Document(str(path))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)


def test_the_book_has_twenty_chapters_and_at_least_twenty_thousand_words() -> None:
    chapters = read_chapters(HERE / "book")
    assert len(chapters) == 20
    assert sum(len(chapter.markdown.split()) for chapter in chapters) >= 20_000


def test_no_paragraph_of_the_book_is_used_twice() -> None:
    paragraphs = [
        paragraph for chapter in read_chapters(HERE / "book") for paragraph in chapter.markdown.split("\n\n")
    ]
    assert len(paragraphs) == len(set(paragraphs))


def test_there_are_twenty_five_notes_of_60_to_250_words() -> None:
    notes = sorted((HERE / "notes").glob("*.md"))
    assert len(notes) == 25
    lengths = {note.name: len(note.read_text(encoding="utf-8").split()) for note in notes}
    assert {name: length for name, length in lengths.items() if not 60 <= length <= 250} == {}


def test_every_link_between_notes_resolves() -> None:
    notes = {note.stem: note.read_text(encoding="utf-8") for note in (HERE / "notes").glob("*.md")}
    for name, text in notes.items():
        targets = _WIKILINK.findall(text) + [unquote(link)[:-3] for link in _MARKDOWN_LINK.findall(text)]
        assert targets, f"{name} links to nothing"
        assert set(targets) <= set(notes), f"{name} links to a note that is not there"


def test_the_chinese_note_has_400_to_800_characters(texts: dict[str, str]) -> None:
    ideographs = sum("CJK UNIFIED" in unicodedata.name(char, "") for char in texts[CHINESE])
    assert 400 <= ideographs <= 800


def test_each_fact_stands_in_its_file_and_in_no_other(texts: dict[str, str]) -> None:
    for question in QUESTIONS:
        for fact in question.facts:
            holders = [name for name, text in texts.items() if any(s in text for s in fact.spellings)]
            assert holders == [fact.file], question.text


def test_the_questions_are_the_promised_kinds() -> None:
    kinds = sorted(question.kind for question in QUESTIONS)
    assert kinds == sorted(["book", "table", "note", "two files", "chinese", "no answer"])
    files = {question.kind: {fact.file for fact in question.facts} for question in QUESTIONS}
    assert len(files["two files"]) == 2
    assert files["no answer"] == set()


def test_the_unanswerable_questions_words_stand_nowhere(texts: dict[str, str]) -> None:
    words = re.compile(rf"\b({'|'.join(NOWHERE)})\b", re.IGNORECASE)
    assert {name: words.findall(text) for name, text in texts.items() if words.search(text)} == {}


def test_the_epub_opens_and_lists_all_chapters(library: Path) -> None:
    with zipfile.ZipFile(library / BOOK) as archive:
        first = archive.infolist()[0]
        package = etree.fromstring(archive.read("OEBPS/package.opf"))
        contents = etree.fromstring(archive.read("OEBPS/nav.xhtml"))
        names = set(archive.namelist())
        assert archive.testzip() is None
    assert (first.filename, first.compress_type) == ("mimetype", zipfile.ZIP_STORED)
    listed = [f"OEBPS/{item.get('href')}" for item in package.iter("{*}item")]
    assert set(listed) <= names
    assert len(list(package.iter("{*}itemref"))) == len(list(contents.iter("{*}a"))) == 20
    titles = [chapter.title for chapter in read_chapters(HERE / "book")]
    assert [title in text for title, text in zip(titles, _chapters(library / BOOK), strict=True)] == [
        True
    ] * 20


def test_the_reports_tables_are_in_its_text(texts: dict[str, str]) -> None:
    tables = [table for part in report.PARTS for table in part.tables]
    assert len(tables) >= 2
    for table in tables:
        for row in table.rows:
            assert " ".join(cell for cell in row if cell) in texts[REPORT]


def test_the_reports_totals_add_up() -> None:
    def column(table: report.Figures, index: int) -> list[float]:
        return [float(row[index].replace(",", "") or 0) for row in table.rows[1:]]

    for table, index in [
        (report.ENERGY, 1),
        (report.ENERGY, 2),
        (report.ENERGY, 3),
        (report.WORKS, 3),
        (report.ACCOUNTS, 1),
        (report.ACCOUNTS, 2),
    ]:
        *parts, total = column(table, index)
        assert sum(parts) == pytest.approx(total), f"{table.caption}, column {index}"


def test_the_letter_has_paragraphs_and_a_table(library: Path) -> None:
    letter = docx.Document(str(library / LETTER))
    assert len(letter.paragraphs) >= 10
    assert [cell.text for cell in letter.tables[0].rows[0].cells] == ["Evening", "Supper"]


def test_the_library_is_the_same_each_time(library: Path, tmp_path: Path) -> None:
    write_library(tmp_path)
    files = [path for path in library.rglob("*") if path.is_file()]
    for path in files:
        assert (tmp_path / path.relative_to(library)).read_bytes() == path.read_bytes(), path.name
    assert len(files) == sum(path.is_file() for path in tmp_path.rglob("*"))


def test_the_edit_changes_the_one_place(tmp_path: Path) -> None:
    write_library(tmp_path)
    before = (tmp_path / EDIT.file).read_text(encoding="utf-8")
    apply_edit(tmp_path, EDIT)
    after = (tmp_path / EDIT.file).read_text(encoding="utf-8")
    assert EDIT.new not in before
    assert EDIT.old not in after
    assert after == before.replace(EDIT.old, EDIT.new)


def test_an_edit_that_does_not_fit_the_note_is_refused(tmp_path: Path) -> None:
    write_library(tmp_path)
    with pytest.raises(ValueError, match="0 times"):
        apply_edit(tmp_path, Edit(EDIT.file, "no such words", "others", EDIT.question))
