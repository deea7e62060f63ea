"""How the vectors of a note and of its sentences lie in the properties of its ``:NoteVectors``."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphmem.model import NoteRecord, SentenceVectors, Vector
from graphmem.stores.neo4j.schema import SENTENCES
from graphmem.stores.sentences import from_bytes, to_bytes


def vector_of(embedding: list[float]) -> Vector:
    """Return a stored embedding, shape (dimension,), float32."""
    return np.array(embedding, dtype=np.float32)


def sentences_sent(sentences: SentenceVectors | None) -> bytes | None:
    """Return the vectors of a note's sentences as a property; no sentences are no property."""
    return None if sentences is None or not len(sentences) else to_bytes(sentences)


def sentences_of(stored: bytes | list[int] | None, dimension: int) -> SentenceVectors | None:
    """Return the vectors of a note's sentences; a Cypher script brings them as whole numbers."""
    if stored is None:
        return None
    raw = stored if isinstance(stored, bytes) else np.array(stored, dtype=np.int8).tobytes()
    return from_bytes(raw, dimension)


def vector_properties(slot: str, record: NoteRecord, *, replacing: bool = False) -> dict[str, Any]:
    """Return the properties of the note's ``:NoteVectors``: those it comes with vectors for.

    When it is `replacing` a stored note, what it comes without is taken away.
    """
    vector, sentences = record.embedding, record.sentences
    found: dict[str, Any] = {}
    if vector is not None or replacing:
        found[slot] = None if vector is None else vector.tolist()
    if sentences is not None or replacing:
        found[SENTENCES[slot]] = sentences_sent(sentences)
    return found


def listed_vectors(slot: str, record: NoteRecord) -> dict[str, list[Any]]:
    """Return the same as numbers, for files that hold no bytes."""
    return {
        name: np.frombuffer(each, dtype=np.int8).tolist() if isinstance(each, bytes) else each
        for name, each in vector_properties(slot, record).items()
        if each is not None
    }
