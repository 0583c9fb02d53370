"""The two legs of retrieval, and search by name: words by BM25, vectors by cosine.

A scope is applied inside the search, so a narrow one still gives as many hits as it has: of a wide one
the best hits of the whole library are filtered, a narrow one is searched alone.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw
import numpy as np
from numpy.typing import NDArray

from mindscape_storage.database import Connection, fetch, snapshot, value
from mindscape_storage.fold import query_terms
from mindscape_storage.packed import PACKED_FROM, PackedVectors
from mindscape_storage.records import Hit, NameHit, Scope
from mindscape_storage.scope import (
    SERVED,
    Within,
    among_contents,
    documents_inside,
    resolve,
    served_passages,
)
from mindscape_storage.vectors import checked, vectors_of

COMMON = 0.15
"""A word in more than this share of the passages is left out of a query that has others."""
COMMON_FROM = 1_000
"""In fewer passages than this every word counts: nothing is slow, and shares mean little."""
WIDE = 0.2
"""A scope with more than this share of the passages is searched by filtering what the whole gives."""
MOST_NEIGHBOURS = 4_096
"""sqlite-vec gives no more."""
_SPARE = 16


def words(conn: Connection, query: str, limit: int, allowed: Scope | None = None) -> list[Hit]:
    """Passages that hold words of the query, by BM25 (higher is better). Any text is a valid query."""
    terms = query_terms(query)
    if not terms or limit < 1:
        return []
    with snapshot(conn):
        match = _match(_without_common(conn, terms))
        within = resolve(conn, allowed)
        if within.share <= WIDE:
            return _words_inside(conn, match, limit, within)
        wanted = int(limit / within.share) + _SPARE
        while True:
            rows = fetch(
                conn,
                """
                SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ?
                ORDER BY rank, rowid LIMIT ?
                """,
                (match, wanted),
            )
            served = served_passages(conn, [row[0] for row in rows], within)
            hits = [Hit(passage_id, score) for passage_id, score in rows if passage_id in served]
            if len(hits) >= limit or len(rows) < wanted:
                return hits[:limit]
            wanted *= 4


def names(conn: Connection, query: str, limit: int, allowed: Scope | None = None) -> list[NameHit]:
    """Documents by title, file name and folders, in that order of weight. Any text is a valid query."""
    terms = query_terms(query)
    if not terms or limit < 1:
        return []
    inside, values = documents_inside(allowed)
    rows = fetch(
        conn,
        f"""
        SELECT rowid, -bm25(names_fts, 8.0, 4.0, 1.0) AS score FROM names_fts WHERE names_fts MATCH ?
          {inside} ORDER BY score DESC, rowid LIMIT ?
        """,
        (_match(terms), *values, limit),
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
        packed = _in_step(conn, packed)
        within = resolve(conn, allowed)
        if within.share > WIDE:
            wanted = int(limit / within.share) + _SPARE
            found = _neighbours(conn, encoder, query, wanted, None, packed)
            hits = _hits(conn, found, limit, within)
            if len(hits) >= limit or len(found) < wanted:
                return hits
        inside = _vectors_inside(conn, encoder, within)
        return _hits(conn, _neighbours(conn, encoder, query, limit, inside, packed), limit, within)


def cosines(
    conn: Connection,
    encoder: int,
    vector: NDArray[np.float32],
    passage_ids: Iterable[int],
    packed: PackedVectors | None = None,
) -> dict[int, float]:
    """Passage id -> cosine of its vector with the unit vector (d,), for those that have one."""
    packed = _in_step(conn, packed)
    if packed is None:
        stored = vectors_of(conn, encoder, passage_ids)
        return {passage_id: float(one @ vector) for passage_id, one in stored.items()}
    sql = """
        SELECT p.id, v.id FROM carray(?) a CROSS JOIN passages p ON p.id = a.value
        CROSS JOIN vectors v ON v.encoder_id = ? AND v.input_hash = p.input_hash
    """
    wanted = np.fromiter(passage_ids, np.int64)
    rows = np.array(fetch(conn, sql, (apsw.carray(wanted), encoder)) if len(wanted) else [], np.int64)
    passages, ids = rows.reshape(-1, 2).T
    held, scores = packed.cosines(ids, vector)
    return dict(zip(passages[held].tolist(), scores.tolist(), strict=True))


def _in_step(conn: Connection, packed: PackedVectors | None) -> PackedVectors | None:
    """The copy, in step; None while the vectors are so few that sqlite-vec alone is as fast."""
    if packed is None:
        return None
    enough = "SELECT 1 FROM vectors WHERE encoder_id = ? LIMIT 1 OFFSET ?"
    if not len(packed) and value(conn, enough, (packed.encoder, PACKED_FROM - 1)) is None:
        return None
    packed.follow(conn)
    return packed


def _match(terms: list[tuple[str, ...]]) -> str:
    """Every term quoted, so that nothing in it is syntax."""
    return " OR ".join('"' + " ".join(term) + '"' for term in terms)


def _without_common(conn: Connection, terms: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    total = value(conn, "SELECT sum(passages) FROM contents WHERE complete = 1") or 0
    if total < COMMON_FROM or len(terms) < 2:
        return terms
    most = int(COMMON * total)
    return [term for term in terms if len(term) > 1 or not _is_common(conn, term, most)] or terms


def _is_common(conn: Connection, term: tuple[str, ...], most: int) -> bool:
    """Whether more than `most` passages hold it; stops counting there."""
    sql = "SELECT 1 FROM passages_fts WHERE passages_fts MATCH ? LIMIT 1 OFFSET ?"
    return bool(fetch(conn, sql, (_match([term]), most)))


def _words_inside(conn: Connection, match: str, limit: int, within: Within) -> list[Hit]:
    """The unary plus keeps SQLite from asking the index once for every passage of the scope."""
    among, values = among_contents(within)
    rows = fetch(
        conn,
        f"""
        SELECT rowid, -rank FROM passages_fts WHERE passages_fts MATCH ?
          AND +rowid IN (SELECT p.id FROM passages p WHERE p.end <= ? {among})
        ORDER BY rank, rowid LIMIT ?
        """,
        (match, within.upto, *values, limit),
    )
    return [Hit(*row) for row in rows]


def _vectors_inside(conn: Connection, encoder: int, within: Within) -> NDArray[np.int64]:
    among, values = among_contents(within)
    rows = fetch(
        conn,
        f"""
        SELECT DISTINCT v.id FROM passages p CROSS JOIN contents c CROSS JOIN vectors v
        WHERE p.end <= ? {among} AND c.id = p.content_id AND {SERVED}
          AND v.input_hash = p.input_hash AND v.encoder_id = ?
        """,
        (within.upto, *values, encoder),
    )
    return np.array([row[0] for row in rows], np.int64)


def _neighbours(
    conn: Connection,
    encoder: int,
    query: NDArray[np.float32],
    wanted: int,
    among: NDArray[np.int64] | None,
    packed: PackedVectors | None,
) -> list[tuple[int, float]]:
    """(vector id, cosine) of the nearest vectors, best first; only of those `among`, when given."""
    if among is not None and not len(among):
        return []
    if packed is not None:
        ids, scores = packed.search(query, wanted, among)
        return list(zip(ids.tolist(), scores.tolist(), strict=True))
    inside = "" if among is None else "AND rowid IN (SELECT value FROM carray(?))"
    rows = fetch(
        conn,
        f"""
        SELECT rowid, distance FROM vec_{int(encoder)} WHERE vector MATCH ? AND k = ? {inside}
        ORDER BY distance
        """,
        (query.tobytes(), min(wanted, MOST_NEIGHBOURS), *(() if among is None else (apsw.carray(among),))),
    )
    return [(vector_id, 1 - distance * distance / 2) for vector_id, distance in rows]


def _hits(conn: Connection, found: list[tuple[int, float]], limit: int, within: Within) -> list[Hit]:
    """The served passages that have these vectors, best first."""
    if not found:
        return []
    scores = dict(found)
    among, values = among_contents(within, "+p.content_id")
    rows = fetch(
        conn,
        f"""
        SELECT v.id, p.id FROM carray(?) a CROSS JOIN vectors v ON v.id = a.value
        CROSS JOIN passages p ON p.input_hash = v.input_hash CROSS JOIN contents c ON c.id = p.content_id
        WHERE {SERVED} AND p.end <= ? {among} LIMIT ?
        """,
        (apsw.carray(np.array(list(scores), np.int64)), within.upto, *values, limit),
    )
    hits = [Hit(passage_id, scores[vector_id]) for vector_id, passage_id in rows]
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage_id))
