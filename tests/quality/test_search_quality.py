"""Ten searches in a user's words find the right page in the top 5, at least nine times, in each folder.

The folders are not part of the project (see `queries.py`): they are looked for in `../shared/data/notes`, or
below MINDSCAPE_SHARED. The two large ones are in the slow suite; their vectors are kept between runs.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.quality.library import Indexed, open_remembering, read_folder
from tests.quality.queries import QUERIES

from mindscape.ask.evidence import load
from mindscape.ask.retrieve import retrieve

SHARED = Path(os.environ.get("MINDSCAPE_SHARED") or Path(__file__).parents[2].parent / "shared")
WANTED = 9
TOP = 5


def slow(folder: str) -> object:
    """Of a few thousand passages: minutes of embedding the first time."""
    return pytest.param(folder, marks=pytest.mark.slow)


@pytest.mark.parametrize("folder", ["kepano", slow("18f_handbook"), slow("rust_book")])
def test_searches_in_a_users_words_find_the_right_page(
    folder: str, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    notes = SHARED / "data/notes" / folder
    if not notes.is_dir():
        pytest.skip(f"{notes} is not there: the notes are handed out apart from the project.")
    kept = pytestconfig.rootpath / ".pytest_cache" / "vectors"
    kept.mkdir(parents=True, exist_ok=True)
    embedder = open_remembering(kept / f"{folder}.npz")
    library = Indexed(tmp_path / "library.db", read_folder(notes), embedder)
    embedder.save()
    missed = [query for query, pages in QUERIES[folder] if not found(library, query, pages)]
    library.close()
    assert len(QUERIES[folder]) - len(missed) >= WANTED, missed


def found(library: Indexed, query: str, pages: tuple[str, ...]) -> bool:
    vector = library.embedder.encode_queries([query])[0]
    ranked = retrieve(library.conn, query, vector, library.encoder_id, TOP, None)
    paths = [
        document.display
        for source in load(library.conn, ranked)
        for document in (source.document, *source.also)
    ]
    return any(page in path for page in pages for path in paths)
