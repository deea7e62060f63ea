"""Nearest notes: exact over a copy of the namespace's vectors, or by the vector index.

The index is approximate, does not know namespaces and does not see a transaction's own
writes. Up to :data:`EXACT_NOTES` notes a namespace's vectors are therefore kept here and
searched exactly; those of a larger one too, once many are asked for together, as a load
does: one product over a block costs a hundredth of as many index lookups. A copy takes in
what was written since, by the namespace's own counter of writes, so that it never answers
from an older state.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from neo4j import Record

from graphmem.errors import EmbeddingMismatch
from graphmem.model import ModelIdentity, Neighbour, Vector, WritePlan
from graphmem.stores.neo4j.schema import model_of
from graphmem.stores.neo4j.scope import Visibility
from graphmem.stores.neo4j.vector_rows import vector_of
from graphmem.stores.vectors import Hits, VectorBlock

Ask = Callable[..., list[Record]]
"""Runs a reading statement of ``cypher/queries`` with parameters, in or out of a transaction."""
Neighbours = tuple[tuple[Neighbour, ...], ...]

EXACT_NOTES = 20_000
"""A namespace of up to so many current notes is searched exactly."""
MOST_EXACT_NOTES = 250_000
"""Beyond so many notes vectors are never kept: 384 MB of 384 numbers each."""
MANY_AT_ONCE = 64
"""So many vectors asked for together pay for reading a large namespace's vectors."""
KEPT_COPIES = 8
OVERFETCH = 5
"""How many times more neighbours the approximate index is asked for."""
LEAST_FETCH = 100
MOST_FETCH = 20_000
ESCALATION = 8


@dataclass(frozen=True, slots=True)
class NamespaceState:
    """Counters that tell whether a copy of the namespace is still right.

    Attributes
    ----------
    epoch
        Changes when the namespace is made anew.
    writes, erasures
        Count transactions that wrote notes, and those that took notes or vectors away.
    changes
        Counts changes of the store's model.
    notes
        Current (not archived) notes.
    """

    epoch: str | None
    writes: int
    erasures: int
    changes: int
    notes: int
    model: ModelIdentity | None
    slot: str


def state_of(row: Record) -> NamespaceState:
    """Return the state of a row of ``lock_namespace`` or ``namespace_state``."""
    return NamespaceState(
        epoch=row["epoch"],
        writes=row["writes"],
        erasures=row["erasures"],
        changes=row["changes"],
        notes=row["notes"],
        model=model_of(row["model_id"], row["dimension"]),
        slot=row["slot"],
    )


class VectorCopies:
    """Copies of the vectors of the namespaces searched last; safe to use from threads."""

    def __init__(self) -> None:
        self._copies: OrderedDict[str, _Copy] = OrderedDict()
        self._lock = threading.Lock()

    def nearest(
        self,
        ask: Ask,
        state: NamespaceState,
        seen: Visibility,
        vectors: Vector,
        limit: int,
        at_least: float = -1.0,
    ) -> Neighbours:
        """Return for each row of `vectors` the `limit` nearest notes that are seen.

        Parameters
        ----------
        ask
            How to read; within a write, its transaction.
        state
            The committed state of the namespace the answer must not be older than.
        vectors
            Shape (n, dimension).
        at_least
            Cosine below which a note is left out.

        Raises
        ------
        EmbeddingMismatch
            The vectors do not have the dimension of the store's model.
        """
        if limit < 1 or state.model is None or state.epoch is None:
            return tuple(() for _ in vectors)
        if vectors.ndim != 2 or vectors.shape[1] != state.model.dimension:
            raise EmbeddingMismatch(
                f"vectors of shape {vectors.shape} do not fit {state.model.model_id} "
                f"(dimension {state.model.dimension}); reindex, or use that model"
            )
        with self._lock:
            if self._pays(state, seen.namespace, len(vectors)):
                copy = self._current(ask, state, seen.namespace, state.model.dimension)
                return copy.nearest(ask, seen, vectors, limit, at_least)
        found = _indexed(ask, state, seen, vectors, limit)
        return tuple(tuple(n for n in row if n.cosine >= at_least) for row in found)

    def wrote(self, before: NamespaceState, namespace: str, plan: WritePlan) -> None:
        """Take in what this process has just committed, instead of reading it back.

        Of what was erased nothing is kept.

        Parameters
        ----------
        before
            The state the write found; its counter of writes names the write.
        plan
            What it applied.
        """
        with self._lock:
            if plan.erased:
                self._copies.pop(namespace, None)
            elif namespace in self._copies:
                self._copies[namespace].follow(before, plan)

    def forget(self, namespace: str) -> None:
        """Keep nothing of a namespace that was dropped."""
        with self._lock:
            self._copies.pop(namespace, None)

    def _pays(self, state: NamespaceState, namespace: str, asked: int) -> bool:
        """Whether to search exactly: a small namespace, one that is here, or many at once."""
        if state.notes > MOST_EXACT_NOTES:
            self._copies.pop(namespace, None)
            return False
        copy = self._copies.get(namespace)
        here = copy is not None and copy.extends_to(state)
        return state.notes <= EXACT_NOTES or here or asked >= MANY_AT_ONCE

    def _current(self, ask: Ask, state: NamespaceState, namespace: str, dimension: int) -> _Copy:
        copy = self._copies.get(namespace)
        if copy is None or not copy.extends_to(state):
            copy = self._copies[namespace] = _Copy(state, dimension)
        self._copies.move_to_end(namespace)
        copy.take_in(ask, state, namespace)
        while len(self._copies) > 1 and self._hold_too_many():
            self._copies.popitem(last=False)
        return copy

    def _hold_too_many(self) -> bool:
        notes = sum(map(len, self._copies.values()))
        return len(self._copies) > KEPT_COPIES or notes > MOST_EXACT_NOTES


class _Copy:
    """The vectors of one namespace as of a state."""

    def __init__(self, state: NamespaceState, dimension: int) -> None:
        # Older than every write: the first update takes in everything.
        self._state = replace(state, writes=-1)
        self._block = VectorBlock(dimension)
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._current = np.zeros(0, dtype=bool)

    def __len__(self) -> int:
        return len(self._ids)

    def extends_to(self, state: NamespaceState) -> bool:
        """Whether notes were only added or changed between the copy's state and this one."""
        return self._state == replace(state, writes=self._state.writes, notes=self._state.notes)

    def take_in(self, ask: Ask, state: NamespaceState, namespace: str) -> None:
        """Read what was written between the copy's state and this one."""
        if self._state.writes >= state.writes:
            return
        changed = ask("vector_changes", namespace=namespace, writes=self._state.writes)
        self._put(
            [row["id"] for row in changed],
            [vector_of(row["embedding"]) for row in changed],
            [not row["archived"] for row in changed],
        )
        self._state = state

    def follow(self, before: NamespaceState, plan: WritePlan) -> None:
        """Take in the plan that was written on top of the copy's state; else leave it."""
        if self._state != replace(before, writes=before.writes - 1, notes=self._state.notes):
            return
        embedded = [write for write in plan.notes if write.embedding is not None]
        self._put(
            [write.note.id for write in embedded],
            [write.embedding for write in embedded if write.embedding is not None],
            [not write.note.archived for write in embedded],
        )
        for write in plan.notes:
            row = self._rows.get(write.note.id)
            if write.embedding is None and row is not None:
                self._current[row] = not write.note.archived
        self._state = before

    def _put(self, ids: Sequence[str], vectors: Sequence[Vector], current: Sequence[bool]) -> None:
        fresh = [each for each in ids if each not in self._rows]
        self._rows.update((each, len(self._ids) + n) for n, each in enumerate(fresh))
        self._ids.extend(fresh)
        self._block.extend(len(fresh))
        if len(self._ids) > len(self._current):
            grown = np.zeros(2 * len(self._ids), dtype=bool)
            grown[: len(self._current)] = self._current
            self._current = grown
        if ids:
            rows = np.array([self._rows[each] for each in ids], dtype=np.intp)
            self._block.put(rows, np.stack(vectors))
            self._current[rows] = current

    def nearest(
        self, ask: Ask, seen: Visibility, vectors: Vector, limit: int, at_least: float = -1.0
    ) -> Neighbours:
        eligible = self._current[: len(self._ids)]
        if not seen.unfiltered:
            eligible = np.zeros(len(self._ids), dtype=bool)
            visible = ask("visible_ids", **seen.parameters)
            eligible[[self._rows[row["id"]] for row in visible if row["id"] in self._rows]] = True
        if not eligible.any():
            return tuple(() for _ in vectors)
        found = self._block.nearest_of_each(vectors, limit, eligible, at_least)
        return tuple(self._ranked(hits, at_least)[:limit] for hits in found)

    def _ranked(self, hits: Hits, at_least: float) -> tuple[Neighbour, ...]:
        neighbours = [
            Neighbour(self._ids[row], cosine)
            for row, cosine in zip(hits.rows.tolist(), hits.cosines.tolist(), strict=True)
            if cosine >= at_least
        ]
        return tuple(sorted(neighbours, key=lambda each: (-each.cosine, each.note_id)))


def _indexed(
    ask: Ask, state: NamespaceState, seen: Visibility, vectors: Vector, limit: int
) -> Neighbours:
    """Ask the index, for more where other namespaces or the filter left too few."""
    found: list[tuple[Neighbour, ...]] = [()] * len(vectors)
    waiting = list(range(len(vectors)))
    fetch = max(OVERFETCH * limit, LEAST_FETCH)
    while waiting:
        rows = ask(
            "nearest_indexed",
            vectors=vectors[waiting].tolist(),
            fetch=fetch,
            limit=limit,
            **seen.parameters,
        )
        for place, neighbours in _by_row(rows).items():
            found[waiting[place]] = neighbours
        waiting = [row for row in waiting if len(found[row]) < limit]
        if fetch >= MOST_FETCH:
            break
        fetch = min(fetch * ESCALATION, MOST_FETCH)
    if waiting:
        _scan(ask, state, seen, vectors, limit, waiting, found)
    return tuple(found)


def _by_row(rows: Sequence[Record]) -> dict[int, tuple[Neighbour, ...]]:
    grouped: dict[int, list[Neighbour]] = {}
    for row in rows:
        grouped.setdefault(row["row"], []).append(Neighbour(row["id"], row["cosine"]))
    return {row: tuple(neighbours) for row, neighbours in grouped.items()}


def _scan(
    ask: Ask,
    state: NamespaceState,
    seen: Visibility,
    vectors: Vector,
    limit: int,
    waiting: Sequence[int],
    found: list[tuple[Neighbour, ...]],
) -> None:
    """Score every note that is seen, for the rows the index could not fill."""
    copy = _Copy(state, vectors.shape[1])
    copy.take_in(ask, state, seen.namespace)
    exact = copy.nearest(ask, seen, vectors[list(waiting)], limit)
    for row, neighbours in zip(waiting, exact, strict=True):
        found[row] = neighbours
