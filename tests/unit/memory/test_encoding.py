"""Vectors are checked where they come in: one bad row is named, a bad array is refused."""

import numpy as np
import pytest

from graphmem.errors import EmbeddingError, EmbeddingMismatch
from graphmem.memory.encoding import Encoding, checked_vectors
from graphmem.model import ModelIdentity, Vector
from graphmem.ports import EmbeddingRole


class Fixed:
    """Returns the array it was made with."""

    model_id = "fixed"
    dimension = 2

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.calls = 0

    def encode(self, texts: object, *, role: EmbeddingRole = "note") -> Vector:
        self.calls += 1
        return self.answer  # type: ignore[return-value]  # a broken embedder is the point


def test_vectors_are_normalised() -> None:
    encoded = checked_vectors([[3.0, 4.0], [0.6, 0.8]], 2, 2)
    np.testing.assert_allclose(encoded.vectors, [[0.6, 0.8], [0.6, 0.8]], atol=1e-7)
    assert encoded.vectors.dtype == np.float32
    assert encoded.faults == {}


def test_faulty_rows_are_named_and_the_others_stand() -> None:
    rows = [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0], [1.0, 0.0]]
    encoded = checked_vectors(rows, 4, 2)
    assert set(encoded.faults) == {0, 1, 2}
    assert "zeros" in encoded.faults[0]
    assert "not finite" in encoded.faults[1]
    assert encoded.vectors[3].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("answer", [[[1.0, 0.0]], [[1.0], [1.0]], [[1.0, 0.0], [1.0]], None, "xx"])
def test_an_array_of_the_wrong_shape_is_refused(answer: object) -> None:
    encoding = Encoding(lambda: Fixed(answer), lambda: None)
    with pytest.raises(EmbeddingError):
        encoding.encode(["a", "b"])


def test_another_model_is_refused_before_it_is_asked() -> None:
    embedder = Fixed([[1.0, 0.0]])
    encoding = Encoding(lambda: embedder, lambda: ModelIdentity("other", 3))
    with pytest.raises(EmbeddingMismatch, match=r"other.*3.*fixed.*2.*reindex"):
        encoding.encode_one("a")
    assert embedder.calls == 0


def test_a_single_bad_vector_is_an_error() -> None:
    with pytest.raises(EmbeddingError, match="zeros"):
        Encoding(lambda: Fixed([[0.0, 0.0]]), lambda: None).encode_one("…")
