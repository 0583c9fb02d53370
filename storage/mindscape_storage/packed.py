"""The vectors of one encoder in memory: a sketch finds candidates, exact floats rank them.

The copy follows `vector_log`, so it is in step with the snapshot it last followed by construction.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindscape_storage.database import Connection, fetch, value
from mindscape_storage.sketch import Sketch, blank, candidates, encode

PACKED_FROM = 5_000
"""Below this many vectors sqlite-vec alone is as fast."""
CANDIDATES = 1_000
CANDIDATES_PER_RESULT = 6
_SPARE_ROWS = 1_024
_LOADED_AT_A_TIME = 4_096
_MOST_DEAD = 0.25


@dataclass(frozen=True)
class _Rows:
    """Arrays with room at the end. Rows once written never change, except that they may die."""

    used: int
    ids: NDArray[np.int64]
    floats: NDArray[np.float32]
    sketch: Sketch
    dead: NDArray[np.bool_]


class PackedVectors:
    """Fast nearest neighbours over every vector of an encoder. Safe to share between threads."""

    def __init__(self, encoder: int, dimensions: int) -> None:
        self.encoder = encoder
        self.dimensions = dimensions
        self._seq = -1
        self._rows = _empty(0, dimensions)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        rows = self._rows
        return rows.used - int(rows.dead[: rows.used].sum())

    def follow(self, conn: Connection) -> None:
        """Come in step with the snapshot that `conn`, a reader, sees; an older one changes nothing."""
        with self._lock:
            last = value(conn, "SELECT max(seq) FROM vector_log") or 0
            trimmed = value(conn, "SELECT value FROM meta WHERE name = 'vector_log_trimmed'")
            if self._seq < trimmed:
                self._rows = self._load(conn)
            elif last > self._seq:
                self._apply(conn)
            self._seq = max(self._seq, last)

    def search(
        self, vector: NDArray[np.float32], k: int, among: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k nearest to a unit vector (d,): their ids and cosines, best first, ties by id.

        `among`, if given, are the vector ids to choose from. Few of them are ranked exactly; of many,
        the candidates that the sketch names.
        """
        rows = self._rows
        ids = rows.ids[: rows.used]
        allowed = ~rows.dead[: rows.used]
        if among is not None:
            allowed &= np.isin(ids, among)
        wanted = CANDIDATES + CANDIDATES_PER_RESULT * k
        at = candidates(rows.sketch, rows.used, vector, wanted, allowed)
        scores = rows.floats[at] @ vector
        best = np.lexsort((ids[at], -scores))[:k]
        return ids[at][best], scores[best]

    def cosines(
        self, ids: NDArray[np.int64], vector: NDArray[np.float32]
    ) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Which of these vector ids (n,) are held, and the cosines with a unit vector (d,) of those (m,)."""
        rows = self._rows
        at = np.searchsorted(rows.ids[: rows.used], ids)
        held = at < rows.used
        held[held] &= rows.ids[at[held]] == ids[held]
        return held, rows.floats[at[held]] @ vector

    def _load(self, conn: Connection) -> _Rows:
        """Everything afresh, in batches: all at once would take three times the room."""
        count = value(conn, "SELECT count(*) FROM vectors WHERE encoder_id = ?", (self.encoder,))
        rows = _empty(count + count // 8 + _SPARE_ROWS, self.dimensions)
        cursor = conn.execute(f"SELECT rowid, vector FROM vec_{self.encoder}")
        while stored := list(islice(cursor, _LOADED_AT_A_TIME)):
            rows = self._append(rows, stored)
        return rows

    def _apply(self, conn: Connection) -> None:
        """Ids are never used twice, so the last change of each is what counts."""
        final = dict(
            fetch(
                conn,
                "SELECT vector_id, added FROM vector_log WHERE seq > ? AND encoder_id = ? ORDER BY seq",
                (self._seq, self.encoder),
            )
        )
        rows = self._rows
        gone = np.array([vector_id for vector_id, added in final.items() if not added], np.int64)
        rows.dead[: rows.used] |= np.isin(rows.ids[: rows.used], gone)
        new: list[Any] = []
        for vector_id in sorted(vector_id for vector_id, added in final.items() if added):
            new += fetch(conn, f"SELECT rowid, vector FROM vec_{self.encoder} WHERE rowid = ?", (vector_id,))
        self._rows = self._append(_compacted(rows, self.dimensions), new)

    def _append(self, rows: _Rows, stored: list[Any]) -> _Rows:
        if not stored:
            return rows
        used = rows.used + len(stored)
        if used > len(rows.ids):
            rows = _copied(rows, used + used // 4 + _SPARE_ROWS, self.dimensions, slice(rows.used))
        new = slice(rows.used, used)
        rows.ids[new] = [row[0] for row in stored]
        rows.floats[new] = np.frombuffer(b"".join(row[1] for row in stored), np.float32).reshape(
            len(stored), -1
        )
        _write(rows.sketch, new, encode(rows.floats[new]))
        return _Rows(used, rows.ids, rows.floats, rows.sketch, rows.dead)


def _empty(capacity: int, dimensions: int) -> _Rows:
    return _Rows(
        0,
        np.zeros(capacity, np.int64),
        np.zeros((capacity, dimensions), np.float32),
        blank(capacity, dimensions),
        np.zeros(capacity, np.bool_),
    )


def _write(to: Sketch, at: slice, codes: Sketch) -> None:
    to.signs[:, at] = codes.signs
    to.fines[:, at] = codes.fines
    to.sums[at] = codes.sums


def _copied(rows: _Rows, capacity: int, dimensions: int, chosen: slice | NDArray[np.intp]) -> _Rows:
    """A copy of the chosen rows with room for `capacity`."""
    new, old = _empty(capacity, dimensions), rows.sketch
    used = len(rows.ids[chosen])
    new.ids[:used] = rows.ids[chosen]
    new.floats[:used] = rows.floats[chosen]
    new.dead[:used] = rows.dead[chosen]
    codes = Sketch(old.signs[:, chosen], old.fines[:, chosen], old.sums[chosen])
    _write(new.sketch, slice(used), codes)
    return _Rows(used, new.ids, new.floats, new.sketch, new.dead)


def _compacted(rows: _Rows, dimensions: int) -> _Rows:
    """Without its dead, once they are many."""
    live = np.flatnonzero(~rows.dead[: rows.used])
    if rows.used - len(live) <= _MOST_DEAD * rows.used:
        return rows
    return _copied(rows, len(live) + len(live) // 4 + _SPARE_ROWS, dimensions, live)
