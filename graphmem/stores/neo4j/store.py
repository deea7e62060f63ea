"""The note store on Neo4j 5.26 LTS and 2026.x, Community or hosted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from neo4j import ManagedTransaction, Record

from graphmem.errors import EmbeddingMismatch, StoreCorrupt, StoreError
from graphmem.model import (
    CandidateQuery,
    CandidateSet,
    CheckReport,
    EvolutionEvent,
    Link,
    ModelIdentity,
    Neighbour,
    Neighbourhood,
    Note,
    NoteFilter,
    NoteRecord,
    NoteVectors,
    Scope,
    Stats,
    Use,
    Vector,
    WritePlan,
)
from graphmem.ports import ScopeReader
from graphmem.stores.neo4j.applying import Application, lock
from graphmem.stores.neo4j.candidates import (
    candidate_parameters,
    candidate_set,
    candidate_statement,
)
from graphmem.stores.neo4j.check import Inspection
from graphmem.stores.neo4j.connection import Connection, run
from graphmem.stores.neo4j.reader import TransactionReader
from graphmem.stores.neo4j.reindexing import Reindexing
from graphmem.stores.neo4j.rows import event_of, in_utc, link_of, note_of, pair_key
from graphmem.stores.neo4j.schema import (
    VectorIndex,
    ensure_vector_index,
    graph_state,
    model_of,
    prepare,
)
from graphmem.stores.neo4j.scope import Visibility, scope_parameters
from graphmem.stores.neo4j.terms import tokens_of
from graphmem.stores.neo4j.vector_rows import sentences_of, vector_of
from graphmem.stores.neo4j.vectors import NamespaceState, VectorCopies, state_of

NOTES_A_PAGE = 1000
RECORDS_A_PAGE = 250

_NO_FILTER = NoteFilter()


class Neo4jStore:
    """Notes, links and events of many namespaces in one Neo4j database.

    Opening connects, logs in and brings the schema up to date; nothing is lost when an
    older graphmem wrote it.

    Parameters
    ----------
    uri
        ``neo4j://``, ``neo4j+s://``, ``bolt://`` ... without user and password.
    auth
        User and password; ``None`` for a server without.
    database
        Name of the database; ``None`` takes the user's default.

    Raises
    ------
    ConfigurationError
        The address or database cannot be used.
    StoreUnavailable
        The server does not answer or refuses the password.
    UnsupportedSchema
        A newer graphmem wrote this database.
    """

    def __init__(
        self, uri: str, *, auth: tuple[str, str] | None = None, database: str | None = None
    ) -> None:
        self._connection = Connection.open(uri, auth, database)
        self._copies = VectorCopies()
        self._told: ModelIdentity | None = None
        try:
            self._index = prepare(self._connection)
        except BaseException:
            self._connection.close()
            raise

    def __repr__(self) -> str:
        return f"Neo4jStore({self._connection.place!r}, database={self._connection.database!r})"

    @property
    def label(self) -> str:
        """The server's address and the database, without credentials."""
        return f"Neo4j {self._connection.place}, database {self._connection.database}"

    def model(self) -> ModelIdentity | None:
        """Return the model the store was built with, asked once: it is checked ever after.

        Every answer of the server carries the model, and a vector for another one is
        refused, so that a recall need not ask first.
        """
        if self._told is None:
            self._told = graph_state(self._connection).model
        return self._told

    # --- writing -----------------------------------------------------------------------

    def write(self, scope: Scope, decide: Callable[[ScopeReader], WritePlan]) -> WritePlan:
        """Let `decide` read the scope and apply its plan in the same transaction."""

        def work(transaction: ManagedTransaction) -> tuple[NamespaceState, WritePlan]:
            state = lock(transaction, scope.namespace)
            plan = decide(TransactionReader(transaction, scope, state, self._copies))
            Application(transaction, scope.namespace, state).apply(plan)
            return state, plan

        before, plan = self._connection.write(work)
        self._copies.wrote(before, scope.namespace, plan)
        if before.model is None and plan.model is not None:
            self._index = ensure_vector_index(self._connection)
        return plan

    def load(
        self,
        scope: Scope,
        notes: Sequence[NoteRecord],
        links: Sequence[Link],
        events: Sequence[EvolutionEvent],
        model: ModelIdentity | None,
    ) -> None:
        """Store records as they are, counters included, as one transaction."""

        def work(transaction: ManagedTransaction) -> bool:
            state = lock(transaction, scope.namespace)
            Application(transaction, scope.namespace, state).load(notes, links, events, model)
            return state.model is None and model is not None

        if self._connection.write(work):
            self._index = ensure_vector_index(self._connection)

    def record_use(self, scope: Scope, use: Use) -> None:
        """Count one recall, at once and in one statement."""
        parameters = scope_parameters(scope) | {
            # Every writer takes its locks in this order.
            "ids": sorted(set(use.note_ids)),
            "pairs": sorted({pair_key(*pair) for pair in use.pairs}),
            "at": in_utc(use.at),
        }
        self._connection.update("record_use", **parameters)

    def replace_model(
        self, model: ModelIdentity, pages: Callable[[Sequence[Note]], NoteVectors]
    ) -> None:
        """Re-embed every note beside its old vector, then change over in one transaction."""
        Reindexing(self._connection, model, pages).run()
        self._index = ensure_vector_index(self._connection)
        self._told = model

    def drop_namespace(self, namespace: str) -> int:
        """Remove a namespace whole; return how many notes it had."""

        def work(transaction: ManagedTransaction) -> int:
            lock(transaction, namespace)
            dropped: int = run(transaction, "drop_namespace", namespace=namespace)[0]["notes"]
            return dropped

        count = self._connection.write(work)
        self._copies.forget(namespace)
        return count

    # --- reading for a recall ----------------------------------------------------------

    def candidates(self, scope: Scope, query: CandidateQuery) -> CandidateSet:
        """Return the graph-expanded set a recall ranks: one round trip."""
        try:
            row = self._ask_candidates(scope, query, self._index)
        except StoreError as error:
            if type(error) is not StoreError:
                raise
            # The index may be missing, building or another one by now; scoring every note
            # needs none.
            row = self._ask_candidates(scope, query, None)
            self._index = ensure_vector_index(self._connection)
        model = model_of(row["model_id"], row["dimension"])
        if self._index is None and model is not None:  # another process was the first to embed
            self._index = ensure_vector_index(self._connection)
        self._check_model(model)
        return candidate_set(scope, query, row)

    def _ask_candidates(
        self, scope: Scope, query: CandidateQuery, index: VectorIndex | None
    ) -> Record:
        parameters = candidate_parameters(scope, query, index)
        statement = candidate_statement(index, unfiltered=parameters["unfiltered"])
        return self._only(self._connection.read_by(statement, **parameters))

    def nearest(
        self, scope: Scope, vectors: Vector, limit: int, where: NoteFilter = _NO_FILTER
    ) -> tuple[tuple[Neighbour, ...], ...]:
        """Return for each row of `vectors` the `limit` notes of highest raw cosine."""
        row = self._only(self._connection.read("namespace_state", namespace=scope.namespace))
        state, seen = state_of(row), Visibility.of(scope, where)
        self._check_model(state.model)
        return self._copies.nearest(self._connection.read, state, seen, vectors, limit)

    def _check_model(self, model: ModelIdentity | None) -> None:
        """Refuse vectors made for a model that another process replaced meanwhile.

        So that a caller need not ask for the model before every question.
        """
        if self._told is not None and model is not None and model != self._told:
            raise EmbeddingMismatch(
                f"{self.label} was reindexed from {self._told.model_id} to {model.model_id} "
                "meanwhile; open the memory again with the new model"
            )

    # --- reading by id -----------------------------------------------------------------

    def get(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Note]:
        """Return the notes of these ids the scope may see, archived ones included."""
        rows = self._connection.read("notes_by_id", ids=list(ids), **scope_parameters(scope))
        notes = [note_of(scope.namespace, row["note"]) for row in rows]
        return {note.id: note for note in notes}

    def links(self, scope: Scope, note_id: str, min_weight: float = 0.0) -> tuple[Link, ...]:
        """Return the note's RELATED links to current notes, strongest first."""
        rows = self._connection.read(
            "note_links", id=note_id, min_weight=min_weight, **scope_parameters(scope)
        )
        return tuple(link_of(row["link"]) for row in rows)

    def neighbourhood(
        self, scope: Scope, note_id: str, hops: int = 1, limit: int = 500
    ) -> Neighbourhood:
        """Return the note, what is within `hops` of it, and the links among them."""
        edge = list(self.get(scope, [note_id]))[:limit]
        reached = list(edge)
        for _ in range(hops):
            if not edge or len(reached) >= limit:
                break
            rows = self._connection.read(
                "one_hop",
                ids=edge,
                reached=reached,
                room=limit - len(reached),
                **scope_parameters(scope),
            )
            edge = [row["id"] for row in rows]
            reached += edge
        notes = self.get(scope, reached)
        among = self._connection.read("links_among", ids=reached, **scope_parameters(scope))
        return Neighbourhood(
            notes=tuple(notes[id_] for id_ in sorted(notes)),
            links=tuple(link_of(row["link"]) for row in among),
        )

    def events(self, scope: Scope, note_id: str) -> tuple[EvolutionEvent, ...]:
        """Return the note's events in order of revision."""
        rows = self._connection.read("events_of_notes", ids=[note_id], **scope_parameters(scope))
        return tuple(event_of(row["event"]) for row in rows)

    def event(self, scope: Scope, event_id: str) -> EvolutionEvent | None:
        """Return one event, or ``None``."""
        rows = self._connection.read("event_by_id", id=event_id, **scope_parameters(scope))
        return event_of(rows[0]["event"]) if rows else None

    # --- reading everything ------------------------------------------------------------

    def notes(self, scope: Scope, where: NoteFilter = _NO_FILTER) -> Iterator[Note]:
        """Iterate over the notes ordered by id, in pages."""
        parameters = Visibility.of(scope, where).parameters
        for row in self._pages("notes_page", NOTES_A_PAGE, "note", parameters):
            yield note_of(scope.namespace, row["note"])

    def records(self, scope: Scope) -> Iterator[NoteRecord]:
        """Iterate over all notes with terms and vectors, by id, in pages."""
        for row in self._pages("records_page", RECORDS_A_PAGE, "note", scope_parameters(scope)):
            embedding = row["embedding"]
            yield NoteRecord(
                note=note_of(scope.namespace, row["note"]),
                terms=tokens_of(row["terms"], row["odd_terms"]),
                embedding=None if embedding is None else vector_of(embedding),
                sentences=sentences_of(row["sentences"], row["dimension"] or 0),
            )

    def all_links(self, scope: Scope) -> Iterator[Link]:
        """Iterate over the stored links whose two ends the scope may see, by (pair, kind)."""
        for row in self._pages("links_page", NOTES_A_PAGE, "id", scope_parameters(scope)):
            yield from map(link_of, row["links"])

    def all_events(self, scope: Scope) -> Iterator[EvolutionEvent]:
        """Iterate over the events of visible notes, by (note_id, revision)."""
        for row in self._pages("events_page", NOTES_A_PAGE, "id", scope_parameters(scope)):
            yield from map(event_of, row["events"])

    def _pages(
        self, name: str, size: int, last: str, parameters: Mapping[str, Any]
    ) -> Iterator[Record]:
        after = ""
        while True:
            rows = self._connection.read(name, after=after, page=size, **parameters)
            yield from rows
            if len(rows) < size:
                return
            end = rows[-1][last]
            after = end if isinstance(end, str) else end["id"]

    def namespaces(self) -> tuple[str, ...]:
        """Return the namespaces that hold a note, sorted."""
        return tuple(row["name"] for row in self._connection.read("namespaces"))

    # --- upkeep ------------------------------------------------------------------------

    def stats(self, scope: Scope) -> Stats:
        """Count what the scope may see."""
        row = self._only(self._connection.read("stats", **scope_parameters(scope)))
        return Stats(
            namespace=scope.namespace,
            notes=row["notes"],
            archived=row["archived"],
            related=row["related"],
            follows=row["follows"],
            sources=row["sources"],
            events=row["events"],
            recalls=row["recalls"],
            model=model_of(row["model_id"], row["dimension"]),
            schema_version=row["schema_version"],
            store=self.label,
            superseding=row["superseding"],
        )

    def check(self, scope: Scope, *, repair: bool = False) -> CheckReport:
        """Compare the parts of the store with each other; with `repair`, mend what can be."""
        return Inspection(self._connection, scope).report(repair=repair)

    def close(self) -> None:
        """Release the connection; a second call does nothing."""
        self._connection.close()

    def _only(self, rows: Sequence[Record]) -> Record:
        if not rows:
            raise StoreCorrupt(
                f"{self.label}: the node (:GraphMem) is gone; open the memory again to restore it"
            )
        return rows[0]
