"""Documents of every size and shape end summarised: no tree stops the queue, and the status says so."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from mindscape.protocol import Json
from mindscape_storage.database import open_reader, value
from tests.daemon.harness import Daemon
from tests.daemon.prose import novel, paragraph, write
from tests.soak.compare import differences, fresh_state, settle, state_of

EDITS = 60
WORDS = ("mill", "gate", "tide", "barley", "lamp", "wheel", "harbour", "sluice", "meal", "boat", "winter")


def summarised(daemon: Daemon, seconds: int = 120) -> Json:
    """The status once everything is summarised, when nothing has failed on the way."""
    status = daemon.call("wait", tier="summarised", timeout=seconds)
    assert status["documents"]["summarised"] == status["documents"]["total"]
    assert "trouble" not in status
    assert [c for c in daemon.call("doctor")["checks"] if c["state"] != "ok"] == []
    return status


def root_summary(daemon: Daemon) -> str:
    """What the library says."""
    connection = open_reader(daemon.paths.database)
    try:
        return value(
            connection,
            """
            SELECT text FROM summaries WHERE id =
                (SELECT summary FROM folder_nodes WHERE folder_id = 0 ORDER BY level DESC LIMIT 1)
            """,
        )
    finally:
        connection.close()


def unmarked(words: int) -> str:
    rng = random.Random(1)
    return " ".join(f"{rng.choice(WORDS)}{rng.randrange(5_000)}" for _ in range(words))


def test_a_document_of_one_word_is_its_own_summary(daemon: Daemon, folder: Path) -> None:
    (folder / "word.txt").write_text("Quillwort")
    daemon.call("add", paths=[str(folder)])
    assert summarised(daemon)["work"]["extractive"] <= 3
    assert "Quillwort" in root_summary(daemon)


@pytest.mark.slow
def test_twenty_thousand_one_line_files_in_a_folder_are_summarised_and_one_more_costs_its_path(
    daemon: Daemon, folder: Path
) -> None:
    for number in range(20_000):
        (folder / f"{number:05}.txt").write_text(f"Line {number}: the {WORDS[number % 11]} is mended.\n")
    daemon.call("add", paths=[str(folder)])
    before = summarised(daemon, 1_800)
    assert before["documents"]["total"] == 20_000
    tree = daemon.call("tree", depth=9)
    assert tree["children"]
    (folder / "00007.txt").write_text("The quillwort by the sluice is in flower.\n")
    after = summarised(daemon, 600)
    # Seven levels of groups at most in the folder, and the library.
    assert 0 < after["work"]["extractive"] - before["work"]["extractive"] <= 2 * 8 + 6
    (folder / "00007.txt").write_text("Line 7: the meal is mended.\n")
    (folder / "00008.txt").unlink()
    last = summarised(daemon, 600)
    assert last["documents"]["total"] == 19_999
    assert last["work"]["extractive"] - after["work"]["extractive"] <= 2 * (2 * 8 + 6)


@pytest.mark.slow
def test_a_document_without_a_single_sentence_mark_is_summarised(daemon: Daemon, folder: Path) -> None:
    (folder / "unmarked.txt").write_text(unmarked(200_000))
    daemon.call("add", paths=[str(folder)])
    summarised(daemon, 600)
    assert 0 < len(root_summary(daemon)) < 2_000


@pytest.mark.slow
def test_a_document_of_five_million_words_is_summarised(daemon: Daemon, folder: Path) -> None:
    rng = random.Random(2)
    with (folder / "endless.txt").open("w") as file:
        for _ in range(5_000_000 // 120):
            file.write(paragraph(rng) + "\n\n")
    daemon.call("add", paths=[str(folder)])
    made = summarised(daemon, 1_800)["work"]["extractive"]
    before = made
    with (folder / "endless.txt").open("a") as file:
        file.write(paragraph(rng) + "\n")
    assert 0 < summarised(daemon, 1_800)["work"]["extractive"] - before <= 2 * 12 + 6


@pytest.mark.slow
def test_a_book_that_is_edited_every_second_costs_its_paths_and_ends_as_a_fresh_build(
    daemon: Daemon, folder: Path, tmp_path: Path
) -> None:
    rng = random.Random(3)
    book = novel(rng, 200)
    write(folder / "book.md", book)
    for number in range(20):
        write(folder / "notes" / f"{number}.md", novel(rng, 1))
    daemon.call("add", paths=[str(folder)])
    settle(daemon)
    before = daemon.call("status")["work"]
    for _ in range(EDITS):
        book[rng.randrange(len(book))] = paragraph(rng)
        write(folder / "book.md", book)
        time.sleep(1)
    settle(daemon)
    after = summarised(daemon)["work"]
    assert 0 < after["extractive"] - before["extractive"] <= EDITS * (2 * 6 + 6)
    assert after["passage_embeddings"] - before["passage_embeddings"] <= EDITS * 12
    assert differences(state_of(daemon), fresh_state(tmp_path / "fresh", folder)) == []
