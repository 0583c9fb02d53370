"""How many passages are still to be embedded."""

from __future__ import annotations

from mindscape_storage.database import Connection, fetch, snapshot, value

LOOKED_AT = 50_000
"""Passages looked at one by one; of the contents beyond, all count as missing: new ones are."""


def passages_left(conn: Connection, encoder: int) -> int:
    """Passages of contents in use that lack a vector of this encoder: exact, or somewhat too many."""
    left, looked_at = 0, 0
    with snapshot(conn):
        rows = fetch(
            conn,
            """
            SELECT id, passages FROM contents
            WHERE (embedded_by IS NULL OR embedded_by < ?1 OR embedded_by > ?1)
              AND complete = 1 AND documents > 0 AND passages > 0 ORDER BY id
            """,
            (encoder,),
        )
        for content_id, passages in rows:
            looked_at += passages
            left += passages if looked_at > LOOKED_AT else _missing_of(conn, encoder, content_id)
    return left


def _missing_of(conn: Connection, encoder: int, content_id: int) -> int:
    return value(
        conn,
        """
        SELECT count(*) FROM passages p WHERE p.content_id = ?1
          AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder_id = ?2 AND v.input_hash = p.input_hash)
          AND NOT EXISTS
            (SELECT 1 FROM unembeddable u WHERE u.encoder_id = ?2 AND u.input_hash = p.input_hash)
        """,
        (content_id, encoder),
    )
