"""The vectors of one encoder in memory: sign bits to find candidates, exact floats to rank them.

The copy follows `vector_log`, so it is in step with the snapshot it last followed by construction.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindscape_storage.database import Connection, fetch, value

PACKED_FROM = 5_000
"""Below this many vectors sqlite-vec alone is as fast."""
CANDIDATES = 400
CANDIDATES_PER_RESULT = 20
_SPARE_ROWS = 1_024
_MOST_DEAD = 0.25


@dataclass(frozen=True)
class _Rows:
    """Arrays with room at the end; rows once written never change, except that they may die."""

    used: int
    ids: NDArray[np.int64]
    floats: NDArray[np.float32]
    words: NDArray[np.uint64]
    """(d / 64, rows): sign bits, one array a word, so that a pass over all rows is sequential."""
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

    @property
    def ids(self) -> NDArray[np.int64]:
        """Vector ids by position, ascending; masks given to `search` are over these. Some may be deleted."""
        return self._rows.ids[: self._rows.used]

    def follow(self, conn: Connection) -> None:
        """Come in step with the snapshot (or committed state) that `conn` reads."""
        with self._lock:
            last = value(conn, "SELECT max(seq) FROM vector_log") or 0
            trimmed = value(conn, "SELECT value FROM meta WHERE name = 'vector_log_trimmed'")
            if self._seq < trimmed:
                self._rows = self._load(conn)
                self._seq = last
            elif last > self._seq:
                self._apply(conn)
                self._seq = last

    def search(
        self, vector: NDArray[np.float32], k: int, mask: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The k nearest to a unit vector (d,): their ids and cosines, best first, ties by id.

        `mask` is boolean over `ids`. Candidates by sign bits, ranked exactly.
        """
        rows = self._rows
        if not rows.used:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        allowed = ~rows.dead[: rows.used]
        if mask is not None:
            allowed[: len(mask)] &= mask
            allowed[len(mask) :] = False
        at = self._candidates(rows, vector, max(CANDIDATES, CANDIDATES_PER_RESULT * k), allowed)
        scores = rows.floats[at] @ vector
        best = np.lexsort((rows.ids[at], -scores))[:k]
        return rows.ids[at][best], scores[best]

    def _candidates(
        self, rows: _Rows, vector: NDArray[np.float32], wanted: int, allowed: NDArray[np.bool_]
    ) -> NDArray[np.intp]:
        if np.count_nonzero(allowed) <= wanted:
            return np.flatnonzero(allowed)
        query = _pack(vector[None])[:, 0]
        distances = np.zeros(rows.used, np.uint16)
        different = np.empty(rows.used, np.uint64)
        for word, bits in zip(rows.words, query, strict=True):
            np.bitwise_xor(word[: rows.used], bits, out=different)
            distances += np.bitwise_count(different)
        distances[~allowed] = self.dimensions + 1
        upto = np.cumsum(np.bincount(distances, minlength=self.dimensions + 2))
        threshold = int(np.searchsorted(upto, wanted))
        return np.flatnonzero(distances <= min(threshold, self.dimensions))

    def _load(self, conn: Connection) -> _Rows:
        stored = fetch(conn, f"SELECT rowid, vector FROM vec_{self.encoder} ORDER BY rowid")
        return self._append(_empty(len(stored), self.dimensions), stored)

    def _apply(self, conn: Connection) -> None:
        changes = fetch(
            conn,
            "SELECT vector_id, added FROM vector_log WHERE seq > ? AND encoder_id = ? ORDER BY seq",
            (self._seq, self.encoder),
        )
        final = dict(changes)
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
            rows = _grown(rows, used + used // 4 + _SPARE_ROWS, self.dimensions)
        floats = np.frombuffer(b"".join(row[1] for row in stored), np.float32)
        rows.floats[rows.used : used] = floats.reshape(len(stored), self.dimensions)
        rows.words[:, rows.used : used] = _pack(rows.floats[rows.used : used])
        rows.ids[rows.used : used] = [row[0] for row in stored]
        return _Rows(used, rows.ids, rows.floats, rows.words, rows.dead)


def _empty(capacity: int, dimensions: int) -> _Rows:
    words = -(-dimensions // 64)
    return _Rows(
        0,
        np.zeros(capacity, np.int64),
        np.zeros((capacity, dimensions), np.float32),
        np.zeros((words, capacity), np.uint64),
        np.zeros(capacity, np.bool_),
    )


def _grown(rows: _Rows, capacity: int, dimensions: int, keep: NDArray[np.bool_] | None = None) -> _Rows:
    """A copy with room for `capacity` rows, of all rows or of those in `keep`."""
    new = _empty(capacity, dimensions)
    chosen = slice(0, rows.used) if keep is None else np.flatnonzero(keep)
    used = rows.used if keep is None else int(keep.sum())
    new.ids[:used] = rows.ids[chosen]
    new.floats[:used] = rows.floats[chosen]
    new.words[:, :used] = rows.words[:, chosen]
    new.dead[:used] = rows.dead[chosen]
    return _Rows(used, new.ids, new.floats, new.words, new.dead)


def _compacted(rows: _Rows, dimensions: int) -> _Rows:
    dead = int(rows.dead[: rows.used].sum())
    if dead <= _MOST_DEAD * rows.used:
        return rows
    live = rows.used - dead
    return _grown(rows, live + live // 4 + _SPARE_ROWS, dimensions, ~rows.dead[: rows.used])


def _pack(vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
    """Sign bits of (n, d) as (d / 64 rounded up, n) words."""
    bits = np.packbits(vectors > 0, axis=1)
    padded = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), np.uint8)
    padded[:, : bits.shape[1]] = bits
    return padded.view(np.uint64).T
