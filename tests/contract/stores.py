"""How the contract tests get each store, and a graph of their own on a shared Neo4j."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import pytest
from contract.builders import MODEL
from contract.memories import Place
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from reference_store import ReferenceStore

from graphmem.errors import StoreError
from graphmem.model import Scope
from graphmem.ports import NoteStore
from graphmem.stores.embedded.store import NetworkXStore
from graphmem.stores.neo4j.store import Neo4jStore

REFERENCE, IN_MEMORY, FILE = "reference", "embedded-memory", "embedded-file"
NEO4J, NEO4J_2026 = "neo4j", "neo4j-2026"
GRAPHS = {NEO4J: "graph", NEO4J_2026: "graph_2026"}
"""The fixture that gives each server's database."""
STORES = (REFERENCE, IN_MEMORY, FILE, NEO4J)
DURABLE = (FILE, NEO4J)
EVERY_RELEASE = (*STORES, NEO4J_2026)
"""Where the release of the server decides how notes are found."""


class Graph:
    """One database of a test server, emptied when another model has to move in.

    A store knows one embedding model and Community has one database, so tests of one
    model share a graph by namespaces and the others take a fresh one.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._store: NoteStore | None = None

    def open(self) -> Neo4jStore:
        """Another store on the graph as it is."""
        return Neo4jStore(
            self._address.uri, auth=self._address.auth, database=self._address.database
        )

    def shared(self) -> NoteStore:
        """The store that all tests of the suite's own model use."""
        if self._store is None or not self._usable(self._store):
            self.empty()
            self._store = self.open()
        return self._store

    def place(self, *, shared: bool = True) -> Place:
        """Where memories are opened; beside the suite's other tests, or on the graph as it is."""
        if shared:
            self.shared()
        return Place(self._address.uri, self._address.auth)

    @staticmethod
    def _usable(store: NoteStore) -> bool:
        try:
            # A store remembers its model; another module may have put another one there.
            found = store.stats(Scope("any")).model
            return found in (None, MODEL) and store.model() == found
        except StoreError:  # another module emptied the graph
            return False

    def empty(self) -> None:
        """Remove what every test left, model and vector indexes included."""
        self.close()
        erase_everything(self._address)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None


class Shelter:
    """A store for the length of a ``with``; a shared one stays open after it."""

    def __init__(self, request: pytest.FixtureRequest, kind: str, folder: Path) -> None:
        self._request, self._kind, self._folder = request, kind, folder
        self._store: NoteStore | None = None

    def __enter__(self) -> NoteStore:
        self._store = self._opened()
        return self._store

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._store is not None and self._kind not in GRAPHS:
            self._store.close()

    def _opened(self) -> NoteStore:
        if self._kind in GRAPHS:
            graph: Graph = self._request.getfixturevalue(GRAPHS[self._kind])
            return graph.shared()
        if self._kind == REFERENCE:
            return ReferenceStore()
        return NetworkXStore(
            ":memory:" if self._kind == IN_MEMORY else self._folder / "store.graphmem"
        )
