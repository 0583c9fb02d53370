"""The vector leg and the whole search at 100,000 passages, against numpy and the legs run bare.

The passages are synthetic: words drawn by Zipf's law, vectors in clusters as those of real texts are.
"""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.evidence import search_results
from mindscape.ask.retrieve import POOL, retrieve
from mindscape.ingest.summarise import Derived, nodes_over, passage_leaves
from mindscape.ingest.tree import levels
from mindscape_storage import contents, documents, nodes, roots, search, summaries, vectors
from mindscape_storage.database import Connection, open_reader, open_writer, snapshot, transaction
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import ContentInfo, FileStat, NewPassage, Status, Summary
from mindscape_storage.summaries import digest_of
from tests.benchmarks.table import Row, seconds

PASSAGES = 100_000
PER_DOCUMENT = 100
WIDTH = 384
QUERIES = 100
CLUSTERS = 500

Vectors = NDArray[np.float32]


def run() -> list[Row]:
    """The rows of this part."""
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "library.db"
        words = _vocabulary(rng)
        stored = _clustered(rng, PASSAGES)
        encoder = _fill(path, rng, words, stored)
        queries = _clustered(rng, QUERIES, _centres(np.random.default_rng(2)))
        texts = [" ".join(_draw(rng, words, 8)) for _ in range(QUERIES)]
        with _reading(path) as conn:
            packed = PackedVectors(encoder, WIDTH)
            packed.follow(conn)
            return [
                *_vector_leg(conn, encoder, packed, stored, queries),
                _whole(conn, encoder, packed, texts, queries),
            ]


def _vector_leg(
    conn: Connection, encoder: int, packed: PackedVectors, stored: Vectors, queries: Vectors
) -> list[Row]:
    def ours() -> list[list[int]]:
        return [
            [hit.passage_id for hit in search.nearest(conn, encoder, q, 10, None, packed)] for q in queries
        ]

    def bare() -> list[list[int]]:
        found: list[list[int]] = []
        for query in queries:
            scores = stored @ query
            best = np.argpartition(-scores, 10)[:10]
            found.append((best[np.argsort(-scores[best])] + 1).tolist())
        return found

    ratio = seconds(ours, 3) / seconds(bare, 3)
    recall = float(np.mean([len(set(a) & set(b)) / 10 for a, b in zip(ours(), bare(), strict=True)]))
    what = f"vector leg, {PASSAGES:,} passages, against a numpy float32 matmul + top 10"
    return [
        Row(what, f"{ratio:.2f}x the time", "at most 0.5x", ratio <= 0.5),
        Row("recall@10 of that leg against exact search", f"{recall:.4f}", "at least 0.99", recall >= 0.99),
    ]


def _whole(conn: Connection, encoder: int, packed: PackedVectors, texts: list[str], queries: Vectors) -> Row:
    def p95(times: list[float]) -> float:
        return sorted(times)[int(len(times) * 0.95)]

    bare: list[float] = []
    whole: list[float] = []
    for text, query in zip(texts, queries, strict=True):

        def legs(text: str = text, query: Vectors = query) -> None:
            search.words(conn, text, POOL, None)
            search.nearest(conn, encoder, query, POOL, None, packed)

        def everything(text: str = text, query: Vectors = query) -> None:
            with snapshot(conn):
                search_results(conn, retrieve(conn, text, query, encoder, 10, None, packed))

        bare.append(seconds(legs, 3))
        whole.append(seconds(everything, 3))
    ratio = p95(whole) / p95(bare)
    measured = f"{ratio:.2f}x ({p95(whole) * 1000:.0f} ms)"
    what = f"whole search p95, {PASSAGES:,} passages, against the sum of its legs run bare"
    return Row(what, measured, "at most 1.3x", ratio <= 1.3)


def _fill(path: Path, rng: np.random.Generator, words: list[str], stored: Vectors) -> int:
    conn = open_writer(path)
    encoder = vectors.encoder_id(conn, "synthetic@1", WIDTH)
    root = roots.add_root(conn, b"/library")
    for first in range(0, PASSAGES, PER_DOCUMENT):
        with transaction(conn):
            name = f"/library/{first}.txt"
            stat = FileStat(first, 1, 1, first)
            document = documents.upsert_pending(conn, root.id, name.encode(), name, stat)
            content = contents.begin_content(conn, f"sha256:{first}", "text/plain", "1", True)
            passages = list(_passages(rng, words))
            contents.add_passages(conn, content, passages)
            contents.finish_content(conn, content, passages[-1].end, ContentInfo(), [], [])
            documents.finish(conn, document, stat, Status.OK, None, content)
            _grow(conn, content, passages)
            hashes = [vectors.input_hash(passage.embed_input) for passage in passages]
            vectors.add_vectors(conn, encoder, hashes, stored[first : first + PER_DOCUMENT])
    conn.close()
    return encoder


def _grow(conn: Connection, content: int, passages: list[NewPassage]) -> None:
    """A tree of the real shape; what its summaries say does not matter to a search."""
    leaves = passage_leaves((one.text, one.heading, one.start, one.end) for one in passages)
    groups = levels([leaf.rank for leaf in leaves])
    keys = [
        [digest_of(f"{content} {level} {ordinal}") for ordinal in range(len(row))]
        for level, row in enumerate(groups)
    ]
    made = [Summary(key, "What the passages say.", 5, "extractive") for row in keys for key in row]
    summaries.add_summaries(conn, made)
    nodes.set_tree(conn, content, "1", nodes_over(leaves, Derived(groups, keys, ())))


def _passages(rng: np.random.Generator, words: list[str]) -> Iterator[NewPassage]:
    start = 0
    for ordinal in range(PER_DOCUMENT):
        text = " ".join(_draw(rng, words, 120)) + ".\n"
        yield NewPassage(ordinal, start, start + len(text), text, ordinal + 1, ())
        start += len(text)


def _vocabulary(rng: np.random.Generator) -> list[str]:
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    return ["".join(rng.choice(letters, rng.integers(3, 10))) for _ in range(30_000)]


def _draw(rng: np.random.Generator, words: list[str], count: int) -> list[str]:
    return [words[(index - 1) % len(words)] for index in rng.zipf(1.2, count)]


def _centres(rng: np.random.Generator) -> Vectors:
    return rng.standard_normal((CLUSTERS, WIDTH)).astype(np.float32)


def _clustered(rng: np.random.Generator, count: int, centres: Vectors | None = None) -> Vectors:
    """Unit vectors around shared centres."""
    centres = _centres(np.random.default_rng(2)) if centres is None else centres
    noise = rng.standard_normal((count, WIDTH)).astype(np.float32)
    rows = centres[rng.integers(0, CLUSTERS, count)] + noise
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@contextmanager
def _reading(path: Path) -> Generator[Connection]:
    conn = open_reader(path)
    try:
        yield conn
    finally:
        conn.close()
