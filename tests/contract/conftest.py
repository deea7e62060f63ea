"""Every store a contract test runs on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from contract.memories import Clock, Place, file_place
from contract.stores import NEO4J, STORES, Graph, Shelter
from neo4j_server.server import Address
from stub_embedder import StubEmbedder

from graphmem import Memory
from graphmem.model import Scope
from graphmem.ports import NoteStore


@pytest.fixture(scope="session")
def graph(neo4j_address: Address) -> Iterator[Graph]:
    """The database of the real server."""
    opened = Graph(neo4j_address)
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def graph_2026(neo4j_2026_address: Address) -> Iterator[Graph]:
    """The database of a real server of the next release line."""
    opened = Graph(neo4j_2026_address)
    yield opened
    opened.close()


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NoteStore]:
    """One of the stores; the test's namespace is empty in it."""
    with Shelter(request, str(request.param), tmp_path) as opened:
        yield opened


@pytest.fixture
def scope() -> Scope:
    """A namespace no other test uses."""
    return Scope(f"contract-{uuid.uuid4()}")


@pytest.fixture
def other_scope() -> Scope:
    """Another namespace no other test uses."""
    return Scope(f"contract-{uuid.uuid4()}")


@pytest.fixture(params=["embedded", NEO4J])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A store for memories with the suite's own embedder; the namespace is empty in it."""
    if request.param == NEO4J:
        opened = request.getfixturevalue("graph").place()
    else:
        opened = file_place(tmp_path)
    yield opened
    opened.close()


@pytest.fixture(params=["embedded", NEO4J])
def fresh_place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """A store for memories with any embedder; nothing else is in it."""
    if request.param == NEO4J:
        graph: Graph = request.getfixturevalue("graph")
        graph.empty()
        opened = graph.place(shared=False)
        yield opened
        opened.close()
        graph.empty()
    else:
        opened = file_place(tmp_path)
        yield opened
        opened.close()


@pytest.fixture
def memory(place: Place, clock: Clock) -> Memory:
    """An empty memory whose clock stands at :data:`NOON`."""
    return place.open(clock=clock)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def words_only(place: Place, clock: Clock) -> Memory:
    """A memory in which every text has the same vector, so that only words decide."""
    return place.open(embedder=StubEmbedder({"": np.ones(8)}), clock=clock)


@pytest.fixture(params=STORES)
def fresh(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NoteStore]:
    """A store nobody else's notes or model are in."""
    if request.param == NEO4J:
        graph: Graph = request.getfixturevalue("graph")
        graph.empty()
        opened: NoteStore = graph.open()
        yield opened
        opened.close()
        graph.empty()
    else:
        with Shelter(request, str(request.param), tmp_path) as opened:
            yield opened
