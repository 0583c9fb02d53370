"""One vector for each distinct input and encoder: stored, found missing, put aside and taken back.

A vector is live while a passage of a complete content has its input. Without one it moves to the memo,
so a reverted edit costs no embedding. The floats are in `vec_<encoder id>` (sqlite-vec).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator, Sequence

import apsw
import numpy as np
from numpy.typing import NDArray

from mindscape_storage.database import Connection, fetch, snapshot, transaction, value
from mindscape_storage.errors import BadVector
from mindscape_storage.records import Encoder, NewPassage

CHUNK_ROWS = 256
"""Rows sqlite-vec allocates at once: its default of 1024 makes the smallest library 1.5 MB larger."""
LOG_KEPT = 100_000
UNIT_TOLERANCE = 1e-3
_CONTENTS_AT_A_TIME = 64
_PASSAGES_AT_A_TIME = 2_000
_GAP = """
    NOT EXISTS (SELECT 1 FROM vectors v WHERE v.encoder_id = ?2 AND v.input_hash = p.input_hash)
    AND NOT EXISTS (SELECT 1 FROM unembeddable u WHERE u.encoder_id = ?2 AND u.input_hash = p.input_hash)
"""


def input_hash(embed_input: str) -> bytes:
    """The key of what is embedded: 32 bytes."""
    return hashlib.sha256(embed_input.encode("utf-8")).digest()


def encoder_id(conn: Connection, name: str, dimensions: int) -> int:
    """The id of a passage encoder, registered at first use. Raises BadVector when its width changed."""
    with transaction(conn):
        known = fetch(conn, "SELECT id, dimensions FROM encoders WHERE name = ?", (name,))
        if known:
            if known[0][1] != dimensions:
                raise BadVector(
                    f"The embedder {name} gives {dimensions} numbers, but the library holds {known[0][1]} "
                    "of it. A changed model needs a new name."
                )
            return int(known[0][0])
        conn.execute("INSERT INTO encoders (name, dimensions) VALUES (?, ?)", (name, dimensions))
        new = conn.last_insert_rowid()
        create_table(conn, new, dimensions)
    return new


def create_table(conn: Connection, encoder: int, dimensions: int) -> None:
    """The searchable table of an encoder's vectors, empty."""
    conn.execute(
        f"CREATE VIRTUAL TABLE vec_{int(encoder)} USING vec0 "
        f"(vector float[{int(dimensions)}], chunk_size={CHUNK_ROWS})"
    )


def encoders(conn: Connection) -> list[Encoder]:
    """Every encoder the library has vectors of, oldest first."""
    rows = fetch(conn, "SELECT id, name, dimensions FROM encoders ORDER BY id")
    return [Encoder(*row) for row in rows]


def missing_inputs(
    conn: Connection, encoder: int, limit: int, content_id: int | None = None
) -> list[tuple[bytes, str]]:
    """Up to `limit` distinct (input hash, text to embed) without a vector, oldest content first.

    Only of complete contents that a document points at; with `content_id`, only of that one.
    """
    found: dict[bytes, str] = {}
    with snapshot(conn):
        contents = [content_id] if content_id is not None else None
        after = 0
        while len(found) < limit:
            batch = contents if contents is not None else _behind(conn, encoder, after)
            for content in batch:
                _missing_of(conn, encoder, content, limit, found)
                if len(found) >= limit:
                    break
            if contents is not None or not batch:
                break
            after = batch[-1]
    return list(found.items())


def add_vectors(conn: Connection, encoder: int, hashes: Sequence[bytes], array: NDArray[np.float32]) -> int:
    """Store float32 (n, dimensions) vectors for n input hashes; returns how many were new and live.

    Vectors of unit length are stored bit for bit, others are scaled to it. A vector whose passages went
    away meanwhile goes to the memo. Raises BadVector, storing none, when one is not finite, zero, or of
    the wrong width.
    """
    vectors = checked(conn, encoder, array)
    if len(hashes) != len(vectors):
        raise BadVector(f"{len(vectors)} vectors came for {len(hashes)} passages; none was stored.")
    stored = 0
    with transaction(conn):
        for key, vector in zip(hashes, vectors, strict=True):
            if _is_used(conn, key):
                stored += _store(conn, encoder, key, vector.tobytes())
            else:
                _to_memo(conn, encoder, key, vector.tobytes())
        _mark_covered(conn, encoder, hashes)
        _trim_log(conn)
    return stored


def skip_inputs(conn: Connection, encoder: int, hashes: Iterable[bytes], reason: str) -> None:
    """These inputs get no vector (`reason` is a sentence): words find them; they are not asked for again."""
    with transaction(conn):
        listed = list(hashes)
        for key in listed:
            if _is_used(conn, key):
                conn.execute(
                    "INSERT INTO unembeddable VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (encoder, key, reason)
                )
        _mark_covered(conn, encoder, listed)


def checked(conn: Connection, encoder: int, array: NDArray[np.float32]) -> NDArray[np.float32]:
    """`array` as contiguous float32 of unit length, (n, d). Raises BadVector when it must not be used."""
    width = value(conn, "SELECT dimensions FROM encoders WHERE id = ?", (encoder,))
    if width is None:
        raise BadVector(f"There is no encoder {encoder} in the library.")
    vectors = np.ascontiguousarray(array, dtype=np.float32)
    if vectors.ndim != 2 or vectors.shape[1] != width:
        raise BadVector(f"Vectors of shape {vectors.shape} came where {width} numbers each were expected.")
    with np.errstate(over="ignore", invalid="ignore"):
        norms = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    if not np.isfinite(norms).all():
        raise BadVector("A vector holds numbers that are not finite; the model or its device is at fault.")
    if len(norms) and norms.min() < 1e-12:
        raise BadVector("A vector is all zeros; the model or its device is at fault.")
    off = np.abs(norms - 1) > UNIT_TOLERANCE
    if off.any():
        vectors = vectors.copy()
        vectors[off] = (vectors[off] / norms[off, None]).astype(np.float32)
    return vectors


def vectors_of(conn: Connection, encoder: int, passage_ids: Iterable[int]) -> dict[int, NDArray[np.float32]]:
    """Passage id -> its unit vector (d,), for those that have one."""
    ids = np.fromiter(passage_ids, np.int64)
    if not len(ids):
        return {}
    rows = fetch(
        conn,
        f"""
        SELECT p.id, x.vector FROM carray(?) a CROSS JOIN passages p ON p.id = a.value
        CROSS JOIN vectors v ON v.encoder_id = ? AND v.input_hash = p.input_hash
        CROSS JOIN vec_{int(encoder)} x ON x.rowid = v.id
        """,
        (apsw.carray(ids), encoder),
    )
    return {passage_id: np.frombuffer(blob, np.float32) for passage_id, blob in rows}


def adopt(conn: Connection, content_id: int) -> None:
    """A content became complete: take back what the memo has of it, and say which encoder covers it."""
    known = reversed(encoders(conn))
    for encoder in [one for one in known if _memo_has_any(conn, one.id)]:
        for _, key in passage_inputs(conn, content_id):
            rows = fetch(
                conn, "DELETE FROM memo WHERE key = ? RETURNING output", (_memo_key(encoder.id, key),)
            )
            for (blob,) in rows:
                _store(conn, encoder.id, key, blob)
    for encoder in encoders(conn):  # the newest that covers it has the last word
        _mark_if_covered(conn, encoder.id, content_id)
    _trim_log(conn)


def passage_inputs(conn: Connection, content_id: int) -> Iterator[tuple[int, bytes]]:
    """(id, input hash) of every passage of a content, a few at a time: a content may have a million."""
    after = -1
    while rows := fetch(
        conn,
        """
        SELECT id, input_hash, ordinal FROM passages WHERE content_id = ? AND ordinal > ?
        ORDER BY ordinal LIMIT ?
        """,
        (content_id, after, _PASSAGES_AT_A_TIME),
    ):
        yield from ((passage_id, key) for passage_id, key, _ in rows)
        after = rows[-1][2]


def retire_unused(conn: Connection, hashes: Iterable[bytes]) -> None:
    """Move the vectors of inputs that no complete content has any more to the memo."""
    for key in hashes:
        if _is_used(conn, key):
            continue
        rows = fetch(conn, "SELECT id, encoder_id FROM vectors WHERE input_hash = ?", (key,))
        for vector_id, encoder in rows:
            blobs = fetch(conn, f"SELECT vector FROM vec_{encoder} WHERE rowid = ?", (vector_id,))
            for (blob,) in blobs:
                _to_memo(conn, encoder, key, blob)
            _drop(conn, encoder, vector_id)
        conn.execute("DELETE FROM unembeddable WHERE input_hash = ?", (key,))


def drop_orphans(conn: Connection) -> int:
    """Move every vector without a live passage to the memo (a full scan: for repair). Returns how many."""
    with transaction(conn):
        before = value(conn, "SELECT count(*) FROM vectors")
        retire_unused(conn, [row[0] for row in fetch(conn, "SELECT input_hash FROM vectors")])
        return int(before - value(conn, "SELECT count(*) FROM vectors"))


def retire_encoder(conn: Connection, encoder: int) -> None:
    """Remove an encoder and all its vectors, live and in the memo, once another has taken its place."""
    with transaction(conn):
        conn.execute("UPDATE contents SET embedded_by = NULL WHERE embedded_by = ?", (encoder,))
        conn.execute("DELETE FROM vectors WHERE encoder_id = ?", (encoder,))
        conn.execute(f"DROP TABLE IF EXISTS vec_{int(encoder)}")
        low = _memo_key(encoder, b"")
        conn.execute("DELETE FROM memo WHERE key >= ? AND key < ?", (low, low[:-1] + "0"))
        conn.execute("DELETE FROM encoders WHERE id = ?", (encoder,))


def discard_vectors(conn: Connection, encoder: int, vector_ids: Sequence[int]) -> None:
    """Delete damaged vectors so that they are embedded again; their contents count as not embedded."""
    with transaction(conn):
        for vector_id in vector_ids:
            conn.execute(
                """
                UPDATE contents SET embedded_by = NULL WHERE embedded_by = ?1 AND id IN (
                    SELECT p.content_id FROM vectors v JOIN passages p ON p.input_hash = v.input_hash
                    WHERE v.id = ?2)
                """,
                (encoder, vector_id),
            )
            _drop(conn, encoder, vector_id)


def mark_coverage(conn: Connection) -> None:
    """Work out `embedded_by` of every content afresh (a full scan: for repair)."""
    with transaction(conn):
        conn.execute("UPDATE contents SET embedded_by = NULL")
        for encoder in encoders(conn):
            for (content_id,) in fetch(conn, "SELECT id FROM contents WHERE complete = 1"):
                _mark_if_covered(conn, encoder.id, content_id)


def _behind(conn: Connection, encoder: int, after: int) -> list[int]:
    """The next contents, by id, that this encoder does not cover."""
    found: list[int] = []
    for other in ("embedded_by IS NULL", "embedded_by < ?1", "embedded_by > ?1"):
        found += [
            row[0]
            for row in fetch(
                conn,
                f"""
                SELECT id FROM contents WHERE {other} AND id > ?2 AND ?1 > 0
                  AND complete = 1 AND documents > 0 AND passages > 0 ORDER BY id LIMIT ?3
                """,
                (encoder, after, _CONTENTS_AT_A_TIME),
            )
        ]
    return sorted(found)[:_CONTENTS_AT_A_TIME]


def _missing_of(conn: Connection, encoder: int, content_id: int, limit: int, found: dict[bytes, str]) -> None:
    rows = fetch(
        conn,
        f"""
        SELECT p.input_hash, p.ordinal, p.start, p.end, p.text, p.prefix FROM passages p
        JOIN contents c ON c.id = p.content_id
        WHERE p.content_id = ?1 AND c.complete = 1 AND c.documents > 0
          AND {_GAP}
        ORDER BY p.ordinal LIMIT ?3
        """,
        (content_id, encoder, limit),
    )
    for key, ordinal, start, end, text, prefix in rows:
        if len(found) < limit:
            found[key] = NewPassage(ordinal, start, end, text, None, (), prefix).embed_input


def _is_used(conn: Connection, key: bytes) -> bool:
    return bool(
        value(
            conn,
            """
            SELECT 1 FROM passages p CROSS JOIN contents c ON c.id = p.content_id
            WHERE p.input_hash = ? AND c.complete = 1 LIMIT 1
            """,
            (key,),
        )
    )


def _store(conn: Connection, encoder: int, key: bytes, blob: bytes) -> int:
    conn.execute(
        "INSERT INTO vectors (encoder_id, input_hash) VALUES (?, ?) ON CONFLICT DO NOTHING", (encoder, key)
    )
    if not conn.changes():
        return 0
    vector_id = conn.last_insert_rowid()
    conn.execute(f"INSERT INTO vec_{int(encoder)} (rowid, vector) VALUES (?, ?)", (vector_id, blob))
    conn.execute("DELETE FROM unembeddable WHERE input_hash = ? AND encoder_id = ?", (key, encoder))
    return 1


def _drop(conn: Connection, encoder: int, vector_id: int) -> None:
    conn.execute(f"DELETE FROM vec_{int(encoder)} WHERE rowid = ?", (vector_id,))
    conn.execute("DELETE FROM vectors WHERE id = ?", (vector_id,))


def _memo_key(encoder: int, key: bytes) -> str:
    return f"vector/{encoder}/{key.hex()}"


def _memo_has_any(conn: Connection, encoder: int) -> bool:
    low = _memo_key(encoder, b"")
    return bool(value(conn, "SELECT 1 FROM memo WHERE key >= ? AND key < ? LIMIT 1", (low, low[:-1] + "0")))


def _to_memo(conn: Connection, encoder: int, key: bytes, blob: bytes) -> None:
    conn.execute(
        """
        INSERT INTO memo (key, stage, output, unused_since) VALUES (?, 'vector', ?, ?)
        ON CONFLICT (key) DO UPDATE SET output = excluded.output, unused_since = excluded.unused_since
        """,
        (_memo_key(encoder, key), blob, int(time.time())),
    )


def _covers(conn: Connection, encoder: int, content_id: int) -> bool:
    """Last passage first, because embedding goes from the first: an unfinished content answers at once."""
    gaps = fetch(
        conn,
        f"""
        SELECT 1 FROM passages p WHERE p.content_id = ?1
          AND {_GAP}
        ORDER BY p.ordinal DESC LIMIT 1
        """,
        (content_id, encoder),
    )
    return not gaps


def _mark_covered(conn: Connection, encoder: int, hashes: Iterable[bytes]) -> None:
    touched: set[int] = set()
    for key in hashes:
        rows = fetch(conn, "SELECT content_id FROM passages WHERE input_hash = ?", (key,))
        touched.update(row[0] for row in rows)
    for content_id in sorted(touched):
        _mark_if_covered(conn, encoder, content_id)


def _mark_if_covered(conn: Connection, encoder: int, content_id: int) -> None:
    if _covers(conn, encoder, content_id):
        conn.execute(
            "UPDATE contents SET embedded_by = ? WHERE id = ? AND complete = 1", (encoder, content_id)
        )


def _trim_log(conn: Connection) -> None:
    """Keep the log short; a copy that is further behind loads everything again."""
    last = value(conn, "SELECT max(seq) FROM vector_log")
    first = value(conn, "SELECT min(seq) FROM vector_log")
    if last is None or last - first < 2 * LOG_KEPT:
        return
    conn.execute("DELETE FROM vector_log WHERE seq <= ?", (last - LOG_KEPT,))
    conn.execute("UPDATE meta SET value = ? WHERE name = 'vector_log_trimmed'", (last - LOG_KEPT,))
