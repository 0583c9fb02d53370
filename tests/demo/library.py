"""Write the demo's library: a book, notes, a report, a letter and a note in Chinese."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from tests.demo import questions
from tests.demo.epub import read_chapters, write_epub
from tests.demo.letter import write_letter
from tests.demo.report import write_report

HERE: Final = Path(__file__).parent
BOOK_TITLE: Final = "The Keepers of Skarne Mill"
BOOK_AUTHOR: Final = "Idris Pell"
BOOK_IDENTIFIER: Final = "urn:uuid:6f1d2b0e-5c0a-4f43-9c53-7a1b8f0e2d17"


def write_library(folder: Path) -> None:
    """Create every file below `folder`, which may exist. The bytes are the same each time."""
    for name in (questions.BOOK, questions.REPORT, questions.LETTER, questions.CHINESE):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    chapters = read_chapters(HERE / "book")
    write_epub(folder / questions.BOOK, BOOK_TITLE, BOOK_AUTHOR, BOOK_IDENTIFIER, chapters)
    write_report(folder / questions.REPORT)
    write_letter(folder / questions.LETTER)
    shutil.copyfile(HERE / "chinese/tide-mill.md", folder / questions.CHINESE)
    for note in sorted((HERE / "notes").glob("*.md")):
        shutil.copyfile(note, folder / "Notes" / note.name)


def apply_edit(folder: Path, edit: questions.Edit) -> None:
    """Change the note as a person would. Raises ValueError when the text to change is not there once."""
    note = folder / edit.file
    text = note.read_text(encoding="utf-8")
    if text.count(edit.old) != 1:
        raise ValueError(f"{edit.file} holds '{edit.old}' {text.count(edit.old)} times; it must be once")
    note.write_text(text.replace(edit.old, edit.new), encoding="utf-8")
