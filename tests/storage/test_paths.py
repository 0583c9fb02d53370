"""The nodes above a passage, found from the top down without reading the rest of the tree."""

from __future__ import annotations

from typing import Any

import apsw

from mindscape_storage import nodes, summaries
from mindscape_storage.contents import passages_of
from mindscape_storage.database import Connection
from mindscape_storage.paths import highest_of, paths_of
from mindscape_storage.records import Node, Passage, Summary
from tests.storage.build import VERSION, lines, put

SIZES = ((3, 5, 4), (2, 1))
"""Children of the nodes of level 1, and of level 2; level 3 is the top."""


def planted(conn: Connection, name: bytes) -> list[Passage]:
    """The passages of a document with three levels of nodes."""
    put(conn, name, lines(*(f"{name.decode()} {number}" for number in range(sum(SIZES[0])))))
    (content,) = nodes.without_tree(conn, 1, 10**6)
    passages = list(passages_of(conn, content))
    key = summaries.digest_of("a summary")
    summaries.add_summaries(conn, [Summary(key, "a summary", 2, "extractive")])
    spans = [(one.start, one.end) for one in passages]
    made: list[Node] = []
    for level, sizes in enumerate((*SIZES, (len(SIZES[-1]),)), start=1):
        above: list[tuple[int, int]] = []
        first = 0
        for ordinal, size in enumerate(sizes):
            span = spans[first][0], spans[first + size - 1][1]
            made.append(Node(level, ordinal, first, first + size, *span, key))
            above.append(span)
            first += size
        spans = above
    assert nodes.set_tree(conn, content, VERSION, made)
    return passages


def test_each_passage_has_one_node_above_it_on_every_level(conn: Connection) -> None:
    one, two = planted(conn, b"/notes/a.md"), planted(conn, b"/notes/b.md")
    found = paths_of(conn, [passage.id for passage in (*two, *one)])
    for passages in (one, two):
        above = [found[passage.id] for passage in passages]
        assert {node[0] for path in above for node in path} == {passages[0].content_id}
        assert [[node[1] for node in path] for path in above] == [[1, 2, 3]] * 12
        assert [path[0][2] for path in above] == [0] * 3 + [1] * 5 + [2] * 4
        assert [path[1][2] for path in above] == [0] * 8 + [1] * 4
        assert {path[2][2] for path in above} == {0}


def test_a_passage_of_a_document_without_a_tree_has_none(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("mill", "wheel"))
    assert paths_of(conn, [1, 2, 99]) == {}
    assert paths_of(conn, []) == {}


def test_the_highest_node_over_few_enough_passages_is_found(conn: Connection) -> None:
    passages = planted(conn, b"/notes/a.md")

    def levels(most: int, upto: int | None = None) -> list[tuple[int, int] | None]:
        found = highest_of(conn, [one.id for one in passages], most, upto)
        assert all(content == passages[0].content_id for content, _ in found.values())
        above = [found[one.id][1] if one.id in found else None for one in passages]
        return [None if node is None else (node.level, node.ordinal) for node in above]

    assert levels(12) == [(3, 0)] * 12
    assert levels(11) == levels(8) == [(2, 0)] * 8 + [(2, 1)] * 4
    # Of two nodes over the same passages it is the higher.
    assert levels(7) == [(1, 0)] * 3 + [(1, 1)] * 5 + [(2, 1)] * 4
    assert levels(3) == [(1, 0)] * 3 + [None] * 9
    # A node that ends after what has been read does not count.
    assert levels(12, passages[-2].end) == [(2, 0)] * 8 + [None] * 4
    assert levels(12, passages[2].end) == [(1, 0)] * 3 + [None] * 9
    assert highest_of(conn, [], 12) == {}


def test_paths_are_found_without_reading_a_table_from_end_to_end(conn: Connection) -> None:
    passages = [planted(conn, f"/notes/{number}.md".encode()) for number in range(20)]
    plans: list[tuple[int, str]] = []

    def note(event: dict[str, Any]) -> None:
        plans.append((event["stmt_status"]["SQLITE_STMTSTATUS_FULLSCAN_STEP"], event.get("sql") or ""))

    wanted = [one.id for document in passages[:3] for one in document[:2]]
    conn.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    found = paths_of(conn, wanted)
    assert len(highest_of(conn, wanted, 4)) == len(wanted)
    conn.trace_v2(0, None)
    assert len(found) == len(wanted)
    # Those that are wanted and the nodes found above them are gone through, each once; no table is.
    assert len(plans) == 2
    for steps, _ in plans:
        assert steps <= len(wanted) + sum(map(len, found.values()))
