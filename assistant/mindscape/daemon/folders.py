"""Whether OCR reads a folder: said for the folder as a whole, and read again when it changes."""

from __future__ import annotations

from collections.abc import Iterable

from mindscape.daemon.scanner import INDEX, PRIORITY
from mindscape.errors import Refused
from mindscape.ingest.media_types import PICTURE_ENDINGS
from mindscape.ingest.staging import OCR_PARSER_VERSION
from mindscape.text import display_path
from mindscape_storage import documents, jobs, roots
from mindscape_storage.database import Connection
from mindscape_storage.records import Root


def set_ocr(connection: Connection, root: Root, *, on: bool) -> Root:
    """Turn OCR on or off; what it could say more of, or has read, is read again.

    Turning on what is on does so too: OCR may have been missing. Raises Refused while the folder is away.
    """
    if root.mode == "away":
        raise Refused(f"{display_path(root.path)} is away now. Say --ocr or --no-ocr when it is back.")
    roots.set_root_ocr(connection, root.id, on=on)
    if on or root.ocr:
        for found in documents.without_text_layer(connection, root.id, PICTURE_ENDINGS, OCR_PARSER_VERSION):
            documents.upsert_pending(connection, root.id, found.path, found.display, found.stat)
            jobs.enqueue(connection, INDEX, str(found.id), PRIORITY)
    known = roots.get_root(connection, root.id)
    return known or root


def check_covering(covering: Root, path: bytes, ocr: bool | None) -> None:
    """Raises Refused when a part of a watched folder is to be read otherwise than the folder."""
    if ocr is not None and ocr != covering.ocr and path != covering.path:
        how = "--ocr" if ocr else "--no-ocr"
        raise Refused(
            f"{display_path(path)} lies inside {display_path(covering.path)}, which is read as a whole "
            f"{'with' if covering.ocr else 'without'} OCR. Say it of that folder: mindscape add {how} "
            f"{display_path(covering.path)}"
        )


def check_covered(covered: Iterable[Root], path: bytes, ocr: bool | None) -> None:
    """Raises Refused when a folder that OCR reads would become a part of one of which nobody said so."""
    for root in covered:
        if root.ocr and ocr is None:
            raise Refused(
                f"{display_path(root.path)} is read by OCR and lies inside {display_path(path)}. Say whether "
                "all of that is to be: mindscape add --ocr, or --no-ocr, "
                f"{display_path(path)}"
            )
