"""What a question about a whole is about: the nodes that stand for the scope, or for what it names in it."""

from __future__ import annotations

import re
from contextlib import suppress

from mindscape.ask import ranges
from mindscape.ask.chapters import find_section
from mindscape.ask.language import all_terms
from mindscape.ask.retrieve import resolve_scope
from mindscape.daemon import tree
from mindscape.daemon.outline import Outline, Text, View, clip
from mindscape.errors import NotFound, UsageError
from mindscape_storage import contents, documents, search
from mindscape_storage.database import Connection

TOKENS = 300
"""Of the summaries of a part that is no node itself."""
NAMES = 10
_OF = re.compile(r"\s+(?:of|in|von|aus|de|du|des|del|della|di)\s+", re.IGNORECASE)


def asked_about(connection: Connection, scope: str | None, upto: str | None, about: str) -> list[View]:
    """The nodes that tell of all in the scope, or of the document or chapter that `about` names.

    Up to a bookmark those that end before it; none when nothing is called so. Raises NotFound for an unknown
    scope or place.
    """
    if upto is not None:
        view = tree.read_upto(connection, scope, upto)
        if about:
            return []
        return [view] if view.told.text else ranges.spread(view.children(), TOKENS, _below).parts
    base = tree.view_of(connection, scope)
    if not about:
        return [base]
    if base.kind == "document":
        return _section(connection, base, about)
    return _named(connection, scope, about)


def _named(connection: Connection, scope: str | None, about: str) -> list[View]:
    """A document or folder of this name in the scope, or a chapter of the document that is named with it."""
    if found := _called(connection, scope, about):
        return [found]
    chapter, *rest = _OF.split(about, maxsplit=1)
    of = _called(connection, scope, rest[0]) if rest else _only(connection, scope)
    if of is None or of.kind != "document":
        return []
    return _section(connection, of, chapter)


def _called(connection: Connection, scope: str | None, name: str) -> View | None:
    if scope is None:
        with suppress(NotFound, UsageError):
            return tree.view_of(connection, name)
    limits = resolve_scope(connection, scope)
    wanted = set(all_terms(name))
    for hit in search.names(connection, name, NAMES, limits):
        document = documents.get_document(connection, hit.document_id)
        if document is None or document.content_id is None:
            continue
        if wanted and wanted <= set(
            all_terms(f"{document.title or ''} {document.display.rsplit('/', 1)[-1]}")
        ):
            return Outline(connection).document(document.id)
    return None


def _only(connection: Connection, scope: str | None) -> View | None:
    """The document, where the scope has a single one."""
    view = tree.view_of(connection, scope)
    while view.kind not in ("document", "section", "passage"):
        below = view.children()
        if len(below) != 1:
            return None
        view = below[0]
    return view


def _section(connection: Connection, view: View, about: str) -> list[View]:
    """The nodes over a part of a document, in order."""
    text = Text(connection, int(view.id.removeprefix("d")))
    found = find_section(contents.sections_of(connection, text.content), about)
    if found is None:
        return []
    covering = ranges.cover(text.view(), found.start, found.end, _below, clip)
    return ranges.spread(covering, TOKENS, _below).parts


def _below(view: View) -> list[View]:
    return view.children()
