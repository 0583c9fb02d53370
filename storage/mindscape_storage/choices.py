"""Which model the user chose for each kind of work."""

from __future__ import annotations

from mindscape_storage.database import Connection, fetch, transaction


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
