"""Every store a contract test runs on."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.stores import STORES, Graph, Shelter
from neo4j_server.server import Address

from graphmem.model import Scope
from graphmem.ports import NoteStore


@pytest.fixture(scope="session")
def graph(neo4j_address: Address) -> Iterator[Graph]:
    """The database of the real server."""
    opened = Graph(neo4j_address)
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
