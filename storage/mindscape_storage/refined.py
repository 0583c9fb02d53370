"""The model's track of the mindscape: which nodes it still has to go through, and what it said of them.

Which model that is, and how it is asked, is one text, `how`; with another one everything is gone through
again, while what there is stays served. Without one, nothing of a model is kept beside the nodes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from mindscape_storage.database import Connection, fetch, transaction, value
from mindscape_storage.records import ChangedFolder
from mindscape_storage.summaries import ids_by_key

_USED = "SELECT how FROM refined_by"
_OPEN = "refined = 0 AND tree IS NOT NULL AND complete = 1 AND documents > 0 AND passages > 0"


def use(conn: Connection, how: str | None) -> bool:
    """From now on the model is asked like this; True when that is a change."""
    if value(conn, _USED) == how:
        return False
    with transaction(conn):
        conn.execute("DELETE FROM refined_by")
        if how is None:
            conn.execute("UPDATE nodes SET model = NULL WHERE model IS NOT NULL")
            conn.execute("UPDATE folder_nodes SET model = NULL WHERE model IS NOT NULL")
        else:
            conn.execute("INSERT INTO refined_by VALUES (?)", (how,))
        conn.execute("UPDATE contents SET refined = 0 WHERE refined = 1")
        conn.execute("UPDATE folders SET unrefined = unrefined + 1")
    return True


def next_content(conn: Connection) -> int | None:
    """A content the model has not been through, the first that came; None when there is none."""
    return value(conn, f"SELECT id FROM contents WHERE {_OPEN} ORDER BY id LIMIT 1")


def next_folder(conn: Connection) -> ChangedFolder | None:
    """The deepest folder the model has not been through since something changed; None when there is none.

    None also while nodes are to be made again: the model would speak of what was.
    """
    rows = fetch(
        conn,
        """
        SELECT id, unrefined FROM folders WHERE unrefined > 0
          AND NOT EXISTS (SELECT 1 FROM folders WHERE changes > 0) ORDER BY depth DESC, id LIMIT 1
        """,
    )
    return ChangedFolder(*rows[0]) if rows else None


def is_unrefined(conn: Connection, folder: ChangedFolder) -> bool:
    """Whether the folder is as it was when it was chosen, and its nodes are current."""
    sql = "SELECT unrefined FROM folders WHERE id = ? AND changes <= 0"
    return value(conn, sql, (folder.id,)) == folder.changes


def set_content(conn: Connection, content_id: int, models: Mapping[tuple[int, int], bytes]) -> bool:
    """The model has been through a content: (level, ordinal) -> key of what it said of that node.

    False, changing nothing, when the content, its tree or a summary is gone.
    """
    with transaction(conn):
        if not value(conn, "SELECT tree IS NOT NULL FROM contents WHERE id = ?", (content_id,)):
            return False
        ids = ids_by_key(conn, models.values())
        if any(key not in ids for key in models.values()):
            return False
        rows = fetch(conn, "SELECT level, ordinal, model FROM nodes WHERE content_id = ?", (content_id,))
        changed = [
            (new, content_id, level, ordinal)
            for level, ordinal, old in rows
            if (new := _id(ids, models.get((level, ordinal)))) != old
        ]
        sql = "UPDATE nodes SET model = ? WHERE content_id = ? AND level = ? AND ordinal = ?"
        conn.executemany(sql, changed)
        conn.execute("UPDATE contents SET refined = 1 WHERE id = ?", (content_id,))
    return True


def set_folder(conn: Connection, folder: ChangedFolder, models: Mapping[tuple[int, bytes], bytes]) -> bool:
    """The same for a folder: (level, first name) -> key. The folder above hears of another summary.

    False, changing nothing, when something below has changed meanwhile, or a summary is gone.
    """
    with transaction(conn):
        if not is_unrefined(conn, folder):
            return False
        ids = ids_by_key(conn, models.values())
        if any(key not in ids for key in models.values()):
            return False
        sql = "SELECT level, first_name, model FROM folder_nodes WHERE folder_id = ? ORDER BY level"
        rows = fetch(conn, sql, (folder.id,))
        changed = [
            (new, folder.id, level, name)
            for level, name, old in rows
            if (new := _id(ids, models.get((level, name)))) != old
        ]
        sql = "UPDATE folder_nodes SET model = ? WHERE folder_id = ? AND level = ? AND first_name = ?"
        conn.executemany(sql, changed)
        conn.execute("UPDATE folders SET unrefined = 0, dated = 0 WHERE id = ?", (folder.id,))
        if changed and changed[-1][2] == rows[-1][0]:
            _tell_above(conn, folder.id)
    return True


class Left(NamedTuple):
    """What the model has not been through."""

    contents: int
    folders: int
    nodes: int
    """Of both: at most about as many calls, for what it has said before is not asked again."""


def left(conn: Connection) -> Left | None:
    """What the model has not been through; None without one."""
    if value(conn, _USED) is None:
        return None
    contents, nodes = fetch(
        conn,
        f"""
        SELECT count(DISTINCT c.id), count(n.level) FROM contents c
        LEFT JOIN nodes n ON n.content_id = c.id AND n.end_child - n.first_child > 1
        WHERE {_OPEN}
        """,
    )[0]
    folders, groups = fetch(
        conn,
        """
        SELECT count(DISTINCT f.id), count(n.level) FROM folders f
        LEFT JOIN folder_nodes n ON n.folder_id = f.id AND n.first_name < n.last_name
            AND (n.model IS NULL OR NOT f.dated)
        WHERE f.unrefined > 0
        """,
    )[0]
    return Left(contents, folders, nodes + groups)


def not_refined(conn: Connection) -> set[int] | None:
    """Ids of documents with status ok and a tree that the model has not been through, or that stand in or
    below a folder that it has not been through. None without a model.
    """
    if value(conn, _USED) is None:
        return None
    rows = fetch(
        conn,
        """
        WITH RECURSIVE open (id) AS (
            SELECT id FROM folders WHERE unrefined > 0
            UNION SELECT f.id FROM open o CROSS JOIN folders f ON f.parent = o.id
        )
        SELECT d.id FROM contents c CROSS JOIN documents d ON d.content_id = c.id
        CROSS JOIN roots r ON r.id = d.root_id AND r.mode <> 'away'
        WHERE c.refined = 0 AND c.tree IS NOT NULL AND d.status = 'ok'
        UNION
        SELECT d.id FROM open o CROSS JOIN documents d ON d.folder_id = o.id
        CROSS JOIN roots r ON r.id = d.root_id AND r.mode <> 'away'
        WHERE d.status = 'ok'
        """,
    )
    return {row[0] for row in rows}


def _tell_above(conn: Connection, folder_id: int) -> None:
    conn.execute(
        "UPDATE folders SET unrefined = unrefined + 1 WHERE id = (SELECT parent FROM folders WHERE id = ?)",
        (folder_id,),
    )


def _id(ids: Mapping[bytes, int], key: bytes | None) -> int | None:
    return None if key is None else ids[key]
