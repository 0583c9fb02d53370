"""What the engine process embeds for the daemon: passages, questions, and questions with a mindscape."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import numpy as np
import pytest

from mindscape.daemon.children import Child
from mindscape.daemon.models import Models
from mindscape_models.bundle import open_bundle, shipped_folder
from mindscape_models.embedding import OnnxEmbedder, open_embedder
from mindscape_models.queries import fused

SHIPPED = shipped_folder() / "all-minilm-l6-v2-int8"
QUESTIONS = ["Who mended the lamps?", "When does the ferry leave?"]
MINDSCAPES = [["A keeper writes to the county.", "Two lamps are broken."], []]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return open_embedder(open_bundle(SHIPPED, verify=False), device="cpu")


@pytest.fixture
async def models(tmp_path: Path) -> AsyncIterator[Models]:
    """The shipped embedder, and one like it that mixes a mindscape in: `mixing`."""
    folder = tmp_path / "models" / "mixing"
    folder.mkdir(parents=True)
    for name in ("model.onnx", "tokenizer.json", "parity.json"):
        (folder / name).symlink_to(SHIPPED / name)
    text = (SHIPPED / "manifest.toml").read_text(encoding="utf-8")
    text = text.replace('name = "all-minilm-l6-v2-int8"', 'name = "mixing"')
    text = text.replace('mindscape = "none"', 'mindscape = "residual"\ndelta = 0.75')
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    models = Models(
        Child("mindscape.engine", ["--threads", "1"]), tmp_path / "models", {"embedder": SHIPPED.name}
    )
    yield models
    await models.stop()


async def test_questions_passages_and_states_are_those_of_the_embedder(
    models: Models, embedder: OnnxEmbedder
) -> None:
    passages = await models.embed(QUESTIONS, query=False)
    np.testing.assert_allclose(passages, embedder.encode_passages(QUESTIONS), atol=1e-6)
    questions = await models.embed(QUESTIONS, query=True)
    np.testing.assert_allclose(questions, embedder.encode_queries(QUESTIONS), atol=1e-6)
    ignoring = await models.embed(QUESTIONS, query=True, mindscapes=MINDSCAPES)
    np.testing.assert_array_equal(ignoring, questions)
    expected = embedder.query_states(QUESTIONS, MINDSCAPES)
    h_q, h_t = states = await models.query_states(QUESTIONS, MINDSCAPES)
    for mine, theirs in zip(states, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)
    models.choose("mixing")
    mixed = await models.embed(QUESTIONS, query=True, mindscapes=MINDSCAPES)
    np.testing.assert_allclose(mixed, fused(h_q, h_t, 0.75), atol=1e-6)


async def test_nothing_is_embedded_as_nothing(models: Models) -> None:
    assert (await models.embed([], query=False)).shape == (0, 384)
    assert [state.shape for state in await models.query_states([], [])] == [(0, 384), (0, 384)]
