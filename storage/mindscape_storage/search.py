"""The two legs of retrieval, and search by name: words by BM25, vectors by cosine.

Both see only complete contents that a document points at, and filter inside the search, so a narrow
scope still gives as many hits as it has.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mindscape_storage.database import Connection, fetch, snapshot, value
from mindscape_storage.fold import fold, query_terms
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import Hit, NameHit, Scope
from mindscape_storage.vectors import checked

COMMON = 0.25
"""A word in more than this share of the passages is left out of a query that has others."""
COMMON_FROM = 1_000
"""In fewer passages than this every word counts: nothing is slow, and shares mean little."""
MOST_NEIGHBOURS = 4_096
"""sqlite-vec gives no more."""
_SPARE = 16
_SERVED = "c.complete = 1 AND c.documents > 0"


def words(conn: Connection, query: str, limit: int, allowed: Scope | None = None) -> list[Hit]:
    """Passages that hold words of the query, by BM25 (higher is better). Any text is a valid query."""
    terms = query_terms(query)
    with snapshot(conn):
        terms = _without_common(conn, terms)
        if not terms or limit < 1:
            return []
        match = " OR ".join('"' + " ".join(term) + '"' for term in terms)
        if allowed is not None:
            return _match_in(conn, match, limit, allowed)
        wanted = limit + _SPARE
        while True:
            rows = fetch(
                conn,
                """
                SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ?
                ORDER BY rank, rowid LIMIT ?
                """,
                (match, wanted),
            )
            hits = [Hit(passage_id, score) for passage_id, score in rows if _is_served(conn, passage_id)]
            if len(hits) >= limit or len(rows) < wanted:
                return hits[:limit]
            wanted *= 4


def names(conn: Connection, query: str, limit: int) -> list[NameHit]:
    """Documents by title, file name and folders, in that order of weight. Any text is a valid query."""
    terms = query_terms(query)
    if not terms or limit < 1:
        return []
    match = " OR ".join('"' + " ".join(term) + '"' for term in terms)
    rows = fetch(
        conn,
        """
        SELECT rowid, -bm25(names_fts, 4.0, 3.0, 1.0) AS score FROM names_fts WHERE names_fts MATCH ?
        ORDER BY score DESC, rowid LIMIT ?
        """,
        (match, limit),
    )
    return [NameHit(*row) for row in rows]


def nearest(
    conn: Connection,
    encoder: int,
    vector: NDArray[np.float32],
    limit: int,
    allowed: Scope | None = None,
    packed: PackedVectors | None = None,
) -> list[Hit]:
    """Passages by the cosine of their vector with `vector` (d,), higher is better, ties by passage id.

    Several passages may share one vector. Raises BadVector for a query that is not finite or zero.
    """
    query = checked(conn, encoder, np.asarray(vector)[None])[0]
    if limit < 1:
        return []
    with snapshot(conn):
        if packed is not None:
            packed.follow(conn)
        inside = None if allowed is None else _contents_in(conn, allowed)
        wanted = limit + _SPARE
        while wanted <= 4 * (limit + _SPARE):
            found = _neighbours(conn, encoder, query, wanted, None, packed)
            hits = _hits(conn, found, allowed, inside, limit)
            if len(hits) >= limit or len(found) < wanted:
                return hits[:limit]
            wanted *= 4
        ids = _vectors_in(conn, encoder, allowed or Scope())
        found = _neighbours(conn, encoder, query, limit, ids, packed) if len(ids) else []
        return _hits(conn, found, allowed, inside, limit)[:limit]


def frequencies(conn: Connection, words: Iterable[str]) -> tuple[int, dict[str, int]]:
    """How many passages there are, and how many hold each of these words (single words, any case)."""
    with snapshot(conn):
        total = conn.execute("SELECT sum(passages) FROM contents WHERE complete = 1").get or 0
        return int(total), {word: _passages_with(conn, fold(word).strip()) for word in words}


def _without_common(conn: Connection, terms: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    total = value(conn, "SELECT sum(passages) FROM contents WHERE complete = 1") or 0
    if total < COMMON_FROM or len(terms) < 2:
        return terms
    rare = [term for term in terms if len(term) != 1 or _passages_with(conn, term[0]) <= COMMON * total]
    return rare or terms


def _passages_with(conn: Connection, word: str) -> int:
    return int(value(conn, "SELECT sum(doc) FROM passages_terms WHERE term = ?", (word,)) or 0)


def _match_in(conn: Connection, match: str, limit: int, allowed: Scope) -> list[Hit]:
    """The unary plus keeps SQLite from asking the index once for every passage of the scope."""
    where, values = _conditions(allowed)
    rows = fetch(
        conn,
        f"""
        SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ? AND +rowid IN (
            SELECT p.id FROM passages p WHERE p.content_id IN ({where}) AND p.end <= ?)
        ORDER BY rank, rowid LIMIT ?
        """,
        (match, *values, _upto(allowed), limit),
    )
    return [Hit(*row) for row in rows]


def _is_served(conn: Connection, passage_id: int) -> bool:
    return bool(
        value(
            conn,
            f"SELECT 1 FROM passages p JOIN contents c ON c.id = p.content_id WHERE p.id = ? AND {_SERVED}",
            (passage_id,),
        )
    )


def _conditions(scope: Scope) -> tuple[str, list[bytes | int | str]]:
    """SQL for the ids of the served contents in a scope, and its values."""
    where, values = [_SERVED], list[bytes | int | str]()
    if scope.document_id is not None:
        where.append("d.id = ?")
        values.append(scope.document_id)
    if scope.prefix is not None:
        folder = scope.prefix.rstrip(b"/") + b"/"
        where.append("(d.path = ? OR (d.path >= ? AND d.path < ?))")
        values += [scope.prefix, folder, folder[:-1] + b"0"]
    if scope.tag is not None:
        where.append("EXISTS (SELECT 1 FROM tags t WHERE t.content_id = c.id AND t.tag = ?)")
        values.append(fold(scope.tag).strip().lstrip("#"))
    if scope.since is not None:
        where.append("coalesce(c.dated, date(d.mtime_ns / 1000000000, 'unixepoch')) >= ?")
        values.append(scope.since)
    return (
        f"SELECT c.id FROM documents d JOIN contents c ON c.id = d.content_id WHERE {' AND '.join(where)}",
        values,
    )


def _upto(scope: Scope) -> int:
    return scope.upto if scope.upto is not None else 2**62


def _contents_in(conn: Connection, scope: Scope) -> set[int]:
    where, values = _conditions(scope)
    return {row[0] for row in fetch(conn, where, values)}


def _vectors_in(conn: Connection, encoder: int, scope: Scope) -> NDArray[np.int64]:
    where, values = _conditions(scope)
    rows = fetch(
        conn,
        f"""
        SELECT DISTINCT v.id FROM passages p CROSS JOIN vectors v
        WHERE p.content_id IN ({where}) AND p.end <= ? AND v.input_hash = p.input_hash AND v.encoder_id = ?
        """,
        (*values, _upto(scope), encoder),
    )
    return np.array([row[0] for row in rows], np.int64)


def _neighbours(
    conn: Connection,
    encoder: int,
    query: NDArray[np.float32],
    wanted: int,
    ids: NDArray[np.int64] | None,
    packed: PackedVectors | None,
) -> list[tuple[int, float]]:
    """(vector id, cosine) of the nearest vectors, best first; only among `ids` when given."""
    if packed is not None:
        mask = None if ids is None else np.isin(packed.ids, ids)
        found, scores = packed.search(query, wanted, mask)
        return list(zip(found.tolist(), scores.tolist(), strict=True))
    inside = "" if ids is None else "AND rowid IN (SELECT value FROM json_each(?))"
    values = () if ids is None else (str(ids.tolist()),)
    rows = fetch(
        conn,
        f"""
        SELECT rowid, distance FROM vec_{int(encoder)} WHERE vector MATCH ? AND k = ? {inside}
        ORDER BY distance
        """,
        (query.tobytes(), min(wanted, MOST_NEIGHBOURS), *values),
    )
    return [(vector_id, 1 - distance * distance / 2) for vector_id, distance in rows]


def _hits(
    conn: Connection,
    found: list[tuple[int, float]],
    allowed: Scope | None,
    inside: set[int] | None,
    limit: int,
) -> list[Hit]:
    upto = _upto(allowed or Scope())
    hits: list[Hit] = []
    for vector_id, score in found:
        rows = fetch(
            conn,
            f"""
            SELECT p.id, p.content_id FROM vectors v
            CROSS JOIN passages p ON p.input_hash = v.input_hash
            CROSS JOIN contents c ON c.id = p.content_id
            WHERE v.id = ? AND p.end <= ? AND {_SERVED} ORDER BY p.id
            """,
            (vector_id, upto),
        )
        hits += [Hit(row[0], score) for row in rows if inside is None or row[1] in inside]
        if len(hits) >= limit:
            break
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))
