"""Embedding: the pipeline against bare onnxruntime, and against sentence-transformers on torch.

The second needs torch, which the product does not. Where this Python has no sentence-transformers, name one
that has: MINDSCAPE_TORCH_PYTHON=PATH, a virtual environment made by

    python -m venv torch && torch/bin/pip install '.[train]' sentence-transformers
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from mindscape_models.batches import Window, batch_arrays, pack
from mindscape_models.bundle import Bundle, open_bundle, shipped_folder
from mindscape_models.embedding import open_embedder
from mindscape_models.session import Session, available_cores
from mindscape_models.tokeniser import Tokeniser
from tests.benchmarks.table import Row, markdown

PASSAGES = 96
ROUNDS = 5


def run() -> list[Row]:
    """The rows of this part."""
    bundle = open_bundle(shipped_folder() / "all-minilm-l6-v2-int8")
    texts = passages(bundle)
    embedder = open_embedder(bundle, device="cpu")
    bare = bare_runs(bundle, texts)
    ours, theirs = in_turns(lambda: timed(lambda: embedder.encode_passages(texts)), lambda: timed(bare))
    share = theirs / ours
    rate = PASSAGES / ours
    rows = [
        Row(
            "embedding pipeline against bare onnxruntime, same batches",
            f"{share:.2f}x ({rate:.0f} passages/s on {available_cores()} threads)",
            ">= 0.9x",
            share >= 0.9,
        )
    ]
    python = torch_python()
    if python is None:
        what = "not measured: needs sentence-transformers (see tests/benchmarks/bench_embedding.py)"
        return [*rows, Row("embedding against sentence-transformers on torch", what, ">= 2x", None)]
    with torch_reference(python, texts) as reference:
        ours, theirs = in_turns(lambda: timed(lambda: embedder.encode_passages(texts)), reference)
    ratio = theirs / ours
    measured = f"{ratio:.2f}x ({PASSAGES / ours:.0f} against {PASSAGES / theirs:.0f} passages/s)"
    return [*rows, Row("embedding against sentence-transformers on torch", measured, ">= 2x", ratio >= 2)]


def passages(bundle: Bundle) -> list[str]:
    """Texts of about 80 to 250 tokens, of words drawn from the model's own vocabulary."""
    vocabulary = Tokenizer.from_file(str(bundle.path("tokenizer.json"))).get_vocab()
    words = sorted(word for word in vocabulary if word.isascii() and word.isalpha())
    generator = np.random.default_rng(0)
    return [" ".join(generator.choice(words, size)) for size in generator.integers(80, 250, PASSAGES)]


def bare_runs(bundle: Bundle, texts: list[str]) -> Callable[[], object]:
    """The same batches as `encode_passages` makes, ready to be run by a session and nothing else."""
    session = Session(bundle.path("model.onnx"), device="cpu")
    windows = Tokeniser(bundle.path("tokenizer.json")).windows(texts, 256)
    tokens = [Window(ids, ()) for each in windows for ids in each]
    batches = [batch_arrays(batch) for batch in pack(tokens, session.batch_tokens)]
    return lambda: [session.states(ids, mask) for ids, mask in batches]


def in_turns(first: Callable[[], float], second: Callable[[], float]) -> tuple[float, float]:
    """Median seconds of both, measured alternately so that other work on the machine meets both."""
    pairs = [(first(), second()) for _ in range(ROUNDS + 1)][1:]
    return statistics.median(one for one, _ in pairs), statistics.median(two for _, two in pairs)


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def torch_python() -> str | None:
    """A Python that has sentence-transformers, or None."""
    if importlib.util.find_spec("sentence_transformers"):
        return sys.executable
    return os.environ.get("MINDSCAPE_TORCH_PYTHON")


@contextmanager
def torch_reference(python: str, texts: list[str]) -> Generator[Callable[[], float]]:
    """A function that has `texts` encoded by torch and returns the seconds."""
    root = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": f"{root / 'models'}{os.pathsep}{root}", "HF_HUB_OFFLINE": "1"}
    command = [python, "-m", "tests.benchmarks.torch_reference"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        stdin, stdout = process.stdin, process.stdout

        def ask(line: str) -> str:
            stdin.write(line + "\n")
            stdin.flush()
            return stdout.readline().strip()

        if ask(json.dumps(texts)) != "ready":
            raise RuntimeError(f"{python} cannot run sentence-transformers.")
        yield lambda: float(ask("again"))
        stdin.close()


if __name__ == "__main__":
    print(markdown(run()))
