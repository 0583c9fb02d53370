"""Which documents of a folder are read again when OCR is turned on or off there."""

from __future__ import annotations

from mindscape_storage import contents, documents, roots
from mindscape_storage.database import Connection, transaction
from mindscape_storage.records import ContentInfo, Status
from tests.storage.build import STAT, cut, put, root_of


def unread(conn: Connection, name: bytes, status: Status, root: bytes = b"/notes") -> None:
    with transaction(conn):
        document = documents.upsert_pending(
            conn, root_of(conn, root), root + b"/" + name, name.decode(), STAT
        )
        documents.finish(conn, document, STAT, status, "It is so.", None)


def read_by_ocr(conn: Connection, name: bytes) -> None:
    with transaction(conn):
        document = documents.upsert_pending(conn, root_of(conn), b"/notes/" + name, name.decode(), STAT)
        content = contents.begin_content(conn, "sha256:scan", "application/pdf", "2+ocr", text_like=False)
        contents.add_passages(conn, content, cut("what the scan shows"))
        contents.finish_content(conn, content, 19, ContentInfo(), [], [])
        documents.finish(conn, document, STAT, Status.OK, None, content)


def test_what_ocr_could_say_more_of_or_has_read_is_found_and_nothing_else(conn: Connection) -> None:
    put(conn, b"/notes/whole.pdf", cut("every page has its text"), ContentInfo(metadata={"pages": 3}))
    put(conn, b"/notes/partly.pdf", cut("one page"), ContentInfo(metadata={"pages_without_text": 2}))
    unread(conn, b"scan.pdf", Status.NO_TEXT)
    unread(conn, b"PHOTO.JPG", Status.UNSUPPORTED)
    unread(conn, b"program", Status.UNSUPPORTED)
    unread(conn, b"mounted.pdf", Status.AWAY)
    unread(conn, b"elsewhere.pdf", Status.NO_TEXT, root=b"/other")
    read_by_ocr(conn, b"read.pdf")

    found = documents.without_text_layer(conn, root_of(conn), (".jpg", ".png"), "2+ocr")
    assert [document.path for document in found] == [
        b"/notes/PHOTO.JPG",
        b"/notes/partly.pdf",
        b"/notes/read.pdf",
        b"/notes/scan.pdf",
    ]


def test_a_folder_keeps_whether_ocr_reads_it(conn: Connection) -> None:
    root = root_of(conn)
    assert [known.ocr for known in roots.list_roots(conn)] == [False]
    roots.set_root_ocr(conn, root, on=True)
    roots.add_root(conn, b"/notes")
    known = roots.get_root(conn, root)
    assert known is not None
    assert known.ocr
    assert roots.get_root(conn, root + 1) is None
