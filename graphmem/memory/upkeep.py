"""Upkeep: link weights and retention, reindexing, and moving a scope whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TypeAlias

from graphmem.algorithms.importance import (
    link_weight_decayed,
    link_weight_reinforced,
    ranked_importance,
    retention,
)
from graphmem.errors import EmbeddingError, InvalidInput, InvalidQuery, TransferError
from graphmem.memory.adding import Progress
from graphmem.memory.encoding import encoded_by
from graphmem.memory.entry import checked_many, checked_time
from graphmem.memory.note_vectors import embedded_notes
from graphmem.memory.setup import Setup
from graphmem.memory.workspace import terms_of
from graphmem.model import (
    EvolutionEvent,
    Link,
    LinkKind,
    ModelIdentity,
    Note,
    NoteRecord,
    NoteVectors,
    WritePlan,
)
from graphmem.ports import Embedder, ScopeReader

MemoryRecord: TypeAlias = ModelIdentity | NoteRecord | Link | EvolutionEvent
"""One item of a dump: the model first, then notes by id, links by pair, events."""

BATCH = 500
"""Records moved in one transaction."""

UNUSED_DAYS = 90
"""A note never recalled for this long, or as faint as that by its use, may be archived."""

UNIMPORTANT = 0.3
"""Ranked importance below which a faint note is proposed for archiving."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """What `maintain` did: links whose weight moved, and notes it proposes to archive."""

    links_changed: int
    archive_proposals: tuple[str, ...]


def moment(setup: Setup, at: datetime | None) -> datetime:
    """Return `at` in UTC, or the clock's moment."""
    if at is None:
        return setup.now()
    try:
        return checked_time(at, naive=setup.policy.naive_times)
    except InvalidInput as error:
        raise InvalidQuery(f"at {error}") from error


def maintained_weight(link: Link, at: datetime) -> float:
    """Return a link's weight at a moment, from its cosine, its use and its age.

    Computed from the raw cosine each time, never from the weight before: repeating it
    changes nothing.
    """
    confidence = min(max(link.cosine, 0.0), 1.0)
    since = link.last_retrieved_at or link.created_at or at
    days = max(0.0, (at - since).total_seconds() / 86_400)
    return link_weight_decayed(link_weight_reinforced(confidence, link.retrievals), days)


def maintain(setup: Setup, at: datetime) -> Maintenance:
    """Move every link's weight to what its use and age make of it; propose archiving."""
    changed = 0

    def decide(reader: ScopeReader) -> WritePlan:
        nonlocal changed
        moved = [
            replace(link, weight=weight)
            for link in setup.store.all_links(setup.scope)
            if link.kind is LinkKind.RELATED
            if (weight := maintained_weight(link, at)) != link.weight
        ]
        changed = len(moved)
        return WritePlan(reweighted=tuple(moved))

    setup.store.write(setup.scope, decide)
    proposals = tuple(note.id for note in setup.store.notes(setup.scope) if _faint(note, at))
    return Maintenance(changed, proposals)


def _faint(note: Note, at: datetime) -> bool:
    """Whether a note is both forgotten and unimportant."""
    seconds = max(0.0, (at - note.last_accessed_at).total_seconds())
    forgotten = retention(seconds, note.recall_count) < retention(UNUSED_DAYS * 86_400, 0)
    weight = ranked_importance(note.importance, note.recall_count, note.feedback)
    return forgotten and weight < UNIMPORTANT


def reindex(setup: Setup, embedder: Embedder, progress: Progress | None) -> int:
    """Embed every note of the store with `embedder` and make it the store's model."""
    identity = ModelIdentity(embedder.model_id, embedder.dimension)
    done = 0

    def encode(notes: Sequence[Note]) -> NoteVectors:
        nonlocal done
        made = embedded_notes(lambda texts: encoded_by(embedder, texts, "note"), notes)
        for row, fault in made.faults.items():
            raise EmbeddingError(
                f"note {notes[row].id!r} cannot be embedded: {fault}. The old index is kept"
            )
        done += len(notes)
        if progress is not None:
            progress(done, None)
        return made.vectors

    setup.store.replace_model(identity, encode)
    setup.encoding.replace(embedder)
    return done


def dump(setup: Setup, vectors: bool) -> Iterator[MemoryRecord]:
    """Yield everything the scope holds; see ``Memory.dump``."""
    store, scope = setup.store, setup.scope
    model = store.model()
    if model is not None:
        yield model
    for record in store.records(scope):
        yield record if vectors else replace(record, embedding=None, sentences=None)
    yield from store.all_links(scope)
    yield from store.all_events(scope)


def load(setup: Setup, records: Iterable[MemoryRecord], progress: Progress | None) -> int:
    """Store dumped records in this namespace; see ``Memory.load``."""
    model: ModelIdentity | None = None
    done = 0
    iterator = checked_many(records, "records")
    while chunk := list(islice(iterator, BATCH)):
        for item in chunk:
            if isinstance(item, ModelIdentity):
                model = item
            elif not isinstance(item, NoteRecord | Link | EvolutionEvent):
                raise TransferError(
                    f"a record must be a model, note, link or event, not {type(item).__name__}; "
                    f"{done} notes before it were stored"
                )
        _load_chunk(setup, chunk, model)
        done += sum(isinstance(item, NoteRecord) for item in chunk)
        if progress is not None:
            progress(done, None)
    return done


def _load_chunk(setup: Setup, chunk: Sequence[MemoryRecord], model: ModelIdentity | None) -> None:
    notes = [_placed(setup, item) for item in chunk if isinstance(item, NoteRecord)]
    notes, model = _embedded(setup, notes, model)
    setup.store.load(
        setup.scope,
        notes,
        [item for item in chunk if isinstance(item, Link)],
        [item for item in chunk if isinstance(item, EvolutionEvent)],
        model,
    )


def _placed(setup: Setup, record: NoteRecord) -> NoteRecord:
    """Return the record in this memory's namespace, with terms made by this version."""
    note = replace(record.note, namespace=setup.scope.namespace)
    if not setup.scope.allows(note):
        raise TransferError(f"note {note.id!r} is outside this memory's allow-list")
    return replace(record, note=note, terms=terms_of(note))


def _embedded(
    setup: Setup, notes: list[NoteRecord], model: ModelIdentity | None
) -> tuple[list[NoteRecord], ModelIdentity | None]:
    """Embed the notes that came without a vector."""
    bare = [row for row, record in enumerate(notes) if record.embedding is None]
    if not bare:
        return notes, model
    identity = setup.encoding.guard()
    made = embedded_notes(setup.encoding.encode, [notes[row].note for row in bare])
    for position, fault in made.faults.items():
        raise EmbeddingError(f"note {notes[bare[position]].note.id!r}: {fault}")
    vectors = made.vectors
    for row, vector, sentences in zip(bare, vectors.notes, vectors.sentences, strict=True):
        notes[row] = replace(notes[row], embedding=vector, sentences=sentences)
    return notes, identity
