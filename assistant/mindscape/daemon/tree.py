"""The methods that read the mindscape: a tree, a node, the path to a place, and a range."""

from __future__ import annotations

import re
from collections import deque

from mindscape.ask.retrieve import resolve_scope
from mindscape.daemon import parameters, places
from mindscape.daemon.outline import Outline, Text, View
from mindscape.errors import NotFound, UsageError
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode
from mindscape_storage import contents, documents, folders
from mindscape_storage.database import Connection, snapshot
from mindscape_storage.folders import LIBRARY

DEPTH, DEEPEST = 2, 100
MOST_NODES = 5_000
MOST_BYTES = MAX_MESSAGE_BYTES // 2
"""Of one answer: a message has a limit."""

_NODE = re.compile(r"(?P<kind>[df])(?P<of>\d{1,15})(?:\.(?P<level>\d{1,3})\.(?P<ordinal>\d{1,9}))?")
_PASSAGE = re.compile(r"p(\d{1,15})")


def tree(connection: Connection, params: Json) -> Json:
    """`scope`, `depth`: a node and what is below it. Raises NotFound."""
    depth = parameters.whole(params, "depth", DEPTH, DEEPEST)
    with snapshot(connection):
        return drawn(view_of(connection, parameters.optional_text(params, "scope")), depth)


def node(connection: Connection, params: Json) -> Json:
    """`id`: a node with its children, and its path from the library down. Raises NotFound."""
    with snapshot(connection):
        above = above_of(connection, Outline(connection), parameters.text(params, "id"))
        drawing = drawn(above[-1], 1)
    return {
        **drawing,
        "made_at": above[-1].told.made_at,
        "path": [{"id": one.id, "kind": one.kind, "title": one.title} for one in above],
    }


def path(connection: Connection, params: Json) -> Json:
    """`place`: the nodes from the library down to the passage there. Raises NotFound."""
    with snapshot(connection):
        found = places.resolve(connection, parameters.text(params, "place"))
        text = Text(connection, found.document.id)
        passage = text.passage(found.start)
        if passage is None:
            raise NotFound(f"{found.document.display} ends before {found.start}.")
        above = Outline(connection).above_document(found.document)[:-1]
        within = text.above(passage.start or 0, passage.end or 0)
    last = [] if within[-1].id == passage.id else [passage]
    return {"nodes": [shape(one) for one in (*above, *within, *last)]}


def view_of(connection: Connection, scope: str | None) -> View:
    """What a scope means: a node's id, or what `--in` means; None is the library. Raises NotFound."""
    outline = Outline(connection)
    if scope is None or not scope.strip():
        return outline.folder(LIBRARY)
    if match := _NODE.fullmatch(scope.strip()):
        return _by_id(connection, outline, match)
    meant = resolve_scope(connection, scope)
    if meant is not None and meant.document_id is not None:
        return outline.document(meant.document_id)
    prefix = (meant.prefix if meant else None) or b""
    folder = folders.folder_at(connection, prefix)
    if folder is None:
        raise NotFound(f"{scope} holds more than one watched folder: `mindscape tree` shows them all.")
    return outline.folder(folder)


def _by_id(connection: Connection, outline: Outline, match: re.Match[str]) -> View:
    of = int(match["of"])
    if match["level"] is None:
        return outline.folder(of) if match["kind"] == "f" else outline.document(of)
    at = int(match["level"]), int(match["ordinal"])
    return outline.group(of, *at) if match["kind"] == "f" else Text(connection, of).node(*at)


def above_of(connection: Connection, outline: Outline, id_: str) -> list[View]:
    """The views from the library down to a node, itself the last. Raises NotFound, UsageError."""
    if match := _PASSAGE.fullmatch(id_):
        passage = contents.passages_by_id(connection, [int(match[1])]).get(int(match[1]))
        holders = documents.documents_of_content(connection, passage.content_id) if passage else []
        if passage is None or not holders:
            raise NotFound(f"There is no passage {id_} any more; its document may have changed.")
        text = Text(connection, holders[0].id)
        above = outline.above_document(holders[0])[:-1]
        return [*above, *text.above(passage.start, passage.end)]
    match = _NODE.fullmatch(id_)
    if match is None:
        raise UsageError(f'"{id_}" is no node: they are called as f0, f7.2.3, d12, d12.2.3 or p123.')
    of = int(match["of"])
    view = _by_id(connection, outline, match)
    if match["kind"] == "f":
        if match["level"] is None:
            return outline.above(of)
        return outline.above_group(of, int(match["level"]), int(match["ordinal"]))
    text = Text(connection, of)
    above = outline.above_document(text.document)
    if view.kind == "document":
        return above
    within = text.above(view.start or 0, view.end or 0)[1:]
    wider = [one for one in within if one.level > view.level]
    return [*above, *wider, view]


def drawn(view: View, depth: int, most: int = MOST_NODES) -> Json:
    """A view and those below it, level by level, until `depth` or until there are `most` nodes."""
    root = shape(view)
    waiting = deque([(view, root, 0)])
    left, room = most, MOST_BYTES
    while waiting:
        one, said, at = waiting.popleft()
        below = [(child, shape(child), at + 1) for child in one.children()] if at < depth and room > 0 else []
        size = sum(len(encode(child)) for _, child, _ in below)
        if len(below) > left or size > room:
            left, room, below = 0, 0, []
        left, room = left - len(below), room - (size if below else 0)
        said["children"] = [child for _, child, _ in below] if below or not one.count else None
        said["more"] = 0 if below else one.count
        waiting.extend(below)
    return root


def shape(view: View) -> Json:
    """A node without its children."""
    return {
        "id": view.id,
        "kind": view.kind,
        "level": view.level,
        "title": view.title,
        "summary": view.told.text,
        "made_by": view.told.made_by,
        "tokens": view.told.tokens,
        "stale": view.stale,
        "start": view.start,
        "end": view.end,
    }


METHODS = {"tree": tree, "node": node, "path": path}
"""By the names that clients use."""
