"""What the user chose: a model for each kind of work, and whether background work is paused."""

from __future__ import annotations

from mindscape_storage.database import Connection, fetch, transaction, value


def chosen_models(conn: Connection) -> dict[str, str]:
    """Kind (`embedder`, `generator`) -> name of the bundle; kinds without a choice are left out."""
    return dict(fetch(conn, "SELECT kind, name FROM choices"))


def choose_model(conn: Connection, kind: str, name: str) -> None:
    """Use this bundle for this kind from now on."""
    with transaction(conn):
        conn.execute(
            "INSERT INTO choices VALUES (?, ?) ON CONFLICT (kind) DO UPDATE SET name = excluded.name",
            (kind, name),
        )


def is_paused(conn: Connection) -> bool:
    """Whether background work is paused."""
    return bool(value(conn, "SELECT value FROM meta WHERE name = 'paused'"))


def set_paused(conn: Connection, *, paused: bool) -> None:
    """Pause background work, or let it go on."""
    with transaction(conn):
        conn.execute(
            "INSERT INTO meta VALUES ('paused', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (int(paused),),
        )
