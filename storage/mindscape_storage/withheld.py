"""Saved answers after `rm --forget`: what they say of texts that are gone from the library is gone too."""

from __future__ import annotations

from mindscape_storage.database import Connection, transaction

REMEMBERED = 3
"""Turns before a question that its rewriting may have read, and so what was said from it."""

_GONE = """
    NOT EXISTS (
        SELECT 1 FROM passages p JOIN contents c ON c.id = p.content_id
        WHERE p.input_hash = {row}.input_hash AND c.complete = 1 AND c.documents > 0
    )
"""


def withhold_gone(conn: Connection) -> None:
    """Drop each answer made from a passage that no document has any more, each quote of one, and what
    later questions took from them. What was told from a summary may tell of anything, so it goes too.
    """
    with transaction(conn):
        conn.execute(
            f"""
            WITH RECURSIVE gone (conversation_id, ordinal) AS (
                SELECT conversation_id, ordinal FROM turns WHERE wide = 1 AND answer IS NOT NULL
                UNION
                SELECT conversation_id, ordinal FROM turn_passages t WHERE {_GONE.format(row="t")}
                UNION
                SELECT t.conversation_id, t.ordinal FROM gone g JOIN turns t
                    ON t.conversation_id = g.conversation_id
                    AND t.ordinal BETWEEN g.ordinal + 1 AND g.ordinal + {REMEMBERED}
                WHERE t.rewritten IS NOT NULL
            )
            UPDATE turns SET answer = NULL, rewritten = NULL
            WHERE (conversation_id, ordinal) IN (SELECT conversation_id, ordinal FROM gone)
            """
        )
        conn.execute(
            f"""
            UPDATE citations AS t SET quote = NULL, path = '', heading = '[]' WHERE {_GONE.format(row="t")}
            """
        )
