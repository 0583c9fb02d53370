"""Which nodes of its content stand above a passage."""

from __future__ import annotations

from collections.abc import Iterable

import apsw
import numpy as np

from mindscape_storage.database import Connection, fetch
from mindscape_storage.records import Node
from mindscape_storage.summaries import SERVED

_EVERYWHERE = 2**62
# From the top to children by their key: a few rows a level, however long the document is.
_ABOVE = """
    WITH RECURSIVE above (passage, content, start, level, ordinal, first_child, end_child) AS (
        SELECT p.id, p.content_id, p.start, n.level, n.ordinal, n.first_child, n.end_child
        FROM carray(?) a CROSS JOIN passages p ON p.id = a.value
        CROSS JOIN nodes n ON n.content_id = p.content_id AND n.ordinal = 0
         AND n.level = (SELECT max(m.level) FROM nodes m WHERE m.content_id = p.content_id)
        UNION ALL
        SELECT o.passage, o.content, o.start, n.level, n.ordinal, n.first_child, n.end_child
        FROM above o CROSS JOIN nodes n ON n.content_id = o.content AND n.level = o.level - 1
         AND n.ordinal >= o.first_child AND n.ordinal < o.end_child
         AND n.start <= o.start AND n.end > o.start
    )
"""


def paths_of(conn: Connection, passage_ids: Iterable[int]) -> dict[int, list[tuple[int, int, int]]]:
    """Passage id -> (content, level, ordinal) of the nodes above it, lowest first; only those with a tree."""
    wanted = np.fromiter(passage_ids, np.int64)
    if not len(wanted):
        return {}
    rows = fetch(
        conn,
        f"{_ABOVE} SELECT passage, content, level, ordinal FROM above ORDER BY passage, level",
        (apsw.carray(wanted),),
    )
    found: dict[int, list[tuple[int, int, int]]] = {}
    for passage_id, content, level, ordinal in rows:
        found.setdefault(passage_id, []).append((content, level, ordinal))
    return found


def highest_of(
    conn: Connection, passage_ids: Iterable[int], most: int, upto: int | None = None
) -> dict[int, tuple[int, Node]]:
    """Passage id -> content and highest node above it that stands over at most `most` passages.

    And that ends at `upto` or before, where that is given. With the key of what is served; a passage without
    such a node is left out.
    """
    wanted = np.fromiter(passage_ids, np.int64)
    if not len(wanted):
        return {}
    rows = fetch(
        conn,
        f"""
        {_ABOVE}
        SELECT o.passage, o.content, n.level, n.ordinal, n.first_child, n.end_child, n.start, n.end, s.key
        FROM above o CROSS JOIN nodes n
          ON n.content_id = o.content AND n.level = o.level AND n.ordinal = o.ordinal
        CROSS JOIN summaries s ON s.id = {SERVED}
        WHERE n.end <= ? AND ? >= coalesce(
            (SELECT e.ordinal FROM passages e WHERE e.content_id = o.content AND e.start = n.end),
            (SELECT c.passages FROM contents c WHERE c.id = o.content)
        ) - (SELECT f.ordinal FROM passages f WHERE f.content_id = o.content AND f.start = n.start)
        ORDER BY o.passage, n.level
        """,
        (apsw.carray(wanted), _EVERYWHERE if upto is None else upto, most),
    )
    return {passage_id: (content, Node(*node)) for passage_id, content, *node in rows}
