"""How much was computed since the library was made, so that anyone can see what an edit cost."""

from __future__ import annotations

from mindscape_storage.database import Connection, fetch, transaction

NAMES = (
    "parses",
    "passage_embeddings",
    "node_embeddings",
    "extractive",
    "model_summaries",
    "records",
    "reports",
)


def bump(conn: Connection, name: str, n: int = 1) -> None:
    """Add `n` to a counter. Raises ValueError for a name that is not one of `NAMES`."""
    if name not in NAMES:
        raise ValueError(f"no counter is called {name!r}")
    with transaction(conn):
        conn.execute(
            """
            INSERT INTO counters VALUES (?, ?)
            ON CONFLICT (name) DO UPDATE SET value = value + excluded.value
            """,
            (name, n),
        )


def read_counters(conn: Connection) -> dict[str, int]:
    """Every counter, 0 where nothing was counted yet."""
    stored = dict(fetch(conn, "SELECT name, value FROM counters"))
    return {name: int(stored.get(name, 0)) for name in NAMES}
