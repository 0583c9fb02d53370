"""A query takes a mindscape in: the states, what is made of them, and what bad input gets (encoders)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mindscape_models.bundle import Bundle, Mindscape, open_bundle, shipped_folder
from mindscape_models.embedding import OnnxEmbedder, open_embedder
from mindscape_models.fake import FakeEmbedder
from mindscape_models.queries import MOST_PAIRS, EncoderQueries, Vectors, fused
from mindscape_models.tokeniser import Tokeniser

SHIPPED = shipped_folder() / "all-minilm-l6-v2-int8"
QUESTION = "Who mended the lamps?"
SUMMARIES = (
    "The keeper of the lighthouse writes to the county about two broken lamps.",
    "A ferry leaves at six and comes home before dark.",
    "The council moves the library to the old school.",
)


def bundle_with(mindscape: Mindscape, delta: float = 0.5, mindscape_tokens: int = 1024) -> Bundle:
    bundle = open_bundle(SHIPPED, verify=False)
    assert bundle.encoder is not None
    changed = replace(bundle.encoder, mindscape=mindscape, delta=delta, mindscape_tokens=mindscape_tokens)
    return replace(bundle, encoder=changed)


def embedder_with(mindscape: Mindscape, delta: float = 0.5) -> OnnxEmbedder:
    return open_embedder(bundle_with(mindscape, delta), device="cpu")


def queries(mindscape_tokens: int = 1024) -> EncoderQueries:
    encoder = bundle_with("residual", mindscape_tokens=mindscape_tokens).encoder
    assert encoder is not None
    return EncoderQueries(Tokeniser(SHIPPED / "tokenizer.json"), encoder)


@pytest.fixture(scope="module")
def residual() -> OnnxEmbedder:
    return embedder_with("residual")


@pytest.fixture(scope="module")
def states(residual: OnnxEmbedder) -> tuple[Vectors, Vectors]:
    return residual.query_states([QUESTION, QUESTION], [SUMMARIES, []])


def test_both_states_are_float32_and_of_unit_length(states: tuple[Vectors, Vectors]) -> None:
    for state in states:
        assert state.dtype == np.float32
        assert state.shape == (2, 384)
        np.testing.assert_allclose(np.linalg.norm(state, axis=1), 1, atol=1e-6)


def test_the_question_alone_is_the_plain_query_vector(
    residual: OnnxEmbedder, states: tuple[Vectors, Vectors]
) -> None:
    plain = residual.encode_queries([QUESTION])
    np.testing.assert_allclose(states[0], np.repeat(plain, 2, axis=0), atol=1e-6)


def test_no_summaries_leave_the_question_as_it_is(
    residual: OnnxEmbedder, states: tuple[Vectors, Vectors]
) -> None:
    np.testing.assert_allclose(states[1][1], states[0][1], atol=1e-6)
    for none in ([], [""], ["  \n"]):
        vector = residual.encode_queries([QUESTION], [none])
        np.testing.assert_allclose(vector, states[0][:1], atol=1e-6)


def test_with_a_mindscape_the_state_is_the_normalised_mean_of_its_pairs(
    residual: OnnxEmbedder, states: tuple[Vectors, Vectors]
) -> None:
    each = np.concatenate([residual.query_states([QUESTION], [[one]])[1] for one in SUMMARIES])
    mean = each.mean(axis=0)
    np.testing.assert_allclose(states[1][0], mean / np.linalg.norm(mean), atol=1e-6)
    assert float(states[1][0] @ states[0][0]) < 0.99


def test_a_pair_is_the_question_and_one_summary_between_the_encoders_special_tokens() -> None:
    tokeniser = Tokeniser(SHIPPED / "tokenizer.json")
    asked = queries().ask([QUESTION], [[SUMMARIES[0]]], "passage")
    question, summary = tokeniser.ids([QUESTION, SUMMARIES[0]])
    assert [window.ids for window in asked.windows] == [
        [101, *question, 102],
        [101, *question, 102, *summary, 102],
    ]
    assert asked.pairs == [[1]]


@pytest.mark.parametrize("delta", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("mindscape", ["residual", "trained"])
def test_a_query_with_a_mindscape_is_the_states_mixed_by_delta(
    states: tuple[Vectors, Vectors], mindscape: Mindscape, delta: float
) -> None:
    vectors = embedder_with(mindscape, delta).encode_queries([QUESTION, QUESTION], [SUMMARIES, []])
    np.testing.assert_allclose(vectors, fused(*states, delta), atol=1e-6)


def test_a_bundle_without_a_mindscape_still_has_both_states(states: tuple[Vectors, Vectors]) -> None:
    none = embedder_with("none")
    np.testing.assert_array_equal(
        none.encode_queries([QUESTION], [SUMMARIES]), none.encode_queries([QUESTION])
    )
    for mine, theirs in zip(none.query_states([QUESTION, QUESTION], [SUMMARIES, []]), states, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-6)


def test_passages_never_see_a_mindscape(residual: OnnxEmbedder) -> None:
    texts = [QUESTION, *SUMMARIES]
    plain = embedder_with("none")
    np.testing.assert_array_equal(residual.encode_passages(texts), plain.encode_passages(texts))
    assert residual.name == plain.name


@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(0, len(SUMMARIES)), min_size=1, max_size=5))
def test_a_query_has_the_same_vector_in_any_batch(
    residual: OnnxEmbedder, states: tuple[Vectors, Vectors], counts: list[int]
) -> None:
    mindscapes = [SUMMARIES[:count] for count in counts]
    together = residual.encode_queries([QUESTION] * len(counts), mindscapes)
    alone = [residual.encode_queries([QUESTION], [mindscape])[0] for mindscape in mindscapes]
    np.testing.assert_allclose(together, np.stack(alone), atol=1e-6)


def test_no_questions_give_no_vectors(residual: OnnxEmbedder) -> None:
    assert residual.encode_queries([], []).shape == (0, 384)
    assert [state.shape for state in residual.query_states([], [])] == [(0, 384), (0, 384)]


ROWS = arrays(np.float32, (3, 4), elements=st.floats(-8, 8, width=32)).filter(
    lambda rows: bool((np.linalg.norm(rows, axis=1) > 0.01).all())
)


@given(ROWS, ROWS, st.floats(0, 1), st.floats(0.125, 8))
def test_mixing_gives_unit_vectors_and_ignores_how_long_the_states_are(
    h_q: Vectors, h_t: Vectors, delta: float, scale: float
) -> None:
    mixed = fused(h_q, h_t, delta)
    assert mixed.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(mixed, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(fused(h_q, h_q, delta), h_q / np.linalg.norm(h_q, axis=1)[:, None], atol=1e-5)
    np.testing.assert_allclose(fused(h_q, h_t, 1.0), fused(h_q, h_q, 1.0), atol=1e-5)
    np.testing.assert_allclose(fused(h_q, h_t, 0.0), fused(h_t, h_t, 0.0), atol=1e-5)
    apart = np.linalg.norm(fused(h_q, h_q, 1) * delta + fused(h_t, h_t, 1) * (1 - delta), axis=1) > 0.01
    np.testing.assert_allclose(fused(h_q * np.float32(scale), h_t, delta)[apart], mixed[apart], atol=1e-3)


def test_states_that_cancel_out_leave_the_question() -> None:
    h_q = np.array([[1, 0]], dtype=np.float32)
    np.testing.assert_array_equal(fused(h_q, -h_q, 0.5), h_q)


def test_a_blank_question_is_refused_with_its_number(residual: OnnxEmbedder) -> None:
    for blank in ("", " \n\t\u3000"):
        with pytest.raises(ValueError, match=r"blank text has no vector \(text 2 of 2\)"):
            residual.query_states(["Who?", blank], [SUMMARIES, SUMMARIES])


def test_a_thousand_summaries_cost_no_more_than_the_first_few() -> None:
    many = [f"Summary {number}: " + "the keeper wrote to the county. " * 40 for number in range(1000)]
    asked = queries().ask([QUESTION], [many], "passage")
    assert len(asked.pairs[0]) <= MOST_PAIRS
    assert max(len(window.ids) for window in asked.windows) <= 256
    short = queries().ask([QUESTION], [["Lamps."] * 1000], "passage")
    assert len(short.pairs[0]) == MOST_PAIRS


def test_what_is_over_the_limit_of_a_mindscape_is_left_out() -> None:
    tokeniser = Tokeniser(SHIPPED / "tokenizer.json")
    first, second, _ = map(len, tokeniser.ids(SUMMARIES))
    asked = queries(mindscape_tokens=first + 2).ask([QUESTION], [SUMMARIES], "passage")
    full = queries().ask([QUESTION], [SUMMARIES], "passage")
    cut, whole = ([len(window.ids) for window in each.windows] for each in (asked, full))
    assert cut == [whole[0], whole[1], whole[2] - (second - 2)]


@pytest.mark.parametrize(
    "question", ["lighthouse " * 20_000, "x" * 200_000, "灯塔" * 20_000], ids=["words", "one word", "Chinese"]
)
def test_a_pasted_text_leaves_room_for_its_mindscape(residual: OnnxEmbedder, question: str) -> None:
    asked = queries().ask([question], [SUMMARIES], "passage")
    assert sum(len(window.ids) for window in asked.windows) < 3_000
    assert max(len(window.ids) for window in asked.windows) <= 256
    h_q, h_t = residual.query_states([question], [SUMMARIES])
    assert float(h_q[0] @ h_t[0]) < 0.9999


@pytest.mark.parametrize("odd", ["\udcff\udc80 name", "\x00\x01", "\u200b", "[SEP] [CLS] [PAD]", "🎉"])
def test_odd_questions_and_summaries_have_finite_states(residual: OnnxEmbedder, odd: str) -> None:
    for state in residual.query_states([odd, "Who?"], [SUMMARIES[:1], [odd]]):
        np.testing.assert_allclose(np.linalg.norm(state, axis=1), 1, atol=1e-5)


def test_the_stand_in_takes_a_mindscape_in_as_its_real_fellow() -> None:
    fake = FakeEmbedder(delta=0.5)
    h_q, h_t = fake.query_states([QUESTION, QUESTION], [SUMMARIES, []])
    np.testing.assert_array_equal(h_q, FakeEmbedder().encode_queries([QUESTION, QUESTION], [SUMMARIES, []]))
    np.testing.assert_array_equal(h_t[1], h_q[1])
    assert float(h_t[0] @ h_q[0]) < 0.9
    np.testing.assert_array_equal(
        fake.encode_queries([QUESTION, QUESTION], [SUMMARIES, []]), fused(h_q, h_t, 0.5)
    )
