"""Texts to checked vectors, with the store's model identity guarded at one place."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.algorithms.sentence_vectors import as_directions
from graphmem.errors import EmbeddingError, EmbeddingMismatch, GraphmemError
from graphmem.model import NO_SENTENCES, ModelIdentity, SentenceVectors, Vector
from graphmem.ports import Embedder, EmbeddingRole

NORM_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be; exact normalisation follows."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Vectors of several texts, shape (n, dimension), and what was wrong with which row."""

    vectors: Vector
    faults: dict[int, str]


class Encoding:
    """The embedder a memory uses, resolved when the first text needs it.

    Parameters
    ----------
    resolve
        Returns the embedder; called once, at the first text.
    stored
        Returns the model the store was built with, or ``None``.
    """

    def __init__(
        self, resolve: Callable[[], Embedder], stored: Callable[[], ModelIdentity | None]
    ) -> None:
        self._resolve = resolve
        self._stored = stored
        self._lock = threading.Lock()
        self._embedder: Embedder | None = None

    @property
    def embedder(self) -> Embedder:
        """The embedder, resolved once."""
        with self._lock:
            if self._embedder is None:
                self._embedder = self._resolve()
            return self._embedder

    def replace(self, embedder: Embedder) -> None:
        """Use another embedder from now on."""
        with self._lock:
            self._embedder = embedder

    @property
    def identity(self) -> ModelIdentity:
        """Name and dimension of the embedder."""
        embedder = self.embedder
        return ModelIdentity(embedder.model_id, embedder.dimension)

    def guard(self) -> ModelIdentity:
        """Return the embedder's identity after comparing it with the store's.

        Raises
        ------
        EmbeddingMismatch
            The store was built with another model; names both and the remedy.
        """
        mine, theirs = self.identity, self._stored()
        if theirs is not None and mine != theirs:
            raise EmbeddingMismatch(
                f"this store was built with {theirs.model_id} ({theirs.dimension} numbers a "
                f"vector) but the memory was opened with {mine.model_id} ({mine.dimension}). "
                "Nothing was changed. Open it with the first model, or call reindex() "
                "(command line: graphmem reindex) to embed every note anew"
            )
        return mine

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Encoded:
        """Return normalised vectors of `texts` and the rows that cannot be used.

        Raises
        ------
        EmbeddingMismatch
            See :meth:`guard`.
        EmbeddingError
            The embedder failed, or returned another number or length of vectors.
        """
        identity = self.guard()
        if not texts:
            return Encoded(np.zeros((0, identity.dimension), np.float32), {})
        return encoded_by(self.embedder, texts, role)

    def encode_one(self, text: str, *, role: EmbeddingRole = "note") -> Vector:
        """Return the vector of one text, shape (dimension,).

        Raises
        ------
        EmbeddingError
            As :meth:`encode`, or the vector is zero or not finite.
        """
        encoded = self.encode([text], role=role)
        if encoded.faults:
            raise EmbeddingError(f"no usable vector for the text: {encoded.faults[0]}")
        vector: Vector = encoded.vectors[0]
        return vector

    def encode_sentences(self, sentences: Sequence[str]) -> SentenceVectors:
        """Return the vectors of a note's sentences; those that have no usable one are left out.

        Raises
        ------
        EmbeddingError, EmbeddingMismatch
            As :meth:`encode`.
        """
        if not sentences:
            return NO_SENTENCES
        encoded = self.encode(sentences)
        usable = [row for row in range(len(sentences)) if row not in encoded.faults]
        return as_directions(encoded.vectors[usable])


def encoded_by(embedder: Embedder, texts: Sequence[str], role: EmbeddingRole) -> Encoded:
    """Return what an embedder makes of `texts`, checked.

    Raises
    ------
    EmbeddingError
        It raised an error of its own, or see :func:`checked_vectors`.
    """
    try:
        raw = embedder.encode(texts, role=role)
    except GraphmemError:
        raise
    except Exception as error:
        raise EmbeddingError(
            f"the embedder {embedder.model_id} failed with {type(error).__name__}: {error}. "
            "Nothing was stored"
        ) from error
    return checked_vectors(raw, len(texts), embedder.dimension)


def checked_vectors(raw: object, count: int, dimension: int) -> Encoded:
    """Return what an embedder gave as float32 of unit length, faulty rows named.

    Raises
    ------
    EmbeddingError
        Not an array of shape (count, dimension).
    """
    try:
        vectors = np.array(raw, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(
            f"the embedder did not return vectors of one length {dimension}; nothing was stored"
        ) from error
    if vectors.shape != (count, dimension):
        raise EmbeddingError(
            f"the embedder returned an array of shape {vectors.shape} for {count} texts; "
            f"expected ({count}, {dimension}). Nothing was stored"
        )
    finite = np.asarray(np.isfinite(vectors).all(axis=1))
    vectors[~finite] = 0.0
    norms = np.linalg.norm(vectors, axis=1)
    faults = {
        int(row): "its vector is all zeros" if finite[row] else "its vector is not finite"
        for row in np.flatnonzero(norms < np.finfo(np.float32).tiny)
    }
    uneven = (np.abs(norms - 1.0) > NORM_TOLERANCE) & (norms > 0)
    vectors[uneven] /= norms[uneven, None]
    return Encoded(vectors, faults)
