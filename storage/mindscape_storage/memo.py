"""Outputs of models whose source is gone, kept for a while in case it returns; search never sees them."""

from __future__ import annotations

from mindscape_storage.database import Connection, transaction

KEPT_SECONDS = 7 * 24 * 3600
KEPT_BYTES = 256 * 1024 * 1024


def purge_memo(conn: Connection, now: int, max_bytes: int = KEPT_BYTES) -> int:
    """Drop what has been unused for seven days, then the longest unused above `max_bytes`.

    `now` is in seconds since 1970. Returns the number of entries dropped.
    """
    with transaction(conn):
        conn.execute("DELETE FROM memo WHERE unused_since < ?", (now - KEPT_SECONDS,))
        dropped = conn.changes()
        conn.execute(
            """
            DELETE FROM memo WHERE key IN (
                SELECT key FROM (
                    SELECT key, sum(length(output)) OVER (ORDER BY unused_since DESC, key) AS held
                    FROM memo WHERE unused_since IS NOT NULL
                ) WHERE held > ?
            )
            """,
            (max_bytes,),
        )
        return dropped + conn.changes()


def forget_unused(conn: Connection) -> None:
    """Drop every entry without a live source at once."""
    with transaction(conn):
        conn.execute("DELETE FROM memo WHERE unused_since IS NOT NULL")
