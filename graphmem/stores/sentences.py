"""Vectors of sentences as both stores keep and score them, so that both score alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphmem.model import SentenceVectors, Vector


def to_bytes(sentences: SentenceVectors) -> bytes:
    """Return the sentences' numbers, one byte each, sentence after sentence."""
    return np.ascontiguousarray(sentences, dtype=np.int8).tobytes()


def from_bytes(raw: bytes, dimension: int) -> SentenceVectors | None:
    """Return the sentences of their bytes; ``None`` for bytes that make no whole sentences.

    Examples
    --------
    >>> from_bytes(to_bytes(np.array([[127, -3], [0, 127]], dtype=np.int8)), 2)
    array([[127,  -3],
           [  0, 127]], dtype=int8)
    >>> from_bytes(b"123", 2) is None
    True
    """
    if not raw or not dimension or len(raw) % dimension:
        return None
    return np.frombuffer(raw, dtype=np.int8).reshape(-1, dimension)


def best_cosines(held: Sequence[SentenceVectors | None], vector: Vector) -> list[float | None]:
    """Return for each note the highest cosine of one of its sentences with `vector`.

    ``None`` where a note has no sentences. Every sentence is summed alike, wherever it lies.

    Parameters
    ----------
    held
        The sentences of each note, shape (k, dimension).
    vector
        Of unit length, shape (dimension,).

    Examples
    --------
    >>> east = np.array([1.0, 0.0], dtype=np.float32)
    >>> sentences = np.array([[0, 127], [127, 127]], dtype=np.int8)
    >>> [each and round(each, 4) for each in best_cosines([None, sentences], east)]
    [None, 0.7071]
    """
    given = [sentences for sentences in held if sentences is not None]
    if not given:
        return [None] * len(held)
    rows = np.concatenate(given).astype(np.float32)
    # Squares of whole numbers: their sum is exact. One of zeros, in a damaged file, is far.
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", rows, rows), 1.0))
    cosines = np.clip(np.einsum("ij,j->i", rows, vector) / lengths, -1.0, 1.0)
    starts = np.cumsum([0, *map(len, given[:-1])])
    best = iter(np.maximum.reduceat(cosines, starts).tolist())
    return [None if sentences is None else next(best) for sentences in held]
