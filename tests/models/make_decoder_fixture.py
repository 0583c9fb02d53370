"""Make `decoder/`: a tiny random Qwen3 as a bundle, and what torch says of it. Needs the extra `train`.

python tests/models/make_decoder_fixture.py [--out DIR] [--seed N]

The reference is written from the paper (MiA-RAG, Eq. 5 and 11 and Fig. 16), not from our runtime, of which
it imports nothing: one string a query, tokenised by transformers, padded on the left in batches as the model
card asks, its delimiters looked for among the tokens that the mask does not hide.
"""

# pyright: reportMissingImports=false
# (torch, transformers and optimum belong to the extra [train]; where types are checked they are Any)

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from optimum.exporters.onnx import main_export
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers.processors import ByteLevel, Sequence, TemplateProcessing
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3Model

END, NODE = "<|endoftext|>", "<|repo_name|>"
PREFIX = (
    "Instruct: Given a search query with the book's summary, retrieve relevant chunks or helpful entity "
    "summaries from the given context that answer the query\nQuery: "
)
LEAD_IN = (
    "Here is the summary providing possibly useful global information. "
    "Please encode the query based on the summary:"
)
TEMPLATE = f"{{question}} {END} {LEAD_IN} Summary: {{mindscape}} {NODE}"
DIMENSIONS = 32

CASES: list[tuple[str, list[str]]] = [
    ("Who mended the lamps?", ["The keeper writes to the county.", "A ferry leaves at six."]),
    ("Why?", ["The council moves the library to the old school after a long quarrel." * 12]),
    ("谁修好了灯塔的灯?", ["守塔人给县里写信。", "渡轮六点开船。"]),
    ("When did the ferry that the captain bought in 1987 leave Norrby, and who was on it?", ["Bees."]),
    ("Qui a réparé la lampe ? 🎉", ["Le gardien écrit.\n\nDeux lampes."]),
]
PASSAGES = [
    "The ferry leaves at six.",
    "a",
    "今天我们讨论了图书馆的搬迁计划。",
    "Two of the lamps had to be mended before the boats came home, and the keeper wrote to the county. " * 2,
    "def area(radius):\n    return 3.14 * radius ** 2",
]
# As Qwen's tokeniser splits text before its byte pairs.
SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "decoder")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        tokeniser = make_tokeniser(work)
        model = make_model(work, len(tokeniser), options.seed)
        main_export(str(work), output=work / "onnx", task="feature-extraction", library_name="transformers")
        shutil.copy(work / "onnx" / "model.onnx", options.out / "model.onnx")
        shutil.copy(work / "tokenizer.json", options.out / "tokenizer.json")
        found: dict[str, Any] = reference(model, tokeniser)
        np.savez_compressed(options.out / "reference.npz", **found)
    (options.out / "manifest.toml").write_text(manifest(options.out), encoding="utf-8")


def make_tokeniser(work: Path) -> Any:
    """A small byte-pair tokeniser built like that of Qwen3-Embedding, which appends its pad token itself."""
    tokeniser = Tokenizer(models.BPE())
    tokeniser.normalizer = normalizers.NFC()
    tokeniser.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokeniser.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokeniser.train_from_iterator([PREFIX, LEAD_IN, *PASSAGES, *(q for q, _ in CASES)], trainer)
    tokeniser.add_special_tokens([END])
    tokeniser.add_tokens([AddedToken(NODE, normalized=False)])  # not special, as in Qwen's own
    end = tokeniser.token_to_id(END)
    tokeniser.post_processor = Sequence(
        [ByteLevel(trim_offsets=False), TemplateProcessing(single=f"$A {END}", special_tokens=[(END, end)])]
    )
    tokeniser.save(str(work / "tokenizer.json"))
    fast = PreTrainedTokenizerFast(
        tokenizer_file=str(work / "tokenizer.json"), pad_token=END, padding_side="left"
    )
    fast.save_pretrained(work)
    return fast


def make_model(work: Path, vocabulary: int, seed: int) -> Any:
    """Random weights, large enough that every token that is read changes the states plainly."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=vocabulary,
        hidden_size=DIMENSIONS,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        max_position_embeddings=2048,
        initializer_range=0.4,
        attn_implementation="eager",
    )
    model = Qwen3Model(config).float().eval()
    model.save_pretrained(work)
    return model


def reference(model: Any, tokeniser: Any) -> dict[str, NDArray[Any]]:
    """CASES and PASSAGES, their tokens and unit vectors; raises SystemExit if padding changes any."""
    texts = [
        PREFIX + TEMPLATE.format(question=question, mindscape="\n".join(summaries))
        for question, summaries in CASES
    ]
    plain = [f"{PREFIX}{question} " for question, _ in CASES]
    found: dict[str, NDArray[Any]] = {
        "questions": np.array([question for question, _ in CASES]),
        "mindscapes": np.array([json.dumps(summaries) for _, summaries in CASES]),
        "passages": np.array(PASSAGES),
    }
    for name, batch in (("queries", texts), ("plain", plain), ("passages", PASSAGES)):
        found |= {f"{name}_{key}": value for key, value in states(model, tokeniser, batch).items()}
        for number, text in enumerate(batch):
            for key, value in states(model, tokeniser, [text]).items():
                if key not in ("ids", "mask") and not np.allclose(
                    value[0], found[f"{name}_{key}"][number], atol=2e-5
                ):
                    raise SystemExit(f"{key} of {text!r} depends on its padding.")
    mixed = 0.5 * found["queries_first_end"] + 0.5 * found["queries_last"]
    found["queries_fused"] = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return found


def states(model: Any, tokeniser: Any, texts: list[str]) -> dict[str, NDArray[Any]]:
    """What stands at the first END, at NODE where there is one, and at the last token; and the tokens."""
    batch = tokeniser(texts, padding=True, return_tensors="pt")
    with torch.inference_mode():
        hidden = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).last_hidden_state
    ids, seen = batch["input_ids"], batch["attention_mask"].bool()
    rows = torch.arange(len(texts))
    found = {"last": hidden[:, -1]}
    for name, token in (("first_end", END), ("node", NODE)):
        places = (ids == tokeniser.convert_tokens_to_ids(token)) & seen
        if places.any(dim=1).all():
            found[name] = hidden[rows, places.int().argmax(dim=1)]
    unit = {name: torch.nn.functional.normalize(state, dim=1).numpy() for name, state in found.items()}
    return {**unit, "ids": ids.numpy().astype(np.int16), "mask": seen.numpy()}


def manifest(folder: Path) -> str:
    files = "\n".join(
        f'[[files]]\npath = "{path.name}"\nsha256 = "{hashlib.sha256(path.read_bytes()).hexdigest()}"\n'
        f"bytes = {path.stat().st_size}\n"
        for path in (folder / "model.onnx", folder / "tokenizer.json")
    )
    return f"""\
# Written by: python tests/models/make_decoder_fixture.py
format = 1
name = "tiny-random-qwen3"
kind = "embedder"
licence = "Apache-2.0"

{files}
[provenance]
model = "random weights"

[encoder]
graph = "model.onnx"
tokeniser = "tokenizer.json"
pooling = "last"
dimensions = {DIMENSIONS}
max_tokens = 2048
passage_prefix = ""
query_prefix = {json.dumps(PREFIX)}
mindscape = "trained"
delta = 0.5

[encoder.decoder]
template = {json.dumps(TEMPLATE)}
query_delimiter = "{END}"
entity_delimiter = "{NODE}"
passage_delimiter = "{END}"
"""


if __name__ == "__main__":
    main()
