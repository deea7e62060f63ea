"""Applying a plan, or loading records, within one transaction.

The transaction locks the namespace's node first, so that writers of one namespace come one
after the other and cannot deadlock. Every statement may run again with the same outcome:
the driver repeats the whole transaction when the server asks for it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, TypeAlias

from neo4j import ManagedTransaction

from graphmem.errors import Conflict, StoreCorrupt
from graphmem.model import (
    EvolutionEvent,
    Link,
    LinkKind,
    ModelIdentity,
    Note,
    NoteRecord,
    NoteWrite,
    WritePlan,
)
from graphmem.stores.agreement import agreed_model, check_kept, check_sentences
from graphmem.stores.neo4j.connection import run
from graphmem.stores.neo4j.rows import (
    as_sent,
    event_row,
    link_row,
    note_properties,
    pair_key,
    use_properties,
)
from graphmem.stores.neo4j.schema import model_of
from graphmem.stores.neo4j.vector_rows import vector_properties
from graphmem.stores.neo4j.vectors import NamespaceState, state_of

_Pair: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class StoredNote:
    """What a write must know of a note it replaces or erases."""

    revision: int
    archived: bool
    term_count: int
    source_id: str | None
    position: int | None


def lock(transaction: ManagedTransaction, namespace: str) -> NamespaceState:
    """Wait for the namespace's other writers; return the state they left."""
    rows = run(transaction, "lock_namespace", namespace=namespace)
    if not rows:
        raise StoreCorrupt("the node (:GraphMem) is gone; open the memory again to restore it")
    return state_of(rows[0])


class Application:
    """The changes of one transaction to one namespace."""

    def __init__(
        self, transaction: ManagedTransaction, namespace: str, state: NamespaceState
    ) -> None:
        self._transaction = transaction
        self._namespace = namespace
        self._state = state

    def apply(self, plan: WritePlan) -> None:
        """Apply a plan.

        Raises
        ------
        Conflict
            A revision moved on, a note is of another namespace, or the end of a link or
            the note of an event is missing.
        EmbeddingMismatch
            A vector or the plan's model does not fit the store's.
        """
        self._agree(plan.model, plan.notes)
        notes = [write.note for write in plan.notes]
        stored = self._stored([*(note.id for note in notes), *plan.erased])
        fresh = {note.id for note in notes} - stored.keys()
        for write in plan.notes:
            known = stored.get(write.note.id)
            _check_revision(write.note.id, write.expected_revision, known)
        records = [
            NoteRecord(write.note, write.terms, write.embedding, write.sentences)
            for write in plan.notes
        ]
        loose = self._unchain(notes, plan.erased, stored)
        self._put_notes(records, stored)
        self._unlink("unlink", plan.unlinks)
        self._unlink("drop_superseding", plan.unsuperseded)
        self._put_links(plan.links, fresh)
        self._put_events(plan.events)
        weights = [
            {"pair": pair_key(*each.pair), "weight": each.weight} for each in plan.reweighted
        ]
        self._run_over("weigh_links", weights=weights)
        self._run_over("drop_events", ids=list(plan.dropped_events))
        self._erase(plan.erased, stored)
        self._chain(loose)

    def load(
        self,
        records: Sequence[NoteRecord],
        links: Sequence[Link],
        events: Sequence[EvolutionEvent],
        model: ModelIdentity | None,
    ) -> None:
        """Store records as they are, counters of use included."""
        self._agree(model, records)
        notes = [record.note for record in records]
        stored = self._stored([note.id for note in notes])
        fresh = {note.id for note in notes} - stored.keys()
        loose = self._unchain(notes, (), stored)
        self._put_notes(records, stored, whole=True)
        self._put_links(links, fresh)
        self._put_events(events)
        self._chain(loose)

    def rechain(self, ids: Sequence[str]) -> None:
        """Find the place of these notes in their sources anew."""
        neighbours = self._run_over("unchain", ids=list(ids))
        self._chain(sorted({*ids, *(row["id"] for row in neighbours)}))

    # --- steps ------------------------------------------------------------------------

    def _run(self, name: str, **parameters: Any) -> list[Any]:
        return run(self._transaction, name, namespace=self._namespace, **parameters)

    def _run_over(self, name: str, **rows: Sequence[Any]) -> list[Any]:
        """Run a statement over rows, if there are any."""
        return self._run(name, **rows) if any(rows.values()) else []

    def _agree(
        self, planned: ModelIdentity | None, derived: Sequence[NoteWrite] | Sequence[NoteRecord]
    ) -> None:
        stored = self._state.model
        if stored is None and planned is not None:
            adopted = run(
                self._transaction,
                "adopt_model",
                model_id=planned.model_id,
                dimension=planned.dimension,
            )[0]
            stored = model_of(adopted["model_id"], adopted["dimension"])
        agreed = agreed_model(stored, planned, (each.embedding for each in derived))
        check_sentences(agreed, (each.sentences for each in derived))

    def _stored(self, ids: Sequence[str]) -> dict[str, StoredNote]:
        rows = self._run_over("stored_notes", ids=ids)
        return {
            row["id"]: StoredNote(
                revision=row["revision"],
                archived=row["archived"],
                term_count=row["term_count"],
                source_id=row["source_id"],
                position=row["source_position"],
            )
            for row in rows
        }

    def _unchain(
        self, notes: Sequence[Note], erased: Sequence[str], stored: dict[str, StoredNote]
    ) -> list[str]:
        """Cut notes whose place in a source changes; return all whose place must be found."""
        moved = [note.id for note in notes if _place(note) != _stored_place(stored.get(note.id))]
        leaving = [id_ for id_ in (*moved, *erased) if id_ in stored]
        neighbours = self._run_over("unchain", ids=leaving)
        return sorted({*moved, *(row["id"] for row in neighbours)})

    def _put_notes(
        self, records: Sequence[NoteRecord], stored: dict[str, StoredNote], *, whole: bool = False
    ) -> None:
        if not records:
            return
        rows = [self._note_row(record, stored, whole=whole) for record in records]
        rows.sort(key=lambda row: str(row["id"]))
        self._run("upsert_notes", rows=rows, writes=self._state.writes)
        self._assign_sources([record.note for record in records], stored)
        notes, terms = 0, 0
        for record in records:
            known = stored.get(record.note.id)
            if known is not None and not known.archived:
                notes, terms = notes - 1, terms - known.term_count
            if not record.note.archived:
                notes, terms = notes + 1, terms + len(record.terms)
        self._run("count_notes", notes=notes, terms=terms, erasures=int(whole))

    def _note_row(
        self, record: NoteRecord, stored: Mapping[str, StoredNote], *, whole: bool
    ) -> dict[str, Any]:
        note = record.note
        if note.namespace != self._namespace:
            raise Conflict(f"note {note.id} is of another namespace; nothing was changed")
        properties = note_properties(note, record.terms)
        use = use_properties(note)
        if whole:
            properties |= use
        first = as_sent({"properties": use})
        row = as_sent({"id": note.id, "first": first, "properties": properties})
        vectors = vector_properties(self._state.slot, record, replacing=whole and note.id in stored)
        return row | {"vectors": vectors} if vectors else row

    def _assign_sources(self, notes: Sequence[Note], stored: dict[str, StoredNote]) -> None:
        rows, left = [], set()
        for note in notes:
            before = stored[note.id].source_id if note.id in stored else None
            after = None if note.source is None else note.source.id
            if before != after:
                rows.append({"id": note.id, "source_id": after})
                left.add(before)
        self._run_over("assign_sources", rows=rows)
        self._run_over("drop_empty_sources", ids=sorted(id_ for id_ in left if id_ is not None))

    def _unlink(self, statement: str, pairs: Sequence[tuple[str, str]]) -> None:
        self._run_over(statement, pairs=[pair_key(*pair) for pair in pairs])

    def _put_links(self, links: Sequence[Link], fresh: Set[str]) -> None:
        """Store links; those of a `fresh` note, new in this transaction, cannot be there yet."""
        created: dict[_Pair, Link] = {}
        related: dict[_Pair, Link] = {}
        superseding: dict[_Pair, Link] = {}
        for link in sorted(links, key=lambda link: link.pair):
            check_kept(link)
            if link.kind is LinkKind.SUPERSEDES:
                kind = superseding
            else:
                kind = related if fresh.isdisjoint(link.pair) else created
            kind[link.pair] = link
        self._create_links(created)
        self._upsert("upsert_links", related)
        self._upsert("upsert_superseding", superseding)

    def _create_links(self, links: Mapping[_Pair, Link]) -> None:
        """Create links, each end looked up once."""
        ends = sorted({end for pair in links for end in pair})
        place = {end: at for at, end in enumerate(ends)}
        rows = [
            as_sent(link_row(link)) | {"ends": [place[end] for end in link.pair]}
            for link in links.values()
        ]
        self._check_done(links, self._run_over("create_links", rows=rows, ids=ends))

    def _upsert(self, statement: str, links: Mapping[_Pair, Link]) -> None:
        rows = [as_sent(link_row(link)) for link in links.values()]
        self._check_done(links, self._run_over(statement, rows=rows))

    def _check_done(self, links: Mapping[_Pair, Link], counted: Sequence[Any]) -> None:
        if not links or counted[0]["done"] == len(links):
            return
        there = self._stored([end for pair in links for end in pair])
        lost = next(pair for pair in links if not there.keys() >= {*pair})
        raise Conflict(f"link {pair_key(*lost)}: an end is missing; nothing was changed")

    def _put_events(self, events: Sequence[EvolutionEvent]) -> None:
        rows = [as_sent(event_row(each)) for each in sorted(events, key=lambda each: each.id)]
        done = {row["id"] for row in self._run_over("upsert_events", rows=rows)}
        for row in rows:
            if row["id"] not in done:
                raise Conflict(f"event {row['id']}: its note is missing; nothing was changed")

    def _erase(self, ids: Sequence[str], stored: dict[str, StoredNote]) -> None:
        gone = [stored[id_] for id_ in ids if id_ in stored]
        if not gone:
            return
        self._run("erase_notes", ids=list(ids))
        left = sorted({note.source_id for note in gone if note.source_id is not None})
        self._run_over("drop_empty_sources", ids=left)
        current = [note for note in gone if not note.archived]
        terms = sum(note.term_count for note in current)
        self._run("count_notes", notes=-len(current), terms=-terms, erasures=1)

    def _chain(self, ids: Sequence[str]) -> None:
        pairs: set[tuple[str, str]] = set()
        for row in self._run_over("adjacent_in_source", ids=ids):
            pairs |= _adjacent(row["ids"], row["placed"])
        rows = [{"later": later, "earlier": earlier} for later, earlier in sorted(pairs)]
        self._run_over("chain", pairs=rows)


def _adjacent(ids: Iterable[str], placed: Iterable[Sequence[Any]]) -> set[tuple[str, str]]:
    """Return pairs (later, earlier) around `ids`, which are among the `placed` notes.

    A placed note is its position and its id; those of one position are in order of id.
    Compared here, because the server compares what a transaction wrote by UTF-16 units and
    what it reads by code points.
    """
    in_order = sorted((position, note_id) for position, note_id in placed)
    chain = [note_id for _, note_id in in_order]
    wanted = set(ids)
    return {
        (later, earlier)
        for earlier, later in itertools.pairwise(chain)
        if later in wanted or earlier in wanted
    }


def _check_revision(note_id: str, expected: int, known: StoredNote | None) -> None:
    held = 0 if known is None else known.revision
    if expected != held:
        raise Conflict(
            f"note {note_id} is at revision {held}, not {expected}; nothing was changed: "
            "read it again"
        )


def _place(note: Note) -> tuple[str, int] | None:
    source = note.source
    if source is None or source.position is None:
        return None
    return source.id, source.position


def _stored_place(known: StoredNote | None) -> tuple[str, int] | None:
    if known is None or known.source_id is None or known.position is None:
        return None
    return known.source_id, known.position
