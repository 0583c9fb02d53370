"""`doctor` for the file: what is wrong with a library, and repair of what can be derived again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from mindscape_storage.check_tree import check_tree, repair_tree
from mindscape_storage.contents import discard_staged, index_passage
from mindscape_storage.database import Connection, fetch, snapshot, transaction, value
from mindscape_storage.documents import index_name
from mindscape_storage.records import Check
from mindscape_storage.vectors import UNIT_TOLERANCE, discard_vectors, drop_orphans, encoders, mark_coverage

_AGAIN = "Run `mindscape doctor --repair`."
_RESTORE = "Restore a backup, or delete the library and let Mindscape read your files again."
_BATCH = 2_000


def run_checks(conn: Connection, path: Path) -> list[Check]:
    """Every check of the library at `path`, each with state `ok`, `warn` or `fail`. Changes nothing."""
    with snapshot(conn):
        return [
            _file(conn, path),
            _foreign_keys(conn),
            _index(conn, "words", "passages_fts", "passages"),
            _index(conn, "names", "names_fts", "documents"),
            _vector_rows(conn),
            _vector_values(conn),
            _coverage(conn),
            _tiling(conn),
            _orphans(conn),
            *check_tree(conn),
        ]


def repair(conn: Connection) -> list[Check]:
    """Rebuild what is derived: the indexes from passages and documents; damaged vectors are deleted, to be
    embedded again; contents nothing points at are collected; damaged trees are dropped, to be made again.
    Returns what was done.
    """
    with transaction(conn):
        return [
            _rebuild_words(conn),
            _rebuild_names(conn),
            _repair_vectors(conn),
            _repair_contents(conn),
            repair_tree(conn),
        ]


def _file(conn: Connection, path: Path) -> Check:
    try:
        for fts in ("passages_fts", "names_fts"):
            # FTS5 remembers where an index lies; only a query looks whether another connection moved it. The
            # check would take what it remembers for damage.
            fetch(conn, f"SELECT rowid FROM {fts} WHERE {fts} MATCH '\"a\"' LIMIT 1")
        found = [row[0] for row in fetch(conn, "PRAGMA integrity_check(20)")]
    except apsw.Error as error:
        found = [str(error)]
    if found == ["ok"]:
        return Check("file", "ok", f"{path} is a whole database.")
    return Check("file", "fail", f"{path} is damaged: {'; '.join(found)}.", _RESTORE)


def _foreign_keys(conn: Connection) -> Check:
    broken = fetch(conn, "PRAGMA foreign_key_check")
    if not broken:
        return Check("references", "ok", "Every row's source is there.")
    tables = ", ".join(sorted({str(row[0]) for row in broken}))
    return Check(
        "references", "fail", f"{len(broken)} rows of {tables} refer to rows that are gone.", _RESTORE
    )


def _index(conn: Connection, name: str, fts: str, source: str) -> Check:
    """PRAGMA integrity_check does not see an index out of step with its table: compare both ways."""
    absent, stray = _differences(conn, fts, source)
    try:
        fetch(conn, f'SELECT count(*) FROM {fts} WHERE {fts} MATCH \'"a" OR "the"\'')
    except apsw.Error as error:
        return Check(name, "fail", f"The index of {name} cannot be read ({error}).", _AGAIN)
    if not absent and not stray:
        return Check(name, "ok", f"The index of {name} matches its {source}.")
    return Check(
        name,
        "fail",
        f"{len(absent)} {source} are not in the index of {name}, {len(stray)} in it are gone.",
        _AGAIN,
    )


def _differences(conn: Connection, fts: str, source: str) -> tuple[list[int], list[int]]:
    absent = fetch(conn, f"SELECT id FROM {source} EXCEPT SELECT id FROM {fts}_docsize")
    stray = fetch(conn, f"SELECT id FROM {fts}_docsize EXCEPT SELECT id FROM {source}")
    return [row[0] for row in absent], [row[0] for row in stray]


def _vector_rows(conn: Connection) -> Check:
    keys = floats = 0
    for encoder in encoders(conn):
        without_floats, without_key = _vector_differences(conn, encoder.id)
        keys, floats = keys + len(without_floats), floats + len(without_key)
    orphans = len(_orphan_vectors(conn))
    if not keys and not floats and not orphans:
        return Check("vectors", "ok", "Every vector has its passage and its numbers.")
    return Check(
        "vectors",
        "fail",
        f"{keys} vectors have no numbers, {floats} no key, {orphans} no passage.",
        _AGAIN,
    )


def _vector_differences(conn: Connection, encoder: int) -> tuple[list[int], list[int]]:
    keys = {row[0] for row in fetch(conn, "SELECT id FROM vectors WHERE encoder_id = ?", (encoder,))}
    floats = {row[0] for row in fetch(conn, f"SELECT rowid FROM vec_{encoder}")}
    return sorted(keys - floats), sorted(floats - keys)


def _orphan_vectors(conn: Connection) -> list[Any]:
    return fetch(
        conn,
        """
        SELECT v.id FROM vectors v WHERE NOT EXISTS (
            SELECT 1 FROM passages p JOIN contents c ON c.id = p.content_id
            WHERE p.input_hash = v.input_hash AND c.complete = 1)
    """,
    )


def _vector_values(conn: Connection) -> Check:
    bad = sum(len(_bad_vectors(conn, encoder.id)) for encoder in encoders(conn))
    if not bad:
        return Check("numbers", "ok", "Every vector is finite and of unit length.")
    return Check("numbers", "fail", f"{bad} vectors are not finite or not of unit length.", _AGAIN)


def _bad_vectors(conn: Connection, encoder: int) -> list[int]:
    bad: list[int] = []
    for rows in _batches(conn, f"SELECT rowid, vector FROM vec_{encoder}"):
        floats = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), -1)
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.sqrt(np.einsum("nd,nd->n", floats, floats, dtype=np.float64))
        good = np.abs(norms - 1) <= 2 * UNIT_TOLERANCE
        bad += [rows[at][0] for at in np.flatnonzero(~good)]
    return bad


def _coverage(conn: Connection) -> Check:
    """`embedded_by` must say the truth, or files would stay without vectors for ever."""
    wrong = value(
        conn,
        """
        SELECT count(DISTINCT c.id) FROM contents c JOIN passages p ON p.content_id = c.id
        WHERE c.embedded_by IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM vectors v WHERE v.encoder_id = c.embedded_by AND v.input_hash = p.input_hash)
        AND NOT EXISTS (
            SELECT 1 FROM unembeddable u WHERE u.encoder_id = c.embedded_by AND u.input_hash = p.input_hash)
    """,
    )
    if not wrong:
        return Check("coverage", "ok", "Every content that counts as embedded is.")
    return Check("coverage", "fail", f"{wrong} contents count as embedded but lack vectors.", _AGAIN)


def _tiling(conn: Connection) -> Check:
    bad = _badly_tiled(conn)
    if not bad:
        return Check("passages", "ok", "The passages of every content tile its text.")
    return Check("passages", "fail", f"The passages of {len(bad)} contents do not tile their text.", _AGAIN)


def _badly_tiled(conn: Connection) -> list[int]:
    """Complete contents whose passages do not run from 0 to the length without gap or overlap."""
    sizes = {
        row[0]: (row[1], row[2])
        for row in fetch(conn, "SELECT id, length, passages FROM contents WHERE complete = 1")
    }
    reached: dict[int, tuple[int, int]] = dict.fromkeys(sizes, (0, 0))
    bad: set[int] = set()
    sql = "SELECT content_id, ordinal, start, end, text FROM passages ORDER BY content_id, ordinal"
    for rows in _batches(conn, sql):
        for content_id, ordinal, start, end, text in rows:
            if content_id not in sizes:
                continue
            if reached[content_id] != (start, ordinal) or end - start != len(text):
                bad.add(content_id)
            reached[content_id] = (end, ordinal + 1)
    return sorted(bad | {content_id for content_id, size in sizes.items() if reached[content_id] != size})


def _orphans(conn: Connection) -> Check:
    """Right after start nothing is staged; while files are being read a few may be."""
    wrong = value(
        conn,
        """
        SELECT count(*) FROM contents c
        WHERE documents <> (SELECT count(*) FROM documents d WHERE d.content_id = c.id)
    """,
    )
    unused = value(conn, "SELECT count(*) FROM contents WHERE documents = 0")
    if wrong:
        return Check(
            "contents", "fail", f"{wrong} contents miscount the documents that point at them.", _AGAIN
        )
    if unused:
        return Check("contents", "warn", f"No document points at {unused} contents (yet).", _AGAIN)
    return Check("contents", "ok", "Every content has its documents.")


def _rebuild_words(conn: Connection) -> Check:
    absent, stray = _differences(conn, "passages_fts", "passages")
    conn.execute("INSERT INTO passages_fts (passages_fts) VALUES ('delete-all')")
    for rows in _batches(conn, "SELECT id, text, heading FROM passages ORDER BY id"):
        for passage_id, text, heading in rows:
            index_passage(conn, passage_id, text, json.loads(heading))
    return Check(
        "words", "ok", f"Rebuilt the index of words ({len(absent)} were missing, {len(stray)} stray)."
    )


def _rebuild_names(conn: Connection) -> Check:
    conn.execute("INSERT INTO names_fts (names_fts) VALUES ('delete-all')")
    for (document_id,) in fetch(conn, "SELECT id FROM documents"):
        index_name(conn, document_id)
    return Check("names", "ok", "Rebuilt the index of names.")


def _repair_vectors(conn: Connection) -> Check:
    dropped = 0
    for encoder in encoders(conn):
        without_floats, without_key = _vector_differences(conn, encoder.id)
        for vector_id in without_key:
            conn.execute(f"DELETE FROM vec_{encoder.id} WHERE rowid = ?", (vector_id,))
        bad = sorted({*without_floats, *_bad_vectors(conn, encoder.id)})
        discard_vectors(conn, encoder.id, bad)
        dropped += len(bad)
    orphans = drop_orphans(conn)
    mark_coverage(conn)
    return Check(
        "vectors", "ok", f"Deleted {dropped} damaged vectors, to be embedded again; put {orphans} aside."
    )


def _repair_contents(conn: Connection) -> Check:
    conn.execute(
        "UPDATE contents SET documents = (SELECT count(*) FROM documents WHERE content_id = contents.id)"
    )
    bad = _badly_tiled(conn)
    for content_id in bad:
        conn.execute(
            """
            UPDATE documents SET status = 'pending', reason = NULL, content_id = NULL, size = -1
            WHERE content_id = ?
            """,
            (content_id,),
        )
    collected = discard_staged(conn)
    return Check(
        "contents", "ok", f"{len(bad)} damaged contents will be read again; {collected} were collected."
    )


def _batches(conn: Connection, sql: str) -> Iterator[list[Any]]:
    cursor = conn.execute(sql)
    while rows := list(islice(cursor, _BATCH)):
        yield rows
