"""Use counters: seen at once, in the file within about a second, never in a reader's way."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from contract.builders import apply, later, link, make_note, new, unit, use

from graphmem.model import Scope, WritePlan
from graphmem.ports import ScopeReader
from graphmem.stores.embedded.store import NetworkXStore

SCOPE = Scope("ns")
PATIENCE = 30.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.graphmem"


@pytest.fixture
def store(path: Path) -> Iterator[NetworkXStore]:
    store = NetworkXStore.open(path)
    notes = [make_note(id_, "ns") for id_ in "ab"]
    apply(store, SCOPE, *(new(note, unit(1)) for note in notes), links=[link("a", "b")])
    yield store
    store.close()


def in_file(path: Path) -> tuple[int, int]:
    """Recall counts and retrievals as another program reads them."""
    connection = sqlite3.connect(path)
    try:
        (recalls,) = connection.execute("SELECT sum(recall_count) FROM note").fetchone()
        (retrievals,) = connection.execute("SELECT sum(retrievals) FROM link").fetchone()
        return recalls, retrievals
    finally:
        connection.close()


def wait_for(path: Path, expected: tuple[int, int]) -> None:
    deadline = time.monotonic() + PATIENCE
    while in_file(path) != expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert in_file(path) == expected


def test_use_is_seen_at_once_and_written_while_nobody_calls(
    store: NetworkXStore, path: Path
) -> None:
    store.record_use(SCOPE, use("a", "b", pairs=[("a", "b")], at=later(5)))
    assert store.get(SCOPE, ["a"])["a"].recall_count == 1
    assert store.links(SCOPE, "a")[0].retrievals == 1
    wait_for(path, (2, 1))
    assert store.get(SCOPE, ["a"])["a"].recall_count == 1
    assert store.links(SCOPE, "a")[0].last_retrieved_at == later(5)
    assert store.check(SCOPE).problems == ()


def test_use_is_written_with_the_next_write(store: NetworkXStore, path: Path) -> None:
    store.record_use(SCOPE, use("a"))
    apply(store, SCOPE, new(make_note("c", "ns")))
    assert in_file(path) == (1, 0)


def test_use_is_written_on_closing(store: NetworkXStore, path: Path) -> None:
    store.record_use(SCOPE, use("a", at=later(9)))
    store.record_use(SCOPE, use("a", at=later(3)))
    store.close()
    assert in_file(path) == (2, 0)
    again = NetworkXStore.open(path)
    assert again.get(SCOPE, ["a"])["a"].last_accessed_at == later(9)
    again.close()


def test_a_failed_write_keeps_use_for_later(store: NetworkXStore, path: Path) -> None:
    store.record_use(SCOPE, use("a"))

    def decide(reader: ScopeReader) -> WritePlan:
        return WritePlan(links=(link("a", "nobody"),))

    with pytest.raises(Exception, match="nobody"):
        store.write(SCOPE, decide)
    assert store.get(SCOPE, ["a"])["a"].recall_count == 1
    store.close()
    assert in_file(path) == (1, 0)


def test_a_recall_does_not_wait_for_a_writer(store: NetworkXStore, path: Path) -> None:
    writer = NetworkXStore.open(path)

    def decide(reader: ScopeReader) -> WritePlan:
        store.record_use(SCOPE, use("a"))
        assert store.get(SCOPE, ["a"])["a"].recall_count == 1
        time.sleep(1.2)  # so long that the use is due while the file is held
        assert store.get(SCOPE, ["a"])["a"].recall_count == 1
        return WritePlan(notes=(new(make_note("c", "ns")),))

    writer.write(SCOPE, decide)
    writer.close()
    wait_for(path, (1, 0))


def test_use_of_an_erased_note_goes_with_it(store: NetworkXStore, path: Path) -> None:
    store.record_use(SCOPE, use("a", pairs=[("a", "b")]))
    apply(store, SCOPE, erased=["a"])
    apply(store, SCOPE, new(make_note("a", "ns")))
    assert store.get(SCOPE, ["a"])["a"].recall_count == 0
    store.close()
    assert in_file(path)[0] == 0
