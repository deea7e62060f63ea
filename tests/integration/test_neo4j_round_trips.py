"""How often a call speaks to the server, counted on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from contract.builders import EAST, MODEL, link, make_note, new, unit, use
from neo4j_server.erasure import erase_everything
from neo4j_server.proxy import CountingProxy
from neo4j_server.server import Address

from graphmem import open_memory
from graphmem.model import CandidateQuery, NoteFilter, Scope, WritePlan
from graphmem.stores.neo4j.store import Neo4jStore

SCOPE = Scope("trips")
QUESTION = CandidateQuery(vector=EAST, terms=("seat", "aisle", "window"))


@pytest.fixture
def proxy(neo4j_address: Address) -> Iterator[CountingProxy]:
    erase_everything(neo4j_address)
    parts = urlsplit(neo4j_address.uri)
    with CountingProxy(parts.hostname or "", parts.port or 7687) as running:
        yield running


@pytest.fixture
def store(proxy: CountingProxy, neo4j_address: Address) -> Iterator[Neo4jStore]:
    opened = Neo4jStore(
        f"bolt://127.0.0.1:{proxy.port}", auth=neo4j_address.auth, database=neo4j_address.database
    )
    notes = [
        new(make_note(f"n{i}", "trips", source="s", position=i), unit(i), ("seat", f"w{i}"))
        for i in range(20)
    ]
    plan = WritePlan(notes=tuple(notes), links=(link("n1", "n2"), link("n2", "n3")), model=MODEL)
    opened.write(SCOPE, lambda reader: plan)
    yield opened
    opened.close()


def test_candidates_take_one_round_trip(store: Neo4jStore, proxy: CountingProxy) -> None:
    before = proxy.trips
    assert len(store.candidates(SCOPE, QUESTION).candidates) == 20
    assert proxy.trips - before == 1


def test_filtered_candidates_take_one_round_trip(store: Neo4jStore, proxy: CountingProxy) -> None:
    narrow = Scope("trips", sources=frozenset({"s"}))
    where = NoteFilter(tags=frozenset({"none"}))
    before = proxy.trips
    store.candidates(narrow, CandidateQuery(vector=EAST, terms=("seat",), where=where))
    assert proxy.trips - before == 1


def test_counting_the_use_takes_two(store: Neo4jStore, proxy: CountingProxy) -> None:
    before = proxy.trips
    store.record_use(SCOPE, use("n1", "n2", pairs=[("n1", "n2")]))
    assert proxy.trips - before <= 2
    assert store.get(SCOPE, ["n1"])["n1"].recall_count == 1


def test_a_recall_takes_one_trip_to_read_and_one_to_count(
    proxy: CountingProxy, neo4j_address: Address
) -> None:
    url = f"bolt://127.0.0.1:{proxy.port}"
    with open_memory(url, auth=neo4j_address.auth, embedder="hashing-64") as memory:
        memory.add("Ada prefers aisle seats", id="n1")
        memory.recall("which seat?")
        before = proxy.trips
        assert memory.recall("which seat?", track=False).notes
        assert proxy.trips - before == 1
        before = proxy.trips
        assert memory.recall("which seat?").notes
        assert proxy.trips - before == 2


def test_a_write_takes_the_same_trips_for_many_notes(
    store: Neo4jStore, proxy: CountingProxy
) -> None:
    def trips(numbers: range) -> int:
        notes = [
            new(make_note(f"m{i:04}", "trips", source="t", position=i), unit(i), ("seat",))
            for i in numbers
        ]
        before = proxy.trips
        store.write(SCOPE, lambda reader: WritePlan(notes=tuple(notes)))
        return proxy.trips - before

    assert trips(range(2)) == trips(range(2, 400))


def test_own_writes_are_taken_in_without_being_read_back(
    store: Neo4jStore, proxy: CountingProxy
) -> None:
    store.nearest(SCOPE, EAST[None], 2)
    near = new(make_note("n98", "trips"), EAST, ("seat",))
    store.write(SCOPE, lambda reader: WritePlan(notes=(near,)))
    before = proxy.trips
    (found,) = store.nearest(SCOPE, EAST[None], 2)
    assert "n98" in [neighbour.note_id for neighbour in found]
    assert proxy.trips - before == 1
