"""Embedding every note anew with another model, while the old vectors stay in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from graphmem.errors import EmbeddingError
from graphmem.model import ModelIdentity, Note, Vector
from graphmem.stores.embedded.journal import Change
from graphmem.stores.embedded.rows import to_blob
from graphmem.stores.embedded.session import Session

_PAGE = 256

Embed = Callable[[Sequence[Note]], Vector]


@dataclass(slots=True)
class Embedded:
    """New vectors by note key, with the revision of the note each was made from."""

    revisions: dict[int, int] = field(default_factory=dict)
    blobs: dict[int, bytes] = field(default_factory=dict)


def reindex(session: Session, model: ModelIdentity, embed: Embed) -> None:
    """Change the store's model and all vectors in one step.

    Notes are embedded while others go on reading and writing; what changed meanwhile is
    embedded again under the write lock, together with the exchange of all vectors.
    """
    done = Embedded()
    for page in _pages(session, done):
        _embed(page, model, embed, done)
    with session.writing():
        for page in _pages(session, done):
            _embed(page, model, embed, done)
        with session.applying():
            existing = {key for keys in _keys(session).values() for key in keys}
            session.tables.vectors.drop()
            session.tables.vectors.put((k, b) for k, b in done.blobs.items() if k in existing)
            session.journal.set_model(model)
            session.commit_whole(Change(None, None))


def _keys(session: Session) -> dict[str, list[int]]:
    """Return the keys of all notes by namespace."""
    with session.view():
        found: dict[str, list[int]] = {}
        for _, name in session.tables.namespaces():
            shard = session.loaded(name)
            found[name] = shard.keys(shard.row_of.values())
        return found


def _pages(session: Session, done: Embedded) -> Iterator[list[tuple[int, Note]]]:
    """Return, page by page, the notes with their keys that are new or changed since."""
    for name, keys in _keys(session).items():
        for start in range(0, len(keys), _PAGE):
            with session.shard(name) as shard:
                held = [key for key in keys[start : start + _PAGE] if key in shard.row_of_key]
                rows = [shard.row_of_key[key] for key in held]
                notes = [note for note, _ in session.bodies(shard, name, rows)]
            stale = [
                (key, note)
                for key, note in zip(held, notes, strict=True)
                if done.revisions.get(key) != note.revision
            ]
            if stale:
                yield stale


def _embed(
    page: Sequence[tuple[int, Note]], model: ModelIdentity, embed: Embed, done: Embedded
) -> None:
    vectors = np.asarray(embed([note for _, note in page]), dtype=np.float32)
    if vectors.shape != (len(page), model.dimension) or not np.isfinite(vectors).all():
        raise EmbeddingError(
            f"the embedder gave an array of shape {vectors.shape}, or one that is not finite, "
            f"for {len(page)} notes of {model.dimension} numbers; the old vectors stay in force."
        )
    for (key, note), vector in zip(page, vectors, strict=True):
        done.revisions[key] = note.revision
        done.blobs[key] = to_blob(vector)
