"""What files say: hashed bytes read by one parser version, cut into passages that tile the text.

A content is staged while its passages arrive and complete once `finish_content` has checked them.
Readers see complete contents only; one that no document points at any more is collected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import apsw
import numpy as np

from mindscape_storage.database import Connection, defer, fetch, snapshot, transaction, value
from mindscape_storage.errors import StorageError
from mindscape_storage.fold import fold
from mindscape_storage.records import ContentInfo, Mark, NewPassage, Passage, Place, Section
from mindscape_storage.vectors import adopt, input_hash, passage_inputs, retire_unused

_PASSAGE = """
    SELECT p.id, p.content_id, p.ordinal, p.start, p.end, p.text, p.line, p.heading, p.prefix
    FROM passages p JOIN contents c ON c.id = p.content_id AND c.complete = 1
"""
_BATCH = 200
_LINE_ENDS = re.compile(r"\r\n|\r|\n")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def find_content(conn: Connection, content_hash: str, media_type: str, parser_version: str) -> int | None:
    """The complete content of these bytes under this parser, or None."""
    return value(
        conn,
        "SELECT id FROM contents WHERE hash = ? AND media_type = ? AND parser_version = ? AND complete = 1",
        (content_hash, media_type, parser_version),
    )


def begin_content(
    conn: Connection, content_hash: str, media_type: str, parser_version: str, text_like: bool
) -> int:
    """Stage a content, in place of a stale staged one. Raises StorageError when it is complete already."""
    key = (content_hash, media_type, parser_version)
    with transaction(conn):
        stale = fetch(
            conn,
            "SELECT id, complete FROM contents WHERE hash = ? AND media_type = ? AND parser_version = ?",
            key,
        )
        for content_id, complete in stale:
            if complete:
                raise StorageError(f"Content {content_hash} is stored already; use it as it is.")
            _delete(conn, content_id)
        conn.execute(
            "INSERT INTO contents (hash, media_type, parser_version, text_like) VALUES (?, ?, ?, ?)",
            (*key, int(text_like)),
        )
        return conn.last_insert_rowid()


def add_passages(conn: Connection, content_id: int, passages: Iterable[NewPassage]) -> int:
    """Append passages, and their words to the index; returns how many.

    Raises StorageError, adding none, when the content is not staged or one does not begin where the
    last one ended.
    """
    added = 0
    with transaction(conn):
        rows = fetch(conn, "SELECT complete, length, passages FROM contents WHERE id = ?", (content_id,))
        if not rows or rows[0][0]:
            raise StorageError(f"Content {content_id} is not being staged, so it takes no passages.")
        _, offset, ordinal = rows[0]
        for passage in passages:
            _check_tile(content_id, passage, ordinal, offset)
            _insert(conn, content_id, passage)
            ordinal, offset, added = ordinal + 1, passage.end, added + 1
        conn.execute(
            "UPDATE contents SET length = ?, passages = ? WHERE id = ?", (offset, ordinal, content_id)
        )
    return added


def finish_content(
    conn: Connection,
    content_id: int,
    length: int,
    info: ContentInfo,
    sections: Sequence[Section],
    marks: Sequence[Mark],
) -> None:
    """Complete a staged content of `length` code points: from now on documents may point at it.

    Vectors the memo holds for its passages come back. Raises StorageError when the passages do not
    cover the whole text.
    """
    with transaction(conn):
        covered = value(conn, "SELECT length FROM contents WHERE id = ? AND complete = 0", (content_id,))
        if covered != length:
            raise StorageError(
                f"The passages of content {content_id} cover {covered} of {length} characters; "
                "it stays unfinished and the file will be read again."
            )
        conn.execute(
            "UPDATE contents SET complete = 1, title = ?, dated = ?, info = ? WHERE id = ?",
            (info.title, _date(info), json.dumps(asdict(info), ensure_ascii=False), content_id),
        )
        _insert_places(conn, content_id, sections, marks)
        conn.executemany(
            "INSERT INTO tags VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(content_id, tag) for tag in _tags(info)],
        )
        adopt(conn, content_id)


def content_info(conn: Connection, content_id: int) -> ContentInfo:
    """What the parser found besides the text. Raises StorageError when the content is not there."""
    stored = value(conn, "SELECT info FROM contents WHERE id = ? AND complete = 1", (content_id,))
    if stored is None:
        raise StorageError(f"Content {content_id} is not in the library any more.")
    values: dict[str, Any] = json.loads(stored)
    for name in ("links", "warnings"):
        values[name] = tuple(values[name])
    return ContentInfo(**values)


def warnings_of(conn: Connection) -> dict[int, list[str]]:
    """The warnings of every content that has some, by content id."""
    rows = fetch(conn, "SELECT id, info ->> '$.warnings' FROM contents WHERE info ->> '$.warnings' != '[]'")
    return {content_id: json.loads(warnings) for content_id, warnings in rows}


def passages_by_id(conn: Connection, ids: Iterable[int]) -> dict[int, Passage]:
    """The passages of complete, referenced contents with these ids, by id; others are left out."""
    wanted = np.fromiter(ids, np.int64)
    if not len(wanted):
        return {}
    of_these = "WHERE c.documents > 0 AND p.id IN (SELECT value FROM carray(?)) ORDER BY p.id"
    return {row[0]: _passage(row) for row in fetch(conn, _PASSAGE + of_these, (apsw.carray(wanted),))}


def beside(conn: Connection, passage_ids: Iterable[int]) -> list[int]:
    """The passages right before and right after these in their contents, by id."""
    wanted = np.fromiter(passage_ids, np.int64)
    sql = """
        SELECT DISTINCT n.id FROM carray(?) a CROSS JOIN passages p ON p.id = a.value
        CROSS JOIN passages n ON n.content_id = p.content_id
          AND n.ordinal IN (p.ordinal - 1, p.ordinal + 1) ORDER BY n.id
    """
    return [row[0] for row in fetch(conn, sql, (apsw.carray(wanted),))] if len(wanted) else []


def passages_of(
    conn: Connection, content_id: int, start: int = 0, end: int | None = None
) -> Iterator[Passage]:
    """The passages that overlap [start, end) of a complete content, in order.

    Fetched in batches, so that a slow reader holds no cursor open (one would pin the WAL).
    """
    first = value(
        conn, "SELECT max(start) FROM passages WHERE content_id = ? AND start <= ?", (content_id, start)
    )
    at = first if first is not None else 0
    while True:
        rows = fetch(
            conn,
            _PASSAGE + "WHERE p.content_id = ? AND p.start >= ? ORDER BY p.start LIMIT ?",
            (content_id, at, _BATCH),
        )
        for row in rows:
            passage = _passage(row)
            if end is not None and passage.start >= end:
                return
            if passage.end > start:
                yield passage
        if len(rows) < _BATCH:
            return
        at = rows[-1][4]


def slice_text(conn: Connection, content_id: int, start: int, end: int) -> str:
    """`text[start:end]` of a complete content, offsets clamped to it."""
    start = max(0, start)
    if end <= start:
        return ""
    with snapshot(conn):
        parts = [
            passage.text[max(0, start - passage.start) : end - passage.start]
            for passage in passages_of(conn, content_id, start, end)
        ]
    return "".join(parts)


def length_of(conn: Connection, content_id: int) -> int:
    """Code points of a complete content's text; 0 when it is not there."""
    return value(conn, "SELECT length FROM contents WHERE id = ? AND complete = 1", (content_id,)) or 0


def line_span(conn: Connection, content_id: int, line: int) -> tuple[int, int] | None:
    """Offsets of a line (from 1, without its end) of the file; None where there is none.

    Of an extracted text: of what was found at that line or row, up to the next one with text.
    """
    if marked := _marked_line(conn, content_id, line):
        return marked
    rows = fetch(
        conn,
        "SELECT max(start) FROM passages WHERE content_id = ? AND line <= ?",
        (content_id, line),
    )
    if not rows or rows[0][0] is None:
        return None
    at: int = rows[0][0]
    first = next(passages_of(conn, content_id, at, at + 1))
    current, begin = first.line or 1, at
    for passage in passages_of(conn, content_id, at):
        for end in _LINE_ENDS.finditer(passage.text):
            if current == line:
                return begin, passage.start + end.start()
            current, begin = current + 1, passage.start + end.end()
    length = length_of(conn, content_id)
    return (begin, length) if current == line and begin < length else None


def _marked_line(conn: Connection, content_id: int, line: int) -> tuple[int, int] | None:
    starts = fetch(
        conn,
        """
        SELECT start FROM marks WHERE content_id = ?1 AND kind = 'line' AND CAST(label AS INTEGER) = ?2
        ORDER BY start LIMIT 1
        """,
        (content_id, line),
    )
    if not starts:
        return None
    following = value(
        conn,
        "SELECT min(start) FROM marks WHERE content_id = ? AND kind = 'line' AND start > ?",
        (content_id, starts[0][0]),
    )
    return starts[0][0], following or length_of(conn, content_id)


def page_span(conn: Connection, content_id: int, label: str) -> tuple[int, int] | None:
    """Offsets of the page with this label; None where there is none."""
    starts = fetch(
        conn,
        "SELECT start, label FROM marks WHERE content_id = ? AND kind = 'page' ORDER BY start",
        (content_id,),
    )
    for index, (start, name) in enumerate(starts):
        if name == label:
            last = index + 1 == len(starts)
            return start, length_of(conn, content_id) if last else starts[index + 1][0]
    return None


def locate(conn: Connection, content_id: int, offset: int) -> Place:
    """Page and chapter labels, line (or row of a sheet) and headings at an offset."""
    with snapshot(conn):
        passage = next(passages_of(conn, content_id, offset, offset + 1), None)
        return _place(conn, content_id, offset, passage)


def locate_in(conn: Connection, passage: Passage, offset: int) -> Place:
    """The same for an offset that lies in a passage which is at hand."""
    with snapshot(conn):
        return _place(conn, passage.content_id, offset, passage)


def marked_in(conn: Connection, passage: Passage) -> list[int]:
    """Offsets inside a passage, in order, at which a page, a chapter or a line is marked to begin."""
    rows = fetch(
        conn,
        "SELECT DISTINCT start FROM marks WHERE content_id = ? AND start > ? AND start < ? ORDER BY start",
        (passage.content_id, passage.start, passage.end),
    )
    return [row[0] for row in rows]


def _place(conn: Connection, content_id: int, offset: int, passage: Passage | None) -> Place:
    headings = value(
        conn,
        """
        SELECT path FROM sections WHERE content_id = ?1 AND start <= ?2 AND end > ?2
        ORDER BY start DESC, level DESC LIMIT 1
        """,
        (content_id, offset),
    )
    return Place(
        page=_mark(conn, content_id, "page", offset),
        line=_line(passage, offset) if passage and passage.line else _marked(conn, content_id, offset),
        heading=tuple(json.loads(headings)) if headings else (),
        chapter=_mark(conn, content_id, "chapter", offset),
    )


def sections_of(conn: Connection, content_id: int) -> list[Section]:
    """Every section of a content, in order."""
    rows = fetch(
        conn,
        "SELECT ordinal, level, heading, start, end, path FROM sections WHERE content_id = ? ORDER BY 1",
        (content_id,),
    )
    return [Section(*row[:5], path=tuple(json.loads(row[5]))) for row in rows]


def discard_staged(conn: Connection) -> int:
    """At start: drop what a killed process left unfinished or never pointed at. Returns how many."""
    with transaction(conn):
        left = fetch(
            conn,
            "SELECT id FROM contents WHERE complete = 0 UNION SELECT id FROM contents WHERE documents = 0",
        )
        for (content_id,) in left:
            _delete(conn, content_id)
    return len(left)


def collect_unused(conn: Connection, content_ids: Iterable[int]) -> None:
    """Delete those of these contents that no document points at, with everything derived from them."""
    with transaction(conn):
        for content_id in content_ids:
            if value(conn, "SELECT documents FROM contents WHERE id = ?", (content_id,)) == 0:
                _delete(conn, content_id)


def _delete(conn: Connection, content_id: int) -> None:
    """Foreign keys take passages, sections, marks and tags; the virtual tables need saying."""
    # Its passages do not count as using their vectors any more.
    conn.execute("UPDATE contents SET complete = 0 WHERE id = ?", (content_id,))
    for passage_id, key in passage_inputs(conn, content_id):
        defer(conn, "DELETE FROM passages_fts WHERE rowid = ?", passage_id)
        retire_unused(conn, [key])
    conn.execute("DELETE FROM contents WHERE id = ?", (content_id,))


def _check_tile(content_id: int, passage: NewPassage, ordinal: int, offset: int) -> None:
    whole = passage.end - passage.start == len(passage.text) > 0
    if passage.ordinal != ordinal or passage.start != offset or not whole:
        raise StorageError(
            f"Passage {passage.ordinal} of content {content_id} spans {passage.start}-{passage.end} with "
            f"{len(passage.text)} characters where passage {ordinal} from {offset} was expected."
        )


def _insert(conn: Connection, content_id: int, passage: NewPassage) -> None:
    conn.execute(
        """
        INSERT INTO passages (content_id, ordinal, start, end, text, line, heading, prefix, input_hash)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        (
            content_id,
            passage.ordinal,
            passage.start,
            passage.end,
            passage.text,
            passage.line,
            json.dumps(passage.heading, ensure_ascii=False),
            passage.prefix,
            input_hash(passage.embed_input),
        ),
    )
    index_passage(conn, conn.last_insert_rowid(), passage.text, passage.heading)


def index_passage(conn: Connection, passage_id: int, text: str, heading: Sequence[str]) -> None:
    """Put the folded words of a passage into the full-text index."""
    words = fold(text), fold("\n".join(heading))
    defer(conn, "INSERT INTO passages_fts (rowid, body, heading) VALUES (?, ?, ?)", passage_id, *words)


def _insert_places(
    conn: Connection, content_id: int, sections: Sequence[Section], marks: Sequence[Mark]
) -> None:
    conn.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (
                content_id,
                s.ordinal,
                s.level,
                s.heading,
                s.start,
                s.end,
                json.dumps(s.path, ensure_ascii=False),
            )
            for s in sections
        ],
    )
    conn.executemany(
        "INSERT INTO marks VALUES (?, ?, ?, ?, ?)",
        [(content_id, ordinal, m.kind, m.label, m.start) for ordinal, m in enumerate(marks)],
    )


def _mark(conn: Connection, content_id: int, kind: str, offset: int) -> str | None:
    label: str | None = value(
        conn,
        """
        SELECT label FROM marks WHERE content_id = ? AND kind = ? AND start <= ? ORDER BY start DESC LIMIT 1
        """,
        (content_id, kind, offset),
    )
    return label or None


def _marked(conn: Connection, content_id: int, offset: int) -> int | None:
    label = _mark(conn, content_id, "line", offset)
    return int(label) if label else None


def _line(passage: Passage, offset: int) -> int:
    ends = (match.end() for match in _LINE_ENDS.finditer(passage.text))
    return (passage.line or 1) + sum(end <= offset - passage.start for end in ends)


def _passage(row: tuple[Any, ...]) -> Passage:
    return Passage(*row[:7], heading=_headings(row[7]), prefix=row[8])


@lru_cache(maxsize=4096)
def _headings(stored: str) -> tuple[str, ...]:
    """Of the hundreds of passages that a search looks at most stand under the same ones."""
    return tuple(json.loads(stored))


def _tags(info: ContentInfo) -> list[str]:
    tags = info.metadata.get("tags")
    listed: list[Any] = (
        tags if isinstance(tags, list) else re.split(r"[,\s]+", tags) if isinstance(tags, str) else []
    )
    return sorted({fold(tag).strip().lstrip("#") for tag in listed if isinstance(tag, str)} - {""})


def _date(info: ContentInfo) -> str | None:
    found = _DATE.match(str(info.metadata.get("date", "")))
    return found[0] if found else None
