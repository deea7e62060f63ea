"""The ONNX graph of a BERT sentence encoder, built from its official weights.

``onnx`` is needed here only, once per machine: the finished graph is cached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

GRAPH_VERSION = 2
"""Counts the changes of this file that change the graph; part of the cached file's name."""

Weights = Mapping[str, NDArray[Any]]

_OPSET = 20
_IR_VERSION = 9


@dataclass(frozen=True, slots=True)
class BertShape:
    """The hyper-parameters that the weights alone do not tell."""

    layers: int
    heads: int
    epsilon: float


def sentence_encoder(weights: Weights, shape: BertShape) -> ModelProto:
    """Return the graph: embeddings, transformer layers, masked mean pool, L2 normalisation.

    Parameters
    ----------
    weights
        Tensors under the names of the ``BertModel`` checkpoint, float32.
    shape
        Layers, heads and the epsilon of the layer normalisations.

    Returns
    -------
    ModelProto
        Inputs ``input_ids`` and ``attention_mask``, int64 of shape (batch, length); output
        ``embedding``, float32 of shape (batch, dimension), rows of norm 1.

    References
    ----------
    Devlin et al. 2019, "BERT"; Reimers and Gurevych 2019, "Sentence-BERT" (mean pooling).
    The attention is onnxruntime's own fused operator.
    """
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    mask = graph.op("Cast", "attention_mask", to=TensorProto.INT32)
    hidden = _embeddings(graph, shape)
    for layer in range(shape.layers):
        hidden = _layer(graph, hidden, mask, f"encoder.layer.{layer}", shape)
    pooled = _mean_pool(graph, hidden)
    graph.op("LpNormalization", pooled, output="embedding", axis=-1, p=2)
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])
        for name in ("input_ids", "attention_mask")
    ]
    dimension = weights["embeddings.LayerNorm.weight"].shape[0]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", dimension])
    return helper.make_model(
        helper.make_graph(graph.nodes, "sentence_encoder", inputs, [output], graph.initializers),
        opset_imports=[helper.make_opsetid("", _OPSET), helper.make_opsetid("com.microsoft", 1)],
        ir_version=_IR_VERSION,
        producer_name="graphmem",
    )


@dataclass(slots=True)
class _Graph:
    """Nodes and initializers under construction; values are referred to by name."""

    weights: Weights
    nodes: list[NodeProto] = field(default_factory=list)
    initializers: list[TensorProto] = field(default_factory=list)

    def op(
        self, kind: str, *inputs: str, output: str = "", domain: str = "", **attributes: Any
    ) -> str:
        from onnx import helper

        name = output or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], domain=domain, **attributes))
        return name

    def constant(self, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        name = f"constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(self.weights[name])

    def dense(self, hidden: str, name: str) -> str:
        product = self.op("MatMul", hidden, self.constant(self.weights[f"{name}.weight"].T))
        return self.op("Add", product, self.weight(f"{name}.bias"))

    def normalised(self, hidden: str, name: str, epsilon: float) -> str:
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.op("LayerNormalization", hidden, scale, bias, axis=-1, epsilon=epsilon)


def _embeddings(graph: _Graph, shape: BertShape) -> str:
    words = graph.op("Gather", graph.weight("embeddings.word_embeddings.weight"), "input_ids")
    length = graph.op("Shape", "input_ids", start=1, end=2)
    positions = graph.op(
        "Slice",
        graph.weight("embeddings.position_embeddings.weight"),
        graph.constant(np.zeros(1, np.int64)),
        length,
    )
    segment = graph.constant(graph.weights["embeddings.token_type_embeddings.weight"][0])
    summed = graph.op("Add", graph.op("Add", words, positions), segment)
    return graph.normalised(summed, "embeddings.LayerNorm", shape.epsilon)


def _layer(graph: _Graph, hidden: str, mask: str, name: str, shape: BertShape) -> str:
    attended = graph.dense(
        _attention(graph, hidden, mask, f"{name}.attention.self", shape.heads),
        f"{name}.attention.output.dense",
    )
    hidden = graph.normalised(
        graph.op("Add", hidden, attended), f"{name}.attention.output.LayerNorm", shape.epsilon
    )
    widened = graph.op("Gelu", graph.dense(hidden, f"{name}.intermediate.dense"))
    narrowed = graph.dense(widened, f"{name}.output.dense")
    return graph.normalised(
        graph.op("Add", hidden, narrowed), f"{name}.output.LayerNorm", shape.epsilon
    )


def _attention(graph: _Graph, hidden: str, mask: str, name: str, heads: int) -> str:
    parts = [f"{name}.{part}" for part in ("query", "key", "value")]
    weight = np.concatenate([graph.weights[f"{part}.weight"].T for part in parts], axis=1)
    bias = np.concatenate([graph.weights[f"{part}.bias"] for part in parts])
    return graph.op(
        "Attention",
        hidden,
        graph.constant(weight),
        graph.constant(bias),
        mask,
        domain="com.microsoft",
        num_heads=heads,
    )


def _mean_pool(graph: _Graph, hidden: str) -> str:
    # The sum stands for the mean: they differ by a factor that normalising removes.
    from onnx import TensorProto

    mask = graph.op("Cast", "attention_mask", to=TensorProto.FLOAT)
    column = graph.op("Unsqueeze", mask, graph.constant(np.array([-1])))
    masked = graph.op("Mul", hidden, column)
    return graph.op("ReduceSum", masked, graph.constant(np.array([1])), keepdims=0)
