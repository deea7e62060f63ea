"""What another writer does between the read and the write of a call is not lost or undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from contract.memories import MARKERS, NOON, Clock, Place, traces
from numpy.typing import NDArray
from stub_embedder import StubEmbedder

from graphmem import Link, Memory, NotFound
from graphmem.model import Scope, Use
from graphmem.ports import EmbeddingRole


class Interrupted(StubEmbedder):
    """An embedder during whose next call something else happens."""

    def __init__(self) -> None:
        super().__init__(MARKERS)
        self.meanwhile: Callable[[], object] | None = None

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> NDArray[np.float32]:
        happens, self.meanwhile = self.meanwhile, None
        if happens is not None:
            happens()
        return super().encode(texts, role=role)


@pytest.fixture
def embedder() -> Interrupted:
    return Interrupted()


@pytest.fixture
def ours(place: Place, clock: Clock, embedder: Interrupted) -> Memory:
    return place.open(embedder=embedder, clock=clock)


@pytest.fixture
def theirs(place: Place, clock: Clock) -> Memory:
    return place.open(clock=clock)


def test_a_revision_keeps_what_another_writer_changed_meanwhile(
    ours: Memory, theirs: Memory, embedder: Interrupted
) -> None:
    ours.add("the ferry is late", id="n", author="Ada")
    embedder.meanwhile = lambda: theirs.revise("n", content="the ferry is on time")
    ours.revise("n", tags=["sea"])
    note = ours.get("n")
    assert (note.content, note.tags) == ("the ferry is on time", ("sea",))
    assert [event.revision for event in ours.history("n")] == [2, 3]


def test_a_revision_does_not_bring_an_erased_note_back(
    ours: Memory, theirs: Memory, embedder: Interrupted
) -> None:
    ours.add("the secret ferry is late", id="n")
    embedder.meanwhile = lambda: theirs.erase(id="n")
    with pytest.raises(NotFound):
        ours.revise("n", tags=["sea"])
    assert traces(ours, "secret") == []


def test_undoing_brings_nothing_back_that_was_erased_meanwhile(
    ours: Memory, theirs: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours.add("The pump log for May is late [east]", id="b", tags=["sea"])
    ours.add("The pump log for May is late [twin]", id="a", tags=["secretword"])
    assert "secretword" in ours.get("b").tags
    ours.revise("b", tags=["sea"])
    change = ours.history("b")[-1]
    store: Any = ours._parts.store
    read = store.event

    def read_then_erase(*given: object) -> object:
        found = read(*given)
        theirs.erase(id="a")
        return found

    monkeypatch.setattr(store, "event", read_then_erase)
    with suppress(NotFound):  # with the erased words out of it nothing may be left to undo
        ours.undo(change.id)
    assert traces(ours, "secretword") == []


def test_upkeep_loses_no_use_that_is_counted_meanwhile(
    ours: Memory, place: Place, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours.add("the ferry [east]", id="a")
    ours.add("the ferry [near]", id="b")
    clock.forward(days=30)
    store: Any = ours._parts.store
    read = store.all_links

    def read_then_use(scope: Scope) -> Iterator[Link]:
        yield from read(scope)
        at = NOON + timedelta(days=30)
        store.record_use(scope, Use(("a",), (("a", "b"),), at))

    monkeypatch.setattr(store, "all_links", read_then_use)
    assert ours.maintain().links_changed == 1
    (link,) = ours.links("a")
    assert link.retrievals == 1
    assert link.weight < 0.5
    (stored,) = place.open(clock=clock).links("a")
    assert (stored.weight, ours.get("a").recall_count) == (link.weight, 1)
