"""The methods that read the mindscape: a tree, a node, the path to a place, and a range."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import replace

from mindscape.ask import ranges
from mindscape.ask.retrieve import resolve_scope, up_to
from mindscape.daemon import parameters, places
from mindscape.daemon.outline import UNTOLD, Outline, Text, View, clip
from mindscape.errors import NotFound, Refused, UsageError
from mindscape.protocol import MAX_MESSAGE_BYTES, Json, encode
from mindscape_storage import folders
from mindscape_storage.database import Connection, snapshot
from mindscape_storage.folders import LIBRARY
from mindscape_storage.records import Document

DEPTH, DEEPEST = 2, 100
TOKENS, MOST_TOKENS = 1_000, 100_000
MOST_NODES = 5_000
MOST_BYTES = MAX_MESSAGE_BYTES // 2
"""Of one answer: a message has a limit."""


def tree(connection: Connection, params: Json) -> Json:
    """`scope`, `depth`, `upto`: a node and what is below it. Raises NotFound."""
    depth = parameters.whole(params, "depth", DEPTH, DEEPEST)
    scope, upto = parameters.optional_text(params, "scope"), parameters.optional_text(params, "upto")
    with snapshot(connection):
        view = view_of(connection, scope) if upto is None else read_upto(connection, scope, upto)
        return drawn(view, depth)


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
        within = text.above(passage.start, passage.end)
    last = [] if within[-1].id == passage.id else [passage]
    return {"nodes": [shape(one) for one in (*above, *within, *last)]}


def range_(connection: Connection, params: Json) -> Json:
    """`place`, or `scope` and `upto`: the nodes that tell most of a range in `tokens`. Raises NotFound."""
    budget = parameters.whole(params, "tokens", TOKENS, MOST_TOKENS)
    scope, upto = parameters.optional_text(params, "scope"), parameters.optional_text(params, "upto")
    with snapshot(connection):
        if upto is not None:
            document, end = places.bookmark(connection, upto)
            view = _inside(connection, scope, document, end)
            start, end = view.start, min(view.end, end)
        else:
            place = places.located(connection, parameters.text(params, "place"))
            view, start, end = Text(connection, place.document.id).view(), place.start, place.end
        covering = _covering(view, start, end)
        cut = ranges.spread(covering, budget, _below)
    return {
        "start": start,
        "end": end,
        "tokens": cut.tokens,
        "truncated": not cut.whole,
        "nodes": [_told(one) for one in cut.parts],
    }


def read_upto(connection: Connection, scope: str | None, upto: str) -> View:
    """A document, or the part of it that `scope` names, as it is for one who has read up to a place.

    What reaches beyond is not there: the parts before the place stand below it directly, and its own
    summary, which tells what comes after, is left out. Raises NotFound, UsageError.
    """
    document, end = places.bookmark(connection, upto)
    view = _inside(connection, scope, document, end)
    if end >= view.end:
        return view
    covering = _covering(view, view.start, end)
    return replace(view, told=UNTOLD, end=end, count=len(covering), children=lambda: covering)


def _inside(connection: Connection, scope: str | None, document: Document, end: int) -> View:
    """The node that is read up to `end`: the document, or the node of it that is the scope."""
    whole = Text(connection, document.id).view()
    if scope is None:
        return whole
    if not (match := places.NODE.fullmatch(scope.strip())):
        up_to(resolve_scope(connection, scope), document, end)
        return whole
    view = _by_id(connection, Outline(connection), match)
    above = {one.id for one in Outline(connection).above_document(document)}
    if match["kind"] == "f" and view.id in above:
        return whole
    if match["kind"] == "d" and int(match["of"]) == document.id and view.start < end:
        return view
    raise UsageError(f"The place up to which you have read is not in {scope}.")


def _covering(view: View, start: int, end: int) -> list[View]:
    """Raises Refused when there are no nodes yet."""
    if view.kind == "document" and not view.count:
        raise Refused(f"{view.title} is not summarised yet: mindscape status --wait summarised")
    return ranges.cover(view, start, end, _below, clip)


def _below(view: View) -> list[View]:
    return view.children()


def _told(view: View) -> Json:
    said = shape(view)
    return {name: said[name] for name in ("id", "start", "end", "summary", "made_by")}


def view_of(connection: Connection, scope: str | None) -> View:
    """What a scope means: a node's id, or what `--in` means; None is the library. Raises NotFound."""
    outline = Outline(connection)
    if scope is None or not scope.strip():
        return outline.folder(LIBRARY)
    if match := places.NODE.fullmatch(scope.strip()):
        return _by_id(connection, outline, match)
    if places.PASSAGE.fullmatch(scope.strip()):
        return above_of(connection, outline, scope.strip())[-1]
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
    if match := places.PASSAGE.fullmatch(id_):
        passage, holder = places.passage_called(connection, match)
        text = Text(connection, holder.id)
        above = outline.above_document(holder)[:-1]
        return [*above, *text.above(passage.start, passage.end)]
    match = places.NODE.fullmatch(id_)
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
    within = text.above(view.start, view.end)[1:]
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
    in_text = view.kind in ("document", "section", "passage")
    return {
        "id": view.id,
        "kind": view.kind,
        "level": view.level,
        "title": view.title,
        "summary": view.told.text,
        "made_by": view.told.made_by,
        "tokens": view.told.tokens,
        "stale": view.stale,
        "start": view.start if in_text else None,
        "end": view.end if in_text else None,
    }


METHODS = {"tree": tree, "node": node, "path": path, "range": range_}
"""By the names that clients use."""
