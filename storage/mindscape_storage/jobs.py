"""The durable queue: enqueue once, claim, finish, retry with back-off, quarantine.

A kind and key have at most one live job. Enqueuing them while that job runs makes it run once more
afterwards, so no change is ever lost. The lower the priority number, the sooner a job runs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from mindscape_storage.database import Connection, fetch, transaction
from mindscape_storage.records import Job

LONGEST_DELAY_MS = 3_600_000
"""A job that seems to wait longer than this was put off before the system's clock was set back: it is due."""


def enqueue(
    conn: Connection, kind: str, key: str, priority: int, payload: Mapping[str, Any] | None = None
) -> bool:
    """Make sure the job runs after now. True when that took a new run, False when one was waiting already.

    A waiting job keeps its place unless the new priority is sooner, and takes the new payload. A
    quarantined one gives way to a fresh one.
    """
    with transaction(conn):
        conn.execute("DELETE FROM jobs WHERE kind = ? AND key = ? AND state = 'quarantined'", (kind, key))
        before = fetch(
            conn,
            "SELECT state, again FROM jobs WHERE kind = ? AND key = ? AND state IN ('queued', 'running')",
            (kind, key),
        )
        conn.execute(
            """
            INSERT INTO jobs (kind, key, priority, payload) VALUES (?, ?, ?, ?)
            ON CONFLICT (kind, key) WHERE state IN ('queued', 'running') DO UPDATE SET
                priority = min(priority, excluded.priority), payload = excluded.payload,
                again = (state = 'running')
            """,
            (kind, key, priority, json.dumps(payload or {})),
        )
        return not before or before[0] == ("running", 0)


def claim(conn: Connection, kinds: Sequence[str]) -> Job | None:
    """Take the next job of these kinds that is due, or None. It stays ours until finished or released."""
    now = _now()
    with transaction(conn):
        rows = fetch(
            conn,
            """
            UPDATE jobs SET state = 'running', attempts = attempts + 1, heartbeat = ?1
            WHERE id = (
                SELECT id FROM jobs INDEXED BY jobs_in_order
                WHERE state = 'queued' AND not not_before BETWEEN ?1 + 1 AND ?1 + ?3
                  AND kind IN (SELECT value FROM json_each(?2))
                ORDER BY priority, id LIMIT 1
            )
            RETURNING id, kind, key, priority, attempts, payload
            """,
            (now, json.dumps(list(kinds)), LONGEST_DELAY_MS),
        )
    for job_id, kind, key, priority, attempts, payload in rows:
        return Job(job_id, kind, key, priority, attempts, json.loads(payload))
    return None


def put_back(conn: Connection, job_id: int) -> None:
    """The job was claimed but not begun: it waits in its old place, and the attempt does not count."""
    with transaction(conn):
        conn.execute(
            """
            UPDATE jobs SET state = 'queued', again = 0, attempts = attempts - 1, heartbeat = NULL
            WHERE id = ?
            """,
            (job_id,),
        )


def finish_job(conn: Connection, job_id: int) -> None:
    """The job is done: it goes, or waits again when it was enqueued meanwhile."""
    with transaction(conn):
        conn.execute(
            """
            UPDATE jobs SET state = 'queued', again = 0, attempts = 0, not_before = 0, heartbeat = NULL,
                reason = NULL WHERE id = ? AND again = 1
            """,
            (job_id,),
        )
        if not conn.changes():
            conn.execute("DELETE FROM jobs WHERE id = ?", (job_id,))


def retry_job(conn: Connection, job_id: int, reason: str, delay_s: float, max_attempts: int) -> bool:
    """The job failed: wait `delay_s` and try again. False when it has used its attempts: quarantined.

    A job that was enqueued again while it ran starts afresh at once.
    """
    with transaction(conn):
        rows = fetch(conn, "SELECT attempts, again FROM jobs WHERE id = ?", (job_id,))
        if not rows:
            return True
        attempts, again = rows[0]
        if again:
            finish_job(conn, job_id)
            return True
        kept = attempts < max_attempts
        conn.execute(
            "UPDATE jobs SET state = ?, not_before = ?, heartbeat = NULL, reason = ? WHERE id = ?",
            ("queued" if kept else "quarantined", _now() + int(delay_s * 1000), reason, job_id),
        )
        return kept


def remove_jobs(conn: Connection, root_id: int) -> None:
    """Remove every job whose key is the id of a document of this root, a running one too."""
    with transaction(conn):
        conn.execute(
            """
            DELETE FROM jobs WHERE CAST(key AS INTEGER) IN (SELECT id FROM documents WHERE root_id = ?)
              AND key = CAST(CAST(key AS INTEGER) AS TEXT)
            """,
            (root_id,),
        )


def release_claimed(conn: Connection) -> int:
    """At start: what the last process left running waits again. Returns how many.

    The attempt stays counted, so that a caller can see a job which always takes the process with it.
    """
    with transaction(conn):
        conn.execute("UPDATE jobs SET state = 'queued', again = 0, heartbeat = NULL WHERE state = 'running'")
        return conn.changes()


def job_counts(conn: Connection) -> dict[str, int]:
    """`queued`, `running` and `quarantined` jobs, of all kinds."""
    rows = dict(fetch(conn, "SELECT state, count(*) FROM jobs GROUP BY state"))
    return {state: int(rows.get(state, 0)) for state in ("queued", "running", "quarantined")}


def _now() -> int:
    return int(time.time() * 1000)
