"""A real library in a file, filled without parsing: every string of a file is one passage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mindscape.ingest import growth
from mindscape.ingest.passages import BLANK
from mindscape_models.fake import FakeEmbedder
from mindscape_storage import contents, documents, roots, vectors
from mindscape_storage.database import Connection, open_writer, transaction
from mindscape_storage.records import ContentInfo, FileStat, NewPassage, Status


class Library:
    """`files` maps a path to its passages' texts; a blank line ends each in the file's text."""

    def __init__(self, path: Path, files: dict[str, list[str]], embedder: FakeEmbedder) -> None:
        self.path = path
        self.conn = open_writer(path)
        self.embedder = embedder
        self.encoder_id = vectors.encoder_id(self.conn, embedder.name, embedder.dimensions)
        with transaction(self.conn):
            root = roots.add_root(self.conn, b"/").id
            for name, texts in files.items():
                self._add(root, name, texts)
        missing = vectors.missing_inputs(self.conn, self.encoder_id, 1000)
        if missing:
            encoded = embedder.encode_passages([text for _, text in missing])
            vectors.add_vectors(self.conn, self.encoder_id, [key for key, _ in missing], encoded)

    def _add(self, root: int, name: str, texts: list[str]) -> None:
        stat = FileStat(1, 1, 1, 1)
        document = documents.upsert_pending(self.conn, root, name.encode(), name, stat)
        digest = "sha256:" + "\n".join(texts)
        content = contents.find_content(self.conn, digest, "text/plain", "1")
        if content is None:
            content = contents.begin_content(self.conn, digest, "text/plain", "1", True)
            passages: list[NewPassage] = []
            start = 0
            for ordinal, text in enumerate(texts):
                prefix = "" if text.strip() else BLANK
                passages.append(NewPassage(ordinal, start, start + len(text), text, 1 + ordinal, (), prefix))
                start += len(text)
            contents.add_passages(self.conn, content, passages)
            contents.finish_content(self.conn, content, start, ContentInfo(), [], [])
        documents.finish(self.conn, document, stat, Status.OK, None, content)

    def close(self) -> None:
        self.conn.close()


def grow(conn: Connection, say: Callable[[Sequence[str]], str] = lambda _: "A summary.") -> None:
    """Give every content its tree: of the real shape, which does not depend on what the summaries say."""
    while growing := growth.next_contents(conn):
        while waiting := growth.missing(conn, growing):
            while asked := growth.take(conn, waiting):
                growth.store(conn, asked, [say(one.children) for one in asked])
        for one in growing:
            assert one.finish(conn)
