"""`doctor` for the mindscape: nodes that stand over everything once, and a summary for each."""

from __future__ import annotations

from mindscape_storage.database import Connection, fetch, transaction, value
from mindscape_storage.folders import place_documents
from mindscape_storage.records import NOTHING, Check
from mindscape_storage.summaries import digest_of

_AGAIN = "Run `mindscape doctor --repair`."
_LIVE = "SELECT summary FROM used_summaries"
_BELOW = """
    SELECT content_id, 0 AS level, ordinal, start, end FROM passages
    UNION ALL SELECT content_id, level, ordinal, start, end FROM nodes
"""


def check_tree(conn: Connection) -> list[Check]:
    """Changes nothing."""
    return [_trees(conn), _folders(conn), _summaries(conn)]


def repair_tree(conn: Connection) -> Check:
    """What is wrong is made again: damaged trees, all folders' nodes where one is, damaged summaries."""
    with transaction(conn):
        place_documents(conn)
        bad = _bad_trees(conn)
        conn.executemany("UPDATE contents SET tree = NULL WHERE id = ?", [(one,) for one in bad])
        conn.executemany("DELETE FROM nodes WHERE content_id = ?", [(one,) for one in bad])
        damaged = _damaged_summaries(conn)
        for summary in damaged:
            conn.execute(
                """
                UPDATE contents SET tree = NULL WHERE id IN (SELECT content_id FROM nodes WHERE summary = ?)
                """,
                (summary,),
            )
            _forget_model(conn, summary)
        wrong = bool(bad or damaged or _bad_folders(conn))
        if wrong:
            conn.execute("DELETE FROM nodes WHERE content_id IN (SELECT id FROM contents WHERE tree IS NULL)")
            conn.execute("DELETE FROM folder_nodes")
            conn.execute("UPDATE folders SET changes = changes + 1")
        conn.execute(f"DELETE FROM unused_summaries WHERE summary IN ({_LIVE})")
        conn.execute(
            f"""
            INSERT INTO unused_summaries SELECT id, unixepoch() FROM summaries
            WHERE id NOT IN ({_LIVE} UNION SELECT summary FROM unused_summaries)
            """
        )
        conn.executemany("DELETE FROM summaries WHERE id = ?", [(one,) for one in damaged])
    return Check(
        "tree", "ok", f"{len(bad)} trees and {len(damaged)} summaries that were damaged are made again."
    )


def _forget_model(conn: Connection, summary: int) -> None:
    """Nodes of which a model said this are gone through again."""
    conn.execute(
        "UPDATE contents SET refined = 0 WHERE id IN (SELECT content_id FROM nodes WHERE model = ?)",
        (summary,),
    )
    conn.execute(
        """
        UPDATE folders SET unrefined = unrefined + 1
        WHERE id IN (SELECT folder_id FROM folder_nodes WHERE model = ?)
        """,
        (summary,),
    )
    conn.execute("UPDATE nodes SET model = NULL WHERE model = ?", (summary,))
    conn.execute("UPDATE folder_nodes SET model = NULL WHERE model = ?", (summary,))


def _trees(conn: Connection) -> Check:
    bad = _bad_trees(conn)
    if bad:
        return Check("tree", "fail", f"The nodes of {len(bad)} contents do not tile their passages.", _AGAIN)
    return Check("tree", "ok", "Nodes tile the passages of every content that has a tree.")


def _bad_trees(conn: Connection) -> list[int]:
    """Contents whose nodes do not tile, on every level, what is on the level below, up to a single one."""
    rows = fetch(
        conn,
        f"""
        WITH below AS ({_BELOW}),
        tops AS (SELECT content_id, max(level) AS level, count(*) AS held FROM nodes GROUP BY content_id),
        sizes AS (SELECT content_id, level, count(*) AS held, min(start) AS start, max(end) AS end
                  FROM below GROUP BY content_id, level)
        SELECT id FROM contents WHERE tree IS NOT NULL AND passages > 0
            AND id NOT IN (SELECT content_id FROM tops)
        UNION
        SELECT t.content_id FROM tops t JOIN sizes s USING (content_id, level) WHERE s.held <> 1
        UNION
        SELECT s.content_id FROM sizes s
        JOIN (SELECT content_id, level, min(first_child) AS first, max(end_child) AS last FROM nodes
              GROUP BY content_id, level) n ON n.content_id = s.content_id AND n.level = s.level + 1
        WHERE n.first <> 0 OR n.last <> s.held
        UNION
        SELECT content_id FROM (
            SELECT content_id, first_child, end_child,
                lag(end_child) OVER (PARTITION BY content_id, level ORDER BY ordinal) AS before FROM nodes
        ) WHERE first_child >= end_child OR before <> first_child
        UNION
        SELECT n.content_id FROM nodes n
        LEFT JOIN below a ON a.content_id = n.content_id AND a.level = n.level - 1
            AND a.ordinal = n.first_child
        LEFT JOIN below z ON z.content_id = n.content_id AND z.level = n.level - 1
            AND z.ordinal = n.end_child - 1
        WHERE a.start IS NOT n.start OR z.end IS NOT n.end
        """,
    )
    return sorted(row[0] for row in rows)


def _folders(conn: Connection) -> Check:
    bad = _bad_folders(conn)
    if bad:
        return Check("folders", "fail", f"{len(bad)} folders do not say what is in them.", _AGAIN)
    return Check("folders", "ok", "Every folder says what is in it, or is about to.")


def _bad_folders(conn: Connection) -> list[int]:
    """Folders that count as current without being it, and documents in none or in one of another root."""
    rows = fetch(
        conn,
        """
        WITH full AS (
            SELECT folder_id AS id FROM documents d JOIN contents c ON c.id = d.content_id
            WHERE c.id IN (SELECT content_id FROM nodes)
            UNION SELECT parent FROM folders WHERE id IN (SELECT folder_id FROM folder_nodes)
        )
        SELECT id FROM folders WHERE changes = 0
            AND (id IN full) <> (id IN (SELECT folder_id FROM folder_nodes))
        UNION
        SELECT n.folder_id FROM folder_nodes n
        JOIN (SELECT folder_id, max(level) AS level FROM folder_nodes GROUP BY 1) t USING (folder_id, level)
        GROUP BY n.folder_id HAVING count(*) > 1
        UNION
        SELECT coalesce(d.folder_id, 0) FROM documents d LEFT JOIN folders f ON f.id = d.folder_id
        WHERE d.folder_id IS NULL OR (f.root_id <> d.root_id AND f.id <> 0)
        """,
    )
    return sorted(row[0] for row in rows)


def _summaries(conn: Connection) -> Check:
    damaged = len(_damaged_summaries(conn))
    astray = value(
        conn,
        f"""
        SELECT (SELECT count(*) FROM summaries
                WHERE (id IN ({_LIVE})) = (id IN (SELECT summary FROM unused_summaries)))
            + (SELECT count(*) FROM unused_summaries WHERE summary NOT IN (SELECT id FROM summaries))
        """,
    )
    if not damaged and not astray:
        return Check("summaries", "ok", "Every summary has its nodes, or is kept aside for a while.")
    return Check(
        "summaries",
        "fail",
        f"{damaged} summaries are damaged, {astray} count as used or unused but are not.",
        _AGAIN,
    )


def _damaged_summaries(conn: Connection) -> list[int]:
    """Those that are not what was stored, and those that could not be made."""
    cursor = conn.execute("SELECT id, digest, text, made_by FROM summaries")
    return [row[0] for row in cursor if row[3] == NOTHING or digest_of(row[2]) != row[1]]
