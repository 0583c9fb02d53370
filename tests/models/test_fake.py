"""The stand-ins behave as the real models where tests rely on it."""

from __future__ import annotations

import numpy as np
import pytest

from mindscape_models.embedding import Embedder
from mindscape_models.fake import FakeEmbedder, FakeGenerator
from mindscape_models.native import Control


def test_texts_that_share_words_are_nearer() -> None:
    embedder: Embedder = FakeEmbedder()
    vectors = embedder.encode_passages(["a red fox by the river", "owls hunt at night"])
    query = embedder.encode_queries(["the red fox"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert (query @ vectors.T).argmax() == 0


def test_batches_agree_with_encode_passages_and_blank_texts_are_refused() -> None:
    embedder = FakeEmbedder()
    texts = [f"text number {number}" for number in range(10)]
    whole = embedder.encode_passages(texts)
    for indices, rows in embedder.batches(texts):
        np.testing.assert_array_equal(rows, whole[indices])
    with pytest.raises(ValueError, match="blank text"):
        embedder.encode_passages([" "])


def test_a_script_is_streamed_in_order_and_the_last_reply_repeats() -> None:
    generator = FakeGenerator(["One two.\nThree", "Again"])
    message = [{"role": "user", "content": "go"}]
    assert "".join(generator.generate(message, 10)) == "One two.\nThree"
    assert list(generator.generate(message, 10)) == ["Again"]
    assert list(generator.generate(message, 10)) == ["Again"]
    assert generator.prompts == [message] * 3


def test_a_cancelled_script_stops() -> None:
    control = Control()
    stream = FakeGenerator(["one two three"]).generate([], 10, control=control)
    assert next(stream) == "one"
    control.stop()
    assert list(stream) == []
