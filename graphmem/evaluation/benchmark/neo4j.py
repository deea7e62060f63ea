"""The Neo4j store beside its bare limits, on a server that is running."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from neo4j import GraphDatabase

from graphmem.algorithms.text import tokens
from graphmem.evaluation.benchmark.crowd import Place, measure_crowd
from graphmem.evaluation.benchmark.data import Planted, PlantedEmbedder, planted_notes
from graphmem.evaluation.benchmark.measurement import QUESTIONS, Measurement
from graphmem.evaluation.benchmark.peers import measure_graphrag
from graphmem.evaluation.benchmark.timing import p95, timed
from graphmem.memory import Memory
from graphmem.model import NoteInput, NoteRecord
from graphmem.opening import open_memory
from graphmem.policy import CandidatePolicy
from graphmem.settings import read_settings
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.connection import Connection
from graphmem.stores.neo4j.rows import note_properties, use_properties
from graphmem.stores.neo4j.schema import graph_state, vector_index_name
from graphmem.stores.neo4j.terms import lookup

STORE = "Neo4j"
CHUNK = 2_500
"""Notes loaded by turns, so that both sides meet indexes of one size."""
BARE_BATCH = 1_000
SMALL_SHARE = 100
"""The small namespace holds one note in so many."""
K = 100


def measure_neo4j(size: int, url: str, *, peers: bool = False) -> Iterator[Measurement]:
    """Measure loading and recall at `size` notes in namespaces that are removed afterwards.

    With `peers` also the retriever of neo4j-graphrag over the same nodes.
    """
    planted = planted_notes(size, QUESTIONS)
    with ExitStack() as stack:
        server = Server.open(url, stack)
        small_size = max(100, size // SMALL_SHARE)
        small = server.memory(planted, stack)
        small.add_many(planted.notes[:small_size])
        server.settle()
        alone = [server.bare_recall(planted, row, small.namespace) for row in range(QUESTIONS)]
        large = server.memory(planted, stack)
        yield _bulk(server, large, planted, size)
        server.settle()
        yield from _recalls(server, large, planted, size)
        if peers:
            yield from server.beside_graphrag(large, planted)
        beside = [_recall(small, question) for question in planted.questions]
        limit = "the bare query with no foreign notes in the indexes"
        what = f"recall, {small_size:,} notes beside {size:,}, p95"
        yield Measurement(what, STORE, size, limit, p95(beside), p95(alone))


def measure_neo4j_crowd(url: str) -> Iterator[Measurement]:
    """Measure many readers beside a writer in a namespace that is removed afterwards."""
    with ExitStack() as stack:
        server = Server.open(url, stack)
        memory = server.memory(planted_notes(1, 1), stack)
        yield from measure_crowd(Place(url, memory.namespace), STORE)


def _auth() -> tuple[str, str] | None:
    settings = read_settings()
    password = settings.neo4j_password
    return None if password is None else (settings.neo4j_username, password.get_secret_value())


def _recall(memory: Memory, question: str) -> float:
    return timed(memory.recall, question, track=False)


def _bulk(server: Server, memory: Memory, planted: Planted, size: int) -> Measurement:
    bare = server.namespace()
    measured = inserted = 0.0
    for start in range(0, size, CHUNK):
        notes = planted.notes[start : start + CHUNK]
        measured += timed(memory.add_many, notes)
        inserted += server.bare_insert(bare, server.stored(memory, notes))
    server.clear(bare)
    limit = "bulk creation of the bare nodes with all indexes"
    return Measurement("add_many with linking", STORE, size, limit, measured, inserted)


def _recalls(server: Server, memory: Memory, planted: Planted, size: int) -> Iterator[Measurement]:
    measured, tracked, bare = [], [], []
    for question in planted.questions[:20]:
        memory.recall(question, track=False)
    for row, question in enumerate(planted.questions):
        measured.append(_recall(memory, question))
        bare.append(server.bare_recall(planted, row, memory.namespace))
        tracked.append(timed(memory.recall, question))
    limit = "one query: vector k=100 + full-text k=100 + one hop, the same fields"
    yield Measurement("recall, p95", STORE, size, limit, p95(measured), p95(bare))
    yield Measurement(
        "recall with its use recorded, p95", STORE, size, limit, p95(tracked), p95(bare)
    )


@dataclass(frozen=True, slots=True)
class Server:
    """A running server with the namespaces a benchmark made on it."""

    url: str
    connection: Connection
    run: str

    @classmethod
    def open(cls, url: str, stack: ExitStack) -> Server:
        """Connect as the settings say; everything is removed and closed with `stack`."""
        connection = Connection.open(url, _auth(), read_settings().neo4j_database)
        stack.callback(connection.close)
        return cls(url, connection, uuid.uuid4().hex[:8])

    def namespace(self) -> str:
        """Return the name of a new namespace of this run."""
        return f"graphmem-bench-{self.run}-{uuid.uuid4().hex[:8]}"

    def memory(self, planted: Planted, stack: ExitStack) -> Memory:
        """Open a memory on a namespace of its own, dropped with `stack`."""
        name = self.namespace()
        memory = open_memory(
            self.url, namespace=name, embedder=PlantedEmbedder(planted), language_model="none"
        )
        stack.callback(memory.close)
        stack.callback(memory.drop_namespace, name)
        return memory

    def beside_graphrag(self, memory: Memory, planted: Planted) -> list[Measurement]:
        """Measure neo4j-graphrag's retriever over the nodes of `memory`."""
        index = vector_index_name(graph_state(self.connection).slot)
        with GraphDatabase.driver(self.url, auth=_auth()) as driver:
            return list(measure_graphrag(memory, planted, index, driver, self.connection.database))

    def settle(self) -> None:
        """Wait until the indexes have taken everything in."""
        self.connection.define(cypher.query("await_indexes"), seconds=300)

    def stored(self, memory: Memory, notes: Sequence[NoteInput]) -> list[NoteRecord]:
        """Return the records the store made of these inputs."""
        wanted = {note.id for note in notes}
        records = (record for record in memory.dump() if isinstance(record, NoteRecord))
        return [record for record in records if record.note.id in wanted]

    def bare_insert(self, namespace: str, records: Sequence[NoteRecord]) -> float:
        """Return the milliseconds it takes to store the same properties as bare nodes."""
        slot = graph_state(self.connection).slot
        rows = [_properties(record, namespace, slot) for record in records]
        batches = [rows[start : start + BARE_BATCH] for start in range(0, len(rows), BARE_BATCH)]
        return sum(timed(self._insert, batch) for batch in batches)

    def _insert(self, rows: Sequence[dict[str, Any]]) -> None:
        self.connection.update_by(cypher.bench("insert"), rows=rows)

    def clear(self, namespace: str) -> None:
        """Remove bare nodes."""
        statement = cypher.bench("clear")
        while self.connection.update_by(statement, namespace=namespace, page=1000)[0]["removed"]:
            pass

    def bare_recall(self, planted: Planted, row: int, namespace: str) -> float:
        """Return the milliseconds the bare query takes for one question."""
        policy = CandidatePolicy()
        terms = dict.fromkeys(tokens(planted.questions[row]))
        return timed(
            self.connection.read_by,
            cypher.bench("recall"),
            slot=graph_state(self.connection).slot,
            vector=planted.asked[row].tolist(),
            terms=" ".join(f"({lookup(term, namespace, archived=False)})" for term in terms),
            k=K,
            expand=policy.expand,
            fanout=policy.fanout,
        )


def _properties(record: NoteRecord, namespace: str, slot: str) -> dict[str, Any]:
    note = replace(record.note, namespace=namespace)
    vector = record.embedding
    return {
        **note_properties(note, record.terms),
        **use_properties(note),
        "id": note.id,
        "namespace": namespace,
        slot: None if vector is None else vector.tolist(),
    }
