"""An embedder with vectors chosen by the test: a test double, never a fallback."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmem.ports import EmbeddingRole


class StubEmbedder:
    """Gives a text the vector of the longest marker it contains.

    A text without a marker gets a random direction that depends on the text alone. Chosen
    vectors are normalised unless they are zero or not finite: what is wrong stays wrong.

    Parameters
    ----------
    vectors
        Marker within the text -> vector of any length.
    dimension
        Length of the vectors of texts without a marker.
    """

    def __init__(
        self,
        vectors: Mapping[str, ArrayLike] | None = None,
        *,
        dimension: int = 8,
        model_id: str | None = None,
    ) -> None:
        self.vectors = dict(vectors or {})
        self.dimension = dimension
        self.model_id = model_id or f"stub-{dimension}"
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> NDArray[np.float32]:
        self.encoded += texts
        rows = [self._vector(text) for text in texts]
        if not rows:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack(rows)

    def _vector(self, text: str) -> NDArray[np.float32]:
        markers = [marker for marker in self.vectors if marker in text]
        if not markers:
            return scattered(text, self.dimension)
        chosen = np.asarray(self.vectors[max(markers, key=len)], dtype=np.float64)
        length = float(np.linalg.norm(chosen))
        if np.isfinite(length) and length > 0:
            chosen = chosen / length
        return chosen.astype(np.float32)


def scattered(text: str, dimension: int) -> NDArray[np.float32]:
    """A random unit vector that is the same for the same text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
    vector = np.random.default_rng(list(digest)).standard_normal(dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def at_cosine(cosine: float, *, dimension: int = 8, axis: int = 1) -> NDArray[np.float64]:
    """A unit vector whose cosine with the first axis is `cosine`, leaning to `axis`."""
    vector = np.zeros(dimension)
    vector[0] = cosine
    vector[axis] = np.sqrt(max(0.0, 1.0 - cosine * cosine))
    return vector
