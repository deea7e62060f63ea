"""Several memories on one place, several threads in one memory, and closing."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from contract.memories import NOON, Clock, Place, ids, notes_of, pairs_of, plain, state
from stub_embedder import StubEmbedder

from graphmem import ClosedMemory, ConfigurationError, InvalidPolicy, Memory, NoteInput, Source

CALLS: dict[str, Callable[[Memory], Any]] = {
    "add": lambda memory: memory.add("x"),
    "add_many": lambda memory: memory.add_many([NoteInput("x")]),
    "revise": lambda memory: memory.revise("n", content="x"),
    "feedback": lambda memory: memory.feedback("n", 1),
    "archive": lambda memory: memory.archive("n"),
    "restore": lambda memory: memory.restore("n"),
    "undo": lambda memory: memory.undo("n@2"),
    "erase": lambda memory: memory.erase(id="n"),
    "recall": lambda memory: memory.recall("x"),
    "get": lambda memory: memory.get("n"),
    "links": lambda memory: memory.links("n"),
    "neighbourhood": lambda memory: memory.neighbourhood("n"),
    "history": lambda memory: memory.history("n"),
    "notes": lambda memory: list(memory.notes()),
    "candidates": lambda memory: memory.candidates("x"),
    "stats": lambda memory: memory.stats(),
    "check": lambda memory: memory.check(),
    "maintain": lambda memory: memory.maintain(),
    "reindex": lambda memory: memory.reindex(),
    "dump": lambda memory: list(memory.dump()),
    "load": lambda memory: memory.load([]),
    "namespaces": lambda memory: memory.namespaces(),
    "drop_namespace": lambda memory: memory.drop_namespace("x"),
    "scoped": lambda memory: memory.scoped("x"),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_closed_memory_refuses(memory: Memory, name: str) -> None:
    memory.close()
    with pytest.raises(ClosedMemory):
        CALLS[name](memory)


def test_a_memory_closes_with_its_block(place: Place) -> None:
    with place.open() as memory:
        memory.add("a note", id="n")
        assert not memory.closed
    assert memory.closed
    memory.close()
    assert place.open().get("n").content == "a note"


def test_a_block_that_raises_closes_too(place: Place) -> None:
    class Unexpected(Exception):  # noqa: N818 - a name for this test only
        pass

    def interrupted(memory: Memory) -> None:
        with memory:
            memory.add("a note", id="n")
            raise Unexpected

    memory = place.open()
    with pytest.raises(Unexpected):
        interrupted(memory)
    assert memory.closed
    assert place.open().get("n").id == "n"


def test_a_scoped_memory_shares_and_does_not_own(memory: Memory) -> None:
    memory.add("here", id="n")
    scoped = memory.scoped(memory.namespace + " two")
    scoped.add("there", id="n")
    assert (memory.get("n").content, scoped.get("n").content) == ("here", "there")
    assert ids(scoped.recall("there")) == ["n"]
    scoped.close()
    assert scoped.closed
    assert memory.get("n").content == "here"
    again = memory.scoped(memory.namespace + " two")
    assert again.get("n").content == "there"
    memory.close()
    with pytest.raises(ClosedMemory):
        again.get("n")


@pytest.mark.parametrize(
    "namespace", ["", " ", " padded ", "\ud800", "a\0b", None, 7, "x" * 10_000]
)
def test_a_namespace_that_cannot_be_one_is_refused(place: Place, namespace: Any) -> None:
    with pytest.raises(ConfigurationError):
        place.open(namespace=namespace)


def test_an_unknown_policy_opens_nothing(place: Place) -> None:
    with pytest.raises(InvalidPolicy):
        place.open(policy="no such policy")


def test_an_unknown_allow_list_opens_nothing(place: Place) -> None:
    with pytest.raises(ConfigurationError, match="tags"):
        place.open(authorise={"tags": ["x"]})


def test_the_repr_names_the_place_without_secrets(place: Place) -> None:
    memory = place.open()
    assert place.namespace in repr(memory)
    for secret in place.auth[1:] if place.auth else ():
        assert secret not in repr(memory)
    memory.close()
    assert "closed" in repr(memory)


def test_two_memories_see_each_others_writes(place: Place, clock: Clock) -> None:
    first, second = place.open(clock=clock), place.open(clock=clock)
    assert second.recall("kettle").notes == ()
    first.add("blue kettle [east]", id="a", keywords=(), tags=())
    assert ids(second.recall("kettle", track=False)) == ["a"]
    receipt = second.add("grey kettle [near]", id="b", keywords=(), tags=())
    assert [link.other("b") for link in receipt.links] == ["a"]
    assert first.links("a") == receipt.links
    first.revise("a", content="red pot [west]")
    assert second.get("a").content == "red pot [west]"
    assert second.links("b") == ()
    second.erase(id="a")
    assert [note.id for note in first.notes()] == ["b"]
    assert state(first) == state(second)


def test_a_note_at_once_by_two_memories_is_one(place: Place) -> None:
    first, second = place.open(), place.open()
    outcomes = run_together(
        [lambda m=memory: m.add("the same words", tags=["t"]).outcome for memory in (first, second)]
    )
    assert sorted(outcomes) == ["added", "unchanged"]
    assert first.stats().notes == 1


def test_threads_share_a_memory(place: Place) -> None:
    memory = place.open(clock=Clock(NOON))

    def writer(name: str) -> None:
        for i in range(6):
            source = Source(name, position=i)
            memory.add(f"{name} saw ship number {i} [east]", id=f"{name}{i}", source=source)

    def batches(name: str) -> None:
        inputs = [plain(f"{name}{i}", f"{name} saw boat number {i} [near]") for i in range(6)]
        memory.add_many(inputs, batch_size=2)

    def reader() -> None:
        for _ in range(6):
            result = memory.recall("ship number [east]")
            assert all(
                sum(r.contributions.values()) == pytest.approx(r.score) for r in result.notes
            )
            list(memory.notes())

    jobs = [lambda: writer("a"), lambda: writer("b"), lambda: batches("c"), reader, reader]
    run_together(jobs)
    assert memory.stats().notes == 18
    assert memory.stats().follows == 10
    assert len(pairs_of(memory)) == len(set(pairs_of(memory)))
    assert memory.check().ok
    assert sum(note.recall_count for note in memory.notes()) == memory.stats().recalls > 0


def test_changes_by_many_threads_are_all_there(memory: Memory) -> None:
    memory.add("a note", id="n")
    run_together([lambda: memory.feedback("n", 1)] * 8)
    assert memory.get("n").feedback == 8
    run_together([lambda i=i: memory.revise("n", metadata={"i": i}) for i in range(6)])
    assert memory.get("n").revision == 7
    assert [event.revision for event in memory.history("n")] == [2, 3, 4, 5, 6, 7]


def run_together(jobs: list[Callable[[], Any]]) -> list[Any]:
    gate = threading.Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> Any:
        gate.wait()
        return job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return [future.result() for future in [pool.submit(run, job) for job in jobs]]


def test_a_memory_reads_what_it_wrote_after_reopening(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    for i, name in enumerate(["east", "twin", "near", "far"]):
        memory.add(
            f"Ada keeps the harbour log [{name}]",
            id=name,
            source=Source("s", position=i),
            tags=[name],
        )
    memory.recall("harbour log [east]")
    memory.feedback("far", -1)
    memory.archive("near")
    before = state(memory)
    result = memory.recall("harbour [east]", track=False)
    memory.close()
    again = place.open(clock=clock)
    assert state(again) == before
    assert again.recall("harbour [east]", track=False) == result
    assert again.check().ok
    assert notes_of(again)


def test_one_embedder_may_serve_many_memories(place: Place) -> None:
    shared = StubEmbedder(dimension=8)
    left = place.open(embedder=shared)
    right = place.open(embedder=shared, namespace=place.namespace + "2")
    left.add("a note", id="n")
    right.add("a note", id="n")
    assert ids(left.recall("a note")) == ids(right.recall("a note")) == ["n"]
