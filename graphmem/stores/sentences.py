"""Vectors of sentences as both stores keep and score them, so that both score alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from graphmem.model import SentenceVectors, Vector

_Real = TypeVar("_Real", np.float32, np.float64)

_SLACK = np.float32(1e-5)
"""More than float32 sums differ from their exact cosine."""


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

    ``None`` where a note has no sentences. A first pass in float32 finds each note's best, with
    some slack; their cosines are then summed in float64, the same wherever a sentence lies.

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
    rows = np.concatenate(given)
    counts = [len(sentences) for sentences in given]
    rough = _cosines(rows.astype(np.float32), vector)
    highest = np.maximum.reduceat(rough, np.cumsum([0, *counts[:-1]]))
    near = np.flatnonzero(rough >= np.repeat(highest, counts) - _SLACK)
    exact = _cosines(rows[near].astype(np.float64), vector.astype(np.float64))
    best = np.full(len(given), -1.0)
    np.maximum.at(best, np.repeat(np.arange(len(given)), counts)[near], exact)
    found = iter(best.tolist())
    return [None if sentences is None else next(found) for sentences in held]


def _cosines(rows: NDArray[_Real], vector: NDArray[_Real]) -> NDArray[np.float64]:
    # Squares of whole numbers: their sum is exact. One of zeros, in a damaged file, is far.
    lengths = np.sqrt(np.maximum(np.einsum("ij,ij->i", rows, rows), 1.0))
    sums = np.einsum("ij,j->i", rows, vector)
    cosines: NDArray[np.float64] = np.clip(sums / lengths, -1.0, 1.0)
    return cosines
