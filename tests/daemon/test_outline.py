"""The mindscape as the daemon serves it: a tree, a node, the path to a place."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from mindscape.daemon.outline import spanned
from mindscape.errors import NotFound, UsageError
from mindscape.protocol import Json
from tests.daemon.harness import Daemon
from tests.daemon.test_tree import novel, write

NOTES = 40


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    """A daemon with a novel in chapters and forty notes in two folders."""
    home, folder = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("in") / "books"
    rng = random.Random(1)
    chapters = [f"# Chapter {n}\n\n" + "\n\n".join(novel(rng, 20)) for n in range(6)]
    write(folder / "The Long Novel.md", chapters)
    for number in range(NOTES):
        write(folder / "notes" / f"note {number:02}.md", novel(rng, 1))
    daemon = Daemon(home, workers="1")
    assert daemon.start() == "ready"
    daemon.call("add", paths=[str(folder)])
    daemon.wait("summarised")
    yield daemon
    daemon.stop()


def below(node: Json) -> Iterator[Json]:
    yield node
    for child in node["children"] or ():
        yield from below(child)


def test_a_tree_goes_from_the_library_to_every_passage(served: Daemon) -> None:
    nodes = list(below(served.call("tree", depth=20)))
    assert nodes[0]["id"] == "f0"
    assert [one["kind"] for one in nodes].count("document") == NOTES + 1
    assert {one["kind"] for one in nodes} == {"library", "folder", "group", "document", "section", "passage"}
    assert len({one["id"] for one in nodes}) == len(nodes)
    assert all(one["summary"] and not one["stale"] and one["more"] == 0 for one in nodes)
    # A single child is shown in place of its parent, except of a folder or a document.
    assert all(len(one["children"]) != 1 for one in nodes if one["kind"] in ("group", "section"))


def test_the_nodes_of_a_document_tile_it(served: Daemon) -> None:
    for one in below(served.call("tree", scope="The Long Novel.md", depth=20)):
        if one["children"]:
            edges = [one["start"], *(child["end"] for child in one["children"])]
            assert edges == [*(child["start"] for child in one["children"]), one["end"]]


def test_a_part_that_spans_chapters_is_called_by_the_first_and_the_last(served: Daemon) -> None:
    document = served.call("tree", scope="The Long Novel.md", depth=20)
    text = served.call("get", place=document["id"])["text"]
    sections = [one for one in below(document) if one["kind"] == "section"]
    spanning = 0
    for one in sections:
        inside = re.findall(r"^# (Chapter \d)$", text[one["start"] : one["end"]], re.MULTILINE)
        before = re.findall(r"^# (Chapter \d)$", text[: one["start"] + 1], re.MULTILINE)
        opened = text.startswith("# ", one["start"])
        first = inside[0] if opened else before[-1]
        last = inside[-1] if inside else first
        if first != last:
            spanning += 1
            assert one["title"] == f"{first} \u2026 {last}"
    assert spanning


@pytest.mark.parametrize(
    ("first", "last", "title"),
    [
        (["Book", "One"], ["Book", "Four"], "One \u2026 Four"),
        (["Book"], ["Book", "One"], "Book \u2026 One"),
        (["A", "x"], ["B", "x"], "A \u2026 B"),
        (["A"], ["A"], None),
        ([], ["A"], None),
    ],
)
def test_what_stands_under_several_headings_is_called_by_where_they_part(
    first: list[str], last: list[str], title: str | None
) -> None:
    assert spanned(first, last) == title


def test_a_passage_is_shown_by_the_id_that_the_tree_gives_it(served: Daemon) -> None:
    passage = next(one for one in below(served.call("tree", depth=20)) if one["kind"] == "passage")
    shown = served.call("tree", scope=passage["id"])
    assert {**passage, "children": None} == {**shown, "children": None}


def test_a_tree_says_what_lies_below_its_depth(served: Daemon) -> None:
    root = served.call("tree", depth=0)
    assert root["children"] is None
    assert root["more"] == len(served.call("tree", depth=1)["children"])


def test_each_node_is_found_again_by_its_id_with_its_path(served: Daemon) -> None:
    def check(node: Json, above: list[str]) -> None:
        found = served.call("node", id=node["id"])
        assert [one["id"] for one in found["path"]] == [*above, node["id"]]
        same = {key: node[key] for key in node if key not in ("children", "more")}
        assert {key: found[key] for key in same} == same
        assert [one["id"] for one in found["children"]] == [one["id"] for one in node["children"]]
        for child in node["children"]:
            check(child, [*above, node["id"]])

    check(served.call("tree", depth=20), [])


def test_the_path_to_a_place_ends_at_its_passage(served: Daemon) -> None:
    start = served.call("tree", scope="The Long Novel.md", depth=1)["children"][-1]["start"]
    nodes = served.call("path", place=f"The Long Novel.md:{start + 5}-{start + 9}")["nodes"]
    assert nodes[0]["kind"] == "library"
    assert nodes[-1]["kind"] == "passage"
    assert nodes[-1]["start"] <= start + 5 < nodes[-1]["end"]
    again = served.call("node", id=nodes[-1]["id"])["path"]
    assert [one["id"] for one in again] == [one["id"] for one in nodes]


@pytest.mark.parametrize("id_", ["f99", "d99", "p99999", "f0.7.0", "f1.1.99", "d1.9.0", "d1.1.9999"])
def test_a_node_that_is_not_there_is_said_to_be_gone(served: Daemon, id_: str) -> None:
    with pytest.raises(NotFound, match="There is no"):
        served.call("node", id=id_)


def test_what_is_no_nodes_name_is_refused(served: Daemon) -> None:
    with pytest.raises(UsageError, match="is no node"):
        served.call("node", id="x7")
    with pytest.raises(UsageError, match="depth is a whole number"):
        served.call("tree", depth=-1)


def test_a_folder_that_has_changed_is_stale_until_it_is_summarised(daemon: Daemon, folder: Path) -> None:
    daemon.call("add", paths=[str(folder)])
    assert daemon.call("tree")["children"] == []
    write(folder / "in" / "note.md", ["The ferry leaves at noon."])
    daemon.wait("searchable")
    for one in below(daemon.call("tree", depth=9)):
        assert one["stale"] or one["kind"] == "passage" or one["summary"]
    daemon.wait("summarised")
    assert not any(one["stale"] for one in below(daemon.call("tree", depth=9)))


NOVEL = "The Long Novel.md"


def said(nodes: Iterator[Json]) -> str:
    return "\n".join(f"{one['title']}\n{one['summary']}" for one in nodes)


def beyond(served: Daemon, upto: int) -> set[str]:
    """The sentences after a place that do not stand before it too: each has a number of its own."""
    text = served.call("get", place=NOVEL)["text"]
    return set(re.findall(r"page \d+ tells", text[upto:])) - set(re.findall(r"page \d+ tells", text[:upto]))


@pytest.mark.parametrize("share", [0.001, 0.13, 0.5, 0.77, 0.999])
def test_nothing_from_beyond_a_bookmark_is_told(served: Daemon, share: float) -> None:
    length = served.call("tree", scope=NOVEL, depth=0)["end"]
    upto = int(length * share)
    mark = f"{NOVEL}:0-{upto}"
    read = served.call("tree", upto=mark, depth=20)
    parts = read["children"]
    assert [one["start"] for one in parts] == [0, *(one["end"] for one in parts[:-1])]
    assert parts[-1]["end"] == read["end"] == upto
    cut = served.call("range", scope=NOVEL, upto=mark, tokens=5000)
    assert (cut["start"], cut["end"], cut["truncated"]) == (0, upto, False)
    assert [one["start"] for one in cut["nodes"]] == [0, *(one["end"] for one in cut["nodes"][:-1])]
    assert all(one["summary"] for one in cut["nodes"])
    assert cut["tokens"] <= 5000
    few = served.call("range", scope=NOVEL, upto=mark, tokens=1)
    assert few["truncated"] or few["nodes"][-1]["end"] == upto
    found = served.call("search", query="the keeper mended the great lamp, as page tells", k=200, upto=mark)
    answer = served.call("ask", question="Who mended the sluice gate at low tide?", upto=mark)
    assert all(one["document"]["path"].endswith(NOVEL) for one in found["results"])
    everything = said(below(read)) + json.dumps([cut, found["results"], answer])
    assert not [one for one in beyond(served, upto) if one in everything]


def test_a_bookmark_at_the_end_shows_the_document_as_it_is(served: Daemon) -> None:
    assert served.call("tree", upto=NOVEL) == served.call("tree", scope=NOVEL)


def test_a_bookmark_is_any_place(served: Daemon) -> None:
    first, second, *_ = served.call("tree", scope=NOVEL)["children"]
    passage = served.call("path", place=f"{NOVEL}:{second['start']}-{second['end']}")["nodes"][-1]
    assert served.call("tree", upto=first["id"])["end"] == first["end"]
    assert served.call("tree", upto=passage["id"])["end"] == passage["end"]
    line = served.call("get", place=f"{NOVEL}:3")
    assert served.call("tree", upto=f"{NOVEL}:3")["end"] == line["end"]


def test_a_bookmark_in_another_document_than_the_scope_is_refused(served: Daemon) -> None:
    for method, more in (("tree", {}), ("range", {}), ("search", {"query": "x"}), ("ask", {"question": "x"})):
        with pytest.raises(UsageError, match="up to which you have read"):
            served.call(method, scope="notes", upto=f"{NOVEL}:0-500", **more)
    for scope in (NOVEL, "books", "f0", "f1"):
        assert served.call("tree", scope=scope, upto=f"{NOVEL}:0-500")["end"] == 500


def test_a_part_of_a_document_is_read_up_to_a_bookmark_in_it(served: Daemon) -> None:
    first, second, *_ = served.call("tree", scope=NOVEL)["children"]
    read = served.call("tree", scope=second["id"], upto=f"{NOVEL}:0-{second['start'] + 700}")
    assert (read["start"], read["end"], read["summary"]) == (second["start"], second["start"] + 700, "")
    with pytest.raises(UsageError):
        served.call("tree", scope=second["id"], upto=first["id"])


def test_the_text_of_a_node_is_a_place_and_a_folder_has_none(served: Daemon) -> None:
    node = served.call("tree", scope=NOVEL)["children"][0]
    got = served.call("get", place=node["id"])
    assert (got["start"], got["end"]) == (node["start"], node["end"])
    document = got["document"]["id"]
    assert served.call("get", place=f"d{document}")["end"] == got["length"]
    with pytest.raises(NotFound, match="mindscape tree f1 shows it"):
        served.call("get", place="f1")


def test_a_range_behind_the_end_of_a_text_is_not_found(served: Daemon) -> None:
    with pytest.raises(NotFound, match="there is nothing at 9999999"):
        served.call("range", place=f"{NOVEL}:9999999-99999999")


def test_a_range_too_small_for_its_cover_says_so(served: Daemon) -> None:
    length = served.call("tree", scope=NOVEL, depth=0)["end"]
    cut = served.call("range", place=f"{NOVEL}:7-{length - 7}", tokens=200)
    assert cut["truncated"]
    assert 0 < cut["tokens"] <= 200
    whole = served.call("range", place=NOVEL)
    assert not whole["truncated"]
    assert 500 < whole["tokens"] <= 1000
