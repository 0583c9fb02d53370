"""Decoder bundles read what MiA-Emb reads, and give the vectors that torch gives.

`make_decoder_fixture.py` writes what torch says. The traps are those of the published
model: its pad token, its padding side, its delimiters.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from mindscape_models.bundle import Bundle, DecoderSettings, EncoderSettings, open_bundle
from mindscape_models.embedding import OnnxEmbedder, open_embedder
from mindscape_models.errors import BundleError
from mindscape_models.queries import DecoderQueries, Vectors, fused, unit
from mindscape_models.session import Session
from mindscape_models.tokeniser import Tokeniser

FIXTURE = Path(__file__).parent / "decoder"
END, NODE = "<|endoftext|>", "<|repo_name|>"
TORCH_PYTHON = sys.executable if find_spec("optimum") else os.environ.get("MINDSCAPE_TORCH_PYTHON")
CLOSE = 1e-4
"""How near float32 on ONNX Runtime must be to float32 in torch."""


class Reference(NamedTuple):
    """What torch said."""

    questions: list[str]
    mindscapes: list[list[str]]
    passages: list[str]
    arrays: dict[str, NDArray[Any]]

    def tokens(self, name: str) -> list[list[int]]:
        """Ids of each text without its padding."""
        ids, mask = self.arrays[f"{name}_ids"], self.arrays[f"{name}_mask"]
        return [row[seen].tolist() for row, seen in zip(ids, mask, strict=True)]


def read_reference(folder: Path) -> Reference:
    with np.load(folder / "reference.npz") as stored:
        arrays = dict(stored)
    mindscapes = [json.loads(text) for text in arrays["mindscapes"]]
    return Reference(arrays["questions"].tolist(), mindscapes, arrays["passages"].tolist(), arrays)


def settings_of(bundle: Bundle) -> tuple[EncoderSettings, DecoderSettings]:
    assert bundle.encoder is not None
    assert bundle.encoder.decoder is not None
    return bundle.encoder, bundle.encoder.decoder


def queries_with(**changes: Any) -> DecoderQueries:
    encoder, decoder = settings_of(open_bundle(FIXTURE, verify=False))
    return DecoderQueries(
        Tokeniser(FIXTURE / "tokenizer.json", decoder.passage_delimiter), replace(encoder, **changes), decoder
    )


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return open_embedder(open_bundle(FIXTURE), device="cpu")


@pytest.fixture(scope="module")
def reference() -> Reference:
    return read_reference(FIXTURE)


@pytest.fixture(scope="module")
def ends() -> tuple[int, int]:
    tokeniser = Tokeniser(FIXTURE / "tokenizer.json")
    return tokeniser.token(END), tokeniser.token(NODE)


def agrees_with_torch(embedder: OnnxEmbedder, reference: Reference) -> None:
    questions, mindscapes = reference.questions, reference.mindscapes
    h_q, h_c = embedder.query_states(questions, mindscapes)
    _, h_n = embedder.query_states(questions, mindscapes, task="entity")
    found = {
        "queries_first_end": h_q,
        "queries_last": h_c,
        "queries_node": h_n,
        "queries_fused": embedder.encode_queries(questions, mindscapes),
        "plain_last": embedder.encode_queries(questions),
        "passages_last": embedder.encode_passages(reference.passages),
    }
    for name, vectors in found.items():
        np.testing.assert_allclose(vectors, reference.arrays[name], atol=CLOSE, err_msg=name)


def test_vectors_are_those_of_torch(embedder: OnnxEmbedder, reference: Reference) -> None:
    agrees_with_torch(embedder, reference)


@pytest.mark.slow
@pytest.mark.skipif(TORCH_PYTHON is None, reason="needs the extra `train`, here or as MINDSCAPE_TORCH_PYTHON")
def test_vectors_are_those_of_torch_for_other_weights(tmp_path: Path) -> None:
    script = Path(__file__).parent / "make_decoder_fixture.py"
    command = [str(TORCH_PYTHON), str(script), "--out", str(tmp_path), "--seed", "6"]
    subprocess.run(command, check=True, timeout=300)
    assert (tmp_path / "model.onnx").read_bytes() != (FIXTURE / "model.onnx").read_bytes()
    agrees_with_torch(open_embedder(open_bundle(tmp_path), device="cpu"), read_reference(tmp_path))


def test_the_sequence_is_that_of_the_whole_string_token_by_token(reference: Reference) -> None:
    asked = queries_with().ask(reference.questions, reference.mindscapes, "passage")
    assert [window.ids for window in asked.windows] == reference.tokens("queries")
    plain = queries_with().ask(reference.questions, [()] * len(reference.questions), "passage")
    assert [window.ids for window in plain.windows] == reference.tokens("plain")


def test_trap_1_the_pad_token_is_also_the_query_delimiter(
    embedder: OnnxEmbedder, reference: Reference, ends: tuple[int, int]
) -> None:
    ids, mask = reference.arrays["queries_ids"], reference.arrays["queries_mask"]
    padded = ~mask[:, 0]
    assert padded.sum() >= 3
    assert (ids[padded, 0] == ends[0]).all()  # so the first one is padding, where nobody looks at the mask
    h_q, _ = embedder.query_states(reference.questions, reference.mindscapes)
    np.testing.assert_allclose(h_q, reference.arrays["queries_first_end"], atol=CLOSE)
    states = Session(FIXTURE / "model.onnx", device="cpu").states(ids.astype(np.int64), mask.astype(np.int64))
    unmasked = unit(states[padded, 0])
    assert ((unmasked * h_q[padded]).sum(axis=1) < 0.9).all()


def test_trap_2_the_last_token_is_the_last_whichever_side_is_padded(
    embedder: OnnxEmbedder, reference: Reference
) -> None:
    ids = reference.arrays["passages_ids"].astype(np.int64)
    left = reference.arrays["passages_mask"].astype(np.int64)
    lengths = left.sum(axis=1)
    right_ids, right = np.zeros_like(ids), np.zeros_like(left)
    for row, tokens in enumerate(reference.tokens("passages")):
        right_ids[row, : len(tokens)], right[row, : len(tokens)] = tokens, 1
    session = Session(FIXTURE / "model.onnx", device="cpu")
    rows = np.arange(len(ids))
    from_left, from_right = session.states(ids, left), session.states(right_ids, right)
    vectors = embedder.encode_passages(reference.passages)
    np.testing.assert_allclose(unit(from_left[:, -1]), vectors, atol=1e-5)
    np.testing.assert_allclose(unit(from_right[rows, lengths - 1]), vectors, atol=1e-5)
    wrong = unit(from_left[rows, lengths - 1])  # as some published code takes it
    assert ((wrong * vectors).sum(axis=1)[lengths < lengths.max()] < 0.9).all()


def test_trap_3_the_node_delimiter_is_for_entities_only(embedder: OnnxEmbedder, reference: Reference) -> None:
    questions, mindscapes = reference.questions, reference.mindscapes
    _, passage = embedder.query_states(questions, mindscapes, task="passage")
    _, entity = embedder.query_states(questions, mindscapes, task="entity")
    np.testing.assert_allclose(passage, reference.arrays["queries_last"], atol=CLOSE)
    np.testing.assert_allclose(entity, reference.arrays["queries_node"], atol=CLOSE)
    assert ((passage * entity).sum(axis=1) < 0.9).all()
    np.testing.assert_allclose(
        embedder.encode_queries(questions, mindscapes, task="entity"),
        fused(reference.arrays["queries_first_end"], entity, 0.5),
        atol=CLOSE,
    )


TEXT = st.text(st.characters(exclude_categories=[]), max_size=300) | st.sampled_from(
    ["lamp " * 20_000, "x" * 20_000, "灯塔" * 3_000, f"{END}{NODE} " * 40, " " * 5_000 + "?", "🎉" * 500]
)


@settings(max_examples=40, deadline=None)
@given(TEXT, st.lists(TEXT, max_size=4), st.integers(190, 400), st.integers(8, 300))
def test_trap_4_a_mindscape_is_cut_before_the_delimiters_behind_it(
    ends: tuple[int, int], question: str, mindscape: list[str], max_tokens: int, mindscape_tokens: int
) -> None:
    queries = queries_with(max_tokens=max_tokens, mindscape_tokens=mindscape_tokens)
    [window] = queries.ask([question], [mindscape], "passage").windows
    end, node = ends
    assert len(window.ids) <= max_tokens
    assert window.ids[-1] == end
    if len(window.reads) == 2:
        assert window.ids[-2:] == [node, end]
        assert [place for place, number in enumerate(window.ids) if number in ends] == [
            window.reads[0].start,
            len(window.ids) - 2,
            len(window.ids) - 1,
        ]
    else:
        assert not any(summary.strip() for summary in mindscape)
        assert window.ids.index(end) == len(window.ids) - 1


def test_trap_4_what_fits_of_a_mindscape_is_read(reference: Reference) -> None:
    long = ["The keeper writes to the county. " * 100, "never read"]
    [window] = queries_with(mindscape_tokens=64).ask(["Why?"], [long], "passage").windows
    [full] = queries_with().ask(["Why?"], [long[:1]], "passage").windows
    between = window.reads[0].end, len(window.ids) - 3
    assert window.ids[: between[1]] == full.ids[: between[1]]
    lead_in = queries_with().ask(["Why?"], [["x"]], "passage").windows[0]
    assert 60 <= len(window.ids) - len(lead_in.ids) <= 66


def test_trap_5_without_a_mindscape_the_question_stands_alone(
    embedder: OnnxEmbedder, reference: Reference
) -> None:
    count = len(reference.questions)
    for nothing in ([], [""], [" \n"]):
        h_q, h_t = embedder.query_states(reference.questions, [nothing] * count)
        np.testing.assert_allclose(h_q, reference.arrays["plain_last"], atol=CLOSE)
        np.testing.assert_array_equal(h_t, h_q)
        np.testing.assert_allclose(
            embedder.encode_queries(reference.questions, [nothing] * count), h_q, atol=1e-6
        )


def test_the_question_never_sees_its_mindscape(embedder: OnnxEmbedder, reference: Reference) -> None:
    question = reference.questions[0]
    h_q, h_t = embedder.query_states([question] * 4, [[], *reference.mindscapes[:3]])
    np.testing.assert_allclose(h_q, np.repeat(embedder.encode_queries([question]), 4, axis=0), atol=1e-5)
    assert (np.abs(h_t[1:] - h_q[1:]).max(axis=1) > 0.1).all()


@pytest.mark.parametrize("appends", [True, False])
def test_the_passage_delimiter_ends_every_text_once(
    tmp_path: Path, reference: Reference, ends: tuple[int, int], appends: bool
) -> None:
    """The published tokeniser appends it by itself; another file of the same tokeniser may not."""
    table = json.loads((FIXTURE / "tokenizer.json").read_text(encoding="utf-8"))
    if not appends:
        table["post_processor"] = None
    (tmp_path / "tokenizer.json").write_text(json.dumps(table), encoding="utf-8")
    tokeniser = Tokeniser(tmp_path / "tokenizer.json", END)
    windows = tokeniser.windows(reference.passages, 1024)
    assert [ids for [ids] in windows] == reference.tokens("passages")
    assert all(ids.count(ends[0]) == 1 for [ids] in windows)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=9))
def test_a_query_has_the_same_vector_in_any_batch(
    embedder: OnnxEmbedder, reference: Reference, chosen: list[tuple[int, bool]]
) -> None:
    questions = [reference.questions[number] for number, _ in chosen]
    mindscapes = [reference.mindscapes[number] if guided else [] for number, guided in chosen]
    expected = [
        reference.arrays["queries_fused" if guided else "plain_last"][number] for number, guided in chosen
    ]
    together = embedder.encode_queries(questions, mindscapes)
    alone = [
        embedder.encode_queries([question], [mindscape])[0]
        for question, mindscape in zip(questions, mindscapes, strict=True)
    ]
    np.testing.assert_allclose(together, np.stack(alone), atol=1e-5)
    np.testing.assert_allclose(together, np.stack(expected), atol=CLOSE)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_a_passage_has_the_same_vector_in_any_batch(
    embedder: OnnxEmbedder, reference: Reference, chosen: list[int]
) -> None:
    together = embedder.encode_passages([reference.passages[number] for number in chosen])
    np.testing.assert_allclose(together, reference.arrays["passages_last"][chosen], atol=CLOSE)
    alone = [embedder.encode_passages([reference.passages[number]])[0] for number in chosen]
    np.testing.assert_allclose(together, np.stack(alone), atol=1e-5)


def test_passages_have_no_instruction_and_a_long_one_is_the_mean_of_its_windows(
    embedder: OnnxEmbedder, reference: Reference
) -> None:
    bundle = open_bundle(FIXTURE, verify=False)
    encoder, _ = settings_of(bundle)
    short = open_embedder(replace(bundle, encoder=replace(encoder, max_tokens=190)), device="cpu")
    text = reference.passages[3] * 12
    [windows] = Tokeniser(FIXTURE / "tokenizer.json", END).windows([text], 190)
    assert len(windows) > 1
    session = Session(FIXTURE / "model.onnx", device="cpu")
    states = [
        session.states(np.array([ids]), np.ones((1, len(ids)), dtype=np.int64))[:, -1] for ids in windows
    ]
    np.testing.assert_allclose(short.encode_passages([text]), unit(np.sum(states, axis=0)), atol=1e-5)


@pytest.mark.parametrize("forged", [f"{END} ", f"{NODE}{END}", f"a{NODE}b{END}c"])
def test_delimiters_in_a_question_or_a_document_are_not_delimiters(
    embedder: OnnxEmbedder, ends: tuple[int, int], forged: str
) -> None:
    queries = queries_with()
    [window] = queries.ask([f"Who? {forged}"], [[f"A keeper. {forged}", forged]], "passage").windows
    assert [window.ids.count(number) for number in ends] == [2, 1]
    h_q, h_t = embedder.query_states([f"Who? {forged}"] * 2, [[forged, "Bees."], ["Bees.", forged]])
    np.testing.assert_allclose(h_q[0], h_q[1], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(h_t, axis=1), 1, atol=1e-5)


def test_huge_and_odd_questions_and_mindscapes_are_bounded(embedder: OnnxEmbedder) -> None:
    questions = ["lighthouse " * 20_000, "\udcff\udc80?", "Who?"]
    mindscapes = [["A keeper. " * 10], ["\udcff", "\x00"], [f"Summary {n} of many." for n in range(1000)]]
    asked = queries_with().ask(questions, mindscapes, "passage")
    assert max(len(window.ids) for window in asked.windows) <= 2048
    for state in embedder.query_states(questions, mindscapes):
        np.testing.assert_allclose(np.linalg.norm(state, axis=1), 1, atol=1e-5)


def edited(tmp_path: Path, old: str, new: str) -> Path:
    folder = tmp_path / "edited"
    shutil.copytree(FIXTURE, folder)
    text = (folder / "manifest.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "manifest.toml").write_text(text.replace(old, new), encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('pooling = "last"', 'pooling = "mean"', "if, and only if, its pooling is last"),
        ("[encoder.decoder]", "[quality]", "unknown|wrong type|if, and only if, its pooling is last"),
        ('template = "{question}', 'template = "{query}', "template that is not"),
        ("{mindscape}", "{summary}", "template that is not"),
        (f' {NODE}"', '"', "template that is not"),
        (f'query_delimiter = "{END}"', 'query_delimiter = ""', "query_delimiter = '', which is not a token"),
        (f'entity_delimiter = "{NODE}"', "entity_delimiter = 7", "which is not text"),
        (f'entity_delimiter = "{NODE}"', "", "lacks the key encoder.decoder.entity_delimiter"),
        (
            f'entity_delimiter = "{NODE}"',
            f'entity_delimiter = "{NODE}"\nend = 1',
            "unknown key encoder.decoder.end",
        ),
        (NODE, "<|no such token|>", r"has no token <\|no such token\|>"),
        (f'passage_delimiter = "{END}"', 'passage_delimiter = "a"', "ends a text in other tokens"),
        ("max_tokens = 2048", "max_tokens = 96", "max_tokens = 96 leaves no room"),
        ("dimensions = 32", "dimensions = 64", "says 64 dimensions, its graph has 32"),
    ],
)
def test_a_wrong_manifest_of_a_decoder_is_refused_with_a_sentence(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    folder = edited(tmp_path, old, new)
    with pytest.raises(BundleError, match=complaint) as caught:
        open_embedder(open_bundle(folder, verify=False), device="cpu")
    assert str(caught.value).endswith(".")


def test_a_graph_that_wants_more_than_a_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Entry(NamedTuple):
        name: str

    class Graph:
        def get_inputs(self) -> list[Entry]:
            return [Entry("input_ids"), Entry("pixel_values")]

    def create(graph: Path, threads: int, providers: list[str]) -> Graph:
        return Graph()

    monkeypatch.setattr("mindscape_models.session.create", create)
    with pytest.raises(BundleError, match="wants the input pixel_values"):
        Session(FIXTURE / "model.onnx", device="cpu")


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Given a search query", "Given a question", True),
        ("delta = 0.5", "delta = 0.25", True),
        ('mindscape = "trained"', 'mindscape = "none"', True),
        (" Here is the summary", " Here is a summary", True),
        ('passage_prefix = ""', 'passage_prefix = "passage: "', False),
        (f'passage_delimiter = "{END}"', 'passage_delimiter = "<|im_end|>"', False),
        ("max_tokens = 2048", "max_tokens = 1024", False),
    ],
)
def test_passage_vectors_are_named_by_the_passage_side_only(
    tmp_path: Path, old: str, new: str, same: bool
) -> None:
    name = open_bundle(FIXTURE, verify=False).encoder_name
    assert (open_bundle(edited(tmp_path, old, new), verify=False).encoder_name == name) is same


def test_states_of_a_decoder_are_float32_and_of_unit_length(
    embedder: OnnxEmbedder, reference: Reference
) -> None:
    states: tuple[Vectors, ...] = embedder.query_states(reference.questions, reference.mindscapes)
    for state in states:
        assert state.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(state, axis=1), 1, atol=1e-5)
