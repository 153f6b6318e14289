"""Write a BERT sentence encoder as an ONNX graph.

In: the weights by their usual names, and the model's configuration.  Out: an ONNX model.
Always: inputs `input_ids` and `attention_mask` (batch × length), output `sentence_embedding`: the mean over the tokens that the
mask keeps, scaled to length 1.

Built for int8, it computes the same. In int8 the whole input of a matrix product has one scale, so a channel ten times as large as the others leaves these three bits less.
Dividing each channel by a factor, and multiplying its row of the weights by it, moves a part of the difference into the weights (SmoothQuant, Xiao et al. 2023).
The input of the second product of a feed-forward layer is far larger for some tokens: there, each token is also divided by its largest channel,
and its product multiplied by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.generic]

_OPSET = 17
_MOVED = 0.6  # share of the difference between channels that is moved into the weights; from .5 to .65 the vectors are about as near to those in floats
_LEAST = 0.05  # the least divisor of a token
_MASKED = -10000.0  # added to the attention of padding; large against any score, small enough for float16


@dataclass(frozen=True, slots=True)
class Shape:
    """The hyperparameters of a BERT that cannot be read from its weights."""

    layers: int
    heads: int
    hidden: int
    epsilon: float


class _Graph:
    """Nodes and constants in the order in which they are made; each method gives the name of its result."""

    def __init__(self, weights: Mapping[str, Array], sizes: Mapping[str, Array]) -> None:
        self.weights, self.sizes = weights, sizes
        self.factors: dict[str, NDArray[np.float32]] = {}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: dict[str, onnx.TensorProto] = {}

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, value: Array, name: str = "") -> str:
        name = name or f"constant_{len(self.constants)}"
        self.constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def number(self, value: float) -> str:
        return self.constant(np.array(value, dtype=np.float32))

    def shape(self, *sizes: int) -> str:
        return self.constant(np.array(sizes, dtype=np.int64))

    def weight(self, name: str) -> str:
        return name if name in self.constants else self.constant(self.weights[name], name)

    def even(self, x: str, *names: str) -> str:
        """Divide each channel by its factor, for products with these weights."""
        if not self.sizes:
            return x
        largest = np.max([np.abs(self.weights[f"{name}.weight"]).max(axis=0) for name in names], axis=0)
        factors = _factors(self.sizes[f"{names[0]}.weight"], largest)
        self.factors |= dict.fromkeys(names, factors)
        return self.op("Mul", x, self.constant(1 / factors))

    def linear(self, x: str, name: str, by: str = "") -> str:
        """`by`: what its input was divided by."""
        weight = np.multiply(self.weights[f"{name}.weight"], self.factors.get(name, np.float32(1)))
        product = self.op("MatMul", x, self.constant(weight.T, f"{name}.weight"))
        return self.op("Add", self.op("Mul", product, by) if by else product, self.weight(f"{name}.bias"))

    def norm(self, x: str, name: str, epsilon: float) -> str:
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", x, scale, bias, axis=-1, epsilon=epsilon)


def encoder(weights: Mapping[str, Array], shape: Shape, sizes: Mapping[str, Array] | None = None) -> onnx.ModelProto:
    """Build the whole encoder; `sizes`: of the channels that go into each product (`calibrate`), for one that will be int8."""
    graph = _Graph(weights, sizes or {})
    x = _embed(graph, shape)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    spread = graph.op("Unsqueeze", mask, graph.shape(1, 2))
    penalty = graph.op("Mul", graph.op("Sub", graph.number(1.0), spread), graph.number(_MASKED))
    for layer in range(shape.layers):
        x = _layer(graph, x, penalty, f"encoder.layer.{layer}", shape)
    _pool(graph, x, mask)
    size: Sequence[str] = ("batch", "length")
    inputs = [helper.make_tensor_value_info(n, TensorProto.INT64, size) for n in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("sentence_embedding", TensorProto.FLOAT, ["batch", shape.hidden])
    body = helper.make_graph(graph.nodes, "encoder", inputs, [output], list(graph.constants.values()))
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model


def _embed(graph: _Graph, shape: Shape) -> str:
    words = graph.op("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    # There is one sentence at a time, so every token is of type 0 and its row is part of the positions.
    kinds = graph.weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.constant(graph.weights["embeddings.position_embeddings.weight"] + kinds, "positions")
    length = graph.op("Gather", graph.op("Shape", "input_ids"), graph.shape(1))
    places = graph.op("Slice", table, graph.shape(0), length, graph.shape(0))
    return graph.norm(graph.op("Add", words, places), "embeddings.LayerNorm", shape.epsilon)


def _layer(graph: _Graph, x: str, penalty: str, name: str, shape: Shape) -> str:
    dense = f"{name}.attention.output.dense"
    mixed = _attend(graph, x, penalty, f"{name}.attention.self", shape)
    attended = graph.linear(graph.even(mixed, dense), dense)
    x = graph.norm(graph.op("Add", attended, x), f"{name}.attention.output.LayerNorm", shape.epsilon)
    outer = _feed_forward(graph, x, f"{name}.intermediate.dense", f"{name}.output.dense")
    return graph.norm(graph.op("Add", outer, x), f"{name}.output.LayerNorm", shape.epsilon)


def _attend(graph: _Graph, x: str, penalty: str, name: str, shape: Shape) -> str:
    width = shape.hidden // shape.heads
    even = graph.even(x, *(f"{name}.{part}" for part in ("query", "key", "value")))

    def heads(part: str, order: list[int]) -> str:
        split = graph.op("Reshape", graph.linear(even, f"{name}.{part}"), graph.shape(0, 0, shape.heads, width))
        return graph.op("Transpose", split, perm=order)

    query, value = heads("query", [0, 2, 1, 3]), heads("value", [0, 2, 1, 3])
    key = heads("key", [0, 2, 3, 1])
    scores = graph.op("Mul", graph.op("MatMul", query, key), graph.number(width**-0.5))
    weights = graph.op("Softmax", graph.op("Add", scores, penalty), axis=-1)
    mixed = graph.op("Transpose", graph.op("MatMul", weights, value), perm=[0, 2, 1, 3])
    return graph.op("Reshape", mixed, graph.shape(0, 0, shape.hidden))


def _feed_forward(graph: _Graph, x: str, first: str, second: str) -> str:
    inner = _gelu(graph, graph.linear(graph.even(x, first), first))
    if not graph.sizes:
        return graph.linear(inner, second)
    even = graph.even(inner, second)
    # Hardly any value is below 0, so the largest value is also the largest in magnitude.
    top = graph.op("Max", graph.op("ReduceMax", even, axes=[-1]), graph.number(_LEAST))
    return graph.linear(graph.op("Div", even, top), second, by=top)


def _gelu(graph: _Graph, x: str) -> str:
    # In this form the runtime recognises it and runs it as one kernel.
    bell = graph.op("Erf", graph.op("Div", x, graph.number(2.0**0.5)))
    return graph.op("Mul", graph.op("Mul", x, graph.op("Add", bell, graph.number(1.0))), graph.number(0.5))


def _pool(graph: _Graph, x: str, mask: str) -> None:
    weight = graph.op("Unsqueeze", mask, graph.shape(2))
    total = graph.op("ReduceSum", graph.op("Mul", x, weight), graph.shape(1), keepdims=0)
    # The mean and the sum point the same way, and only the direction counts.
    length = graph.op("ReduceL2", total, axes=[1], keepdims=1)
    unit = graph.op("Div", total, graph.op("Max", length, graph.number(1e-12)))
    graph.nodes.append(helper.make_node("Identity", [unit], ["sentence_embedding"]))


def _factors(sizes: Array, weights: Array) -> NDArray[np.float32]:
    """The divisors of channels: powers of two, which are exact and the same on every machine."""
    logs = _MOVED * np.log2(np.maximum(sizes, 1e-5)) - (1 - _MOVED) * np.log2(
        np.maximum(weights.astype(np.float64), 1e-5)
    )
    found: NDArray[np.float32] = np.ldexp(np.float32(1), np.rint(logs - logs.mean()).astype(np.int64))
    return found
