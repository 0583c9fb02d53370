"""8-bit quantisation of an encoder graph that keeps a text's vector independent of its batch.

Weights are int8 with a scale for each output channel. Activations are quantised while the graph runs, with
a scale for each *token*, where ONNX Runtime's own dynamic quantisation has one scale for the whole tensor,
so that a text's vector depends on its neighbours. Layer norms leave a few channels many times as large as
the others; those are divided down in front of the rounding and the weights multiplied up, which changes
nothing but the rounding error ("smoothing"). What GELU gives is hardly ever below zero, so its zero is a low
byte. Word embeddings are int8 rows with a scale each.
"""

# pyright: reportMissingImports=false
# (onnx belongs to the extra [train]; where types are checked its messages are Any)

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime as ort
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Floats = NDArray[np.float32]
Model = Any
Graph = Any
Node = Any
Tensor = Any

_SMOOTHING = 0.6
"""How much of a channel's size the weights take over (0 none, 1 all): best of 0.3 to 1 on real text."""
_LARGE = 1 << 20
"""Tables with at least this many numbers are worth quantising: the word embeddings, not the positions."""
_GELU_ZERO = 24


def quantise(model: Model, calibration: Sequence[Sequence[int]]) -> Model:
    """An 8-bit copy of a float32 encoder graph, with the same inputs and outputs.

    `calibration` holds token ids; only the largest size of each channel is taken from running them.
    """
    maxima = _channel_maxima(model, calibration)
    quantised = onnx.ModelProto()
    quantised.CopyFrom(model)
    _Rewriter(quantised.graph, maxima).rewrite()
    quantise_embeddings(quantised.graph)
    quantised.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return quantised


def random_tokens(vocabulary: int, first: int, start: int, end: int) -> list[list[int]]:
    """Seeded sequences of 1 to 510 random tokens from `first` on, between the special `start` and `end`.

    As calibration they do as well as real text: cosines to float32 are the same to 0.0001.
    """
    generator = np.random.default_rng(0)
    lengths = [*range(1, 40, 3), 60, 120, 250, 250, 400, 510]
    return [[start, *generator.integers(first, vocabulary, length).tolist(), end] for length in lengths]


def quantise_embeddings(graph: Graph) -> None:
    """Replace each Gather from a large float table by Gather, Cast, Mul over int8 rows and their scales."""
    tables = {tensor.name: tensor for tensor in graph.initializer}
    for node in list(graph.node):
        table = tables.get(node.input[0]) if node.op_type == "Gather" else None
        if table is None or table.data_type != onnx.TensorProto.FLOAT or np.prod(table.dims) < _LARGE:
            continue
        values = numpy_helper.to_array(table)
        largest = np.abs(values).max(axis=1, keepdims=True)
        scales = np.where(largest == 0, 1, largest / 127).astype(np.float32)
        rows = np.rint(values / scales).astype(np.int8)
        ids, out = node.input[1], node.output[0]
        graph.initializer.remove(table)
        graph.initializer.append(numpy_helper.from_array(rows, f"{table.name}_int8"))
        graph.initializer.append(numpy_helper.from_array(scales, f"{table.name}_scale"))
        at = list(graph.node).index(node)
        graph.node.remove(node)
        replacement = [
            helper.make_node("Gather", [f"{table.name}_int8", ids], [f"{out}_int8"]),
            helper.make_node("Gather", [f"{table.name}_scale", ids], [f"{out}_scale"]),
            helper.make_node("Cast", [f"{out}_int8"], [f"{out}_cast"], to=onnx.TensorProto.FLOAT),
            helper.make_node("Mul", [f"{out}_cast", f"{out}_scale"], [out]),
        ]
        for offset, new in enumerate(replacement):
            graph.node.insert(at + offset, new)


class _Input(NamedTuple):
    """How a linear layer's input was rounded."""

    zero: str
    """Name of the byte that stands for 0."""
    smoothing: Floats | None


class _Rewriter:
    """Replaces every MatMul by a constant matrix with its 8-bit form."""

    def __init__(self, graph: Graph, maxima: Mapping[str, Floats]) -> None:
        self._graph = graph
        self._maxima = maxima
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._producers = {name: node for node in graph.node for name in node.output}
        self._nodes: list[Node] = []
        self._inputs: dict[str, _Input] = {}

    def rewrite(self) -> None:
        self._constant("int8_zero", np.array(128, np.uint8))
        self._constant("int8_one", np.array(1, np.float32))
        self._constant("int8_step", np.array(1 / 127, np.float32))
        self._constant("int8_axis", np.array([-1], np.int64))
        # GELU never goes below -0.17, so most of the byte is left for what is above zero.
        self._constant("gelu_zero", np.array(_GELU_ZERO, np.uint8))
        self._constant("gelu_step", np.array(1 / (255 - _GELU_ZERO), np.float32))
        self._constant("gelu_least", np.array(0.17 / _GELU_ZERO, np.float32))
        for node in list(self._graph.node):
            if _is_linear(node, self._constants):
                self._linear(node)
            else:
                self._nodes.append(node)
        del self._graph.node[:]
        self._graph.node.extend(self._nodes)

    def _linear(self, node: Node) -> None:
        source, matrix, out = node.input[0], node.input[1], node.output[0]
        if source not in self._inputs:
            self._inputs[source] = self._quantised_input(source)
        zero, smoothing = self._inputs[source]
        tensor = self._constants[matrix]
        weights = numpy_helper.to_array(tensor)
        rounded, scales = int8_columns(weights if smoothing is None else weights * smoothing[:, None])
        self._graph.initializer.remove(tensor)
        self._constant(f"{matrix}_int8", rounded)
        self._constant(f"{matrix}_scale", scales)
        inputs = [f"{source}_int8", f"{matrix}_int8", "int8_one", f"{matrix}_scale", zero]
        self._add("MatMulIntegerToFloat", inputs, f"{out}_unscaled", domain="com.microsoft")
        self._add("Mul", [f"{out}_unscaled", f"{source}_row"], out)

    def _quantised_input(self, source: str) -> _Input:
        """Nodes that turn `source` into bytes `_int8` with a scale for each token in `_row`."""
        if self._is_gelu(source):
            self._add("ReduceMax", [source, "int8_axis"], f"{source}_max", keepdims=1)
            self._add("Mul", [f"{source}_max", "gelu_step"], f"{source}_step")
            self._add("Max", [f"{source}_step", "gelu_least"], f"{source}_row")
            return self._rounded(source, source, "gelu_zero", None)
        smoothing = None
        values = source
        if self._producers[source].op_type == "LayerNormalization":
            smoothing = self._smoothing_of(source)
            self._constant(f"{source}_smoothing", (1 / smoothing).astype(np.float32))
            values = self._add("Mul", [source, f"{source}_smoothing"], f"{source}_smooth")
        self._add("Abs", [values], f"{source}_abs")
        self._add("ReduceMax", [f"{source}_abs", "int8_axis"], f"{source}_max", keepdims=1)
        self._add("Mul", [f"{source}_max", "int8_step"], f"{source}_row")
        return self._rounded(source, values, "int8_zero", smoothing)

    def _rounded(self, source: str, values: str, zero: str, smoothing: Floats | None) -> _Input:
        self._add("Div", [values, f"{source}_row"], f"{source}_scaled")
        self._add("QuantizeLinear", [f"{source}_scaled", "int8_one", zero], f"{source}_int8")
        return _Input(zero, smoothing)

    def _is_gelu(self, source: str) -> bool:
        """Whether `source` is x * 0.5 * (1 + erf(x / sqrt 2)): an Erf stands a few nodes before it."""
        names = [source]
        for _ in range(4):
            producers = [self._producers[name] for name in names if name in self._producers]
            if any(node.op_type == "Erf" for node in producers):
                return True
            names = [name for node in producers for name in node.input]
        return False

    def _smoothing_of(self, source: str) -> Floats:
        readers = [n for n in self._graph.node if n.input[:1] == [source] and _is_linear(n, self._constants)]
        sizes = [np.abs(numpy_helper.to_array(self._constants[n.input[1]])).max(axis=1) for n in readers]
        weights = np.maximum(np.max(sizes, axis=0), 1e-5)
        activations = np.maximum(self._maxima[source], 1e-6)
        factors = activations**_SMOOTHING / weights ** (1 - _SMOOTHING)
        return (factors / np.exp(np.log(factors).mean())).astype(np.float32)

    def _add(self, kind: str, inputs: Sequence[str], output: str, **attributes: object) -> str:
        self._nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def _constant(self, name: str, value: NDArray[np.generic]) -> None:
        self._graph.initializer.append(numpy_helper.from_array(value, name))


def int8_columns(weights: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Weights (inputs, outputs) as int8 with a scale for each output.

    The sizes of two neighbours in a column add up to at most 128: processors with AVX2 but no VNNI add two
    products of a byte and an int8 in 16 bits and would silently saturate beyond that (255 x 128 fits).
    """
    pairs = np.abs(weights).reshape(-1, 2, weights.shape[1]).sum(axis=1)
    scales = (pairs.max(axis=0) / 127).astype(np.float32)
    return np.rint(weights / scales).astype(np.int8), scales


def _is_linear(node: Node, constants: Mapping[str, Tensor]) -> bool:
    return node.op_type == "MatMul" and node.input[1] in constants


def _channel_maxima(model: Model, calibration: Sequence[Sequence[int]]) -> dict[str, Floats]:
    """For the input of every linear layer the largest size each channel had."""
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    names = sorted({node.input[0] for node in model.graph.node if _is_linear(node, constants)})
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    for name in names:
        watched.graph.output.append(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
    session = ort.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    maxima = {name: np.zeros(0, np.float32) for name in names}
    for tokens in calibration:
        ids = np.array([tokens], dtype=np.int64)
        feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        for name, output in zip(names, session.run(names, feeds), strict=True):
            value = np.asarray(output, dtype=np.float32)
            largest = np.abs(value).reshape(-1, value.shape[-1]).max(axis=0)
            maxima[name] = np.maximum(maxima[name], largest) if maxima[name].size else largest
    return maxima
