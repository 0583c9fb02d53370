"""Paths that point at contents. A copy, a move or a rename touches only the row here."""

from __future__ import annotations

import json
import os
import time
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

from mindscape_storage.contents import collect_unused
from mindscape_storage.database import Connection, defer, fetch, snapshot, transaction, value
from mindscape_storage.errors import StorageError
from mindscape_storage.fold import fold
from mindscape_storage.folders import folder_of, forget_changed
from mindscape_storage.memo import forget_unused
from mindscape_storage.records import Document, FileStat, Status
from mindscape_storage.summaries import forget_summaries
from mindscape_storage.withheld import withhold_gone

WATCHED = "+r.path >= x'01'"
"""Of a row r of roots. Not so once `roots.leave_root` let it go: its path then begins with a NUL, which none
on a disk does."""
_DOCUMENT = f"""
    SELECT d.id, d.root_id, d.path, d.display, d.size, d.mtime_ns, d.ctime_ns, d.inode, d.status, d.reason,
           d.content_id, c.title, c.passages, c.embedded_by, r.mode, r.reason
    FROM documents d JOIN roots r ON r.id = d.root_id AND {WATCHED}
    LEFT JOIN contents c ON c.id = d.content_id
"""
_PUT_NAME = "INSERT OR REPLACE INTO names_fts (rowid, title, name, folders) VALUES (?, ?, ?, ?)"
AWAY_REASON = (
    "The watched folder it belongs to is not there now; it will be read again when the folder returns."
)


def upsert_pending(conn: Connection, root_id: int, path: bytes, display: str, stat: FileStat) -> int:
    """A new or changed file: pending from now on; what was indexed of it before is served until `finish`."""
    with transaction(conn):
        row = fetch(
            conn,
            """
            INSERT INTO documents
                (root_id, folder_id, path, display, nfc_key, size, mtime_ns, ctime_ns, inode, status)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')
            ON CONFLICT (path) DO UPDATE SET root_id = excluded.root_id, folder_id = excluded.folder_id,
                display = excluded.display, nfc_key = excluded.nfc_key, size = excluded.size,
                mtime_ns = excluded.mtime_ns, ctime_ns = excluded.ctime_ns, inode = excluded.inode,
                status = 'pending', reason = NULL
            RETURNING id
            """,
            (root_id, folder_of(conn, root_id, path), path, display, _key(display), *_stat(stat)),
        )
        document_id = int(row[0][0])
        index_name(conn, document_id)
    return document_id


def move_documents(conn: Connection, root_id: int, moves: Iterable[tuple[int, bytes, str, FileStat]]) -> None:
    """Same bytes, other paths: (document id, new path, its display, stat). Moves may chain or swap.

    A document that was at a new path and does not move is replaced.
    """
    moves = list(moves)
    with transaction(conn):
        for document_id, *_ in moves:
            # A path of a file never holds a NUL: so all are out of each other's way.
            conn.execute("UPDATE documents SET path = ? WHERE id = ?", (b"\0%d" % document_id, document_id))
        for document_id, path, display, stat in moves:
            there = fetch(conn, "SELECT id FROM documents WHERE path = ?", (path,))
            remove_documents(conn, [row[0] for row in there])
            conn.execute(
                """
                UPDATE documents SET root_id = ?, folder_id = ?, path = ?, display = ?, nfc_key = ?,
                    size = ?, mtime_ns = ?, ctime_ns = ?, inode = ? WHERE id = ?
                """,
                (
                    root_id,
                    folder_of(conn, root_id, path),
                    path,
                    display,
                    _key(display),
                    *_stat(stat),
                    document_id,
                ),
            )
            index_name(conn, document_id)


def set_away(conn: Connection, ids: Iterable[int], reason: str) -> int:
    """The files are not there but not gone either: what was read of them is kept, and said to be away.

    Returns how many that is news of.
    """
    before = conn.total_changes()
    with transaction(conn):
        conn.executemany(
            """
            UPDATE documents SET status = 'away', reason = ?1 WHERE id = ?2 AND (status, reason) IS NOT
                ('away', ?1)
            """,
            [(reason, document_id) for document_id in ids],
        )
    return conn.total_changes() - before


def finish(
    conn: Connection,
    document_id: int,
    stat: FileStat,
    status: Status,
    reason: str | None,
    content_id: int | None,
) -> None:
    """Settle a document: its status and the content it points at from now on.

    The content it pointed at before is collected when no other document needs it, in the same
    transaction. Raises StorageError when the document is gone or the content is not complete.
    """
    if status not in (Status.PENDING, Status.OK) and not reason:
        raise ValueError(f"the status {status} needs a sentence that says why")
    with transaction(conn):
        if content_id is not None and not _is_complete(conn, content_id):
            raise StorageError(f"Content {content_id} is not complete, so no document can point at it.")
        before = fetch(conn, "SELECT content_id FROM documents WHERE id = ?", (document_id,))
        if not before:
            raise StorageError(f"Document {document_id} was removed while it was being indexed.")
        conn.execute(
            """
            UPDATE documents SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, status = ?, reason = ?,
                content_id = ?, indexed_at = ? WHERE id = ?
            """,
            (*_stat(stat), str(status), reason, content_id, int(time.time()), document_id),
        )
        if before[0][0] is not None and before[0][0] != content_id:
            collect_unused(conn, [before[0][0]])
        index_name(conn, document_id)


def remove_documents(conn: Connection, ids: Iterable[int], *, forget: bool = False) -> None:
    """Remove documents, and their contents where nothing else points at them.

    Their vectors and summaries stay aside for a while, in case the text returns; with `forget` they do not,
    all other unused outputs go too, and so do the summaries of what they were part of, and saved answers that
    say something of what is in no document any more.
    """
    with transaction(conn):
        left: set[int] = set()
        for document_id in ids:
            rows = fetch(conn, "DELETE FROM documents WHERE id = ? RETURNING content_id", (document_id,))
            left.update(row[0] for row in rows if row[0] is not None)
            defer(conn, "DELETE FROM names_fts WHERE rowid = ?", document_id)
        collect_unused(conn, sorted(left))
        if forget:
            forget_changed(conn)
            forget_summaries(conn)
            forget_unused(conn)
            withhold_gone(conn)


def get_document(conn: Connection, document_id: int) -> Document | None:
    """The document with this id, or None."""
    return _one(conn, "WHERE d.id = ?", document_id)


def find_document(conn: Connection, path: bytes) -> Document | None:
    """The document at exactly this path, or None."""
    return _one(conn, "WHERE d.path = ?", path)


def find_by_display(conn: Connection, text: str) -> list[Document]:
    """Documents a user may mean by `text`: the exact path, else the path in NFC, else paths ending in it."""
    with snapshot(conn):
        exact = find_document(conn, _encode(text))
        if exact is not None:
            return [exact]
        key = _key(text)
        found = _many(conn, "WHERE d.nfc_key = ? ORDER BY d.path", key)
        if found or not key.strip("/"):
            return found
        tail = "/" + key.lstrip("/")
        return _many(conn, "WHERE substr(d.nfc_key, -length(?1)) = ?1 ORDER BY d.path", tail)


def list_documents(conn: Connection, root_id: int | None = None) -> list[Document]:
    """All documents, or those of one root, ordered by path."""
    if root_id is None:
        return _many(conn, "ORDER BY d.path")
    return _many(conn, "WHERE d.root_id = ? ORDER BY d.path", root_id)


def without_text_layer(
    conn: Connection, root_id: int, endings: Iterable[str], ocr_version: str
) -> list[Document]:
    """The documents of a root that OCR could say more of, or has read, ordered by path.

    Those without text or with pages of none, those whose content is of the parser version
    `ocr_version`, and those without content whose names have one of the endings.
    """
    return _many(
        conn,
        """
        WHERE d.root_id = ?1 AND d.status <> 'away' AND (
            d.status = 'no_text' OR c.parser_version = ?3
            OR json_extract(c.info, '$.metadata.pages_without_text') > 0
            OR d.content_id IS NULL AND EXISTS (
                SELECT 1 FROM json_each(?2) WHERE lower(substr(d.display, -length(value))) = value
            )
        ) ORDER BY d.path
        """,
        root_id,
        json.dumps(list(endings)),
        ocr_version,
    )


def documents_of_content(conn: Connection, content_id: int) -> list[Document]:
    """Every path that holds this content, ordered by path."""
    return _many(conn, "WHERE d.content_id = ? ORDER BY d.path", content_id)


def known_files(
    conn: Connection, root_id: int, under: bytes | None = None
) -> dict[bytes, tuple[int, FileStat, Status]]:
    """What a scan compares the disk with: path -> (document id, stat, status as stored).

    With `under`, only the document at that path and those below it.
    """
    known = "SELECT path, id, size, mtime_ns, ctime_ns, inode, status FROM documents WHERE root_id = ?1"
    if under is None:
        rows = fetch(conn, known, (root_id,))
    else:
        # In byte order everything below a folder lies between "folder/" and "folder0".
        below = known + " AND (path = ?2 OR (path >= ?3 AND path < ?4))"
        rows = fetch(conn, below, (root_id, under, under + b"/", under + b"0"))
    return {row[0]: (row[1], FileStat(*row[2:6]), Status(row[6])) for row in rows}


def longest_unread(conn: Connection, most: int, most_bytes: int) -> list[int]:
    """Ids of the indexed documents that were read longest ago: at most so many, of so many bytes."""
    rows = fetch(
        conn,
        """
        SELECT id, size FROM documents WHERE status = 'ok' ORDER BY indexed_at, id LIMIT ?
        """,
        (most,),
    )
    chosen: list[int] = []
    for document_id, size in rows:
        most_bytes -= size
        if most_bytes < 0 and chosen:
            break
        chosen.append(document_id)
    return chosen


def counts(conn: Connection, encoder_id: int | None) -> dict[str, Any]:
    """`total`, `searchable`, `embedded` (by this encoder; None: 0) and `by_status`, of documents."""
    by_status: dict[str, int] = {}
    with snapshot(conn):
        rows = fetch(
            conn,
            f"""
            SELECT r.mode, d.status, count(*) FROM roots r JOIN documents d ON d.root_id = r.id
            WHERE {WATCHED} GROUP BY r.id, d.status
            """,
        )
        behind = _not_embedded(conn, encoder_id) if encoder_id is not None else 0
    for mode, status, number in rows:
        shown = Status.AWAY.value if mode == "away" else status
        by_status[shown] = by_status.get(shown, 0) + number
    searchable = by_status.get(Status.OK, 0)
    return {
        "total": sum(by_status.values()),
        "searchable": searchable,
        "embedded": searchable - behind if encoder_id is not None else 0,
        "by_status": dict(sorted(by_status.items())),
    }


def index_name(conn: Connection, document_id: int) -> None:
    """Put the folded title, file name and folders of a document into the index of names."""
    rows = fetch(
        conn,
        """
        SELECT d.display, c.title FROM documents d LEFT JOIN contents c ON c.id = d.content_id WHERE d.id = ?
        """,
        (document_id,),
    )
    for display, title in rows:
        path = PurePosixPath(display)
        words = (fold(title or ""), fold(path.name), fold(" ".join(path.parent.parts)))
        defer(conn, _PUT_NAME, document_id, *words)


def _not_embedded(conn: Connection, encoder_id: int) -> int:
    """Documents with status ok whose content this encoder does not cover: at rest, none to visit."""
    return value(
        conn,
        """
        SELECT count(*) FROM contents c CROSS JOIN documents d ON d.content_id = c.id
        CROSS JOIN roots r ON r.id = d.root_id AND r.mode <> 'away'
        WHERE (c.embedded_by IS NULL OR c.embedded_by < ?1 OR c.embedded_by > ?1)
          AND c.passages > 0 AND d.status = 'ok'
        """,
        (encoder_id,),
    )


def _is_complete(conn: Connection, content_id: int) -> bool:
    return bool(value(conn, "SELECT complete FROM contents WHERE id = ?", (content_id,)))


def _one(conn: Connection, where: str, value: int | bytes) -> Document | None:
    found = _many(conn, where, value)
    return found[0] if found else None


def _many(conn: Connection, where: str, *values: int | bytes | str) -> list[Document]:
    return [_document(row) for row in fetch(conn, _DOCUMENT + where, values)]


def _document(row: tuple[Any, ...]) -> Document:
    (document_id, root_id, path, display, size, mtime_ns, ctime_ns, inode) = row[:8]
    (status, reason, content_id, title, passages, embedded_by, mode, root_reason) = row[8:]
    shown = Status.AWAY if mode == "away" else Status(status)
    tier = None
    if shown is Status.OK:
        tier = "embedded" if embedded_by is not None or not passages else "searchable"
    return Document(
        id=document_id,
        root_id=root_id,
        path=path,
        display=display,
        stat=FileStat(size, mtime_ns, ctime_ns, inode),
        status=shown,
        reason=(root_reason or AWAY_REASON) if mode == "away" else reason,
        content_id=content_id,
        title=title,
        passages=passages or 0,
        tier=tier,
    )


def _stat(stat: FileStat) -> tuple[int, int, int, int]:
    return stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode


def _key(display: str) -> str:
    return unicodedata.normalize("NFC", display).encode("utf-8", "replace").decode("utf-8")


def _encode(text: str) -> bytes:
    """The path a user typed, as bytes; text that cannot be a path becomes one that is not there."""
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
