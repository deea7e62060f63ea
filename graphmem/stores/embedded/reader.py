"""The reads of one scope that a write decides on; the embedded store's plain reads too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from graphmem.stores.agreement import agreed_model
from graphmem.stores.embedded.retrieval import nearest_notes
from graphmem.stores.embedded.session import Session

_CURRENT = NoteFilter()


class EmbeddedReader:
    """Reads one scope of an open file; see :class:`graphmem.ports.ScopeReader`."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._scope = scope

    def model(self) -> ModelIdentity | None:
        """Return the model the store was built with."""
        with self._session.view():
            return self._session.model

    def notes(self, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return the notes of these ids the scope may see, archived ones included."""
        scope = self._scope
        with self._session.shard(scope.namespace) as shard:
            rows = shard.visible(scope, ids)
            return {n.id: n for n, _ in self._session.bodies(shard, scope.namespace, rows)}

    def taken(self, ids: Sequence[str]) -> frozenset[str]:
        """Return which ids exist in the namespace, seen by the scope or not."""
        with self._session.shard(self._scope.namespace) as shard:
            return frozenset(each for each in ids if each in shard.row_of)

    def nearest(
        self,
        vectors: Vector,
        limit: int,
        at_least: float = -1.0,
        where: NoteFilter = _CURRENT,
    ) -> tuple[tuple[Neighbour, ...], ...]:
        """Return for each vector the `limit` notes of highest cosine, by (-cosine, id)."""
        with self._session.shard(self._scope.namespace) as shard:
            if shard.vectors.dimension:
                agreed_model(self._session.model, None, vectors)
            seen = shard.mask(self._scope, where)
            return nearest_notes(shard, seen, vectors, limit, at_least)

    def vectors(self, ids: Sequence[str]) -> Mapping[str, Vector]:
        """Return the stored vectors of those ids that have one."""
        with self._session.shard(self._scope.namespace) as shard:
            rows = shard.visible(self._scope, ids)
            found = ((shard.ids[row], shard.vectors.of(row)) for row in rows)
            return {note_id: vector for note_id, vector in found if vector is not None}

    def links(self, ids: Sequence[str]) -> tuple[Link, ...]:
        """Return the stored links with at least one end in `ids`, by (pair, kind)."""
        with self._session.shard(self._scope.namespace) as shard:
            starts = {shard.ids[row] for row in shard.visible(self._scope, ids)}
            links = (*shard.links.touching(starts), *shard.superseding.touching(starts))
            seen = [link for link in links if len(shard.visible(self._scope, link.pair)) == 2]
            seen.sort(key=lambda link: (link.pair, link.kind))
            return self._session.with_use(shard, seen)

    def events(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        """Return the events of these notes, ordered by (note_id, revision)."""
        with self._session.shard(self._scope.namespace) as shard:
            rows = shard.visible(self._scope, ids)
            return tuple(shard.tables.events_of(shard.keys(rows)) if rows else ())

    def triggered(self, ids: Sequence[str]) -> tuple[EvolutionEvent, ...]:
        """Return the events these notes triggered in others."""
        with self._session.shard(self._scope.namespace) as shard:
            if shard.number is None:
                return ()
            found = shard.tables.triggered(shard.number, dict.fromkeys(ids))
            return tuple(e for e in found if shard.visible(self._scope, (e.note_id,)))

    def of_source(self, source_id: str) -> tuple[str, ...]:
        """Return the ids of the scope's notes of one source, archived included, sorted."""
        with self._session.shard(self._scope.namespace) as shard:
            number = shard.sources.names.numbers.get(source_id)
            if number is None:
                return ()
            rows = shard.sources.rows(number).tolist()
            return tuple(sorted(shard.ids[r] for r in rows if shard.sees(self._scope, r)))
