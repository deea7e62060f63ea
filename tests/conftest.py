"""Fixtures that reach a real Neo4j.

``neo4j_address`` is a 5.26 LTS server and ``neo4j_2026_address`` a 2026.x one, each started
at most once per run and only when a test asks for it. In this order: the server named by
``GRAPHMEM_TEST_NEO4J_URI`` (``GRAPHMEM_TEST_NEO4J_2026_URI``; graphmem's data in it is
erased), a container when a Docker engine answers, the Maven server when Java and Maven are
there. Otherwise the test is skipped with the reason, or fails under
``GRAPHMEM_REQUIRE_NEO4J=1`` (2026.x, which needs another Java, is only ever skipped).

``neo4j_store`` and ``open_neo4j_store`` give an empty store on it. For a server that
outlives a run: ``python -m neo4j_server`` (see there).
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from hypothesis import settings
from neo4j_server.container import container, docker_answers
from neo4j_server.erasure import erase_everything
from neo4j_server.server import CURRENT, LTS, Address, MavenServer, NoServerError, Release

from graphmem.stores.neo4j.store import Neo4jStore

# A run in the background of a shell ignores interrupts, and so would every command that the
# tests start to interrupt it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test fails for being slow: a busy machine is no fault of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def _named(prefix: str) -> Address | None:
    uri = os.environ.get(f"{prefix}_URI")
    if not uri:
        return None
    return Address(
        uri=uri,
        username=os.environ.get(f"{prefix}_USERNAME", "neo4j"),
        password=os.environ.get(f"{prefix}_PASSWORD", ""),
        database=os.environ.get(f"{prefix}_DATABASE", "neo4j"),
        browser=os.environ.get(f"{prefix}_BROWSER", ""),
    )


def _serve(stack: ExitStack, release: Release, prefix: str) -> Address:
    named = _named(prefix)
    if named is not None:
        return named
    if docker_answers():
        return stack.enter_context(container(release))
    return stack.enter_context(MavenServer(release))


def _address(release: Release, prefix: str, *, required: bool) -> Iterator[Address]:
    with ExitStack() as stack:
        try:
            address = _serve(stack, release, prefix)
        except NoServerError as problem:
            reason = f"no Neo4j {release.version} for tests: {problem}"
            if required:
                pytest.fail(f"{reason} (GRAPHMEM_REQUIRE_NEO4J=1)")
            pytest.skip(reason)
        yield address


@pytest.fixture(scope="session")
def neo4j_address() -> Iterator[Address]:
    """A running Neo4j 5.26 LTS."""
    required = os.environ.get("GRAPHMEM_REQUIRE_NEO4J") == "1"
    yield from _address(LTS, "GRAPHMEM_TEST_NEO4J", required=required)


@pytest.fixture(scope="session")
def neo4j_2026_address() -> Iterator[Address]:
    """A running Neo4j 2026.x; a named skip where no Java for it is found."""
    yield from _address(CURRENT, "GRAPHMEM_TEST_NEO4J_2026", required=False)


OpenNeo4j = Callable[[], Neo4jStore]
"""Opens a store; the fixture that hands it out closes it."""


def _opener(address: Address) -> Iterator[OpenNeo4j]:
    erase_everything(address)
    with ExitStack() as stack:

        def open_store() -> Neo4jStore:
            store = Neo4jStore(address.uri, auth=address.auth, database=address.database)
            stack.callback(store.close)
            return store

        yield open_store


@pytest.fixture
def open_neo4j_store(neo4j_address: Address) -> Iterator[OpenNeo4j]:
    """Opens stores on an emptied 5.26 server, as often as wanted."""
    yield from _opener(neo4j_address)


@pytest.fixture
def open_neo4j_2026_store(neo4j_2026_address: Address) -> Iterator[OpenNeo4j]:
    """Opens stores on an emptied 2026.x server."""
    yield from _opener(neo4j_2026_address)


@pytest.fixture
def neo4j_store(open_neo4j_store: OpenNeo4j) -> Neo4jStore:
    """A store on an emptied 5.26 server."""
    return open_neo4j_store()


@pytest.fixture
def neo4j_2026_store(open_neo4j_2026_store: OpenNeo4j) -> Neo4jStore:
    """A store on an emptied 2026.x server."""
    return open_neo4j_2026_store()
