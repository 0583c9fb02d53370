"""A temporary library, built in this process by the parts the daemon uses: cut, store, embed, tree."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from mindscape.ingest import growth
from mindscape.ingest.parsed import Parsed
from mindscape.ingest.passages import cut
from mindscape.ingest.summarise import summary
from mindscape_models.embedding import Vectors
from mindscape_storage import contents, documents, roots, vectors
from mindscape_storage.database import Connection, open_writer, transaction
from mindscape_storage.records import ContentInfo, FileStat, Status

BATCH = 256


class Encoder(Protocol):
    """What a library needs of an embedder: see `mindscape_models.embedding.Embedder`."""

    @property
    def name(self) -> str:
        """Identifies the passage encoder."""
        ...

    @property
    def dimensions(self) -> int:
        """Width of every vector."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, dimensions)."""
        ...

    def encode_queries(
        self, questions: Sequence[str], mindscapes: Sequence[Sequence[str]] | None = None
    ) -> Vectors:
        """Unit vectors (n, dimensions), to be compared with those of passages."""
        ...

    def query_states(
        self, questions: Sequence[str], mindscapes: Sequence[Sequence[str]]
    ) -> tuple[Vectors, Vectors]:
        """Unit vectors (n, dimensions) of questions alone, and of questions beside their mindscapes."""
        ...


class Indexed:
    """A library in `path` with everything in `files` (path, text) searchable, embedded and summarised.

    `embedded` is told how many passages were embedded, as they are.
    """

    def __init__(
        self,
        path: Path,
        files: Iterable[tuple[str, Parsed]],
        embedder: Encoder,
        embedded: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.embedder = embedder
        self.conn: Connection = open_writer(path)
        self.conn.execute("PRAGMA synchronous = OFF")
        self.encoder_id = vectors.encoder_id(self.conn, embedder.name, embedder.dimensions)
        with transaction(self.conn):
            root = roots.add_root(self.conn, b"/").id
            for name, parsed in files:
                self._add(root, name, parsed)
        while missing := vectors.missing_inputs(self.conn, self.encoder_id, BATCH):
            encoded = embedder.encode_passages([text for _, text in missing])
            vectors.add_vectors(self.conn, self.encoder_id, [key for key, _ in missing], encoded)
            embedded(len(missing))
        _grow(self.conn)

    @property
    def only(self) -> int | None:
        """Id of the document that it holds; None where it holds several."""
        held = documents.list_documents(self.conn)
        return held[0].id if len(held) == 1 else None

    @property
    def scope(self) -> str | None:
        """Where its questions are asked: of the only document, or of all."""
        return None if self.only is None else str(self.only)

    def close(self) -> None:
        """Close its file."""
        self.conn.close()

    def _add(self, root: int, name: str, parsed: Parsed) -> None:
        stat = FileStat(1, 1, 1, 1)
        document = documents.upsert_pending(self.conn, root, os.fsencode(name), name, stat)
        # With the name, so that two equal documents of a set are two.
        identity = "sha256:" + hashlib.sha256(parsed.text.encode()).hexdigest(), parsed.media_type, name
        content = contents.begin_content(self.conn, *identity, parsed.text_like)
        if contents.add_passages(self.conn, content, cut(parsed)):
            info = ContentInfo(parsed.title, metadata=parsed.metadata, links=parsed.links)
            contents.finish_content(self.conn, content, len(parsed.text), info, parsed.sections, parsed.marks)
            documents.finish(self.conn, document, stat, Status.OK, None, content)
        else:
            documents.finish(self.conn, document, stat, Status.EMPTY, "There is no text in it.", None)


def _grow(conn: Connection) -> None:
    """The trees of all contents, with extractive summaries."""
    while growing := growth.next_contents(conn):
        while waiting := growth.missing(conn, growing):
            while asked := growth.take(conn, waiting):
                growth.store(conn, asked, [summary(one.kind, one.children) for one in asked])
        for one in growing:
            one.finish(conn)
