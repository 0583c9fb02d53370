"""Question to passages: each leg finds candidates, all legs score all candidates, the sums rank them.

Runs in a reader thread inside one snapshot, so that a passage found is still there when it is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.fuse import Fused, Leg, fuse
from mindscape.ask.language import all_terms, terms
from mindscape.errors import NotFound, UsageError
from mindscape_storage import contents, documents, search
from mindscape_storage.database import Connection
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import Document, Passage, Scope

POOL = 100
"""Candidates taken from each leg: more changes little on our sets, and each costs a cosine."""
WORDS, VECTOR, NAME = 1.0, 0.7, 1.0
"""Weights of the standardised words and vector legs; a name that holds the whole question adds NAME."""
NAMES_READ = 20
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
) -> list[Ranked]:
    """The `k` best passages with distinct texts for any text as a question; fewer when there are fewer.

    `question_vector` is a unit vector of the encoder `encoder_id`, or None: then the vector leg is left out.
    `scope` limits the search, inside each leg. Call it inside a snapshot.
    """
    query = shorten(question)
    word_scores = {hit.passage_id: hit.score for hit in search.words(conn, query, POOL, scope)}
    named = _named(conn, query, scope)
    found = {*word_scores, *(one.first for one in named.values() if one.first is not None)}
    legs = [Leg("words", WORDS, word_scores)]
    if question_vector is not None and encoder_id is not None:
        near = search.nearest(conn, encoder_id, question_vector, POOL, scope, packed)
        # A passage that is not embedded yet is unknown to this leg, not far from the question.
        cosines = {hit.passage_id: hit.score for hit in near}
        others = sorted(found - cosines.keys())
        cosines |= search.cosines(conn, encoder_id, question_vector, others, packed)
        found |= cosines.keys()
        legs.append(Leg("vector", VECTOR, cosines, missing=None))
    passages = contents.passages_by_id(conn, sorted(found))
    fused = fuse(legs, also=passages)
    ranked = [_with_name(one, named.get(passages[one.id].content_id)) for one in fused if one.id in passages]
    ranked.sort(key=lambda one: (-one.score, one.passage_id))
    return _distinct(ranked, passages, k)


@dataclass(frozen=True, slots=True)
class _Name:
    """How well the title or file name of a content's document fits a question."""

    share: float
    """Of the question's content words that stand in it."""
    first: int | None
    """The content's first passage, which stands for it when no passage was found by what it says."""


def _named(conn: Connection, query: str, scope: Scope | None) -> dict[int, _Name]:
    """Content id -> its name's fit, for documents whose title or file name shares words with the question."""
    wanted = set(terms(query))
    found: dict[int, _Name] = {}
    for hit in search.names(conn, query, NAMES_READ):
        document = documents.get_document(conn, hit.document_id)
        if document is None or document.content_id is None or not inside(scope, document):
            continue
        here = set(all_terms(f"{document.title or ''} {document.display.rsplit('/', 1)[-1]}"))
        share = len(wanted & here) / len(wanted) if wanted else 0.0
        if share > 0.0 and share > (
            found[document.content_id].share if document.content_id in found else 0.0
        ):
            first = next(contents.passages_of(conn, document.content_id), None)
            found[document.content_id] = _Name(share, first.id if first else None)
    return found


def inside(scope: Scope | None, document: Document) -> bool:
    """True when the document itself is in the scope's folder, file or document."""
    if scope is None:
        return True
    if scope.document_id is not None and document.id != scope.document_id:
        return False
    folder = (scope.prefix or b"").rstrip(b"/") + b"/"
    return scope.prefix is None or document.path == scope.prefix or document.path.startswith(folder)


def _with_name(one: Fused, name: _Name | None) -> Ranked:
    if name is None:
        return Ranked(one.id, one.score, one.legs)
    return Ranked(one.id, one.score + NAME * name.share, {**one.legs, "names": name.share})


def _distinct(ranked: list[Ranked], passages: dict[int, Passage], k: int) -> list[Ranked]:
    """The first `k` with different texts; a later passage with a text already seen becomes its twin."""
    kept: dict[str, Ranked] = {}
    twins: dict[str, list[int]] = {}
    for one in ranked:
        text = passages[one.passage_id].text.strip()
        if text in kept:
            twins.setdefault(text, []).append(one.passage_id)
        elif len(kept) < k:
            kept[text] = one
    return [replace(one, twins=tuple(twins.get(text, ()))) for text, one in kept.items()]
