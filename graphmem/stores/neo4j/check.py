"""Comparing the parts of a namespace with each other, and mending what can be mended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from neo4j import ManagedTransaction, Record

from graphmem.model import CheckReport, Scope
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.applying import Application, lock
from graphmem.stores.neo4j.connection import Connection, run
from graphmem.stores.neo4j.schema import graph_state, prepare, vector_index_name
from graphmem.stores.neo4j.scope import scope_parameters
from graphmem.stores.neo4j.terms import ARCHIVE_MARK, CURRENT_MARK, owner
from graphmem.stores.neo4j.vectors import Ask


@dataclass(slots=True)
class Findings:
    """What does not agree in one namespace."""

    wrong_terms: list[str] = field(default_factory=list)
    wrong_sources: list[Record] = field(default_factory=list)
    misplaced_vectors: list[str] = field(default_factory=list)
    wrong_vectors: list[str] = field(default_factory=list)
    wrong_sentences: list[str] = field(default_factory=list)
    loose_vectors: list[str] = field(default_factory=list)
    wrong_links: list[Record] = field(default_factory=list)
    loose_events: list[str] = field(default_factory=list)
    wrong_chain: list[str] = field(default_factory=list)
    empty_sources: list[str] = field(default_factory=list)
    counters: Record | None = None

    def problems(self) -> Iterator[str]:
        """Each finding in words."""
        for id_ in self.wrong_terms:
            yield f"note {id_}: its index terms do not belong to this namespace and state"
        for row in self.wrong_sources:
            yield f"note {row['id']}: its edge to its source is missing or wrong"
        for id_ in self.misplaced_vectors:
            yield f"note {id_}: its vectors lie on the note itself, where nothing looks for them"
        for id_ in self.wrong_vectors:
            yield f"note {id_}: its vector has the wrong length"
        for id_ in self.wrong_sentences:
            yield f"note {id_}: the vectors of its sentences have the wrong length"
        for id_ in self.loose_vectors:
            yield f"vectors of note {id_}: their note is gone"
        for row in self.wrong_links:
            yield f"link {row['from_id']}, {row['to_id']}: leaves the namespace or is reversed"
        for id_ in self.loose_events:
            yield f"event {id_}: not tied to its note"
        for id_ in self.wrong_chain:
            yield f"note {id_}: does not follow the note before it in its source"
        for id_ in self.empty_sources:
            yield f"source {id_}: has no notes"
        if self.counters is not None:
            yield (
                f"the namespace counts {self.counters['counted_notes']} notes and "
                f"{self.counters['counted_terms']} terms, there are {self.counters['notes']} "
                f"and {self.counters['terms']}"
            )


class Inspection:
    """An integrity check of what a scope may see.

    Links, chains, events and counters span the namespace: they are looked at when the scope
    has no allow-list.
    """

    def __init__(self, connection: Connection, scope: Scope) -> None:
        self._connection = connection
        self._scope = scope
        self._owners = {
            "current_owner": owner(scope.namespace, archived=False),
            "archive_owner": owner(scope.namespace, archived=True),
        }

    def report(self, *, repair: bool) -> CheckReport:
        """Look, and with `repair` mend in one transaction and look again."""
        before = [*self._missing_indexes(), *self._look(self._connection.read).problems()]
        problems = before
        if repair and before:
            self._connection.write(self._mend)
            prepare(self._connection)
            problems = [*self._missing_indexes(), *self._look(self._connection.read).problems()]
        counts = self._connection.read("stats", **scope_parameters(self._scope))[0]
        return CheckReport(
            notes=counts["notes"],
            links=counts["related"],
            events=counts["events"],
            problems=tuple(problems),
            repaired=tuple(problem for problem in before if problem not in problems),
        )

    def _missing_indexes(self) -> list[str]:
        shown = {row["name"]: row for row in self._connection.read("indexes")}
        state = graph_state(self._connection)
        wanted = set(cypher.schema_names())
        if state.model is not None:
            wanted.add(vector_index_name(state.slot))
        problems = [f"index {name}: missing" for name in sorted(wanted - shown.keys())]
        for name in sorted(wanted & shown.keys()):
            row = shown[name]
            if row["state"] != "ONLINE":
                problems.append(f"index {name}: {row['state']}")
            elif state.model is not None and row["dimension"] not in (None, state.model.dimension):
                problems.append(f"index {name}: of dimension {row['dimension']}")
        return problems

    def _look(self, ask: Ask) -> Findings:
        notes = ask("inspect_notes", **scope_parameters(self._scope), **self._owners)
        found = Findings(
            wrong_terms=[row["id"] for row in notes if row["terms_differ"]],
            wrong_sources=[row for row in notes if row["source_differs"]],
            misplaced_vectors=[row["id"] for row in notes if row["vectors_misplaced"]],
            wrong_vectors=[row["id"] for row in notes if row["vector_differs"]],
            wrong_sentences=[row["id"] for row in notes if row["sentences_differ"]],
        )
        if self._scope.sources is None and self._scope.authors is None:
            self._look_at_namespace(partial(ask, namespace=self._scope.namespace), found)
        return found

    @staticmethod
    def _look_at_namespace(ask: Ask, found: Findings) -> None:
        found.loose_vectors = [row["id"] for row in ask("inspect_vectors")]
        found.wrong_links = ask("inspect_links")
        found.loose_events = [row["id"] for row in ask("inspect_events")]
        found.wrong_chain = _out_of_chain(ask("inspect_chain"))
        counters = ask("inspect_namespace")[0]
        found.empty_sources = counters["empty_sources"]
        counted = counters["counted_notes"], counters["counted_terms"]
        if counted != (counters["notes"], counters["terms"]):
            found.counters = counters

    def _mend(self, transaction: ManagedTransaction) -> None:
        state = lock(transaction, self._scope.namespace)
        ask = partial(run, transaction, namespace=self._scope.namespace)
        found = self._look(partial(run, transaction))
        marks = {"current_mark": CURRENT_MARK, "archive_mark": ARCHIVE_MARK}
        ask("mend_owner", ids=found.wrong_terms, **marks, **self._owners)
        rows = [{"id": row["id"], "source_id": row["source_id"]} for row in found.wrong_sources]
        ask("assign_sources", rows=rows)
        ask("move_vectors", ids=found.misplaced_vectors)
        ask("mend_vectors", ids=found.wrong_vectors)
        ask("mend_sentences", ids=found.wrong_sentences)
        ask("drop_vectors", ids=found.loose_vectors)
        ask("drop_events", ids=found.loose_events)
        if found.wrong_links:
            ask("mend_links")
        Application(transaction, self._scope.namespace, state).rechain(found.wrong_chain)
        left = ask("inspect_namespace")[0]
        ask("drop_empty_sources", ids=left["empty_sources"])
        ask("mend_counters", notes=left["notes"], terms=left["terms"])


def _out_of_chain(rows: Sequence[Record]) -> list[str]:
    """Return the ids of the notes that do not point at exactly the one before them.

    Parameters
    ----------
    rows
        In order of source, position and id.
    """
    wrong: list[str] = []
    before: Record | None = None
    for row in rows:
        expected: list[str] = []
        chained = row["source_id"] is not None and row["position"] is not None
        if chained and before is not None and before["source_id"] == row["source_id"]:
            expected = [before["id"]]
        if row["follows"] != expected:
            wrong.append(row["id"])
        if chained:
            before = row
    return wrong
