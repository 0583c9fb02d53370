"""A summary is told with the places of its sentences, and nothing of it that an edit may have made wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.ask.library import Library

from mindscape.ask.whole import MAX_LINES, tell_whole
from mindscape_models.fake import FakeEmbedder
from mindscape_storage.records import Told

FERRY = "The ferry leaves Norrby at 09:15 every morning. "
BEES = "Lindqvist keeps bees behind the church. "


@dataclass
class Node:
    id: str
    kind: str
    title: str
    told: Told
    stale: bool = False
    below: list[Node] = field(default_factory=list)

    def children(self) -> Sequence[Node]:
        return self.below


def told(text: str, made_by: str = "extractive") -> Told:
    return Told(text, len(text.split()), made_by, 0)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    it = Library(tmp_path / "library.db", {"/notes/ferry.md": [FERRY, BEES]}, FakeEmbedder())
    yield it
    it.close()


@pytest.fixture
def document(library: Library) -> Node:
    ids = [row[0] for row in library.conn.execute("SELECT id FROM passages ORDER BY ordinal")]
    passages = [
        Node(f"p{id_}", "passage", "", told(text, "text"))
        for id_, text in zip(ids, (FERRY, BEES), strict=True)
    ]
    return Node("d1", "document", "Ferry", told(f"{FERRY.strip()} {BEES.strip()}"), below=passages)


def test_each_sentence_has_its_place(library: Library, document: Node) -> None:
    whole = tell_whole(library.conn, [document])
    assert whole is not None
    assert [line.text for line in whole.lines] == [FERRY.strip(), BEES.strip()]
    for line in whole.lines:
        assert line.source is not None
        assert line.source.passage.text[line.start : line.end] == line.text
        assert (line.supported, line.verbatim) == (True, True)
    assert (whole.ids, whole.model, whole.stale) == (["d1"], None, False)


def test_while_a_folder_is_out_of_date_only_what_still_stands_there_is_told(
    library: Library, document: Node
) -> None:
    old = "\u2022 Ferry \u2014 The ferry leaves Norrby at 07:40 every morning.\n\u2022 Bees \u2014 " + BEES
    folder = Node("f1", "folder", "notes", told(old), stale=True, below=[document])
    whole = tell_whole(library.conn, [folder])
    assert whole is not None
    assert whole.stale
    assert "07:40" not in "".join(line.text for line in whole.lines)
    assert [line.text for line in whole.lines] == ["\u2022 Bees \u2014 " + BEES.strip()]


def test_what_a_model_wrote_is_compared_with_the_nearest_passage(library: Library, document: Node) -> None:
    document.told = told("The ferry leaves Norrby each morning at 09:15. Lindqvist keeps 40 bees.", "a-model")
    whole = tell_whole(library.conn, [document])
    assert whole is not None
    assert whole.model == "a-model"
    assert [(line.supported, line.verbatim) for line in whole.lines] == [(True, False), (False, False)]


def test_names_alone_make_one_line_and_documents_are_told_beside_it(library: Library, document: Node) -> None:
    names = "\n".join(f"\u2022 Note {number}" for number in range(40))
    whole = tell_whole(library.conn, [Node("f0", "library", "Library", told(names), below=[document])])
    assert whole is not None
    assert whole.lines[0].text.count("\u00b7") == 39
    assert whole.lines[1].text == f"\u2022 Ferry \u2014 {FERRY.strip()}"


def test_no_summary_is_nothing_and_a_long_one_is_bounded(library: Library, document: Node) -> None:
    document.told = told("", "nothing")
    assert tell_whole(library.conn, [document]) is None
    assert tell_whole(library.conn, []) is None
    document.told = told(f"{FERRY.strip()} " * 200)
    whole = tell_whole(library.conn, [document])
    assert whole is not None
    assert len(whole.lines) == MAX_LINES
