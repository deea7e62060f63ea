"""An embedder for tests: no model, no download, the same vectors everywhere."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import ConfigurationError
from graphmem.model import Vector
from graphmem.ports import EmbeddingRole
from graphmem.providers.windows import well_formed

# Scripts written without spaces count by character, the others by word.
_TOKEN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u9fff\uac00-\ud7af]+")


class HashingEmbedder:
    """Signed counts of hashed tokens, L2-normalised: texts that share words are similar.

    Knows no meaning and no synonyms. It is for tests and trials and is used only where its
    name is given; nothing falls back to it.

    Parameters
    ----------
    dimension
        Length of a vector, at least 8; fewer numbers mean more chance collisions.

    References
    ----------
    Weinberger et al. 2009, "Feature Hashing for Large Scale Multitask Learning".

    Examples
    --------
    >>> embedder = HashingEmbedder()
    >>> a, b, c = embedder.encode(["blue kettle", "the blue kettle", "grey lamp"])
    >>> bool(a @ b > 0.8), bool(abs(a @ c) < 0.2)
    (True, True)
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 8:
            raise ConfigurationError(
                f"HashingEmbedder: dimension must be at least 8, not {dimension}"
            )
        self._dimension = dimension

    @property
    def model_id(self) -> str:
        """``hashing-`` and the dimension."""
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return float32 vectors of shape (len(texts), dimension), each of norm 1."""
        vectors = np.zeros((len(texts), self._dimension))
        for row, text in enumerate(texts):
            clean = unicodedata.normalize("NFKC", well_formed(text)).casefold()
            self._count(vectors[row], _TOKEN.findall(clean))
            if not vectors[row].any():  # no words, or they cancelled each other
                self._count(vectors[row], [clean])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)

    def _count(self, vector: NDArray[np.float64], tokens: Sequence[str]) -> None:
        for token, count in Counter(tokens).items():
            number = _hashed(token)
            vector[(number >> 1) % self._dimension] += count if number & 1 else -count


def _hashed(token: str) -> int:
    return int.from_bytes(
        hashlib.blake2b(token.encode(), digest_size=8, person=b"graphmem").digest()
    )
