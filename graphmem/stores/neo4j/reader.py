"""What a write may read: consistent, because its transaction holds the namespace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from neo4j import ManagedTransaction

from graphmem.model import (
    EvolutionEvent,
    Link,
    ModelIdentity,
    Neighbour,
    Note,
    NoteFilter,
    Scope,
    Vector,
)
from graphmem.stores.neo4j.connection import run
from graphmem.stores.neo4j.rows import event_of, link_of, note_of
from graphmem.stores.neo4j.scope import Visibility, scope_parameters
from graphmem.stores.neo4j.vector_rows import vector_of
from graphmem.stores.neo4j.vectors import NamespaceState, VectorCopies


class TransactionReader:
    """The :class:`graphmem.ports.ScopeReader` of one Neo4j transaction."""

    def __init__(
        self,
        transaction: ManagedTransaction,
        scope: Scope,
        state: NamespaceState,
        copies: VectorCopies,
    ) -> None:
        self._ask = partial(run, transaction)
        self._scope = scope
        self._state = state
        self._copies = copies

    def model(self) -> ModelIdentity | None:
        """Return the model the store was built with."""
        return self._state.model

    def notes(self, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return the notes of these ids the scope may see."""
        rows = self._ask("notes_by_id", ids=list(ids), **scope_parameters(self._scope))
        notes = [note_of(self._scope.namespace, row["note"]) for row in rows]
        return {note.id: note for note in notes}

    def taken(self, ids: Sequence[str]) -> frozenset[str]:
        """Return which ids exist in the namespace."""
        rows = self._ask("taken_ids", ids=list(ids), namespace=self._scope.namespace)
        return frozenset(row["id"] for row in rows)

    def nearest(
        self, vectors: Vector, limit: int, at_least: float = -1.0
    ) -> tuple[tuple[Neighbour, ...], ...]:
        """Return for each row of `vectors` the `limit` notes of highest raw cosine."""
        # This transaction counted itself already and has written nothing yet.
        committed = replace(self._state, writes=self._state.writes - 1)
        seen = Visibility.of(self._scope, NoteFilter())
        return self._copies.nearest(self._ask, committed, seen, vectors, limit, at_least)

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        """Return the stored vectors of those ids that have one."""
        rows = self._ask("vectors_by_id", ids=list(ids), **scope_parameters(self._scope))
        return {row["id"]: vector_of(row["embedding"]) for row in rows}

    def links(self, ids: Sequence[str]) -> tuple[Link, ...]:
        """Return the stored links with at least one end in `ids`, by (pair, kind)."""
        rows = self._ask("links_of_notes", ids=list(ids), **scope_parameters(self._scope))
        return tuple(link_of(row["link"]) for row in rows)

    def events(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        """Return the events of these notes."""
        rows = self._ask("events_of_notes", ids=list(ids), **scope_parameters(self._scope))
        return tuple(event_of(row["event"]) for row in rows)

    def triggered(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        """Return the events these notes triggered in others."""
        rows = self._ask("events_triggered", ids=list(ids), **scope_parameters(self._scope))
        return tuple(event_of(row["event"]) for row in rows)

    def of_source(self, source_id: str) -> tuple[str, ...]:
        """Return the ids of the scope's notes of one source."""
        rows = self._ask("notes_of_source", source_id=source_id, **scope_parameters(self._scope))
        return tuple(row["id"] for row in rows)
