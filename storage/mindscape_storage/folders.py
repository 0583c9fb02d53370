"""Folders that hold documents, and the nodes over their children, up to the library itself.

Triggers count what changes below a folder since its nodes were made; whether anything has to be made again
is decided by comparing keys. A folder whose count is 0, like all above it, says what its children say.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Mapping
from typing import Any

from mindscape_storage.database import Connection, fetch, transaction, value
from mindscape_storage.records import ChangedFolder, Child, Entry, FolderNode
from mindscape_storage.summaries import SERVED, ids_by_key

LIBRARY = 0
_Rows = Mapping[tuple[int, bytes], tuple[bytes, int]]


def folder_of(conn: Connection, root_id: int, path: bytes) -> int:
    """The folder in which the document at `path` lies, one of its root's; of a root itself the library."""
    root: bytes | None = value(conn, "SELECT path FROM roots WHERE id = ?", (root_id,))
    if path == root:
        return LIBRARY
    missing: list[bytes] = []
    folder, known = os.path.dirname(path), None
    while True:
        known = value(conn, "SELECT id FROM folders WHERE root_id = ? AND path = ?", (root_id, folder))
        if known is not None:
            break
        missing.append(folder)
        if folder in (root, os.path.dirname(folder)):
            known = LIBRARY
            break
        folder = os.path.dirname(folder)
    for folder in reversed(missing):
        conn.execute(
            """
            INSERT INTO folders (root_id, parent, path, depth)
            SELECT ?1, ?2, ?3, depth + 1 FROM folders WHERE id = ?2
            """,
            (root_id, known, folder),
        )
        known = conn.last_insert_rowid()
    return known


def place_documents(conn: Connection) -> int:
    """Give every document that has none its folder; returns how many."""
    with transaction(conn):
        rows = fetch(conn, "SELECT id, root_id, path FROM documents WHERE folder_id IS NULL")
        for document_id, root_id, path in rows:
            conn.execute(
                "UPDATE documents SET folder_id = ? WHERE id = ?",
                (folder_of(conn, root_id, path), document_id),
            )
    return len(rows)


def changed_folders(conn: Connection, limit: int) -> list[ChangedFolder]:
    """The deepest of the folders below which something has changed: at most so many, of one depth."""
    rows = fetch(
        conn,
        """
        SELECT id, changes FROM folders WHERE changes > 0
          AND depth = (SELECT max(depth) FROM folders WHERE changes > 0) ORDER BY id LIMIT ?
        """,
        (limit,),
    )
    return [ChangedFolder(*row) for row in rows]


def is_unchanged(conn: Connection, folder: ChangedFolder) -> bool:
    """Whether nothing has changed below the folder since it was looked at."""
    return value(conn, "SELECT changes FROM folders WHERE id = ?", (folder.id,)) == folder.changes


def children_of(conn: Connection, folder_id: int, *, served: bool = False) -> list[Child]:
    """The documents and folders in a folder that have a summary, in no order; each name once.

    With their extractive summaries, or with those that are served.
    """
    summary = SERVED if served else "n.summary"
    rows = fetch(
        conn,
        f"""
        SELECT d.path, c.title, s.key, s.digest, 0, s.tokens, s.id IS n.model
        FROM documents d CROSS JOIN contents c ON c.id = d.content_id
        CROSS JOIN nodes n ON n.content_id = c.id
            AND n.level = (SELECT max(level) FROM nodes WHERE content_id = c.id)
        CROSS JOIN summaries s ON s.id = {summary} WHERE d.folder_id = ?1
        UNION ALL
        SELECT f.path, NULL, s.key, s.digest, 1, s.tokens, s.id IS n.model
        FROM folders f CROSS JOIN folder_nodes n ON n.folder_id = f.id
            AND n.level = (SELECT max(level) FROM folder_nodes WHERE folder_id = f.id)
        CROSS JOIN summaries s ON s.id = {summary} WHERE f.parent = ?1
        """,
        (folder_id,),
    )
    found: dict[bytes, Child] = {}
    for path, title, key, digest, is_folder, tokens, by_model in rows:
        name = path if folder_id == LIBRARY else os.path.basename(path)
        # While a file gives way to a folder of its name both may be here.
        found.setdefault(name, Child(name, title, key, digest, bool(is_folder), tokens, bool(by_model)))
    return list(found.values())


def entries_of(conn: Connection, folder_id: int, changed: Container[int]) -> list[Entry]:
    """The documents and folders in a folder, in no order; each name once.

    Those `children_of` gives, and those that have no summary yet: of folders those among `changed`.
    """
    rows = fetch(
        conn,
        """
        SELECT d.id, d.path, c.title, 0, 1 FROM documents d CROSS JOIN contents c ON c.id = d.content_id
        WHERE d.folder_id = ?1 AND c.complete = 1 AND c.passages > 0
        UNION ALL
        SELECT f.id, f.path, NULL, 1, EXISTS (SELECT 1 FROM folder_nodes WHERE folder_id = f.id)
        FROM folders f WHERE f.parent = ?1
        """,
        (folder_id,),
    )
    found: dict[bytes, Entry] = {}
    for id_, path, title, is_folder, has_nodes in rows:
        name = path if folder_id == LIBRARY else os.path.basename(path)
        if has_nodes or id_ in changed:
            found.setdefault(name, Entry(id_, name, title, bool(is_folder)))
    return list(found.values())


def behind(conn: Connection) -> set[int]:
    """Folders, the library among them, that may not say what is below them: it has changed."""
    rows = fetch(
        conn,
        """
        WITH RECURSIVE above (id) AS (
            SELECT id FROM folders WHERE changes > 0
            UNION SELECT f.parent FROM above a CROSS JOIN folders f ON f.id = a.id
            WHERE f.parent IS NOT NULL
        )
        SELECT id FROM above
        """,
    )
    return {row[0] for row in rows}


def folder_at(conn: Connection, path: bytes) -> int | None:
    """The folder with this path, if documents are known in or below it."""
    return value(conn, "SELECT min(id) FROM folders WHERE path = ? AND id > 0", (path,))


def folders_above(conn: Connection, folder_id: int) -> list[tuple[int, bytes]]:
    """Ids and paths from the library (no path) down to the folder, itself the last; none if it is gone."""
    found: list[tuple[int, bytes]] = []
    at: int | None = folder_id
    while at is not None:
        rows = fetch(conn, "SELECT parent, path FROM folders WHERE id = ?", (at,))
        if not rows:
            return []
        found.append((at, rows[0][1]))
        at = rows[0][0]
    return found[::-1]


def folder_of_document(conn: Connection, document_id: int) -> int:
    """The folder that a document stands in; the library where it has none yet."""
    return value(conn, "SELECT folder_id FROM documents WHERE id = ?", (document_id,)) or LIBRARY


def set_folder_tree(conn: Connection, folder: ChangedFolder, nodes: Iterable[FolderNode]) -> bool:
    """Give a folder its nodes; what holds nothing any more goes. The folder above hears of another summary.

    False, changing nothing, when something below the folder has changed meanwhile, or a summary is gone.
    """
    nodes = list(nodes)
    with transaction(conn):
        if not is_unchanged(conn, folder):
            return False
        summaries = ids_by_key(conn, (node.key for node in nodes))
        if any(node.key not in summaries for node in nodes):
            return False
        before = _rows(conn, folder.id)
        after = {(node.level, node.first_name): (node.last_name, summaries[node.key]) for node in nodes}
        _replace(conn, folder.id, before, after)
        conn.execute("UPDATE folders SET changes = 0 WHERE id = ?", (folder.id,))
        if _top(before) != _top(after):
            conn.execute(
                """
                UPDATE folders SET changes = changes + 1 WHERE id = (SELECT parent FROM folders WHERE id = ?)
                """,
                (folder.id,),
            )
        # What a model wrote of what is now other text is not served, up to the library.
        conn.executemany(
            "UPDATE folders SET unrefined = unrefined + 1, dated = 1 WHERE id = ?",
            [(above,) for above, _ in folders_above(conn, folder.id)],
        )
        if not nodes:
            _remove_empty(conn, folder.id)
    return True


def regrow(conn: Connection, folder_id: int) -> None:
    """The nodes of a folder are to be made again."""
    with transaction(conn):
        conn.execute("UPDATE folders SET changes = max(changes, 0) + 1 WHERE id = ?", (folder_id,))


def folder_nodes_of(conn: Connection, folder_id: int) -> list[FolderNode]:
    """Every node of a folder, level by level from the lowest; on a level by the bytes of the first name.

    With the keys of what is served: the model's summaries while nothing below has changed since.
    """
    rows = fetch(
        conn,
        f"""
        SELECT n.level, n.first_name, n.last_name, s.key
        FROM folders f CROSS JOIN folder_nodes n ON n.folder_id = f.id
        CROSS JOIN summaries s ON s.id = CASE WHEN f.dated THEN n.summary ELSE {SERVED} END
        WHERE f.id = ? ORDER BY n.level, n.first_name
        """,
        (folder_id,),
    )
    return [FolderNode(*row) for row in rows]


def folders_behind(conn: Connection) -> int:
    """How many folders, the library among them, may not say what their children say."""
    return value(conn, "SELECT count(*) FROM folders WHERE changes > 0")


def documents_behind(conn: Connection) -> int:
    """Documents with status ok that lack a tree."""
    return value(
        conn,
        """
        SELECT count(*) FROM contents c CROSS JOIN documents d ON d.content_id = c.id
        CROSS JOIN roots r ON r.id = d.root_id AND r.mode <> 'away'
        WHERE c.tree IS NULL AND c.passages > 0 AND d.status = 'ok'
        """,
    )


def not_summarised(conn: Connection) -> set[int]:
    """Ids of documents with status ok that lack a tree, or stand in or below a folder that has changed."""
    rows = fetch(
        conn,
        """
        WITH RECURSIVE stale (id) AS (
            SELECT id FROM folders WHERE changes > 0
            UNION SELECT f.id FROM stale s CROSS JOIN folders f ON f.parent = s.id
        )
        SELECT d.id FROM contents c CROSS JOIN documents d ON d.content_id = c.id
        CROSS JOIN roots r ON r.id = d.root_id AND r.mode <> 'away'
        WHERE c.tree IS NULL AND c.passages > 0 AND d.status = 'ok'
        UNION
        SELECT d.id FROM stale s CROSS JOIN documents d ON d.folder_id = s.id
        CROSS JOIN roots r ON r.id = d.root_id AND r.mode <> 'away'
        WHERE d.status = 'ok'
        """,
    )
    return {row[0] for row in rows}


def forget_changed(conn: Connection) -> None:
    """Drop the nodes of every folder in or below which something has changed: they tell of what was there."""
    with transaction(conn):
        rows = [(folder_id,) for folder_id in behind(conn)]
        conn.executemany("DELETE FROM folder_nodes WHERE folder_id = ?", rows)
        conn.executemany("UPDATE folders SET changes = changes + 1 WHERE id = ?", rows)


def _rows(conn: Connection, folder_id: int) -> _Rows:
    rows: list[tuple[Any, ...]] = fetch(
        conn,
        "SELECT level, first_name, last_name, summary FROM folder_nodes WHERE folder_id = ?",
        (folder_id,),
    )
    return {(row[0], row[1]): (row[2], row[3]) for row in rows}


def _replace(conn: Connection, folder_id: int, before: _Rows, after: _Rows) -> None:
    """Write only what differs: an edit in a folder of thousands touches a few rows."""
    conn.executemany(
        "DELETE FROM folder_nodes WHERE folder_id = ? AND level = ? AND first_name = ?",
        [(folder_id, *at) for at, what in before.items() if after.get(at) != what],
    )
    conn.executemany(
        """
        INSERT INTO folder_nodes (folder_id, level, first_name, last_name, summary) VALUES (?, ?, ?, ?, ?)
        """,
        [(folder_id, *at, *what) for at, what in after.items() if before.get(at) != what],
    )


def _top(rows: _Rows) -> int | None:
    return rows[max(rows)][1] if rows else None


def _remove_empty(conn: Connection, folder_id: int) -> None:
    conn.execute(
        """
        DELETE FROM folders WHERE id = ?1 AND parent IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM documents WHERE folder_id = ?1)
          AND NOT EXISTS (SELECT 1 FROM folders WHERE parent = ?1)
        """,
        (folder_id,),
    )
