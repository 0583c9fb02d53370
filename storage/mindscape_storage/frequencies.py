"""How common words are in the library, counted as the index stems and folds them."""

from __future__ import annotations

from collections.abc import Iterable

from mindscape_storage.database import Connection, snapshot
from mindscape_storage.fold import MAX_TERMS, query_terms


def frequencies(conn: Connection, words: Iterable[str]) -> tuple[int, dict[str, int]]:
    """How many passages there are, and how many of them hold each of the first MAX_TERMS of these words."""
    found: dict[str, int] = {}
    with snapshot(conn):
        total = conn.execute("SELECT sum(passages) FROM contents WHERE complete = 1").get or 0
        for word in list(words)[:MAX_TERMS]:
            terms = query_terms(word)
            match = '"' + " ".join(terms[0]) + '"' if terms else ""
            sql = "SELECT count(*) FROM passages_fts WHERE passages_fts MATCH ?"
            found[word] = int(conn.execute(sql, (match,)).get or 0) if match else 0
    return int(total), found
