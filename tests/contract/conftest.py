"""Every store a contract test runs on, each opened fresh and closed afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from reference_store import ReferenceStore

from graphmem.model import Scope
from graphmem.ports import NoteStore

Opener = Callable[[], NoteStore]


def open_embedded(place: str | Path) -> NoteStore:
    embedded = pytest.importorskip("graphmem.stores.embedded")
    store: NoteStore = embedded.NetworkXStore(place)
    return store


def open_neo4j(request: pytest.FixtureRequest) -> NoteStore:
    raise NotImplementedError


STORES = ("reference", "embedded-memory", "embedded-file", "neo4j")


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NoteStore]:
    """One of the stores, empty."""
    opened = open_store(request, str(request.param), tmp_path)
    yield opened
    opened.close()


def open_store(request: pytest.FixtureRequest, kind: str, folder: Path) -> NoteStore:
    if kind == "reference":
        return ReferenceStore()
    if kind == "embedded-memory":
        return open_embedded(":memory:")
    if kind == "embedded-file":
        return open_embedded(folder / "store.graphmem")
    return open_neo4j(request)


@pytest.fixture
def scope() -> Scope:
    """A namespace no other test uses."""
    return Scope(f"contract-{uuid.uuid4()}")


@pytest.fixture
def other_scope() -> Scope:
    return Scope(f"contract-{uuid.uuid4()}")
