"""Conversations over the socket: begun and resumed by `ask`, listed, read and deleted.

A question joins its conversation when its answer is whole: one that is cancelled or fails leaves nothing. Of
two that are asked at the same time, the one answered first stands first.
"""

from __future__ import annotations

import re
import time
from dataclasses import asdict
from typing import NamedTuple

from mindscape.ask.leaning import Before
from mindscape.daemon import parameters
from mindscape.errors import NotFound, UsageError
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape.rpc import Stream
from mindscape_storage import conversations
from mindscape_storage.conversations import Cited, Conversation, NewTurn, Turn
from mindscape_storage.database import Connection, snapshot
from mindscape_storage.withheld import REMEMBERED

NEW, LAST = "new", "last"
LISTED, MOST_LISTED = 100, 10_000
PAGE = 50
"""Turns of one answer: a message has a limit."""
QUOTED = 2
"""Quotes of an answer that the next question may lean on."""
_ID = re.compile(r"c(\d{1,15})")


class Talk(NamedTuple):
    """The conversation that a question belongs to."""

    id: int | None
    """None: the question begins one."""
    turns: tuple[Turn, ...]
    """The last that were asked before it."""

    @property
    def before(self) -> list[Before]:
        """What it may lean on: the questions, and what was quoted for them, if that still stands there."""
        return [
            Before(turn.rewritten or turn.question, " ".join(_current(turn)[:QUOTED])) for turn in self.turns
        ]


class Conversations:
    """The methods about conversations."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self.methods = {
            "conversations.list": self._list,
            "conversations.get": self._get,
            "conversations.delete": self._delete,
        }

    async def resume(self, params: Json) -> Talk | None:
        """What `conversation` means: None without it. Raises NotFound, UsageError."""
        given = parameters.optional_text(params, "conversation")
        if given is None:
            return None
        if given == NEW:
            return Talk(None, ())

        def read(connection: Connection) -> Talk:
            found = _last(connection) if given == LAST else _called(connection, given)
            return Talk(found.id, tuple(conversations.turns_of(connection, found.id, REMEMBERED)))

        return await self._library.read(read)

    async def save(self, talk: Talk | None, answer: Json) -> str | None:
        """Add the answer to its conversation; the id of that. None: it has none, or none any more."""
        if talk is None:
            return None
        turn = _new_turn(answer)
        now = int(time.time())
        saved = await self._library.write(lambda c: conversations.save_turn(c, talk.id, turn, now))
        return None if saved is None else f"c{saved}"

    async def _list(self, params: Json, stream: Stream) -> Json:
        del stream
        most = parameters.whole(params, "most", LISTED, MOST_LISTED)

        def read(connection: Connection) -> Json:
            found = conversations.conversations(connection, most)
            total = conversations.count_conversations(connection)
            return {"conversations": [_row(one) for one in found], "total": total}

        return await self._library.read(read)

    async def _get(self, params: Json, stream: Stream) -> Json:
        del stream
        given = parameters.text(params, "id")
        before = parameters.whole(params, "before", 10**9, 10**9)

        def read(connection: Connection) -> Json:
            with snapshot(connection):
                found = _last(connection) if given == LAST else _called(connection, given)
                turns = conversations.turns_of(connection, found.id, PAGE, before)
                return {
                    **_row(found),
                    "turns": [_shown(one) for one in turns],
                    "earlier": turns[0].ordinal if turns else 0,
                }

        return await self._library.read(read)

    async def _delete(self, params: Json, stream: Stream) -> Json:
        del stream
        number = _number(parameters.text(params, "id"))
        if not await self._library.write(lambda c: conversations.delete_conversation(c, number)):
            raise _unknown(f"c{number}")
        return {"deleted": f"c{number}"}


def _current(turn: Turn) -> list[str]:
    return [one.quote for one in turn.citations if one.current and one.quote is not None]


def _number(given: str) -> int:
    match = _ID.fullmatch(given.strip())
    if match is None:
        raise UsageError(
            f'"{given}" is no conversation: they are called as c12; `mindscape chats` lists them.'
        )
    return int(match[1])


def _called(connection: Connection, given: str) -> Conversation:
    found = conversations.get_conversation(connection, _number(given))
    if found is None:
        raise _unknown(given)
    return found


def _last(connection: Connection) -> Conversation:
    found = conversations.conversations(connection, 1)
    if not found:
        raise NotFound("There is no conversation yet: `mindscape ask QUESTION` begins one.")
    return found[0]


def _unknown(given: str) -> NotFound:
    return NotFound(f"There is no conversation {given.strip()}. `mindscape chats` lists them.")


def _row(one: Conversation) -> Json:
    return {
        "id": f"c{one.id}",
        "title": one.title,
        "started": one.started,
        "last": one.last,
        "questions": one.turns,
    }


def _shown(turn: Turn) -> Json:
    shown = asdict(turn)
    shown["citations"] = [{**asdict(one), "heading": list(one.heading)} for one in turn.citations]
    return shown


def _new_turn(answer: Json) -> NewTurn:
    """What is kept of an answer in the `ask` shape."""
    cited = [
        Cited(
            n=one["n"],
            passage_id=one["passage_id"],
            start=one["start"],
            end=one["end"],
            path=one["path"],
            page=one["page"],
            line=one["line"],
            heading=tuple(one["heading"]),
            quote=one["quote"],
            supported=one["supported"],
        )
        for one in answer["citations"]
    ]
    return NewTurn(
        question=answer["question"],
        rewritten=answer["rewritten"],
        answer=answer["answer"],
        answered=answer["answered"],
        mode=answer["mode"],
        made_by=answer["made_by"],
        model=answer["model"],
        citations=cited,
        read=answer["read"],
        # A summary may say more than the passages it is cited for.
        wide=answer["mode"] == "global",
    )
