"""The ONNX graph against the formulas written out in numpy, on small random weights."""

import math

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from graphmem.providers.bert_graph import BertShape, sentence_encoder

SHAPE = BertShape(layers=2, heads=2, epsilon=1e-12)
DIMENSION, INNER, WORDS, LONGEST = 8, 16, 40, 12

Array = NDArray[np.float64]


def random_weights() -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(5)
    shapes = {
        "embeddings.word_embeddings.weight": (WORDS, DIMENSION),
        "embeddings.position_embeddings.weight": (LONGEST, DIMENSION),
        "embeddings.token_type_embeddings.weight": (2, DIMENSION),
        **norm_shapes("embeddings.LayerNorm"),
    }
    for layer in range(SHAPE.layers):
        name = f"encoder.layer.{layer}"
        for part in ("query", "key", "value"):
            shapes |= dense_shapes(f"{name}.attention.self.{part}", DIMENSION, DIMENSION)
        shapes |= dense_shapes(f"{name}.attention.output.dense", DIMENSION, DIMENSION)
        shapes |= dense_shapes(f"{name}.intermediate.dense", INNER, DIMENSION)
        shapes |= dense_shapes(f"{name}.output.dense", DIMENSION, INNER)
        shapes |= norm_shapes(f"{name}.attention.output.LayerNorm")
        shapes |= norm_shapes(f"{name}.output.LayerNorm")
    return {name: rng.normal(0, 0.6, shape).astype(np.float32) for name, shape in shapes.items()}


def dense_shapes(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def norm_shapes(name: str) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (DIMENSION,), f"{name}.bias": (DIMENSION,)}


class NumpyBert:
    """The published formulas, one text at a time, without padding, in double precision."""

    def __init__(self, weights: dict[str, NDArray[np.float32]]) -> None:
        self.weights = {name: value.astype(np.float64) for name, value in weights.items()}

    def embed(self, ids: list[int]) -> Array:
        w = self.weights
        hidden = (
            w["embeddings.word_embeddings.weight"][ids]
            + w["embeddings.position_embeddings.weight"][: len(ids)]
            + w["embeddings.token_type_embeddings.weight"][0]
        )
        hidden = self.norm(hidden, "embeddings.LayerNorm")
        for layer in range(SHAPE.layers):
            hidden = self.layer(hidden, f"encoder.layer.{layer}")
        mean = hidden.mean(axis=0)
        return np.asarray(mean / np.linalg.norm(mean))

    def layer(self, hidden: Array, name: str) -> Array:
        q, k, v = (
            self.dense(hidden, f"{name}.attention.self.{part}")
            for part in ("query", "key", "value")
        )
        size = DIMENSION // SHAPE.heads
        heads = []
        for head in range(SHAPE.heads):
            at = slice(head * size, (head + 1) * size)
            scores = np.exp(q[:, at] @ k[:, at].T / math.sqrt(size))
            heads.append(scores / scores.sum(axis=1, keepdims=True) @ v[:, at])
        attended = self.dense(np.hstack(heads), f"{name}.attention.output.dense")
        hidden = self.norm(hidden + attended, f"{name}.attention.output.LayerNorm")
        wide = self.dense(hidden, f"{name}.intermediate.dense")
        wide = wide * 0.5 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
        return self.norm(
            hidden + self.dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def dense(self, x: Array, name: str) -> Array:
        return np.asarray(x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"])

    def norm(self, x: Array, name: str) -> Array:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + SHAPE.epsilon)
        return np.asarray(scaled * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"])


@pytest.fixture(scope="module")
def weights() -> dict[str, NDArray[np.float32]]:
    return random_weights()


def test_the_graph_computes_the_published_formulas_for_padded_batches(
    weights: dict[str, NDArray[np.float32]],
) -> None:
    texts = [[2, 7, 11, 3], [2, 3], [2, *range(20, 30), 3]]
    ids = np.zeros((len(texts), LONGEST), np.int64)
    mask = np.zeros_like(ids)
    for row, text in enumerate(texts):
        ids[row, : len(text)], mask[row, : len(text)] = text, 1
    graph = sentence_encoder(weights, SHAPE).SerializeToString()
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    (vectors,) = session.run(["embedding"], {"input_ids": ids, "attention_mask": mask})
    expected = np.vstack([NumpyBert(weights).embed(text) for text in texts])
    assert np.abs(vectors - expected).max() < 1e-5


def test_the_graph_is_a_valid_onnx_model(weights: dict[str, NDArray[np.float32]]) -> None:
    import onnx

    model = sentence_encoder(weights, SHAPE)
    onnx.checker.check_model(model)
    assert [value.name for value in model.graph.input] == ["input_ids", "attention_mask"]
