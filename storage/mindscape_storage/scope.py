"""Which passages a search may return: those of served contents, inside a scope.

Served means complete and pointed at by a document; everything a reader sees passes through here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import apsw
import numpy as np
from numpy.typing import NDArray

from mindscape_storage.database import Connection, fetch, value
from mindscape_storage.documents import WATCHED
from mindscape_storage.fold import fold
from mindscape_storage.records import Scope

SERVED = "c.complete = 1 AND c.documents > 0"
_EVERYWHERE = 2**62
_LEFT = f"SELECT o.id FROM documents o JOIN roots r ON r.id = o.root_id WHERE NOT {WATCHED}"


@dataclass(frozen=True)
class Within:
    """A scope resolved in one snapshot."""

    contents: NDArray[np.int64] | None
    """Ids of its contents; None: all."""
    share: float
    """About how much of the library's passages it holds, 0 to 1."""
    upto: int = _EVERYWHERE
    """Passages end at or before this offset."""


def resolve(conn: Connection, scope: Scope | None) -> Within:
    """The served contents a scope holds."""
    scope = scope or Scope()
    if scope == Scope() and not value(conn, f"SELECT 1 FROM roots r WHERE NOT {WATCHED} LIMIT 1"):
        return Within(None, 1.0)
    where, values = _conditions(scope)
    rows = fetch(
        conn,
        f"""
        SELECT DISTINCT c.id, c.passages FROM documents d JOIN contents c ON c.id = d.content_id
        WHERE {SERVED} AND {where} ORDER BY c.id
        """,
        values,
    )
    total = value(conn, "SELECT sum(passages) FROM contents WHERE complete = 1") or 1
    contents = np.array([row[0] for row in rows], np.int64)
    upto = _EVERYWHERE if scope.upto is None else scope.upto
    return Within(contents, min(1.0, sum(row[1] for row in rows) / total), upto)


def documents_inside(scope: Scope | None) -> tuple[str, list[object]]:
    """SQL that keeps a rowid which is a document's id inside the scope, and its values."""
    if scope is None or scope == Scope():
        return f"AND rowid NOT IN ({_LEFT})", []
    where, values = _conditions(scope)
    these = f"SELECT d.id FROM documents d JOIN contents c ON c.id = d.content_id WHERE {SERVED} AND {where}"
    return f"AND rowid IN ({these})", list(values)


def served_passages(conn: Connection, ids: Sequence[int], within: Within) -> set[int]:
    """Those of these passages that are served and inside."""
    if not ids:
        return set()
    among, values = among_contents(within, "+p.content_id")
    rows = fetch(
        conn,
        f"""
        SELECT p.id FROM carray(?) a CROSS JOIN passages p ON p.id = a.value
        CROSS JOIN contents c ON c.id = p.content_id WHERE {SERVED} AND p.end <= ? {among}
        """,
        (apsw.carray(np.array(ids, np.int64)), within.upto, *values),
    )
    return {row[0] for row in rows}


def among_contents(within: Within, column: str = "p.content_id") -> tuple[str, list[object]]:
    """SQL that keeps a passage inside the scope's contents, and its value.

    With `+p.content_id` SQLite filters by it; without the plus it may find the passages by it.
    """
    if within.contents is None:
        return "", []
    if not len(within.contents):
        return "AND 0", []
    return f"AND {column} IN (SELECT value FROM carray(?))", [apsw.carray(within.contents)]


def _conditions(scope: Scope) -> tuple[str, list[bytes | int | str]]:
    where, values = [f"d.id NOT IN ({_LEFT})"], list[bytes | int | str]()
    if scope.document_id is not None:
        where.append("d.id = ?")
        values.append(scope.document_id)
    if scope.prefix is not None:
        folder = scope.prefix.rstrip(b"/") + b"/"
        where.append("(d.path = ? OR (d.path >= ? AND d.path < ?))")
        values += [scope.prefix, folder, folder[:-1] + b"0"]  # "0" is the byte after "/"
    if scope.tag is not None:
        where.append("EXISTS (SELECT 1 FROM tags t WHERE t.content_id = c.id AND t.tag = ?)")
        values.append(fold(scope.tag).strip().lstrip("#"))
    if scope.since is not None:
        where.append("coalesce(c.dated, date(d.mtime_ns / 1000000000, 'unixepoch')) >= ?")
        values.append(scope.since)
    return " AND ".join(where), values
