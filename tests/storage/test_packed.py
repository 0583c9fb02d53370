"""The copy in memory gives what exact search gives, and follows every change."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.typing import NDArray

from mindscape_storage import search, vectors
from mindscape_storage.database import Connection, open_reader, open_writer, snapshot
from mindscape_storage.packed import PackedVectors
from mindscape_storage.sketch import candidates, encode
from tests.storage.build import ENCODER, WIDTH, embed, embedded, lines, put, remove

Vectors = NDArray[np.float32]


def unit(array: NDArray[np.float64]) -> Vectors:
    return (array / np.linalg.norm(array, axis=-1, keepdims=True)).astype(np.float32)


def exact(stored: Vectors, query: Vectors, k: int) -> list[int]:
    return np.argsort(-(stored @ query), kind="stable")[:k].tolist()


@pytest.mark.parametrize(("kind", "least"), [("random", 0.98), ("clustered", 0.98), ("skewed", 0.95)])
def test_the_sketch_keeps_the_true_neighbours_of_the_hardest_vectors(kind: str, least: float) -> None:
    rng = np.random.default_rng(7)
    base = rng.normal(size=(12_000, 384))
    if kind == "clustered":
        base = rng.normal(size=(40, 384))[rng.integers(0, 40, 12_000)] + 0.5 * base
    if kind == "skewed":
        base = base * np.linspace(0.3, 2, 384) + 0.3 * rng.normal(size=384)
    stored = unit(base)
    sketch, everything = encode(stored), np.ones(len(stored), np.bool_)
    queries = [*unit(rng.normal(size=(25, 384))), *unit(stored[:25] + 0.05 * rng.normal(size=(25, 384)))]
    kept = [
        len({*exact(stored, q, 10)} & {*candidates(sketch, len(stored), q, 500, everything).tolist()}) / 10
        for q in queries
    ]
    assert np.mean(kept) >= least


def test_an_empty_copy_finds_nothing(conn: Connection, path: Path) -> None:
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    copy = PackedVectors(encoder, WIDTH)
    assert search.nearest(conn, encoder, embedded(["x"])[0], 5, None, copy) == []
    assert len(copy) == 0


def test_a_copy_keeps_to_its_own_encoder(conn: Connection) -> None:
    put(conn, b"/notes/a.md", lines("one"))
    embed(conn)
    copy = PackedVectors(vectors.encoder_id(conn, ENCODER, WIDTH), WIDTH)
    copy.follow(conn)
    embed(conn, "another")
    copy.follow(conn)
    assert len(copy) == 1


def test_a_copy_that_fell_behind_a_trimmed_log_loads_everything(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "LOG_KEPT", 3)
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    put(conn, b"/notes/0.md", lines("text 0"))
    embed(conn)
    behind, ahead = PackedVectors(encoder, WIDTH), PackedVectors(encoder, WIDTH)
    behind.follow(conn)
    for number in range(1, 20):
        put(conn, f"/notes/{number}.md".encode(), lines(f"text {number}"))
        embed(conn)
        ahead.follow(conn)
    remove(conn, b"/notes/0.md")
    assert conn.execute("SELECT count(*) FROM vector_log").get < 10
    for copy in (behind, ahead):
        copy.follow(conn)
        assert len(copy) == 19


def test_a_reader_with_an_older_snapshot_does_not_turn_a_copy_back(conn: Connection, path: Path) -> None:
    put(conn, b"/notes/a.md", lines("one"))
    embed(conn)
    copy = PackedVectors(vectors.encoder_id(conn, ENCODER, WIDTH), WIDTH)
    reader = open_reader(path)
    with snapshot(reader):
        copy.follow(reader)
        put(conn, b"/notes/b.md", lines("two"))
        embed(conn)
        copy.follow(conn)
        copy.follow(reader)
    copy.follow(conn)
    assert len(copy) == 2
    reader.close()


class Following(RuleBasedStateMachine):
    """Adds, edits and removes documents; the copy must answer as sqlite-vec does after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Following.folders
        Following.count += 1
        self.conn = open_writer(self.folder / f"{Following.count}.db")
        self.encoder = vectors.encoder_id(self.conn, ENCODER, WIDTH)
        self.copy = PackedVectors(self.encoder, WIDTH)

    folders = Path()
    count = 0

    @initialize()
    def start(self) -> None:
        put(self.conn, b"/notes/first.md", lines("first"))

    @rule(name=st.sampled_from("abcd"), words=st.lists(st.sampled_from("tuvwxyz"), max_size=6))
    def write(self, name: str, words: list[str]) -> None:
        put(self.conn, f"/notes/{name}.md".encode(), lines(*words))

    @rule(name=st.sampled_from("abcd"))
    def delete(self, name: str) -> None:
        remove(self.conn, f"/notes/{name}.md".encode())

    @rule()
    def embed_all(self) -> None:
        embed(self.conn)

    @invariant()
    def the_copy_answers_as_the_database_does(self) -> None:
        query = embedded(["tuv"])[0]
        ours = search.nearest(self.conn, self.encoder, query, 50, None, self.copy)
        theirs = search.nearest(self.conn, self.encoder, query, 50)
        assert {hit.passage_id: round(hit.score, 4) for hit in ours} == {
            hit.passage_id: round(hit.score, 4) for hit in theirs
        }
        assert len(self.copy) == self.conn.execute("SELECT count(*) FROM vectors").get

    def teardown(self) -> None:
        self.conn.close()


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Following.folders = tmp_path
    monkeypatch.setattr(search, "PACKED_FROM", 1)


def test_few_vectors_stay_in_the_database_and_enough_come_into_memory(
    conn: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(conn, b"/notes/a.md", lines("one", "two", "three"))
    embed(conn)
    encoder = vectors.encoder_id(conn, ENCODER, WIDTH)
    copy = PackedVectors(encoder, WIDTH)
    monkeypatch.setattr(search, "PACKED_FROM", 4)
    alone = search.nearest(conn, encoder, embedded(["two"])[0], 5, None, copy)
    assert len(copy) == 0
    monkeypatch.setattr(search, "PACKED_FROM", 3)
    together = search.nearest(conn, encoder, embedded(["two"])[0], 5, None, copy)
    assert len(copy) == 3
    assert [hit.passage_id for hit in together] == [hit.passage_id for hit in alone]


TestFollowing = Following.TestCase
TestFollowing.settings = settings(max_examples=15, stateful_step_count=15, deadline=None)
