"""The mindscape as the daemon serves it: a tree, a node, the path to a place."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

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
