"""Short ways to say a note, a link, an event and a plan in the contract tests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import numpy as np

from graphmem.model import (
    Candidate,
    CandidateQuery,
    CandidateSet,
    EventKind,
    EvolutionEvent,
    Given,
    Json,
    Link,
    LinkKind,
    ModelIdentity,
    Note,
    NoteRecord,
    NoteWrite,
    Scope,
    SentenceVectors,
    Source,
    Use,
    Vector,
    WritePlan,
    event_id,
    related,
)
from graphmem.ports import NoteStore, ScopeReader

T = TypeVar("T")

DIMENSION = 8
COSINE_TOLERANCE = 1e-6
MODEL = ModelIdentity("stub-8", DIMENSION)
T0 = datetime(2025, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


def unit(seed: int, dimension: int = DIMENSION) -> Vector:
    """A random direction, the same for the same seed."""
    vector = np.random.default_rng(seed).standard_normal(dimension)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def towards(cosine: float, axis: int = 1) -> Vector:
    """A unit vector at this cosine to the first axis."""
    vector = np.zeros(DIMENSION)
    vector[0], vector[axis] = cosine, np.sqrt(1 - cosine**2)
    return vector.astype(np.float32)


EAST = towards(1.0)


def make_note(
    id: str,  # noqa: A002 - the field is called so
    namespace: str,
    *,
    source: str | None = None,
    position: int | None = None,
    author: str | None = None,
    content: str | None = None,
    created_at: datetime = T0,
    last_accessed_at: datetime | None = None,
    tags: tuple[str, ...] = (),
    importance: float = 0.5,
    metadata: dict[str, Json] | None = None,
    archived: bool = False,
    revision: int = 1,
    recall_count: int = 0,
) -> Note:
    return Note(
        id=id,
        namespace=namespace,
        content=content if content is not None else f"note {id}",
        role="user",
        author=author,
        source=None if source is None else Source(source, position=position),
        created_at=created_at,
        keywords=(),
        tags=tags,
        context="",
        importance=importance,
        metadata=metadata or {},
        last_accessed_at=last_accessed_at or created_at,
        recall_count=recall_count,
        revision=revision,
        archived=archived,
    )


def full_note(id: str, namespace: str) -> Note:  # noqa: A002 - the field is called so
    """A note that sets every field to something of its own."""
    return Note(
        id=id,
        namespace=namespace,
        content="Ada prefers aisle seats\nand says so.",
        role="assistant",
        author="Ada Lovelace",
        source=Source("chat-7", revision="r2", position=3, start=10, end=48),
        created_at=T0,
        keywords=("seat", "aisle"),
        tags=("travel", "preference"),
        context="Ada tells how she travels.",
        importance=0.8125,
        metadata={"day": "Monday", "turn": 3, "nested": {"ok": [True, None, 1.5]}},
        last_accessed_at=later(1),
        feedback=-2,
        recall_count=4,
        revision=1,
        content_revision=1,
        archived=False,
        given=Given(
            keywords=("seat",), tags=("travel",), context="c", importance=0.25, created_at=T0
        ),
    )


def new(note: Note, vector: Vector | None = None, terms: Iterable[str] = ()) -> NoteWrite:
    """The first write of a note."""
    return NoteWrite(note, tuple(terms), vector, expected_revision=0)


def change(
    note: Note, vector: Vector | None = None, terms: Iterable[str] = (), **fields: object
) -> NoteWrite:
    """The next revision of a stored note."""
    changed = replace(note, revision=note.revision + 1, **fields)  # type: ignore[arg-type] # fields of Note
    return NoteWrite(changed, tuple(terms), vector, expected_revision=note.revision)


def directions(*seeds: int, dimension: int = DIMENSION) -> SentenceVectors:
    """Random directions as sentences have them, the same for the same seeds."""
    rows = [np.random.default_rng(seed).integers(-127, 128, dimension) for seed in seeds]
    return np.array(rows, dtype=np.int8)


def link(a: str, b: str, cosine: float = 0.8, **fields: object) -> Link:
    return replace(related(a, b, cosine, T0), **fields)  # type: ignore[arg-type] # fields of Link


def follows(from_id: str, to_id: str) -> Link:
    return Link(from_id, to_id, weight=1.0, cosine=1.0, kind=LinkKind.FOLLOWS)


def make_event(note: Note, revision: int, *, trigger: str | None = None) -> EvolutionEvent:
    """An event that says the note got a tag."""
    return EvolutionEvent(
        id=event_id(note.id, revision),
        note_id=note.id,
        kind=EventKind.EVOLVED if trigger else EventKind.REVISED,
        revision=revision,
        at=later(revision),
        proposer="rule:union-1" if trigger else "user",
        before=note.state,
        after=replace(note.state, tags=(*note.tags, "new")),
        trigger_id=trigger,
        similarity=0.9375 if trigger else None,
        linked=(link(note.id, "other", 0.75),),
        unlinked=(link(note.id, "another", 0.5),),
    )


def apply(
    store: NoteStore,
    scope: Scope,
    *writes: NoteWrite,
    links: Sequence[Link] = (),
    unlinks: Sequence[tuple[str, str]] = (),
    unsuperseded: Sequence[tuple[str, str]] = (),
    events: Sequence[EvolutionEvent] = (),
    dropped_events: Sequence[str] = (),
    erased: Sequence[str] = (),
    model: ModelIdentity | None = MODEL,
) -> WritePlan:
    """Write a plan that needs no reads."""
    plan = WritePlan(
        notes=writes,
        links=tuple(links),
        unlinks=tuple(unlinks),
        unsuperseded=tuple(unsuperseded),
        events=tuple(events),
        dropped_events=tuple(dropped_events),
        erased=tuple(erased),
        model=model,
    )
    return store.write(scope, lambda reader: plan)


def put(
    store: NoteStore,
    scope: Scope,
    notes: Mapping[str, tuple[Vector | None, Sequence[str]]],
) -> None:
    """Write notes that are no more than a vector and terms."""
    apply(
        store,
        scope,
        *(
            new(make_note(id_, scope.namespace), vector, terms)
            for id_, (vector, terms) in notes.items()
        ),
    )


def reading(store: NoteStore, scope: Scope, read: Callable[[ScopeReader], T]) -> T:
    """What a write's decision reads; nothing is written."""
    answers: list[T] = []

    def decide(reader: ScopeReader) -> WritePlan:
        answers.append(read(reader))
        return WritePlan()

    store.write(scope, decide)
    return answers[-1]


def use(*ids: str, pairs: Sequence[tuple[str, str]] = (), at: datetime = T0) -> Use:
    return Use(ids, tuple(pairs), at)


# --- what a store holds, comparable -----------------------------------------------------


@dataclass(frozen=True)
class Stored:
    """A record whose equality covers the vectors' bytes and the types in the metadata."""

    note: Note
    metadata: str
    terms: tuple[str, ...]
    embedding: bytes | None
    sentences: bytes | None


def stored(record: NoteRecord) -> Stored:
    return Stored(
        note=record.note,
        metadata=json.dumps(dict(record.note.metadata), sort_keys=True),
        terms=record.terms,
        embedding=None if record.embedding is None else record.embedding.tobytes(),
        sentences=None if record.sentences is None else record.sentences.tobytes(),
    )


@dataclass(frozen=True)
class Snapshot:
    """Everything a scope shows."""

    records: tuple[Stored, ...]
    related: tuple[Link, ...]
    follows: tuple[Link, ...]
    events: tuple[EvolutionEvent, ...]
    model: ModelIdentity | None


def snapshot(store: NoteStore, scope: Scope) -> Snapshot:
    return Snapshot(
        records=tuple(stored(record) for record in store.records(scope)),
        related=tuple(store.all_links(scope)),
        follows=chain(store, scope),
        events=tuple(store.all_events(scope)),
        model=store.model(),
    )


def chain(store: NoteStore, scope: Scope) -> tuple[Link, ...]:
    """The FOLLOWS links that can be walked from a note that is not archived."""
    found = {
        link
        for note in store.notes(scope)
        for link in store.neighbourhood(scope, note.id).links
        if link.kind is LinkKind.FOLLOWS
    }
    return tuple(sorted(found, key=lambda link: link.pair))


def ids(candidates: CandidateSet) -> list[str]:
    return [candidate.note.id for candidate in candidates.candidates]


def by_rank(candidates: CandidateSet, kind: str) -> list[str]:
    """Ids of the seeds of one kind, ``vector_rank`` or ``lexical_rank``, best first."""
    ranks = {getattr(c, kind): c.note.id for c in candidates.candidates}
    ranks.pop(None, None)
    assert sorted(ranks) == list(range(len(ranks)))
    return [ranks[rank] for rank in sorted(ranks)]


def question(vector: Vector = EAST, *terms: str, **fields: object) -> CandidateQuery:
    return CandidateQuery(vector, terms, **fields)  # type: ignore[arg-type] # fields of CandidateQuery


def lexical(*terms: str, **fields: object) -> CandidateQuery:
    """A query that only keywords seed, without expansion unless asked."""
    return question(EAST, *terms, **{"vector_seeds": 0, "expand": 0, **fields})


def nearby(**fields: object) -> CandidateQuery:
    """A query that only the vector seeds, without expansion unless asked."""
    return question(EAST, **{"lexical_seeds": 0, "expand": 0, **fields})


def without_cosines(candidates: CandidateSet) -> CandidateSet:
    return replace(
        candidates,
        candidates=tuple(
            c._replace(cosine=None, sentence_cosine=None) for c in candidates.candidates
        ),
    )


def assert_same_candidates(left: CandidateSet, right: CandidateSet) -> None:
    """Equal in everything; cosines to 1e-6."""
    assert without_cosines(left) == without_cosines(right)
    for a, b in zip(left.candidates, right.candidates, strict=True):
        for ours, theirs in ((a.cosine, b.cosine), (a.sentence_cosine, b.sentence_cosine)):
            assert (ours is None) == (theirs is None)
            if ours is not None and theirs is not None:
                assert abs(ours - theirs) <= COSINE_TOLERANCE


def cosine_of(candidate: Candidate) -> float:
    assert candidate.cosine is not None
    return candidate.cosine
