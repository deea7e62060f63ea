"""Embedding every note anew with another model, while the old vectors stay in force."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from graphmem.model import ModelIdentity, Note, NoteVectors
from graphmem.stores.agreement import checked_pages
from graphmem.stores.embedded.journal import Change
from graphmem.stores.embedded.rows import to_blob
from graphmem.stores.embedded.session import Session
from graphmem.stores.sentences import to_bytes

_PAGE = 256

Embed = Callable[[Sequence[Note]], NoteVectors]


@dataclass(slots=True)
class Embedded:
    """New vectors and sentences by note key, with the revision of the note they are made from."""

    revisions: dict[int, int] = field(default_factory=dict)
    blobs: dict[int, bytes] = field(default_factory=dict)
    sentences: dict[int, bytes] = field(default_factory=dict)


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
            session.tables.sentences.drop()
            session.tables.sentences.put(
                (k, b) for k, b in done.sentences.items() if b and k in existing
            )
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
    made = checked_pages(embed([note for _, note in page]), model, len(page))
    for (key, note), vector, sentences in zip(page, made.notes, made.sentences, strict=True):
        done.revisions[key] = note.revision
        done.blobs[key] = to_blob(vector)
        done.sentences[key] = b"" if sentences is None else to_bytes(sentences)
