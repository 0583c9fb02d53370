"""What a question is conditioned on: the mindscape of its document, or the signature that it induces itself.

One document, or what has been read of it, is told by a cut through its tree; of wider scopes a summary of
everything is no condition (MiA-Signature C.3), so a signature takes its place. Nothing here calls a model:
what is read is handed out to be encoded, and vectors come back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape.ask import signature
from mindscape.ask.ranges import cover, spread
from mindscape.ask.retrieve import Ranked, inside, resolve_scope, retrieve, up_to
from mindscape_storage import documents, nodes, summaries
from mindscape_storage.database import Connection, snapshot
from mindscape_storage.packed import PackedVectors
from mindscape_storage.paths import highest_of
from mindscape_storage.records import Document, Node, Scope
from mindscape_storage.vectors import vectors_of

UNDER = 40
"""Passages below a node of the pool, at most. The paper's windows hold 20; ours end where a text does."""
TOKENS = 1_000
"""Of the mindscape of one document."""


Vectors = NDArray[np.float32]


class Told(NamedTuple):
    """A node and what it says."""

    id: str
    """As `tree` and `get` know it."""
    text: str


class Gathered(NamedTuple):
    """What a question brings to mind: N nodes by the rank of their best passage, and M passages by rank."""

    told: list[Told]
    over: list[int]
    """pi: for each passage the index of the node over it."""
    vectors: Vectors
    """(M, d) of the passages; zeros for one that is not embedded yet."""


About = list[Told] | Gathered
"""What a question is about: a mindscape, or a pool to choose a signature from."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where a question is asked."""

    scope: str | None
    upto: Callable[[Connection], tuple[Document, int]] | None
    """Finds the document that is read, and up to which offset."""
    encoder: int | None
    packed: PackedVectors | None

    def limits(self, conn: Connection) -> Scope | None:
        """The scope as it is now, up to what has been read. Raises NotFound, UsageError."""
        found = resolve_scope(conn, self.scope)
        return found if self.upto is None else up_to(found, *self.upto(conn))

    def about(self, conn: Connection, questions: Sequence[str], vectors: Vectors) -> list[About]:
        """What each question is about, given their own vectors (n, d), from one snapshot."""
        with snapshot(conn):
            limits = self.limits(conn)
            return [self._about(conn, *one, limits) for one in zip(questions, vectors, strict=True)]

    def _about(self, conn: Connection, question: str, vector: Vectors, limits: Scope | None) -> About:
        """The mindscape of a scope that is one document, of a wider one the pool of the question."""
        if limits is not None and limits.document_id is not None:
            return mindscape_of(conn, limits)
        found = retrieve(conn, question, vector, self.encoder, signature.PASSAGES, limits, self.packed)
        return gather(conn, found, self.encoder, len(vector), limits)


def gather(
    conn: Connection, ranked: Sequence[Ranked], encoder: int | None, dimensions: int, scope: Scope | None
) -> Gathered:
    """The pool of passages that the question found alone, best first (Appendix A.1).

    A passage is left out when no node above it is told, or none that ends where the scope does or before.
    Two nodes that say the same are one. Call it in the snapshot in which the passages were found.
    """
    ids = [one.passage_id for one in ranked[: signature.PASSAGES]]
    above = highest_of(conn, ids, UNDER, None if scope is None else scope.upto)
    said = summaries.texts_by_key(conn, (node.key for _, node in above.values()))
    found = [(id_, *above[id_]) for id_ in ids if id_ in above and said[above[id_][1].key].strip()]
    texts = {
        content: _Text(conn, _holder(conn, content, scope), content)
        for content in dict.fromkeys(content for _, content, _ in found)
    }
    told: dict[str, Told] = {}
    for _, content, node in found:
        told.setdefault(said[node.key], Told(texts[content].name(node), said[node.key]))
    places = {text: place for place, text in enumerate(told)}
    known = {} if encoder is None else vectors_of(conn, encoder, (id_ for id_, *_ in found))
    unknown = np.zeros(dimensions, np.float32)
    return Gathered(
        list(told.values()),
        [places[said[node.key]] for *_, node in found],
        np.array([known.get(id_, unknown) for id_, *_ in found], np.float32).reshape(-1, dimensions),
    )


def by_coverage(gathered: Gathered, question: Vectors, nodes_: Vectors) -> list[Told]:
    """The signature of a question (d,), given the vectors (N, d) of what the nodes say."""
    pool = signature.pool_of(question, gathered.vectors, nodes_, gathered.over)
    return [gathered.told[place] for place in signature.coverage_aware(pool)]


def by_rank(gathered: Gathered) -> list[Told]:
    """The signature by rank alone: First-K, for which nothing need be encoded."""
    return [gathered.told[place] for place in signature.first_k(gathered.over)]


def mindscape_of(conn: Connection, scope: Scope, budget: int = TOKENS) -> list[Told]:
    """What one document, or the part of it that has been read, is about: nodes in its order.

    The widest are opened first as long as what they say is within `budget` tokens. Empty where the document
    has no tree yet, and where no node of it has been read to its end.
    """
    document = None if scope.document_id is None else documents.get_document(conn, scope.document_id)
    if document is None or document.content_id is None:
        return []
    text = _Text(conn, document.id, document.content_id)
    if text.top is None:
        return []
    (whole,) = text.parts([text.top])
    end = whole.end if scope.upto is None else min(scope.upto, whole.end)
    covering = cover(whole, whole.start, end, text.below, _untold)
    return [Told(one.id, one.text) for one in spread(covering, budget, text.below).parts if one.text.strip()]


@dataclass(frozen=True, slots=True)
class _Part:
    """A node with what it says, as `ranges` wants it."""

    id: str
    node: Node
    start: int
    end: int
    tokens: int
    text: str


class _Text:
    """The nodes of one document."""

    def __init__(self, conn: Connection, document: int, content: int) -> None:
        self._conn, self._document, self._content = conn, document, content
        self.top = nodes.top_of(conn, content)

    def name(self, node: Node) -> str:
        """As `tree` and `get` know it."""
        if self.top is not None and node.level == self.top.level:
            return f"d{self._document}"
        return f"d{self._document}.{node.level}.{node.ordinal}"

    def parts(self, found: Sequence[Node]) -> list[_Part]:
        """Nodes with what they say."""
        said = summaries.told_by_key(self._conn, (one.key for one in found))
        told = [(one, said[one.key]) for one in found]
        return [_Part(self.name(one), one, one.start, one.end, it.tokens, it.text) for one, it in told]

    def below(self, part: _Part) -> list[_Part]:
        """The nodes that tile a node; none over passages, which are no summaries."""
        level, first, end = part.node.level - 1, part.node.first_child, part.node.end_child
        return self.parts(nodes.nodes_between(self._conn, self._content, level, first, end)) if level else []


def _untold(part: _Part, start: int, end: int) -> _Part:
    """Of a node that reaches beyond what has been read nothing is told."""
    return replace(part, start=start, end=end, tokens=0, text="")


def _holder(conn: Connection, content: int, scope: Scope | None) -> int:
    """The document by which a content is called: one inside the scope before its copies outside."""
    holders = documents.documents_of_content(conn, content)
    return min(holders, key=lambda document: not inside(scope, document)).id
