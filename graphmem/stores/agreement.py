"""What both stores refuse alike: another model, and links no store keeps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from graphmem.errors import EmbeddingError, EmbeddingMismatch, InvalidInput
from graphmem.model import Link, LinkKind, ModelIdentity, NoteVectors, SentenceVectors, Vector


def agreed_model(
    stored: ModelIdentity | None, planned: ModelIdentity | None, vectors: Iterable[Vector | None]
) -> ModelIdentity | None:
    """Return the model in force after a write.

    Raises
    ------
    EmbeddingMismatch
        The planned model is not the stored one, or a vector does not fit it.
    EmbeddingError
        A vector is not finite.
    """
    model = stored or planned
    if planned is not None and planned != model:
        raise EmbeddingMismatch(
            f"the store was built with {_named(model)}, not {_named(planned)}; nothing was "
            "changed. Use that model, or reindex."
        )
    given = [vector for vector in vectors if vector is not None]
    dimension = None if model is None else model.dimension
    for vector in given:
        if vector.shape != (dimension,):
            raise EmbeddingMismatch(
                f"a vector of shape {vector.shape} does not fit {_named(model)}; nothing was "
                "changed."
            )
    if given and not np.isfinite(np.stack(given)).all():
        raise EmbeddingError("a vector is not finite; nothing was changed.")
    return model


def check_sentences(model: ModelIdentity | None, given: Iterable[SentenceVectors | None]) -> None:
    """Refuse sentences' vectors that do not fit the model in force.

    Raises
    ------
    EmbeddingMismatch
        They are not of shape (k, dimension).
    EmbeddingError
        One is all zeros, or they are not whole numbers of one byte.
    """
    dimension = 0 if model is None else model.dimension
    for sentences in given:
        if sentences is None or not len(sentences):
            continue
        if sentences.ndim != 2 or sentences.shape[1] != dimension:
            raise EmbeddingMismatch(
                f"sentences of shape {sentences.shape} do not fit {_named(model)}; nothing was "
                "changed."
            )
        if sentences.dtype != np.int8 or not sentences.any(axis=1).all():
            raise EmbeddingError(
                "a sentence's vector is all zeros or not of one byte a number; nothing was changed."
            )


def checked_pages(made: NoteVectors, model: ModelIdentity, count: int) -> NoteVectors:
    """Return what a new model made of `count` notes.

    Raises
    ------
    EmbeddingError
        Not one finite vector of the model's length a note, or sentences that do not fit.
    EmbeddingMismatch
        See :func:`check_sentences`.
    """
    vectors = np.asarray(made.notes, dtype=np.float32)
    if vectors.shape != (count, model.dimension) or not np.isfinite(vectors).all():
        raise EmbeddingError(
            f"the embedder gave an array of shape {vectors.shape}, or one that is not finite, "
            f"for {count} notes of {model.dimension} numbers; the old vectors stay in force."
        )
    sentences = made.sentences or (None,) * count
    if len(sentences) != count:
        raise EmbeddingError(
            f"the embedder gave the sentences of {len(sentences)} notes for {count}; the old "
            "vectors stay in force."
        )
    check_sentences(model, sentences)
    return NoteVectors(vectors, sentences)


def check_kept(link: Link) -> None:
    """Refuse a link that no store keeps as it is.

    Raises
    ------
    InvalidInput
        Neither RELATED in stored order, nor SUPERSEDES between two notes with its reason.
    """
    if link.kind is LinkKind.SUPERSEDES:
        if link.from_id == link.to_id or link.reason is None:
            raise InvalidInput(
                f"link {link.pair} supersedes itself or without a reason; nothing was changed."
            )
    elif link.kind is not LinkKind.RELATED or link.from_id >= link.to_id:
        raise InvalidInput(
            f"link {link.pair} is not a RELATED link in stored order; nothing was changed."
        )


def _named(model: ModelIdentity | None) -> str:
    if model is None:
        return "no model yet"
    return f"{model.model_id} (dimension {model.dimension})"
