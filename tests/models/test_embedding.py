"""The shipped embedder: like the original, the same in any batch, the whole text, never NaN."""

from __future__ import annotations

import base64
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mindscape_models.batches import Read, Window, pack
from mindscape_models.bundle import open_bundle, shipped_folder
from mindscape_models.embedding import OnnxEmbedder, open_embedder
from mindscape_models.errors import BundleError
from mindscape_models.queries import Vectors
from mindscape_models.session import Session, create, heavy_providers
from mindscape_models.tokeniser import Tokeniser

SHIPPED = shipped_folder() / "all-minilm-l6-v2-int8"
TEXTS = (
    "The ferry leaves at six.",
    "a",
    "今天我们讨论了图书馆的搬迁计划。",
    "Two of the lamps had to be mended before the boats came home, and the keeper wrote to the county. " * 3,
    "🎉",
    "def area(radius):\n    return 3.14 * radius ** 2",
    "Long. " + "The wind came from the north on every day of the month. " * 50,
)


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return open_embedder(open_bundle(SHIPPED), device="cpu")


@pytest.fixture(scope="module")
def alone(embedder: OnnxEmbedder) -> Vectors:
    return np.concatenate([embedder.encode_passages([text]) for text in TEXTS])


def test_vectors_are_like_those_of_the_original_in_torch(embedder: OnnxEmbedder) -> None:
    entries = json.loads((SHIPPED / "parity.json").read_text(encoding="utf-8"))
    rows = [np.frombuffer(base64.b64decode(entry["vector"]), dtype="<f4") for entry in entries]
    cosines = (embedder.encode_passages([entry["text"] for entry in entries]) * np.stack(rows)).sum(axis=1)
    assert cosines.min() >= 0.99
    assert cosines.mean() >= 0.998


def test_vectors_are_float32_and_of_unit_length(alone: Vectors, embedder: OnnxEmbedder) -> None:
    assert alone.dtype == np.float32
    assert alone.shape == (len(TEXTS), embedder.dimensions)
    np.testing.assert_allclose(np.linalg.norm(alone, axis=1), 1, atol=1e-6)


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, len(TEXTS) - 1), min_size=1, max_size=8))
def test_a_text_has_the_same_vector_in_any_batch(
    embedder: OnnxEmbedder, alone: Vectors, chosen: list[int]
) -> None:
    together = embedder.encode_passages([TEXTS[index] for index in chosen])
    np.testing.assert_allclose(together, alone[chosen], atol=1e-6)


def test_a_text_has_the_same_vector_beside_a_much_longer_one(embedder: OnnxEmbedder, alone: Vectors) -> None:
    session = Session(SHIPPED / "model.onnx", device="cpu")
    session.batch_tokens = 100_000  # everything in one call, padded to the longest
    bundle = open_bundle(SHIPPED, verify=False)
    together = OnnxEmbedder(bundle, session, Tokeniser(SHIPPED / "tokenizer.json")).encode_passages(TEXTS)
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_a_text_has_the_same_vector_on_one_thread(alone: Vectors) -> None:
    single = open_embedder(open_bundle(SHIPPED, verify=False), threads=1, device="cpu")
    np.testing.assert_allclose(single.encode_passages(TEXTS), alone, atol=1e-6)


def test_batches_give_every_text_once_with_the_vector_of_encode_passages(
    embedder: OnnxEmbedder, alone: Vectors
) -> None:
    texts = [TEXTS[index % len(TEXTS)] for index in range(2 * len(TEXTS))]
    batches = list(embedder.batches(texts))
    assert len(batches) > 1
    assert sorted(index for indices, _ in batches for index in indices) == list(range(len(texts)))
    for indices, rows in batches:
        np.testing.assert_allclose(rows, alone[[index % len(TEXTS) for index in indices]], atol=1e-6)


def test_nothing_gives_no_vectors(embedder: OnnxEmbedder) -> None:
    assert embedder.encode_passages([]).shape == (0, 384)
    assert list(embedder.batches([])) == []


@pytest.mark.parametrize("position", [100, 300, 1500])
def test_what_stands_late_in_a_text_changes_its_vector(embedder: OnnxEmbedder, position: int) -> None:
    words = ["tide"] * 1600
    plain = " ".join(words)
    words[position] = "volcano"
    both = embedder.encode_passages([plain, " ".join(words)])
    assert float(both[0] @ both[1]) < 0.99999


def test_blank_texts_are_refused(embedder: OnnxEmbedder) -> None:
    for blank in ("", "  ", "\n\t\u3000"):
        with pytest.raises(ValueError, match=r"blank text has no vector \(text 2 of 2\)"):
            embedder.encode_passages(["text", blank])
        with pytest.raises(ValueError, match="blank text has no vector"):
            embedder.batches(["text", blank])


@pytest.mark.parametrize("odd", ["\x00\x01", "\udcff\udc80 name", "\u200b", "é" * 5000, "x" * 20_000])
def test_odd_texts_have_a_finite_vector(embedder: OnnxEmbedder, odd: str) -> None:
    assert np.linalg.norm(embedder.encode_passages([odd])[0]) == pytest.approx(1, abs=1e-5)


def test_questions_find_the_text_that_answers_them(embedder: OnnxEmbedder) -> None:
    passages = embedder.encode_passages(
        ["The harbour wall was repaired in 1911.", "Knead the dough for ten minutes.", "Owls hunt at night."]
    )
    questions = ["When was the wall of the port mended?", "How long do I work bread dough?"]
    assert (embedder.encode_queries(questions) @ passages.T).argmax(axis=1).tolist() == [0, 1]


def test_queries_refuse_what_they_cannot_use(embedder: OnnxEmbedder) -> None:
    with pytest.raises(ValueError, match="2 questions came with 1 mindscapes"):
        embedder.encode_queries(["one", "two"], [["summary"]])
    with pytest.raises(ValueError, match="a list of summaries, not one text"):
        embedder.encode_queries(["one"], ["summary"])
    with pytest.raises(ValueError, match="Unknown task"):
        embedder.encode_queries(["one"], task="poem")  # pyright: ignore[reportArgumentType]


def test_a_bundle_without_a_mindscape_ignores_it(embedder: OnnxEmbedder) -> None:
    np.testing.assert_array_equal(
        embedder.encode_queries(["Who?"], [["A long summary."]], task="entity"),
        embedder.encode_queries(["Who?"]),
    )


@given(st.lists(st.integers(1, 300), max_size=40), st.integers(1, 2000))
def test_packing_keeps_every_window_and_the_budget(lengths: list[int], budget: int) -> None:
    windows = [Window([1] * length, (Read(text, 0, length),)) for text, length in enumerate(lengths)]
    batches = list(pack(windows, budget))
    rows = [read.row for batch in batches for window in batch for read in window.reads]
    assert sorted(rows) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(len(window.ids) for window in batch) <= budget


def test_windows_hold_every_token_once_and_are_of_like_length() -> None:
    tokeniser = Tokeniser(SHIPPED / "tokenizer.json")
    text = " ".join(random.Random(1).choices(["tide", "lamp", "boat", "north"], k=700))
    [[whole], windows] = [tokeniser.windows([text], 10_000)[0], tokeniser.windows([text], 256)[0]]
    assert [token for window in windows for token in window[1:-1]] == whole[1:-1]
    assert {(window[0], window[-1]) for window in windows} == {(101, 102)}
    sizes = [len(window) for window in windows]
    assert max(sizes) <= 256
    assert max(sizes) - min(sizes) <= 1


def test_truncation_saved_in_a_tokeniser_is_switched_off(tmp_path: Path) -> None:
    table = json.loads((SHIPPED / "tokenizer.json").read_text(encoding="utf-8"))
    assert table["truncation"] is None
    assert table["padding"] is None
    table["truncation"] = {"direction": "Right", "max_length": 8, "strategy": "LongestFirst", "stride": 0}
    (tmp_path / "tokenizer.json").write_text(json.dumps(table), encoding="utf-8")
    [[window]] = Tokeniser(tmp_path / "tokenizer.json").windows(["tide " * 50], 256)
    assert len(window) == 52


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_that_is_not_verified_gives_a_sentence(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "bundle"
    shutil.copytree(SHIPPED, folder)
    (folder / name).write_bytes(b"\x00damaged" * 100)
    with pytest.raises(BundleError, match=r"is not a (model|tokeniser) that can be"):
        open_embedder(open_bundle(folder, verify=False), device="cpu")


def test_the_device_is_the_one_that_runs_the_matrix_products(embedder: OnnxEmbedder) -> None:
    session = create(SHIPPED / "model.onnx", 1, ["CPUExecutionProvider"], profile=True)
    ids = np.ones((1, 4), dtype=np.int64)
    feeds = {"input_ids": ids, "attention_mask": ids, "token_type_ids": ids * 0}
    assert heavy_providers(session, feeds) == {"CPUExecutionProvider"}
    assert embedder.device == "cpu"


def test_cuda_is_not_asked_for_without_a_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_driver(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    asked: list[list[str]] = []
    create_session = ort.InferenceSession

    def watched(path: str, options: Any, providers: list[str]) -> ort.InferenceSession:
        asked.append(providers)
        return create_session(path, options, providers=providers)

    monkeypatch.setattr("mindscape_models.session.ctypes.CDLL", no_driver)
    monkeypatch.setattr(ort, "InferenceSession", watched)
    assert Session(SHIPPED / "model.onnx").device == "cpu"
    assert asked == [["CPUExecutionProvider"]]
