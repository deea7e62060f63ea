"""A deliberately naive in-memory store: the model the real stores are compared with.

Dictionaries and full scans, no index, no cache, no cleverness; never used outside tests.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from reference_shelf import (
    CURRENT,
    Recall,
    Shelf,
    links_among,
    nearest_in,
    strongest,
)

from graphmem.errors import ClosedMemory, Conflict, EmbeddingError, EmbeddingMismatch
from graphmem.model import (
    CandidateQuery,
    CandidateSet,
    CheckReport,
    EvolutionEvent,
    Link,
    LinkKind,
    ModelIdentity,
    Neighbour,
    Neighbourhood,
    Note,
    NoteFilter,
    NoteRecord,
    NoteVectors,
    NoteWrite,
    Scope,
    SentenceVectors,
    Stats,
    Use,
    Vector,
    WritePlan,
)

Neighbours = tuple[tuple[Neighbour, ...], ...]


class ReferenceReader:
    """The reads a write may make."""

    def __init__(self, store: ReferenceStore, scope: Scope) -> None:
        self._store = store
        self._scope = scope
        self._shelf = store.shelf(scope.namespace)

    def model(self) -> ModelIdentity | None:
        return self._store.model()

    def notes(self, ids: Sequence[str]) -> Mapping[str, Note]:
        return self._store.get(self._scope, ids)

    def taken(self, ids: Sequence[str]) -> frozenset[str]:
        return frozenset(ids) & self._shelf.records.keys()

    def nearest(self, vectors: Vector, limit: int, at_least: float = -1.0) -> Neighbours:
        rows = self._store.nearest(self._scope, vectors, limit)
        return tuple(tuple(n for n in row if n.cosine >= at_least) for row in rows)

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        seen = self._shelf.seen(self._scope)
        found = {id_: seen[id_].embedding for id_ in ids if id_ in seen}
        return {id_: vector.copy() for id_, vector in found.items() if vector is not None}

    def links(self, ids: Sequence[str]) -> tuple[Link, ...]:
        wanted = set(ids)
        return tuple(link for link in self._store.all_links(self._scope) if wanted & set(link.pair))

    def events(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        return tuple(e for e in self._store.all_events(self._scope) if e.note_id in set(ids))

    def triggered(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        return tuple(e for e in self._store.all_events(self._scope) if e.trigger_id in set(ids))

    def of_source(self, source_id: str) -> tuple[str, ...]:
        seen = self._shelf.seen(self._scope, NoteFilter(frozenset({source_id}), archived=True))
        return tuple(seen)


class ReferenceStore:
    """All of :class:`graphmem.ports.NoteStore`, the slow and obvious way."""

    def __init__(self) -> None:
        self._shelves: dict[str, Shelf] = {}
        self._model: ModelIdentity | None = None
        self._lock = threading.RLock()
        self._closed = False

    @property
    def label(self) -> str:
        return "reference"

    def shelf(self, namespace: str) -> Shelf:
        if self._closed:
            raise ClosedMemory("the reference store is closed")
        return self._shelves.get(namespace) or Shelf()

    def model(self) -> ModelIdentity | None:
        self.shelf("")
        return self._model

    # --- writing -----------------------------------------------------------------------

    def write(self, scope: Scope, decide: Callable[[ReferenceReader], WritePlan]) -> WritePlan:
        with self._lock:
            plan = decide(ReferenceReader(self, scope))
            if plan.empty:
                return plan
            shelf = self.shelf(scope.namespace).duplicate()
            model = self._agreed(plan.model, [write.embedding for write in plan.notes])
            self._check_sentences(model, [write.sentences for write in plan.notes])
            for write in plan.notes:
                self._put(shelf, scope, write)
            for pair in plan.unlinks:
                shelf.related.pop(pair, None)
            for pair in plan.unsuperseded:
                shelf.superseding.pop(pair, None)
            shelf.put_links(plan.links)
            for link in plan.reweighted:
                if link.pair in shelf.related:
                    stored = shelf.related[link.pair]
                    shelf.related[link.pair] = replace(stored, weight=link.weight)
            shelf.events |= {event.id: copy.deepcopy(event) for event in plan.events}
            for event_id in plan.dropped_events:
                shelf.events.pop(event_id, None)
            self._erase(shelf, frozenset(plan.erased))
            shelf.check_whole()
            self._shelves[scope.namespace], self._model = shelf, model
            return plan

    def _put(self, shelf: Shelf, scope: Scope, write: NoteWrite) -> None:
        note, stored = copy.deepcopy(write.note), shelf.records.get(write.note.id)
        if note.namespace != scope.namespace:
            raise Conflict(f"note {note.id} is of another namespace; nothing was changed")
        if write.expected_revision != (stored.note.revision if stored else 0):
            raise Conflict(f"note {note.id} is at another revision; nothing was changed")
        vector = None if write.embedding is None else write.embedding.copy()
        if stored is not None:
            vector = stored.embedding if vector is None else vector
            note = replace(
                note,
                recall_count=stored.note.recall_count,
                last_accessed_at=stored.note.last_accessed_at,
            )
        sentences = write.sentences
        if sentences is None and stored is not None:
            sentences = stored.sentences
        if sentences is not None:
            sentences = sentences.copy() if len(sentences) else None
        shelf.records[note.id] = NoteRecord(note, tuple(write.terms), vector, sentences)

    @staticmethod
    def _erase(shelf: Shelf, ids: frozenset[str]) -> None:
        for id_ in ids:
            shelf.records.pop(id_, None)
        for links in (shelf.related, shelf.superseding):
            for pair in [pair for pair in links if ids & set(pair)]:
                del links[pair]
        for event in [event for event in shelf.events.values() if event.note_id in ids]:
            del shelf.events[event.id]

    def _agreed(
        self, model: ModelIdentity | None, vectors: Sequence[Vector | None]
    ) -> ModelIdentity | None:
        agreed = self._model or model
        if model not in (None, agreed):
            raise EmbeddingMismatch(f"built with {agreed}, not {model}; nothing was changed")
        for vector in vectors:
            if vector is not None and agreed is not None and vector.shape != (agreed.dimension,):
                raise EmbeddingMismatch(f"{agreed} and {vector.shape}; nothing was changed")
        return agreed

    @staticmethod
    def _check_sentences(
        model: ModelIdentity | None, given: Sequence[SentenceVectors | None]
    ) -> None:
        for sentences in given:
            if sentences is None or not len(sentences):
                continue
            if model is None or sentences.shape[1] != model.dimension:
                raise EmbeddingMismatch(f"{model} and {sentences.shape}; nothing was changed")
            if sentences.dtype != np.int8 or any(not row.any() for row in sentences):
                raise EmbeddingError("a sentence of zeros; nothing was changed")

    def record_use(self, scope: Scope, use: Use) -> None:
        with self._lock:
            shelf = self.shelf(scope.namespace)
            seen = shelf.seen(scope)
            for id_ in set(use.note_ids) & seen.keys():
                note = seen[id_].note
                at = max(note.last_accessed_at, use.at)
                note = replace(note, recall_count=note.recall_count + 1, last_accessed_at=at)
                shelf.records[id_] = replace(seen[id_], note=note)
            for pair in set(use.pairs) & shelf.related.keys():
                if seen.keys() >= set(pair):
                    link = shelf.related[pair]
                    at = max(link.last_retrieved_at or use.at, use.at)
                    shelf.related[pair] = replace(
                        link, retrievals=link.retrievals + 1, last_retrieved_at=at
                    )

    def load(
        self,
        scope: Scope,
        notes: Sequence[NoteRecord],
        links: Sequence[Link],
        events: Sequence[EvolutionEvent],
        model: ModelIdentity | None,
    ) -> None:
        with self._lock:
            shelf = self.shelf(scope.namespace).duplicate()
            agreed = self._agreed(model, [record.embedding for record in notes])
            self._check_sentences(agreed, [record.sentences for record in notes])
            if any(record.note.namespace != scope.namespace for record in notes):
                raise Conflict("a record is of another namespace; nothing was changed")
            for record in notes:
                spoken = record.sentences is not None and len(record.sentences) > 0
                kept = record if spoken else replace(record, sentences=None)
                shelf.records[record.note.id] = copy.deepcopy(kept)
            shelf.put_links(links)
            shelf.events |= {event.id: copy.deepcopy(event) for event in events}
            shelf.check_whole()
            self._shelves[scope.namespace], self._model = shelf, agreed

    def replace_model(
        self, model: ModelIdentity, pages: Callable[[Sequence[Note]], NoteVectors]
    ) -> None:
        with self._lock:
            self.shelf("")
            shelves = {name: shelf.duplicate() for name, shelf in self._shelves.items()}
            for shelf in shelves.values():
                for id_, record in shelf.records.items():
                    made = pages([copy.deepcopy(record.note)])
                    (sentences,) = made.sentences or (None,)
                    if made.notes.shape != (1, model.dimension):
                        raise EmbeddingError(f"{made.notes.shape} for {model}; nothing was changed")
                    self._check_sentences(model, [sentences])
                    shelf.records[id_] = replace(
                        record, embedding=made.notes[0].copy(), sentences=copy.copy(sentences)
                    )
            self._shelves, self._model = shelves, model

    def drop_namespace(self, namespace: str) -> int:
        with self._lock:
            count = len(self.shelf(namespace).records)
            self._shelves.pop(namespace, None)
            return count

    # --- reading -----------------------------------------------------------------------

    def candidates(self, scope: Scope, query: CandidateQuery) -> CandidateSet:
        shelf = self.shelf(scope.namespace)
        return Recall(shelf, shelf.seen(scope, query.where), query).result()

    def nearest(
        self, scope: Scope, vectors: Vector, limit: int, where: NoteFilter = CURRENT
    ) -> Neighbours:
        seen = self.shelf(scope.namespace).seen(scope, where)
        return tuple(tuple(nearest_in(seen, vector)[:limit]) for vector in vectors)

    def get(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Note]:
        seen = self.shelf(scope.namespace).seen(scope)
        return {id_: copy.deepcopy(seen[id_].note) for id_ in ids if id_ in seen}

    def links(self, scope: Scope, note_id: str, min_weight: float = 0.0) -> tuple[Link, ...]:
        shelf = self.shelf(scope.namespace)
        if note_id not in shelf.seen(scope):
            return ()
        return tuple(strongest(shelf, shelf.seen(scope, CURRENT), note_id, min_weight))

    def neighbourhood(
        self, scope: Scope, note_id: str, hops: int = 1, limit: int = 500
    ) -> Neighbourhood:
        shelf = self.shelf(scope.namespace)
        start = {id_: r for id_, r in shelf.seen(scope).items() if id_ == note_id}
        seen = shelf.seen(scope, CURRENT) | start
        reached, edge = sorted(start), set(start)
        edges = [link.pair for link in (*shelf.related.values(), *shelf.follows(seen))]
        for _ in range(hops):
            edge = {b for a, b in (*edges, *((b, a) for a, b in edges)) if a in edge}
            edge = (edge & seen.keys()) - set(reached)
            reached += sorted(edge)
        kept = sorted(reached[:limit])
        notes = tuple(copy.deepcopy(seen[id_].note) for id_ in kept)
        return Neighbourhood(notes, links_among(shelf, set(kept), 0.0, seen))

    def events(self, scope: Scope, note_id: str) -> tuple[EvolutionEvent, ...]:
        return tuple(event for event in self.all_events(scope) if event.note_id == note_id)

    def event(self, scope: Scope, event_id: str) -> EvolutionEvent | None:
        return next((event for event in self.all_events(scope) if event.id == event_id), None)

    def notes(self, scope: Scope, where: NoteFilter = CURRENT) -> Iterator[Note]:
        seen = self.shelf(scope.namespace).seen(scope, where)
        return (copy.deepcopy(record.note) for record in seen.values())

    def records(self, scope: Scope) -> Iterator[NoteRecord]:
        seen = self.shelf(scope.namespace).seen(scope)
        return (copy.deepcopy(record) for record in seen.values())

    def all_links(self, scope: Scope) -> Iterator[Link]:
        shelf = self.shelf(scope.namespace)
        seen = shelf.seen(scope).keys()
        return (link for link in shelf.stored_links if seen >= set(link.pair))

    def all_events(self, scope: Scope) -> Iterator[EvolutionEvent]:
        shelf = self.shelf(scope.namespace)
        seen = shelf.seen(scope)
        events = [event for event in shelf.events.values() if event.note_id in seen]
        events.sort(key=lambda event: (event.note_id, event.revision))
        return (copy.deepcopy(event) for event in events)

    def namespaces(self) -> tuple[str, ...]:
        self.shelf("")
        return tuple(sorted(name for name, shelf in self._shelves.items() if shelf.records))

    def stats(self, scope: Scope) -> Stats:
        shelf = self.shelf(scope.namespace)
        notes = [record.note for record in shelf.seen(scope).values()]
        ids = {note.id for note in notes}
        return Stats(
            namespace=scope.namespace,
            notes=len(notes),
            archived=sum(note.archived for note in notes),
            related=sum(link.kind is LinkKind.RELATED for link in self.all_links(scope)),
            follows=len(shelf.follows(ids)),
            sources=len({note.source.id for note in notes if note.source is not None}),
            events=len(list(self.all_events(scope))),
            recalls=sum(note.recall_count for note in notes),
            model=self._model,
            schema_version=0,
            store=self.label,
            superseding=sum(link.kind is LinkKind.SUPERSEDES for link in self.all_links(scope)),
        )

    def check(self, scope: Scope, *, repair: bool = False) -> CheckReport:
        stats = self.stats(scope)
        return CheckReport(stats.notes, stats.related, stats.events)

    def close(self) -> None:
        self._closed = True
