"""Questions about a whole, answered by the summaries of a real daemon, with places that open."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mindscape.errors import NotFound
from mindscape.protocol import Json
from tests.daemon.harness import Daemon

BOOK = Path(__file__).parents[1] / "demo" / "book"


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """One with a folder of essays, a book of chapters, and a note."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "library" / "essays").mkdir(parents=True)
    for path in sorted(BOOK.glob("*.md"))[:4]:
        (folder / "library" / "essays" / path.name).write_bytes(path.read_bytes())
    chapters = [
        f"# Chapter {at}\n\n{path.read_text('utf-8').partition(chr(10))[2]}"
        for at, path in enumerate(sorted(BOOK.glob("*.md"))[4:9], 1)
    ]
    (folder / "library" / "The Silt Book.md").write_text("\n\n".join(chapters), "utf-8")
    (folder / "library" / "many").mkdir()
    for at in range(30):
        text = f"# Note {at}\n\nThe keeper of light {at} wrote that his lamp burned all night for no ship.\n"
        (folder / "library" / "many" / f"note-{at:02}.md").write_text(text)
    (folder / "library" / "ferry.md").write_text("# Ferry\n\nThe ferry leaves at 07:40. It carries 84.\n")
    it = Daemon(folder / "home", workers="2")
    assert it.start() == "ready"
    it.call("add", paths=[str(folder / "library")])
    it.call("wait", tier="summarised", timeout=300)
    yield it
    it.stop()


def check_places(daemon: Daemon, answer: Json) -> None:
    assert answer["answered"]
    assert (answer["mode"], answer["made_by"], answer["model"]) == ("global", "summary", None)
    assert answer["citations"]
    assert answer["coverage"]["notes"] == []
    numbers = {one["n"] for one in answer["citations"]}
    assert (
        {int(n) for n in re.findall(r"\[(\d+)\]", answer["answer"])}
        == numbers
        == set(range(1, len(numbers) + 1))
    )
    for one in answer["citations"]:
        place = f"{one['path']}:{one['start']}-{one['end']}"
        assert daemon.call("get", place=place)["text"] == one["quote"]
    assert sum(one["supported"] for one in answer["citations"]) >= 0.9 * len(numbers)


def test_the_library_is_told_by_its_summary_with_places_in_its_documents(daemon: Daemon) -> None:
    answer = daemon.call("ask", question="What is this library about?")
    check_places(daemon, answer)
    assert answer["signature"] == ["f0"]
    assert answer["why"] == "asks what something is about as a whole"
    assert "Ferry" in answer["answer"]


@pytest.mark.parametrize(
    ("question", "scope"),
    [("Summarise this folder", "essays"), ("Worum geht es hier?", "essays"), ("Summarise essays", None)],
)
def test_a_folder_is_told_by_its_own(daemon: Daemon, question: str, scope: str | None) -> None:
    answer = daemon.call("ask", question=question, scope=scope)
    check_places(daemon, answer)
    assert {Path(one["path"]).parent.name for one in answer["citations"]} == {"essays"}


def test_of_a_folder_with_room_for_names_only_some_documents_are_told(daemon: Daemon) -> None:
    answer = daemon.call("ask", question="What is this folder about?", scope="many")
    check_places(daemon, answer)
    assert {Path(one["path"]).parent.name for one in answer["citations"]} == {"many"}
    assert 3 <= len(answer["citations"]) <= 8
    assert "Note 7" in answer["answer"]


@pytest.mark.parametrize(
    ("question", "scope"),
    [
        ("What is the book about?", "The Silt Book.md"),
        ("What is The Silt Book about?", None),
        ("Résume ce document", "The Silt Book.md"),
    ],
)
def test_a_document_is_told_whether_it_is_the_scope_or_named(
    daemon: Daemon, question: str, scope: str | None
) -> None:
    answer = daemon.call("ask", question=question, scope=scope)
    check_places(daemon, answer)
    assert {Path(one["path"]).name for one in answer["citations"]} == {"The Silt Book.md"}


@pytest.mark.parametrize(
    ("question", "scope"),
    [("Summarise chapter 3", "The Silt Book.md"), ("Summarise chapter three of The Silt Book", None)],
)
def test_a_chapter_is_told_by_the_nodes_over_it(daemon: Daemon, question: str, scope: str | None) -> None:
    answer = daemon.call("ask", question=question, scope=scope)
    check_places(daemon, answer)
    assert all(one["heading"][:1] == ["Chapter 3"] for one in answer["citations"])


def test_what_no_document_or_chapter_is_called_is_looked_for_in_passages(daemon: Daemon) -> None:
    answer = daemon.call("ask", question="What is the quarrel about the eels about?")
    assert answer["mode"] == "passages"
    assert "nothing is summarised" in answer["why"]
    forced = daemon.call("ask", question="When does the ferry leave?", mode="global", scope="ferry.md")
    check_places(daemon, forced)
    plain = daemon.call("ask", question="When does the ferry leave?")
    assert (plain["mode"], plain["why"]) == ("passages", "asks for what one passage or a few can say")
    assert daemon.call("ask", question="What is this about?", mode="passages")["why"] == "as it was asked for"


def test_up_to_a_bookmark_only_what_was_read_is_told(daemon: Daemon) -> None:
    end = daemon.call("ask", question="Summarise chapter 2", scope="The Silt Book.md")["citations"][-1]["end"]
    place = f"The Silt Book.md:0-{end}"
    answer = daemon.call("ask", question="What is the book about?", scope="The Silt Book.md", upto=place)
    check_places(daemon, answer)
    assert all(one["end"] <= end for one in answer["citations"])


def test_an_unknown_scope_is_said_as_for_any_question(daemon: Daemon) -> None:
    with pytest.raises(NotFound, match="nonsense"):
        daemon.call("ask", question="What is this about?", scope="nonsense")


def test_after_an_edit_nothing_of_the_old_text_is_told(daemon: Daemon) -> None:
    talk = daemon.call("ask", question="What is this about?", scope="ferry.md", conversation="new")
    assert "07:40" in talk["answer"]
    path = Path(talk["citations"][0]["path"])
    path.write_text("# Ferry\n\nThe ferry leaves at 09:15. It carries 84.\n")
    daemon.call("wait", tier="searchable", timeout=120)
    for scope in (None, "ferry.md"):
        assert "07:40" not in daemon.call("ask", question="What is this about?", scope=scope)["answer"]
    saved = daemon.call("conversations.get", id=talk["conversation"])["turns"][0]
    assert not saved["current"]
    assert (saved["mode"], saved["made_by"]) == ("global", "summary")
