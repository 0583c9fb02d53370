"""A folder of files, or texts already read, indexed in this process by the parts the daemon uses."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path

import numpy as np
from tests.quality.sets import Question, read_collections, read_documents, read_questions

from mindscape.evaluate.library import Indexed
from mindscape.ingest.ignore import rules_for
from mindscape.ingest.parse import media_type_of, parse
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape.ingest.scan import walk
from mindscape_models.bundle import find_bundles, shipped_folder
from mindscape_models.embedding import Embedder, Vectors, open_embedder
from mindscape_storage.vectors import input_hash


class Remembering:
    """An embedder that keeps the vectors of passages in a file, so that the next run embeds only new ones."""

    device = "cpu"

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self._known: dict[bytes, Vectors] = {}
        if path.exists():
            with np.load(path) as kept:
                if str(kept["name"]) == self.name:
                    self._known = {
                        bytes(key): row for key, row in zip(kept["keys"], kept["rows"], strict=True)
                    }

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        keys = [input_hash(text) for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            encoded = self._embedder.encode_passages(list(new.values()))
            self._known.update(zip(new, encoded, strict=True))
        return np.stack([self._known[key] for key in keys])

    def encode_queries(
        self, questions: Sequence[str], mindscapes: Sequence[Sequence[str]] | None = None
    ) -> Vectors:
        """See `Embedder`."""
        return self._embedder.encode_queries(questions, mindscapes)

    def query_states(
        self, questions: Sequence[str], mindscapes: Sequence[Sequence[str]]
    ) -> tuple[Vectors, Vectors]:
        """See `Embedder`."""
        return self._embedder.query_states(questions, mindscapes)

    def save(self) -> None:
        """Write the file."""
        keys = np.array([list(key) for key in self._known], np.uint8)
        np.savez(self._path, name=self.name, keys=keys, rows=np.array(list(self._known.values())))


def open_remembering(path: Path) -> Remembering:
    """The shipped embedder, with the vectors in the file `path`."""
    (bundle,) = [one for one in find_bundles(shipped_folder()) if one.kind == "embedder"]
    return Remembering(open_embedder(bundle), path)


def indexed_set(folder: Path, given: argparse.Namespace) -> Generator[tuple[Indexed, list[Question]]]:
    """One library a document, a collection or all of a set, with the questions about it; none without any.

    `given` are the `options` of `sets`. Each is closed when the next one is asked for.
    """
    texts = read_documents(folder, given.documents)
    questions = read_questions(folder, list(texts), given.questions)
    groups = [list(texts)] if given.library else [[id_] for id_ in texts]
    if vars(given).get("collections"):
        groups = read_collections(folder, list(texts))
    with tempfile.TemporaryDirectory() as temporary:
        embedder = open_remembering(given.vectors or Path(temporary) / "vectors.npz")
        for number, group in enumerate(groups):
            if mine := [one for one in questions if set(one.documents) <= set(group)]:
                files = [(f"/{id_}", texts[id_]) for id_ in group]
                library = Indexed(Path(temporary) / f"{number}.db", files, embedder)
                yield library, mine
                library.close()
        embedder.save()


def read_folder(folder: Path) -> Iterable[tuple[str, Parsed]]:
    """(path, parsed) of every file below `folder` that the daemon would index."""
    for found in walk(os.fsencode(folder), rules_for(os.fsencode(folder), ())):
        path = Path(os.fsdecode(found.path))
        data = b"" if found.problem else path.read_bytes()
        try:
            if data:
                media_type_of(path, data[:4096])
                yield str(path), parse(Source(path, data))
        except ParseFailure:
            continue
