"""Closing, several handles on one place, several threads in one store."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from contract.builders import (
    EAST,
    MODEL,
    apply,
    chain,
    change,
    later,
    link,
    make_event,
    make_note,
    new,
    question,
    snapshot,
    unit,
    use,
)
from contract.stores import DURABLE, NEO4J, STORES, Graph, Shelter

from graphmem.errors import ClosedMemory, Conflict
from graphmem.model import NoteRecord, NoteVectors, Scope, WritePlan
from graphmem.ports import NoteStore, ScopeReader
from graphmem.stores.embedded.store import NetworkXStore

Opener = Callable[[], NoteStore]


@pytest.fixture(params=STORES)
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NoteStore]:
    """A store the test may close."""
    if request.param == NEO4J:
        graph: Graph = request.getfixturevalue("graph")
        graph.shared()
        opened: NoteStore = graph.open()
        yield opened
        opened.close()
    else:
        with Shelter(request, str(request.param), tmp_path) as opened:
            yield opened


@pytest.fixture(params=DURABLE)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opener]:
    """Opens handles on one place, as often as wanted; closes them at the end."""
    handles: list[NoteStore] = []

    def open_handle() -> NoteStore:
        if request.param == NEO4J:
            graph: Graph = request.getfixturevalue("graph")
            graph.shared()
            handles.append(graph.open())
        else:
            handles.append(NetworkXStore(tmp_path / "shared.graphmem"))
        return handles[-1]

    yield open_handle
    for handle in handles:
        handle.close()


CALLS: dict[str, Callable[[NoteStore, Scope], object]] = {
    "model": lambda store, scope: store.model(),
    "write": lambda store, scope: store.write(scope, lambda reader: WritePlan()),
    "record_use": lambda store, scope: store.record_use(scope, use("a")),
    "candidates": lambda store, scope: store.candidates(scope, question(EAST, "w")),
    "nearest": lambda store, scope: store.nearest(scope, EAST[None], 1),
    "get": lambda store, scope: store.get(scope, ["a"]),
    "links": lambda store, scope: store.links(scope, "a"),
    "neighbourhood": lambda store, scope: store.neighbourhood(scope, "a"),
    "events": lambda store, scope: store.events(scope, "a"),
    "event": lambda store, scope: store.event(scope, "a@2"),
    "notes": lambda store, scope: list(store.notes(scope)),
    "records": lambda store, scope: list(store.records(scope)),
    "all_links": lambda store, scope: list(store.all_links(scope)),
    "all_events": lambda store, scope: list(store.all_events(scope)),
    "load": lambda store, scope: store.load(
        scope, [NoteRecord(make_note("b", scope.namespace), (), EAST)], [], [], MODEL
    ),
    "replace_model": lambda store, scope: store.replace_model(
        MODEL, lambda notes: NoteVectors(EAST[None])
    ),
    "namespaces": lambda store, scope: store.namespaces(),
    "drop_namespace": lambda store, scope: store.drop_namespace(scope.namespace),
    "stats": lambda store, scope: store.stats(scope),
    "check": lambda store, scope: store.check(scope),
}


def test_the_calls_are_all_there_are() -> None:
    methods = {name for name, _ in inspect.getmembers(NoteStore, inspect.isfunction)}
    assert {name for name in methods if not name.startswith("_")} == {*CALLS, "close"}


@pytest.mark.parametrize("name", CALLS)
def test_a_closed_store_refuses(own: NoteStore, scope: Scope, name: str) -> None:
    apply(own, scope, new(make_note("a", scope.namespace), EAST))
    own.close()
    with pytest.raises(ClosedMemory):
        CALLS[name](own, scope)


def test_closing_twice_is_harmless(own: NoteStore) -> None:
    own.close()
    own.close()
    assert isinstance(own.label, str)


def test_a_store_never_used_can_be_closed(own: NoteStore) -> None:
    own.close()


def test_the_label_names_the_place_without_secrets(own: NoteStore, request: object) -> None:
    assert own.label
    assert "password" not in own.label
    assert "@" not in own.label


# --- several handles ---------------------------------------------------------------------


def test_everything_is_there_after_reopening(opener: Opener, scope: Scope) -> None:
    first = opener()
    notes = [make_note(f"n{i}", scope.namespace, source="s", position=i) for i in range(5)]
    apply(
        first,
        scope,
        *(new(note, unit(i), [f"w{i}"]) for i, note in enumerate(notes)),
        links=[link("n0", "n1"), link("n2", "n4")],
        events=[make_event(notes[0], 2)],
    )
    first.record_use(scope, use("n0", pairs=[("n0", "n1")], at=later(5)))
    before = snapshot(first, scope)
    found = first.candidates(scope, question(EAST, "w1", "w2"))
    first.close()
    second = opener()
    assert snapshot(second, scope) == before
    assert second.candidates(scope, question(EAST, "w1", "w2")) == found
    assert second.check(scope).ok


def test_a_second_handle_sees_every_write_at_its_next_call(opener: Opener, scope: Scope) -> None:
    first, second = opener(), opener()
    assert second.candidates(scope, question(EAST, "w")).note_count == 0
    a = make_note("a", scope.namespace, source="s", position=2)
    apply(first, scope, new(a, EAST, ["w"]))
    assert second.get(scope, ["a"]) == {"a": a}
    assert second.candidates(scope, question(EAST, "w")).candidates[0].vector_rank == 0
    b = make_note("b", scope.namespace, source="s", position=1)
    apply(second, scope, new(b, EAST, ["w"]), links=[link("a", "b")])
    assert first.links(scope, "a") == (link("a", "b"),)
    assert first.candidates(scope, question(EAST, "w")).document_frequency == {"w": 2}
    assert [each.pair for each in chain(first, scope)] == [("a", "b")]
    apply(first, scope, change(a, unit(7), ["x"]))
    assert second.candidates(scope, question(EAST, "w", "x")).document_frequency == {
        "w": 1,
        "x": 1,
    }
    apply(second, scope, erased=["b"])
    assert snapshot(first, scope) == snapshot(second, scope)
    assert first.nearest(scope, EAST[None], 9) == second.nearest(scope, EAST[None], 9)
    assert first.drop_namespace(scope.namespace) == 1
    assert list(second.notes(scope)) == []
    assert second.candidates(scope, question(EAST, "w")).note_count == 0


def test_a_stale_handle_meets_a_conflict(opener: Opener, scope: Scope) -> None:
    first, second = opener(), opener()
    note = make_note("a", scope.namespace)
    apply(first, scope, new(note, EAST))
    stale = second.get(scope, ["a"])["a"]
    apply(first, scope, change(note, tags=("first",)))
    with pytest.raises(Conflict):
        apply(second, scope, change(stale, tags=("second",)))
    assert second.get(scope, ["a"])["a"].tags == ("first",)


def test_use_counted_by_two_handles_adds_up(opener: Opener, scope: Scope) -> None:
    first, second = opener(), opener()
    apply(first, scope, new(make_note("a", scope.namespace), EAST))
    for i in range(5):
        first.record_use(scope, use("a", at=later(i)))
        second.record_use(scope, use("a", at=later(100 + i)))
    first.close()
    second.close()
    note = opener().get(scope, ["a"])["a"]
    assert (note.recall_count, note.last_accessed_at) == (10, later(104))


# --- several threads ---------------------------------------------------------------------


def at_once(jobs: list[Callable[[], object]]) -> None:
    """Run the jobs in threads that start together; what one raises is raised."""
    gate = threading.Barrier(len(jobs))

    def run(job: Callable[[], object]) -> None:
        gate.wait()
        job()

    with ThreadPoolExecutor(len(jobs)) as pool:
        for future in [pool.submit(run, job) for job in jobs]:
            future.result()


def test_no_write_comes_between_reads_and_plan(store: NoteStore, scope: Scope) -> None:
    """Eight threads count up one note; a lost update would lower the sum."""
    apply(store, scope, new(make_note("n", scope.namespace, metadata={"count": 0}), EAST))

    def count_up(reader: ScopeReader) -> WritePlan:
        note = reader.notes(["n"])["n"]
        count = note.metadata["count"]
        assert isinstance(count, int)
        return WritePlan(notes=(change(note, metadata={"count": count + 1}),))

    def job() -> None:
        for _ in range(6):
            store.write(scope, count_up)

    at_once([job] * 8)
    note = store.get(scope, ["n"])["n"]
    assert (note.metadata["count"], note.revision) == (48, 49)


def test_threads_write_and_read_side_by_side(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, new(make_note("hub", scope.namespace), EAST, ["w"]))

    def writer(name: str) -> Callable[[], None]:
        def job() -> None:
            for i in range(8):
                id_ = f"{name}{i}"
                note = make_note(id_, scope.namespace, source="s", position=i)
                apply(store, scope, new(note, unit(i), ["w"]), links=[link("hub", id_)])

        return job

    def reader() -> None:
        for _ in range(8):
            found = store.candidates(scope, question(EAST, "w"))
            seen = {candidate.note.id for candidate in found.candidates}
            assert "hub" in seen
            assert all(seen >= set(each.pair) for each in found.links)
            assert found.note_count >= found.document_frequency["w"] >= 1
            assert len(list(store.notes(scope))) >= 1
            store.record_use(scope, use("hub"))

    at_once([writer("a"), writer("b"), writer("c"), reader, reader])
    assert store.stats(scope).notes == 25
    assert store.stats(scope).follows == 23
    assert len(store.links(scope, "hub")) == 24
    assert store.get(scope, ["hub"])["hub"].recall_count == 16
    assert store.check(scope).ok


def test_one_id_written_by_many_threads_is_stored_once(store: NoteStore, scope: Scope) -> None:
    outcomes: list[str] = []

    def job(name: str) -> Callable[[], None]:
        def write() -> None:
            try:
                apply(store, scope, new(make_note("n", scope.namespace, content=name), EAST))
                outcomes.append(name)
            except Conflict:
                outcomes.append("conflict")

        return write

    at_once([job(name) for name in "abcdef"])
    assert outcomes.count("conflict") == 5
    (winner,) = set(outcomes) - {"conflict"}
    assert store.get(scope, ["n"])["n"].content == winner


def test_a_write_while_iterating_disturbs_nobody(store: NoteStore, scope: Scope) -> None:
    notes = [make_note(f"n{i:04}", scope.namespace) for i in range(1200)]
    store.load(scope, [NoteRecord(note, (), EAST) for note in notes], [], [], MODEL)
    seen = []
    for i, note in enumerate(store.notes(scope)):
        seen.append(note.id)
        if i % 400 == 0:
            apply(store, scope, new(make_note(f"m{i}", scope.namespace), EAST))
            apply(store, scope, change(note, tags=("seen",)))
            apply(store, scope, erased=[f"m{i}"])
    assert seen == [note.id for note in notes]


def test_an_iteration_left_early_holds_nothing(store: NoteStore, scope: Scope) -> None:
    notes = [make_note(f"n{i:02}", scope.namespace) for i in range(9)]
    apply(store, scope, *(new(note, EAST) for note in notes), links=[link("n00", "n01")])
    for iterate in (store.notes, store.records, store.all_links):
        assert next(iter(iterate(scope)))
    apply(store, scope, *(change(note, tags=("x",)) for note in notes))
    assert store.drop_namespace(scope.namespace) == 9


def test_reads_within_a_decision_see_one_moment(store: NoteStore, scope: Scope) -> None:
    note = make_note("a", scope.namespace)
    apply(store, scope, new(note, EAST))
    revisions: list[int] = []

    def decide(reader: ScopeReader) -> WritePlan:
        first = reader.notes(["a"])["a"]
        again = reader.notes(["a"])["a"]
        assert first == again
        assert len(reader.nearest(EAST[None], 5)[0]) == 1
        revisions.append(first.revision)
        return WritePlan(notes=(change(first, tags=(*first.tags, str(first.revision))),))

    at_once([lambda: store.write(scope, decide)] * 4)
    assert store.get(scope, ["a"])["a"] == replace(note, revision=5, tags=("1", "2", "3", "4"))
