"""Conversations: questions with their answers, saved, listed, resumed and deleted.

A citation names the passage it quotes by what that says, not by a row: so it is current as long as any
document has the passage, wherever it has moved, and known not to be once none has.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mindscape_storage import contents
from mindscape_storage.database import Connection, fetch, snapshot, transaction, value
from mindscape_storage.documents import documents_of_content
from mindscape_storage.vectors import input_hash

MAX_TITLE = 100
"""Characters of a conversation's title: the beginning of its first question."""
MAX_QUESTION = 20_000
"""Characters of a question that are kept."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """A row of the list."""

    id: int
    title: str
    started: int
    last: int
    """Seconds since 1970."""
    turns: int


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation of an answer that is to be saved; offsets are code points of the document's text."""

    n: int
    passage_id: int
    start: int
    end: int
    path: str
    page: str | None
    line: int | None
    heading: tuple[str, ...]
    quote: str
    supported: bool | None


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A question with its answer that is to be saved."""

    question: str
    rewritten: str | None
    """What was looked for, where that is not the question; it depends on the turns before."""
    answer: str
    answered: bool
    mode: str
    made_by: str
    model: str | None
    citations: Sequence[Cited]
    read: Sequence[int]
    """Ids of all passages that the answer was made from."""
    wide: bool = False
    """Whether it was made from a summary, which may say more than these passages."""


@dataclass(frozen=True, slots=True)
class SavedCitation:
    """A citation as it stands now."""

    n: int
    current: bool
    """Whether a document has the passage still. Then passage, place and path are those of now, else None or
    as they were."""
    passage_id: int | None
    path: str
    """Empty once it was forgotten."""
    start: int
    end: int
    page: str | None
    line: int | None
    heading: tuple[str, ...]
    quote: str | None
    """None once it was forgotten."""
    supported: bool | None


@dataclass(frozen=True, slots=True)
class Turn:
    """A saved question with its answer."""

    ordinal: int
    asked_at: int
    question: str
    rewritten: str | None
    answer: str | None
    """None once something it was made from was forgotten."""
    answered: bool
    mode: str
    made_by: str
    model: str | None
    current: bool
    """Whether all passages it was made from are still there."""
    citations: tuple[SavedCitation, ...]


def save_turn(conn: Connection, conversation_id: int | None, turn: NewTurn, now: int) -> int | None:
    """Append a turn to a conversation, or begin one with it (None); `now` is in seconds since 1970.

    Returns the conversation's id; None when it has been deleted meanwhile.
    """
    with transaction(conn):
        if conversation_id is None:
            title = " ".join(turn.question.split())[:MAX_TITLE]
            conn.execute("INSERT INTO conversations (title, started, last) VALUES (?1, ?2, ?2)", (title, now))
            conversation_id = int(conn.last_insert_rowid())
        conn.execute("UPDATE conversations SET last = ? WHERE id = ?", (now, conversation_id))
        if not conn.changes():
            return None
        ordinal = value(
            conn,
            "SELECT coalesce(max(ordinal) + 1, 0) FROM turns WHERE conversation_id = ?",
            (conversation_id,),
        )
        conn.execute(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(conversation_id, ordinal, now, turn.question[:MAX_QUESTION], turn.rewritten, turn.answer),
                *(int(turn.answered), turn.mode, turn.made_by, turn.model, int(turn.wide)),
            ),
        )
        _save_sources(conn, conversation_id, ordinal, turn)
    return conversation_id


def _save_sources(conn: Connection, conversation_id: int, ordinal: int, turn: NewTurn) -> None:
    wanted = {*turn.read, *(one.passage_id for one in turn.citations)}
    there = contents.passages_by_id(conn, wanted)
    hashes = {id_: input_hash(f"{p.prefix}\n{p.text}" if p.prefix else p.text) for id_, p in there.items()}
    read = {hashes.get(id_, b"") for id_ in wanted}
    conn.executemany(
        "INSERT INTO turn_passages VALUES (?, ?, ?)", [(conversation_id, ordinal, key) for key in read]
    )
    rows: list[tuple[Any, ...]] = []
    for one in turn.citations:
        shift = one.start - there[one.passage_id].start if one.passage_id in there else 0
        heading = json.dumps(one.heading, ensure_ascii=False)
        place = (shift, one.start, one.end, one.path, one.page, one.line, heading)
        supported = None if one.supported is None else int(one.supported)
        rows.append(
            (conversation_id, ordinal, one.n, hashes.get(one.passage_id, b""), *place, one.quote, supported)
        )
    conn.executemany("INSERT INTO citations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def conversations(conn: Connection, most: int) -> list[Conversation]:
    """The conversations that were used last, the latest first."""
    rows = fetch(
        conn,
        """
        SELECT id, title, started, last, (SELECT count(*) FROM turns t WHERE t.conversation_id = c.id)
        FROM conversations c ORDER BY last DESC, id DESC LIMIT ?
        """,
        (most,),
    )
    return [Conversation(*row) for row in rows]


def count_conversations(conn: Connection) -> int:
    """How many there are."""
    return value(conn, "SELECT count(*) FROM conversations")


def get_conversation(conn: Connection, conversation_id: int) -> Conversation | None:
    """The conversation with this id, or None."""
    rows = fetch(
        conn,
        """
        SELECT id, title, started, last, (SELECT count(*) FROM turns t WHERE t.conversation_id = c.id)
        FROM conversations c WHERE id = ?
        """,
        (conversation_id,),
    )
    return Conversation(*rows[0]) if rows else None


def turns_of(conn: Connection, conversation_id: int, most: int, before: int | None = None) -> list[Turn]:
    """The last `most` turns of a conversation (of those with smaller ordinals than `before`), in order."""
    with snapshot(conn):
        rows = fetch(
            conn,
            """
            SELECT ordinal, asked_at, question, rewritten, answer, answered, mode, made_by, model FROM turns
            WHERE conversation_id = ? AND ordinal < ? ORDER BY ordinal DESC LIMIT ?
            """,
            (conversation_id, 2**62 if before is None else before, most),
        )
        return [_turn(conn, conversation_id, row) for row in reversed(rows)]


def delete_conversation(conn: Connection, conversation_id: int) -> bool:
    """Delete a conversation with all its turns; False when there is none."""
    with transaction(conn):
        conn.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
        return conn.changes() > 0


def _turn(conn: Connection, conversation_id: int, row: tuple[Any, ...]) -> Turn:
    at = (conversation_id, row[0])
    read = fetch(conn, "SELECT input_hash FROM turn_passages WHERE conversation_id = ? AND ordinal = ?", at)
    cited = fetch(
        conn,
        """
        SELECT n, input_hash, shift, start, end, path, page, line, heading, quote, supported FROM citations
        WHERE conversation_id = ? AND ordinal = ? ORDER BY n
        """,
        at,
    )
    (ordinal, asked_at, question, rewritten, answer, answered, mode, made_by, model) = row
    current = answer is not None and all(_holders(conn, key[0]) for key in read)
    citations = tuple(_citation(conn, one) for one in cited)
    said = (question, rewritten, answer, bool(answered), mode, made_by, model)
    return Turn(ordinal, asked_at, *said, current, citations)


def _citation(conn: Connection, row: tuple[Any, ...]) -> SavedCitation:
    n, key, shift, start, end, path, page, line, heading, quote, supported = row
    checked = None if supported is None else bool(supported)
    holders = _holders(conn, key)
    if quote is None or not holders:
        place = (path, start, end, page, line, tuple(json.loads(heading)))
        return SavedCitation(n, False, None, *place, quote, checked)
    # Where it was cited, if it is still there; else in any other document that says the same.
    same = [one for one in holders if one[3] == path]
    passage_id, content_id, first, path = (same or holders)[0]
    there = contents.locate(conn, content_id, first + shift)
    place = (path, first + shift, first + shift + end - start, there.page, there.line, there.heading)
    return SavedCitation(n, True, passage_id, *place, quote, checked)


def _holders(conn: Connection, key: bytes) -> list[tuple[int, int, int, str]]:
    """The passages that say this, and the documents they are in: (passage id, content id, start, path)."""
    rows = fetch(
        conn,
        """
        SELECT p.id, p.content_id, p.start FROM passages p JOIN contents c ON c.id = p.content_id
        WHERE p.input_hash = ? AND c.complete = 1 AND c.documents > 0 ORDER BY p.id
        """,
        (key,),
    )
    return [(*row, one.display) for row in rows for one in documents_of_content(conn, row[1])]
