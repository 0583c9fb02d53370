"""PLACE as users write it: a document id, a path, PATH:START-END, PATH:LINE, PATH p. PAGE, p123, d12.2.3."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import NamedTuple

from mindscape.daemon import parameters
from mindscape.errors import NotFound
from mindscape.protocol import Json
from mindscape_storage import contents, documents, nodes
from mindscape_storage.database import Connection
from mindscape_storage.records import Document, Passage

LONGEST = 1_000_000
"""Code points returned at once: a place is for reading, and a message has a limit."""

_RANGE = re.compile(r"(?P<path>.+):(?P<start>\d{1,15})-(?P<end>\d{1,15})", re.DOTALL)
_LINE = re.compile(r"(?P<path>.+):(?P<line>\d{1,15})", re.DOTALL)
_PAGE = re.compile(r"(?P<path>.+) p\. ?(?P<page>\S{1,15})", re.DOTALL)
PASSAGE = re.compile(r"p(\d{1,15})")
NODE = re.compile(r"(?P<kind>[df])(?P<of>\d{1,15})(?:\.(?P<level>\d{1,3})\.(?P<ordinal>\d{1,9}))?")
"""A node of a document, or of a folder."""


class Place(NamedTuple):
    """A range of one document."""

    document: Document
    start: int
    end: int | None


class Located(NamedTuple):
    """A range that is in the text of a document."""

    document: Document
    content: int
    start: int
    end: int
    length: int


def get(connection: Connection, text: str) -> Json:
    """The text at a place: the `get` shape. Raises NotFound with what is wrong."""
    document, content, start, wanted, length = located(connection, text)
    end = min(wanted, start + LONGEST)
    where = contents.locate(connection, content, start)
    return {
        "document": shown(document),
        "start": start,
        "end": end,
        "length": length,
        "truncated": end < wanted,
        "text": contents.slice_text(connection, content, start, end),
        "page": where.page,
        "line": where.line,
        "heading": list(where.heading),
    }


def resolve(connection: Connection, text: str) -> Place:
    """Find what a PLACE means; the most literal reading wins. Raises NotFound."""
    if found := _by_name(connection, text):
        return Place(found, 0, None)
    if match := PASSAGE.fullmatch(text):
        passage, holder = passage_called(connection, match)
        return Place(holder, passage.start, passage.end)
    if match := NODE.fullmatch(text):
        return _node(connection, match)
    if (match := _RANGE.fullmatch(text)) and (found := _by_name(connection, match["path"])):
        start, end = int(match["start"]), int(match["end"])
        if end < start:
            raise NotFound(f"The range {start}-{end} ends before it starts.")
        return Place(found, start, end)
    if (match := _LINE.fullmatch(text)) and (found := _by_name(connection, match["path"])):
        return _part(found, contents.line_span(connection, found.content_id or 0, int(match["line"])), text)
    if (match := _PAGE.fullmatch(text)) and (found := _by_name(connection, match["path"])):
        return _part(found, contents.page_span(connection, found.content_id or 0, match["page"]), text)
    raise NotFound(f'There is no document, passage or place "{text}". `mindscape ls` lists the documents.')


def bookmark(connection: Connection, text: str) -> tuple[Document, int]:
    """The document of a place, and where in it the place ends. Raises NotFound."""
    found = located(connection, text)
    return found.document, found.end


def located(connection: Connection, text: str) -> Located:
    """The part of a text that a PLACE means. Raises NotFound where there is none."""
    document, start, end = resolve(connection, text)
    content = content_of(document)
    length = contents.length_of(connection, content)
    if start > length:
        raise NotFound(f"{document.display} ends at {length}; there is nothing at {start}.")
    return Located(document, content, start, length if end is None else min(end, length), length)


def content_of(document: Document) -> int:
    """Id of what a document holds. Raises NotFound when that is no text."""
    if document.content_id is None:
        raise NotFound(f"{document.display} has no text: {document.reason or 'it is not indexed yet.'}")
    return document.content_id


def passage_called(connection: Connection, match: re.Match[str]) -> tuple[Passage, Document]:
    """The passage that PASSAGE matched, and the first document that holds it. Raises NotFound."""
    passage = contents.passages_by_id(connection, [int(match[1])]).get(int(match[1]))
    holders = documents.documents_of_content(connection, passage.content_id) if passage else []
    if passage is None or not holders:
        raise NotFound(f"There is no passage {match[0]}; its document may have changed. Search again.")
    return passage, holders[0]


def reading(params: Json) -> Callable[[Connection], tuple[Document, int]] | None:
    """How to find the bookmark that a call gives as `upto`; None where it gives none."""
    upto = parameters.optional_text(params, "upto")
    return None if upto is None else lambda connection: bookmark(connection, upto)


def _node(connection: Connection, match: re.Match[str]) -> Place:
    if match["kind"] == "f":
        raise NotFound(
            f"{match[0]} stands over whole documents and has no text: mindscape tree {match[0]} shows it."
        )
    found = documents.get_document(connection, int(match["of"]))
    if found is None:
        raise NotFound(f"There is no document d{match['of']} any more. `mindscape ls` lists them.")
    if match["level"] is None:
        return Place(found, 0, None)
    at = int(match["level"]), int(match["ordinal"])
    node = nodes.nodes_between(connection, found.content_id or 0, at[0], at[1], at[1] + 1)
    if not node:
        raise NotFound(f"There is no node {match[0]} any more; the document may have changed.")
    return Place(found, node[0].start, node[0].end)


def _part(document: Document, span: tuple[int, int] | None, text: str) -> Place:
    if span is None:
        raise NotFound(f"There is no such line or page: {text}")
    return Place(document, *span)


def _by_name(connection: Connection, text: str) -> Document | None:
    if text.isascii() and text.isdigit() and len(text) < 16:
        found = documents.get_document(connection, int(text))
        if found is not None:
            return found
    matches = documents.find_by_display(connection, text)
    if len(matches) > 1:
        paths = ", ".join(match.display for match in matches[:5])
        raise NotFound(f'"{text}" could be any of {len(matches)} documents: {paths}. Give more of the path.')
    return matches[0] if matches else None


def shown(document: Document) -> Json:
    """A document as clients see it."""
    return {
        "id": document.id,
        "path": document.display,
        "path_bytes_b64": base64.b64encode(document.path).decode(),
        "title": document.title,
    }
