"""The nodes of a content: which of its passages, and which nodes above them, stand together, with summaries.

They are a function of the passages, and so are made once for a content and go with it. A content whose tree
was made by other rules keeps it until the new one is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import apsw
import numpy as np

from mindscape_storage.database import Connection, fetch, transaction, value
from mindscape_storage.records import Node, Opening
from mindscape_storage.summaries import SERVED, ids_by_key

OPENING = 400
"""Code points that tell how a passage begins."""


def outdate(conn: Connection, version: str) -> None:
    """Trees made by other rules than `version` are to be made again."""
    with transaction(conn):
        conn.execute("UPDATE contents SET tree = NULL WHERE tree < ?1 OR tree > ?1", (version,))


def regrow(conn: Connection, content_id: int) -> None:
    """The tree of a content is to be made again."""
    with transaction(conn):
        conn.execute("UPDATE contents SET tree = NULL WHERE id = ?", (content_id,))


def retry_failed(conn: Connection) -> int:
    """Summaries that could not be made are to be tried again, with all that was made from them."""
    with transaction(conn):
        failed = fetch(conn, "SELECT id FROM summaries WHERE made_by = 'nothing'")
        for (summary,) in failed:
            for (content_id,) in fetch(conn, "SELECT content_id FROM nodes WHERE summary = ?", (summary,)):
                conn.execute("DELETE FROM nodes WHERE content_id = ?", (content_id,))
                conn.execute("UPDATE contents SET tree = NULL WHERE id = ?", (content_id,))
            conn.execute(
                """
                UPDATE folders SET changes = changes + 1
                WHERE id IN (SELECT folder_id FROM folder_nodes WHERE summary = ?)
                """,
                (summary,),
            )
            conn.execute("DELETE FROM folder_nodes WHERE summary = ?", (summary,))
            conn.execute("DELETE FROM summaries WHERE id = ?", (summary,))
    return len(failed)


def without_tree(conn: Connection, limit: int, most_passages: int) -> list[int]:
    """Contents that need a tree, oldest first: at most so many, of at most so many passages; at least one."""
    rows = fetch(
        conn,
        """
        SELECT id, passages FROM contents
        WHERE tree IS NULL AND passages > 0 AND complete = 1 AND documents > 0 ORDER BY id LIMIT ?
        """,
        (limit,),
    )
    chosen: list[int] = []
    for content_id, passages in rows:
        most_passages -= passages
        if most_passages < 0 and chosen:
            break
        chosen.append(content_id)
    return chosen


def passage_texts(conn: Connection, content_id: int, first: int, end: int) -> list[str]:
    """The texts of the passages with these ordinals."""
    rows = fetch(
        conn,
        "SELECT text FROM passages WHERE content_id = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal",
        (content_id, first, end),
    )
    return [row[0] for row in rows]


def set_tree(conn: Connection, content_id: int, version: str, nodes: Iterable[Node]) -> bool:
    """Give a content its nodes. False, changing nothing, when it or one of the summaries is gone."""
    nodes = list(nodes)
    with transaction(conn):
        if not value(conn, "SELECT complete FROM contents WHERE id = ?", (content_id,)):
            return False
        summaries = ids_by_key(conn, (node.key for node in nodes))
        if any(node.key not in summaries for node in nodes):
            return False
        conn.execute("DELETE FROM nodes WHERE content_id = ?", (content_id,))
        conn.executemany(
            """
            INSERT INTO nodes (content_id, level, ordinal, first_child, end_child, start, end, summary)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                (
                    content_id,
                    node.level,
                    node.ordinal,
                    node.first_child,
                    node.end_child,
                    node.start,
                    node.end,
                    summaries[node.key],
                )
                for node in nodes
            ],
        )
        conn.execute("UPDATE contents SET tree = ?, refined = 0 WHERE id = ?", (version, content_id))
    return True


def top_of(conn: Connection, content_id: int) -> Node | None:
    """The node over the whole of a content; None while it has none."""
    level = value(conn, "SELECT max(level) FROM nodes WHERE content_id = ?", (content_id,))
    return None if level is None else nodes_between(conn, content_id, level, 0, 1)[0]


def nodes_between(conn: Connection, content_id: int, level: int, first: int, end: int) -> list[Node]:
    """The nodes of a level with these ordinals, in order; those that are there.

    With the keys of what is served.
    """
    rows = fetch(
        conn,
        f"""
        SELECT n.level, n.ordinal, n.first_child, n.end_child, n.start, n.end, s.key
        FROM nodes n JOIN summaries s ON s.id = {SERVED}
        WHERE n.content_id = ? AND n.level = ? AND n.ordinal >= ? AND n.ordinal < ? ORDER BY n.ordinal
        """,
        (content_id, level, first, end),
    )
    return [Node(*row) for row in rows]


def headings_of(
    conn: Connection, content_id: int, spans: Iterable[tuple[int, int]]
) -> dict[int, tuple[list[str], list[str]]]:
    """Start of each span -> the headings under which its first and its last passage stand, widest first."""
    sql = """
        SELECT heading FROM passages WHERE content_id = ? AND start < ? ORDER BY start DESC LIMIT 1
    """

    def under(offset: int) -> list[str]:
        return json.loads(value(conn, sql, (content_id, offset)) or "[]")

    return {start: (under(start + 1), under(end)) for start, end in spans}


def has_tree(conn: Connection, content_id: int) -> bool:
    """Whether a content has the nodes it should have."""
    return value(conn, "SELECT tree FROM contents WHERE id = ?", (content_id,)) is not None


def openings(conn: Connection, content_id: int, starts: Iterable[int]) -> dict[int, Opening]:
    """Offset -> how the passage that starts there begins."""
    wanted = np.fromiter(starts, np.int64)
    if not len(wanted):
        return {}
    rows = fetch(
        conn,
        """
        SELECT p.start, nullif(p.heading, (
            SELECT b.heading FROM passages b WHERE b.content_id = p.content_id AND b.ordinal = p.ordinal - 1
        )), substr(p.text, 1, ?)
        FROM carray(?) a CROSS JOIN passages p ON p.content_id = ? AND p.start = a.value
        """,
        (OPENING, apsw.carray(wanted), content_id),
    )
    return {
        start: Opening((json.loads(heading or "[]") or [None])[-1], text) for start, heading, text in rows
    }
