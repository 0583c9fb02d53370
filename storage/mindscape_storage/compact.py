"""Leave nothing of removed texts in the file, and give back the room that they took.

The writer's connection overwrites what it deletes (`secure_delete`), and sqlite-vec the vectors. What is left
are the full-text indexes: there SQLite only marks rows as deleted until it merges what they are written in.
"""

from __future__ import annotations

from mindscape_storage.database import Connection, checkpoint, fetch, transaction, value
from mindscape_storage.vectors import create_table, encoders

_WORD_INDEXES = ("passages_fts", "names_fts")


def scrub(conn: Connection) -> None:
    """Overwrite what the indexes still hold of removed texts; then nothing of them is in the file.

    Takes time in proportion to the index. To be run outside of a transaction, with no reader in the middle
    of something: the log can be emptied only then.
    """
    with transaction(conn):
        for table in _WORD_INDEXES:
            conn.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
    checkpoint(conn)


def compact(conn: Connection) -> bool:
    """Make the file smaller where more than half of it is unused; returns whether it did.

    To be run outside of a transaction. Raises StorageError where there is no room for the smaller copy.
    """
    with transaction(conn):
        for encoder in encoders(conn):
            _close_ranks(conn, encoder.id, encoder.dimensions)
    if 2 * value(conn, "PRAGMA freelist_count") <= value(conn, "PRAGMA page_count"):
        return False
    conn.execute("VACUUM")
    checkpoint(conn)
    return True


def _close_ranks(conn: Connection, encoder: int, dimensions: int) -> None:
    """Write a table of vectors afresh when more than half of its slots, and more than a chunk, are empty."""
    table = f"vec_{encoder}"
    slots = value(conn, f"SELECT coalesce(sum(size), 0) FROM {table}_chunks")
    largest = value(conn, f"SELECT coalesce(max(size), 0) FROM {table}_chunks")
    held = value(conn, f"SELECT count(*) FROM {table}_rowids")
    if slots - largest <= 2 * held:
        return
    rows = fetch(conn, f"SELECT rowid, vector FROM {table}")
    conn.execute(f"DROP TABLE {table}")
    create_table(conn, encoder, dimensions)
    conn.executemany(f"INSERT INTO {table} (rowid, vector) VALUES (?, ?)", rows)
