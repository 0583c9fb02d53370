"""What a library says, without how it came to say it: two dumps are equal when the libraries are.

Left out: row ids, times, inodes, counters, jobs and the memo. Meant for tests and `doctor`: it reads
everything.
"""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from mindscape_storage.database import Connection, fetch, snapshot, value
from mindscape_storage.vectors import encoders


def canonical_dump(conn: Connection) -> dict[str, Any]:
    """JSON values: roots, documents, contents with all that hangs on them, vectors by key, indexed words,
    nodes of contents and folders, and what they say by key.
    """
    with snapshot(conn):
        return {
            "roots": _rows(conn, "SELECT path, mode, ocr FROM roots ORDER BY path"),
            "documents": _documents(conn),
            "contents": _contents(conn),
            "vectors": {encoder.name: _vectors(conn, encoder.id) for encoder in encoders(conn)},
            "folders": _folders(conn),
            "summaries": _summaries(conn),
            "strays": _strays(conn),
        }


def _documents(conn: Connection) -> list[Any]:
    names = _fingerprints(conn, "names_instances")
    rows = fetch(
        conn,
        """
        SELECT d.id, d.path, d.display, d.nfc_key, d.size, d.status, d.reason, r.path,
               c.hash, c.media_type, c.parser_version
        FROM documents d JOIN roots r ON r.id = d.root_id LEFT JOIN contents c ON c.id = d.content_id
        ORDER BY d.path
    """,
    )
    return [[*map(_json, row[1:]), names.get(row[0])] for row in rows]


def _contents(conn: Connection) -> list[Any]:
    words = _fingerprints(conn, "passages_instances")
    rows = fetch(
        conn,
        """
        SELECT c.id, c.hash, c.media_type, c.parser_version, c.text_like, c.complete, c.documents, c.length,
               c.passages, c.title, c.dated, c.info, e.name
        FROM contents c LEFT JOIN encoders e ON e.id = c.embedded_by
        ORDER BY c.hash, c.media_type, c.parser_version
    """,
    )
    return [[*map(_json, row[1:]), _content(conn, row[0], words)] for row in rows]


def _content(conn: Connection, content_id: int, words: dict[int, str]) -> dict[str, Any]:
    passages = fetch(
        conn,
        """
        SELECT id, ordinal, start, end, text, line, heading, prefix, input_hash FROM passages
        WHERE content_id = ? ORDER BY ordinal
        """,
        (content_id,),
    )
    return {
        "passages": [[*map(_json, row[1:]), words.get(row[0])] for row in passages],
        "sections": _rows(
            conn,
            "SELECT ordinal, level, heading, start, end, path FROM sections WHERE content_id = ? ORDER BY 1",
            content_id,
        ),
        "marks": _rows(
            conn, "SELECT ordinal, kind, label, start FROM marks WHERE content_id = ? ORDER BY 1", content_id
        ),
        "tags": _rows(conn, "SELECT tag FROM tags WHERE content_id = ? ORDER BY 1", content_id),
        "tree": value(conn, "SELECT tree FROM contents WHERE id = ?", (content_id,)),
        "nodes": _rows(
            conn,
            """
            SELECT level, ordinal, first_child, end_child, start, end, hex(s.key), hex(m.key)
            FROM nodes n LEFT JOIN summaries s ON s.id = n.summary LEFT JOIN summaries m ON m.id = n.model
            WHERE content_id = ? ORDER BY 1, 2
            """,
            content_id,
        ),
    }


def _folders(conn: Connection) -> list[Any]:
    """The folders that have nodes."""
    rows = fetch(
        conn,
        """
        SELECT f.id, r.path, f.path FROM folders f LEFT JOIN roots r ON r.id = f.root_id
        WHERE f.id IN (SELECT folder_id FROM folder_nodes) ORDER BY f.path, r.path
        """,
    )
    sql = """
        SELECT level, first_name, last_name, hex(s.key), hex(m.key)
        FROM folder_nodes n LEFT JOIN summaries s ON s.id = n.summary LEFT JOIN summaries m ON m.id = n.model
        WHERE folder_id = ? ORDER BY 1, 2
    """
    return [[*map(_json, row[1:]), _rows(conn, sql, row[0])] for row in rows]


def _summaries(conn: Connection) -> dict[str, Any]:
    """By key, of those that a node has."""
    rows = fetch(
        conn,
        """
        SELECT hex(key), hex(digest), tokens, made_by, text FROM summaries
        WHERE id IN (SELECT summary FROM used_summaries) ORDER BY key
        """,
    )
    return {row[0]: list(row[1:]) for row in rows}


def _vectors(conn: Connection, encoder: int) -> dict[str, Any]:
    held = {row[0] for row in fetch(conn, f"SELECT rowid FROM vec_{int(encoder)}")}
    rows = fetch(
        conn, "SELECT id, input_hash FROM vectors WHERE encoder_id = ? ORDER BY input_hash", (encoder,)
    )
    skipped = fetch(conn, "SELECT input_hash FROM unembeddable WHERE encoder_id = ? ORDER BY 1", (encoder,))
    return {
        "live": [row[1].hex() for row in rows if row[0] in held],
        "without_floats": [row[1].hex() for row in rows if row[0] not in held],
        "without_key": len(held - {row[0] for row in rows}),
        "skipped": [row[0].hex() for row in skipped],
    }


def _strays(conn: Connection) -> dict[str, int]:
    """Rows of the full-text indexes that belong to nothing."""
    return {
        table: value(
            conn, f"SELECT count(*) FROM {table}_fts_docsize WHERE id NOT IN (SELECT id FROM {table_of})"
        )
        for table, table_of in (("passages", "passages"), ("names", "documents"))
    }


def _fingerprints(conn: Connection, instances: str) -> dict[int, str]:
    """Row id -> digest of every (word, column, position) the index holds for it, in any order."""
    sums: dict[int, int] = {}
    for term, row, column, offset in conn.execute(f"SELECT term, doc, col, offset FROM {instances}"):
        word = hashlib.blake2b(f"{term}\0{column}\0{offset}".encode(), digest_size=16).digest()
        sums[row] = (sums.get(row, 0) + int.from_bytes(word)) % 2**128
    return {row: f"{total:032x}" for row, total in sums.items()}


def _rows(conn: Connection, sql: str, *values: int) -> list[Any]:
    return [[_json(value) for value in row] for row in fetch(conn, sql, values)]


def _json(value: Any) -> Any:
    """Bytes as text: a path that is UTF-8 stays readable, anything else becomes base64."""
    if not isinstance(value, bytes):
        return value
    try:
        return json.loads(json.dumps(value.decode("utf-8")))
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode("ascii")}
