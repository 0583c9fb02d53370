"""Question to passages: each leg finds candidates, all legs score all candidates and what stands around them,
and the sums rank them.

Runs in a reader thread inside one snapshot, so that a passage found is still there when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.ancestors import Position
from mindscape.ask.fuse import Fused, Leg, fuse
from mindscape.ask.language import all_terms, keywords, terms
from mindscape.errors import NotFound, UsageError
from mindscape_storage import contents, documents, paths, search
from mindscape_storage.database import Connection
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import Document, Hit, Passage, Scope

POOL = 100
"""Candidates taken from each leg: more changes little on our sets, and each costs a cosine."""
LEADERS = 10
"""Of the best of each leg the passages right before and after are candidates too, where vectors know them."""
WORDS, VECTOR, NAME = 1.0, 0.7, 1.0
"""Weights of the standardised words and vector legs; a name that holds the whole question adds NAME."""
CONDITIONED = 0.35
"""Weight of the vector that a question has beside its mindscape, where it has one."""
NAMES_READ = 10
NAMED = 0.34
"""Share of a question in a name from which the document is a candidate whatever it says."""
MAX_QUESTION = 2000
"""Characters of a question that search reads; a pasted page is not a better query than its beginning."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage in the order of its fused score, with the raw score of each leg that found it."""

    passage_id: int
    score: float
    legs: dict[str, float] = field(default_factory=dict[str, float])
    twins: tuple[int, ...] = ()
    """Passages with the same text in other contents, ranked lower: shown as one result."""


def shorten(question: str) -> str:
    """What search reads of a question: its first MAX_QUESTION characters, up to a space."""
    if len(question) <= MAX_QUESTION:
        return question
    head = question[:MAX_QUESTION]
    return head[: head.rfind(" ")] if " " in head else head


def resolve_scope(conn: Connection, text: str | None) -> Scope | None:
    """What `--in` means: a document's id, a file's path or the end of one, or a folder's; None is everything.

    Raises NotFound when nothing in the library matches, UsageError when several documents do.
    """
    if text is None or not text.strip():
        return None
    asked = text.strip()
    if asked.isdecimal() and len(asked) < 18 and documents.get_document(conn, int(asked)):
        return Scope(document_id=int(asked))
    matches = documents.find_by_display(conn, asked)
    if len(matches) > 1:
        listed = ", ".join(one.display for one in matches[:3])
        raise UsageError(f"{asked!r} is the end of {len(matches)} paths ({listed}, ...): write more of it.")
    if matches:
        return Scope(document_id=matches[0].id)
    folder = _folder(documents.list_documents(conn), asked)
    if folder is None:
        raise NotFound(f"Nothing in the library is called {asked!r}: `mindscape ls` lists its documents.")
    return Scope(prefix=folder)


def _folder(known: list[Document], asked: str) -> bytes | None:
    """The folder whose path is `asked` or ends in it, and which holds a document."""
    tail = "/" + asked.strip("/") + "/"
    for one in known:
        at = one.display.find(tail)
        if at >= 0 and (not asked.startswith("/") or at == 0):
            # Counted in folders, not characters: the display of a path may differ from its bytes.
            depth = one.display[: at + len(tail) - 1].count("/")
            return b"/".join(one.path.split(b"/")[: depth + 1])
    return None


def retrieve(
    conn: Connection,
    question: str,
    question_vector: NDArray[np.float32] | None,
    encoder_id: int | None,
    k: int,
    scope: Scope | None,
    packed: PackedVectors | None = None,
    *,
    conditioned: NDArray[np.float32] | None = None,
    ancestors: bool = True,
) -> list[Ranked]:
    """The `k` best passages with distinct texts for any text as a question; fewer when there are fewer.

    `question_vector` is a unit vector of the encoder `encoder_id`, or None: then the vector leg is left out.
    `conditioned`, the vector of the question beside its mindscape, is a further leg where there is one.
    `scope` limits the search, inside each leg. Without `ancestors` a passage's score is its own alone, which
    is what they, and its neighbours, are measured against. Call it inside a snapshot.
    """
    query = shorten(question)
    word_scores = {hit.passage_id: hit.score for hit in search.words(conn, keywords(query), POOL, scope)}
    encoded = _encoded(encoder_id, question_vector, conditioned)
    near = {
        one.name: {hit.passage_id: hit.score for hit in one.nearest(conn, scope, packed)} for one in encoded
    }
    found = [word_scores, *near.values()]
    leaders = [id_ for scores in found for id_ in islice(scores, LEADERS)]
    beside = contents.beside(conn, leaders) if near and ancestors else []
    named = _named(conn, query, scope)
    passages = contents.passages_by_id(conn, sorted({*beside, *chain.from_iterable(found)}))
    passages = _read(passages, scope)
    passages |= _openings(conn, named, {one.content_id for one in passages.values()}, scope)
    legs = [Leg("words", WORDS, word_scores)]
    for one in encoded:
        others = sorted(passages.keys() - near[one.name].keys())
        cosines = near[one.name] | search.cosines(conn, one.encoder, one.vector, others, packed)
        # A passage that is not embedded yet is unknown to this leg, not far from the question.
        legs.append(Leg(one.name, one.weight, cosines, missing=None))
    # White space has no words, but a vector it does have.
    fused = fuse(legs, also=passages, positions=_positions(conn, passages) if ancestors else None)
    with_text = [one for one in fused if one.id in passages and passages[one.id].text.strip()]
    ranked = [_with_name(one, named.get(passages[one.id].content_id, 0.0)) for one in with_text]
    ranked.sort(key=lambda one: (-one.score, one.passage_id))
    return _distinct(ranked, passages, k)


class _Encoded(NamedTuple):
    """A vector of the question."""

    name: str
    weight: float
    encoder: int
    vector: NDArray[np.float32]

    def nearest(self, conn: Connection, scope: Scope | None, packed: PackedVectors | None) -> list[Hit]:
        """Its candidates."""
        return search.nearest(conn, self.encoder, self.vector, POOL, scope, packed)


def _encoded(
    encoder: int | None, alone: NDArray[np.float32] | None, conditioned: NDArray[np.float32] | None
) -> list[_Encoded]:
    if encoder is None or alone is None:
        return []
    by_itself = _Encoded("vector", VECTOR, encoder, alone)
    if conditioned is None:
        return [by_itself]
    return [by_itself, _Encoded("conditioned", CONDITIONED, encoder, conditioned)]


def _positions(conn: Connection, passages: dict[int, Passage]) -> dict[int, Position]:
    """Passage id -> its number and the nodes above it, its content as the last; only that without a tree."""
    above = paths.paths_of(conn, passages)
    return {
        id_: Position([*above.get(id_, ())[:-1], one.content_id], one.ordinal)
        for id_, one in passages.items()
    }


def _read(passages: dict[int, Passage], scope: Scope | None) -> dict[int, Passage]:
    """Those that end where the scope does, or before."""
    upto = None if scope is None else scope.upto
    return {id_: one for id_, one in passages.items() if upto is None or one.end <= upto}


def _named(conn: Connection, query: str, scope: Scope | None) -> dict[int, float]:
    """Content id -> share of the question's content words that its title or file name holds, where any."""
    wanted = set(terms(query))
    found: dict[int, float] = {}
    for hit in search.names(conn, query, NAMES_READ, scope):
        document = documents.get_document(conn, hit.document_id)
        if document is None or document.content_id is None:
            continue
        here = all_terms(f"{document.title or ''} {document.display.rsplit('/', 1)[-1]}")
        share = len(wanted.intersection(here)) / len(wanted) if wanted else 0.0
        if share > found.get(document.content_id, 0.0):
            found[document.content_id] = share
    return found


def _openings(
    conn: Connection, named: dict[int, float], known: set[int], scope: Scope | None
) -> dict[int, Passage]:
    """The first passage of each content that fits by name alone: it stands for the whole."""
    fitting = [content for content, share in named.items() if share >= NAMED and content not in known]
    first = [next(contents.passages_of(conn, content, 0, 1), None) for content in fitting]
    return _read({one.id: one for one in first if one is not None}, scope)


def up_to(scope: Scope | None, document: Document, end: int) -> Scope:
    """The part of the scope that has been read: the document up to an offset. Raises UsageError."""
    if not inside(scope, document):
        raise UsageError(f"The place up to which you have read is in {document.display}, not in the scope.")
    return replace(scope or Scope(), prefix=None, document_id=document.id, upto=end)


def inside(scope: Scope | None, document: Document) -> bool:
    """True when the document itself is in the scope's folder, file or document."""
    if scope is None:
        return True
    if scope.document_id is not None and document.id != scope.document_id:
        return False
    folder = (scope.prefix or b"").rstrip(b"/") + b"/"
    return scope.prefix is None or document.path == scope.prefix or document.path.startswith(folder)


def _with_name(one: Fused, share: float) -> Ranked:
    if share == 0.0:
        return Ranked(one.id, one.score, one.legs)
    return Ranked(one.id, one.score + NAME * share, {**one.legs, "names": share})


def _distinct(ranked: list[Ranked], passages: dict[int, Passage], k: int) -> list[Ranked]:
    """The first `k` with different texts, each with the others of its text as its twins.

    Where one document holds a text several times its first place is shown, whichever has the best neighbours.
    """
    same: dict[str, list[Ranked]] = {}
    for one in ranked:
        text = passages[one.passage_id].text.strip()
        if text in same or len(same) < k:
            same.setdefault(text, []).append(one)
    return [_one_of(twins, passages) for twins in same.values()]


def _one_of(twins: list[Ranked], passages: dict[int, Passage]) -> Ranked:
    ids = [one.passage_id for one in twins]
    content = passages[ids[0]].content_id
    here = [id_ for id_ in ids if passages[id_].content_id == content]
    first = min(here, key=lambda id_: passages[id_].start)
    return replace(twins[0], passage_id=first, twins=tuple(id_ for id_ in ids if id_ != first))
