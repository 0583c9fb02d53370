"""Summaries of nodes, one for each distinct key: a key stands for what was summarised, and how.

A summary is live while a node has it. Without one it is kept aside for a while, so that a reverted edit
costs nothing; triggers keep `unused_summaries` in step.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from typing import Any

import apsw

from mindscape_storage.database import Connection, fetch, transaction
from mindscape_storage.memo import KEPT_BYTES, KEPT_SECONDS
from mindscape_storage.records import REJECTED, Summary, Told, Verdict

SERVED = f"""coalesce(
    (SELECT m.id FROM summaries m WHERE m.id = n.model AND m.made_by <> '{REJECTED}'), n.summary
)"""
"""SQL: which summary of a node `n` of either kind is served, the model's where it was not rejected."""


def digest_of(text: str) -> bytes:
    """What of a text enters the keys above it: 32 bytes."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).digest()


def add_summaries(conn: Connection, made: Iterable[Summary]) -> int:
    """Store summaries, kept aside until a node takes them; returns how many keys were new."""
    now = int(time.time())
    count = 0
    with transaction(conn):
        for one in made:
            conn.execute(
                """
                INSERT INTO summaries (key, digest, tokens, made_by, made_at, text) VALUES (?, ?, ?, ?, ?, ?)
                ON CONFLICT (key) DO NOTHING
                """,
                (one.key, digest_of(one.text), one.tokens, one.made_by, now, one.text),
            )
            count += conn.changes()
    return count


def digests_by_key(conn: Connection, keys: Iterable[bytes]) -> dict[bytes, bytes]:
    """Key -> digest of its summary, for those that have one."""
    return dict(_by_key(conn, "digest", keys))


def verdicts_by_key(conn: Connection, keys: Iterable[bytes]) -> dict[bytes, Verdict]:
    """Key -> whether its summary counts and the digest of it, for those that have one."""
    rows = _by_key(conn, "digest, s.made_by", keys)
    return {key: Verdict(digest, made_by != REJECTED) for key, digest, made_by in rows}


def texts_by_key(conn: Connection, keys: Iterable[bytes]) -> dict[bytes, str]:
    """Key -> its summary, for those that have one."""
    return dict(_by_key(conn, "text", keys))


def told_by_key(conn: Connection, keys: Iterable[bytes]) -> dict[bytes, Told]:
    """Key -> its summary with who made it and when, for those that have one."""
    rows = _by_key(conn, "text, s.tokens, s.made_by, s.made_at", keys)
    return {row[0]: Told(*row[1:]) for row in rows}


def ids_by_key(conn: Connection, keys: Iterable[bytes]) -> dict[bytes, int]:
    """Key -> row id of its summary, for those that have one."""
    return dict(_by_key(conn, "id", keys))


def purge_summaries(conn: Connection, now: int, max_bytes: int = KEPT_BYTES) -> int:
    """Drop what has been unused for seven days, then the longest unused above `max_bytes` of text.

    `now` is in seconds since 1970. Returns the number of summaries dropped.
    """
    with transaction(conn):
        conn.execute(
            "DELETE FROM summaries WHERE id IN (SELECT summary FROM unused_summaries WHERE since < ?)",
            (now - KEPT_SECONDS,),
        )
        dropped = conn.changes()
        conn.execute(
            """
            DELETE FROM summaries WHERE id IN (
                SELECT id FROM (
                    SELECT s.id, sum(octet_length(s.text)) OVER (ORDER BY u.since DESC, s.id DESC) AS held
                    FROM unused_summaries u CROSS JOIN summaries s ON s.id = u.summary
                ) WHERE held > ?
            )
            """,
            (max_bytes,),
        )
        return dropped + conn.changes()


def forget_summaries(conn: Connection) -> None:
    """Drop every summary without a node at once."""
    with transaction(conn):
        conn.execute("DELETE FROM summaries WHERE id IN (SELECT summary FROM unused_summaries)")


def _by_key(conn: Connection, column: str, keys: Iterable[bytes]) -> list[Any]:
    wanted = tuple(dict.fromkeys(keys))
    if not wanted:
        return []
    return fetch(
        conn,
        f"SELECT s.key, s.{column} FROM carray(?) a CROSS JOIN summaries s ON s.key = a.value",
        (apsw.carray(wanted),),
    )
