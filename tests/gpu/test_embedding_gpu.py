"""The embedder on a GPU: the device it names is the one that works. Skipped where there is none."""

# pyright: reportMissingImports=false
# (onnx belongs to the extra [train])

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from mindscape_models.bundle import open_bundle, shipped_folder
from mindscape_models.embedding import open_embedder
from mindscape_models.session import Session


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not has_driver(), reason="no GPU: libcuda.so.1 is not here")
TEXTS = ["The ferry leaves at six.", "Two lamps were mended. " * 60]


def test_the_shipped_integer_graph_says_cpu_and_gives_the_same_vectors() -> None:
    bundle = open_bundle(shipped_folder() / "all-minilm-l6-v2-int8")
    found = open_embedder(bundle)
    assert found.device == "cpu"
    expected = open_embedder(bundle, device="cpu").encode_passages(TEXTS)
    np.testing.assert_allclose(found.encode_passages(TEXTS), expected, atol=1e-6)


def test_a_float_graph_runs_on_cuda(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="needs the extra [train] to make a graph")
    generator = np.random.default_rng(0)
    tables = [generator.normal(size=size).astype(np.float32) for size in ((100, 64), (64, 64))]
    make = onnx.helper
    floats, whole = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    nodes = [
        make.make_node("Gather", ["table", "input_ids"], ["rows"]),
        make.make_node("MatMul", ["rows", "matrix"], ["product"]),
        make.make_node("Cast", ["attention_mask"], ["mask"], to=floats),
        make.make_node("Unsqueeze", ["mask", "last"], ["column"]),
        make.make_node("Mul", ["product", "column"], ["last_hidden_state"]),
    ]
    inputs = [make.make_tensor_value_info(n, whole, ["b", "t"]) for n in ("input_ids", "attention_mask")]
    output = make.make_tensor_value_info("last_hidden_state", floats, ["b", "t", 64])
    constants = [onnx.numpy_helper.from_array(v, n) for v, n in zip(tables, ("table", "matrix"), strict=True)]
    constants.append(onnx.numpy_helper.from_array(np.array([2], dtype=np.int64), "last"))
    graph = make.make_graph(nodes, "tiny", inputs, [output], constants)
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 18)], ir_version=9)
    path = tmp_path / "tiny.onnx"
    onnx.save(model, str(path))
    ids = generator.integers(0, 100, (3, 7))
    on_gpu = Session(path)
    assert on_gpu.device == "cuda:0"
    expected = Session(path, device="cpu").states(ids, np.ones_like(ids))
    np.testing.assert_allclose(on_gpu.states(ids, np.ones_like(ids)), expected, rtol=1e-2, atol=1e-2)
