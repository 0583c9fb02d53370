"""`ls`: every document with what became of it, and what its reader should know of how it was read."""

from __future__ import annotations

import unicodedata
from collections import Counter

from mindscape.daemon import places
from mindscape.protocol import Json
from mindscape_storage import contents, documents
from mindscape_storage.database import Connection
from mindscape_storage.folders import not_summarised
from mindscape_storage.records import Document
from mindscape_storage.refined import not_refined


def every_document(connection: Connection) -> list[Json]:
    """One row for each document.

    `spelling` tells names apart that are written with other characters but look alike; `warnings` say what
    was left out or guessed, such as pages without a text layer.
    """
    listed = documents.list_documents(connection)
    warned = contents.warnings_of(connection)
    behind, unrefined = not_summarised(connection), not_refined(connection)
    looks = Counter(_composed(document) for document in listed)
    alike = {look for look, count in looks.items() if count > 1}
    return [
        {
            **places.shown(document),
            "status": document.status.value,
            "reason": document.reason,
            "warnings": warned.get(document.content_id or 0, []),
            "tier": _tier(document, behind, unrefined),
            "passages": document.passages,
            "spelling": _spelling(document) if _composed(document) in alike else None,
        }
        for document in listed
    ]


def _tier(document: Document, behind: set[int], unrefined: set[int] | None) -> str | None:
    if document.tier != "embedded" or document.id in behind:
        return document.tier
    return "summarised" if unrefined is None or document.id in unrefined else "refined"


def _spelling(document: Document) -> str:
    return "composed" if _composed(document) == document.display else "decomposed"


def _composed(document: Document) -> str:
    return unicodedata.normalize("NFC", document.display)
