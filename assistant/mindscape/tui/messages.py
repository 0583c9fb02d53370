"""What workers and widgets tell the app and its screens; only the handlers change state.

Messages of one question carry its number, so that what a cancelled question still says is ignored.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from textual.message import Message
from textual.widgets.tree import TreeNode

Json = dict[str, Any]
OnStream = Callable[[Json], None]


class Daemon(Protocol):
    """The part of `client.session.Client` that the interface uses."""

    async def call(self, method: str, params: Json | None = None, on_stream: OnStream | None = None) -> Any:
        """Send a request; cancelling the task cancels it. Raises MindscapeError."""
        ...

    async def close(self) -> None:
        """Close the connection."""
        ...


@dataclass
class QuestionAsked(Message):
    """Enter was pressed on a question."""

    question: str


@dataclass
class StageReached(Message):
    """What the daemon is doing about the question; a newer one makes an older one pointless."""

    number: int
    stage: str

    def can_replace(self, message: Message) -> bool:
        """Skip stages that nobody had time to see."""
        return isinstance(message, StageReached)


@dataclass
class AnswerPiece(Message):
    """The next words of the answer."""

    number: int
    text: str


@dataclass
class AnswerReady(Message):
    """The whole answer, checked: the `ask` shape."""

    number: int
    answer: Json


@dataclass
class AnswerFailed(Message):
    """No answer, and the sentence that says why."""

    number: int
    reason: str


@dataclass
class SourceChosen(Message):
    """A source was highlighted in the list."""

    citation: Json


@dataclass
class SourceRead(Message):
    """The text around a source: the `get` shape, or None with the reason."""

    citation: Json
    place: Json | None
    reason: str = ""


@dataclass
class NodeRead(Message):
    """A node of the mindscape: the `node` shape, or the `tree` shape for the first look."""

    at: TreeNode[Json]
    shape: Json


@dataclass
class NodeMissed(Message):
    """A node could not be read, and why; `gone`: it is not there any more."""

    at: TreeNode[Json]
    reason: str
    gone: bool


@dataclass
class PlaceFound(Message):
    """A place to open: the `get` shape."""

    place: Json


@dataclass
class Connected(Message):
    """There is a daemon to talk to."""

    daemon: Daemon


@dataclass
class DaemonLost(Message):
    """The connection ended or could not be made."""

    reason: str


@dataclass
class LibraryCounted(Message):
    """How many documents there are, and how many of them can be searched."""

    documents: int
    searchable: int


@dataclass
class IndexingMoved(Message):
    """`done` of the library's `total` documents are `what`; only the newest matters."""

    done: int
    total: int
    what: str

    def can_replace(self, message: Message) -> bool:
        """A flood of progress is drawn once."""
        return isinstance(message, IndexingMoved)
