"""FOLLOWS is derived: one chain per source in order of position, after every write."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

from contract.builders import (
    EAST,
    MODEL,
    apply,
    chain,
    change,
    follows,
    make_note,
    new,
    question,
)

from graphmem.model import LinkKind, Note, NoteFilter, NoteRecord, Scope, Source
from graphmem.ports import NoteStore


def put(store: NoteStore, scope: Scope, id_: str, position: int | None, source: str = "s") -> Note:
    note = make_note(id_, scope.namespace, source=source, position=position)
    apply(store, scope, new(note, EAST))
    return note


def chained(store: NoteStore, scope: Scope) -> list[tuple[str, str]]:
    """(later, earlier) pairs, after the store agreed with itself and its counts."""
    links = chain(store, scope)
    assert store.check(scope).ok
    assert store.stats(scope).follows == len(links)
    return [each.pair for each in links]


def expected(order: str) -> list[tuple[str, str]]:
    return sorted((later, earlier) for earlier, later in itertools.pairwise(order))


def test_each_note_points_to_the_one_before_it(store: NoteStore, scope: Scope) -> None:
    apply(
        store,
        scope,
        *(
            new(make_note(id_, scope.namespace, source="s", position=i), EAST)
            for i, id_ in enumerate("dbca")
        ),
    )
    assert chained(store, scope) == expected("dbca")
    assert chain(store, scope)[0] == follows("a", "c")


def test_late_notes_take_their_place(store: NoteStore, scope: Scope) -> None:
    put(store, scope, "a", 10)
    put(store, scope, "b", 30)
    put(store, scope, "c", 20)
    assert chained(store, scope) == expected("acb")
    put(store, scope, "d", 5)
    put(store, scope, "e", 99)
    assert chained(store, scope) == expected("dacbe")


def test_equal_positions_go_by_id(store: NoteStore, scope: Scope) -> None:
    for id_ in "cab":
        put(store, scope, id_, 1)
    put(store, scope, "z", 0)
    assert chained(store, scope) == expected("zabc")


def test_negative_and_huge_positions_are_in_order(store: NoteStore, scope: Scope) -> None:
    for id_, position in {"a": 2**40, "b": -3, "c": 0, "d": -(2**40)}.items():
        put(store, scope, id_, position)
    assert chained(store, scope) == expected("dbca")


def test_without_a_position_there_is_no_link(store: NoteStore, scope: Scope) -> None:
    put(store, scope, "a", 1)
    put(store, scope, "b", None)
    put(store, scope, "c", 2)
    apply(store, scope, new(make_note("d", scope.namespace), EAST))
    assert chained(store, scope) == expected("ac")


def test_sources_are_chained_apart(store: NoteStore, scope: Scope) -> None:
    for i, (id_, source) in enumerate([("a", "s"), ("b", "t"), ("c", "s"), ("d", "t")]):
        put(store, scope, id_, i, source)
    assert chained(store, scope) == [("c", "a"), ("d", "b")]


def test_namespaces_are_chained_apart(store: NoteStore, scope: Scope, other_scope: Scope) -> None:
    put(store, scope, "a", 1)
    put(store, other_scope, "b", 2)
    put(store, scope, "c", 3)
    assert chained(store, scope) == expected("ac")
    assert chained(store, other_scope) == []


def test_an_erased_middle_closes_the_gap(store: NoteStore, scope: Scope) -> None:
    for i, id_ in enumerate("abcde"):
        put(store, scope, id_, i)
    apply(store, scope, erased=["b", "c"])
    assert chained(store, scope) == expected("ade")
    apply(store, scope, erased=["a"])
    assert chained(store, scope) == expected("de")
    apply(store, scope, erased=["d", "e"])
    assert chained(store, scope) == []


def test_one_plan_may_add_and_erase_in_a_source(store: NoteStore, scope: Scope) -> None:
    for i, id_ in enumerate("abc"):
        put(store, scope, id_, i * 10)
    late = make_note("x", scope.namespace, source="s", position=5)
    apply(store, scope, new(late, EAST), erased=["b"])
    assert chained(store, scope) == expected("axc")


def test_a_moved_note_is_chained_anew(store: NoteStore, scope: Scope) -> None:
    notes = {id_: put(store, scope, id_, i) for i, id_ in enumerate("abc")}
    moved = change(notes["a"], source=Source("s", position=9))
    apply(store, scope, moved)
    assert chained(store, scope) == expected("bca")
    apply(store, scope, change(moved.note, source=Source("s")))
    assert chained(store, scope) == expected("bc")


def test_a_change_of_source_mends_both_chains(store: NoteStore, scope: Scope) -> None:
    for i, id_ in enumerate("ac"):
        put(store, scope, id_, i * 2, "s")
        put(store, scope, f"{id_}t", i * 2, "t")
    note = put(store, scope, "b", 1, "s")
    assert chained(store, scope) == [("b", "a"), ("c", "b"), ("ct", "at")]
    moved = change(note, source=Source("t", position=1))
    apply(store, scope, moved)
    assert chained(store, scope) == [("b", "at"), ("c", "a"), ("ct", "b")]
    apply(store, scope, change(moved.note, source=None))
    assert chained(store, scope) == [("c", "a"), ("ct", "at")]


def test_archived_notes_keep_their_place_and_are_skipped(store: NoteStore, scope: Scope) -> None:
    notes = {id_: put(store, scope, id_, i) for i, id_ in enumerate("abc")}
    apply(store, scope, change(notes["b"], archived=True))
    assert store.stats(scope).follows == 2
    query = question(EAST, where=NoteFilter(archived=True))
    links = [each for each in store.candidates(scope, query).links if each.kind == "FOLLOWS"]
    assert links == [follows("b", "a"), follows("c", "b")]
    assert store.candidates(scope, question(EAST)).links == (follows("c", "a"),)
    restored = replace(notes["b"], revision=2)
    apply(store, scope, change(restored, archived=False))
    assert chained(store, scope) == expected("abc")


def test_an_upsert_without_a_move_keeps_the_chain(store: NoteStore, scope: Scope) -> None:
    notes = {id_: put(store, scope, id_, i) for i, id_ in enumerate("abc")}
    apply(store, scope, change(notes["b"], tags=("x",)))
    assert chained(store, scope) == expected("abc")


def test_loaded_notes_are_chained(store: NoteStore, scope: Scope) -> None:
    put(store, scope, "b", 2)
    records = [
        NoteRecord(make_note(id_, scope.namespace, source="s", position=position), (), EAST)
        for id_, position in [("c", 3), ("a", 1)]
    ]
    store.load(scope, records, [], [], MODEL)
    assert chained(store, scope) == expected("abc")
    moved = NoteRecord(make_note("a", scope.namespace, source="t", position=1), (), EAST)
    store.load(scope, [moved], [], [], MODEL)
    assert chained(store, scope) == expected("bc")


def test_any_order_of_arrival_gives_the_same_chain(store: NoteStore, scope: Scope) -> None:
    order = [f"n{i:02}" for i in range(24)]
    arrival = random.Random(7).sample(list(enumerate(order)), k=len(order))
    for batch in (arrival[:5], arrival[5:6], arrival[6:20], arrival[20:]):
        notes = [make_note(id_, scope.namespace, source="s", position=i) for i, id_ in batch]
        apply(store, scope, *(new(note, EAST) for note in notes))
    pairs = sorted((later, earlier) for earlier, later in itertools.pairwise(order))
    assert chained(store, scope) == pairs


def test_follows_is_no_related_link(store: NoteStore, scope: Scope) -> None:
    put(store, scope, "a", 1)
    put(store, scope, "b", 2)
    assert store.links(scope, "b") == ()
    assert list(store.all_links(scope)) == []
    assert [each.kind for each in store.neighbourhood(scope, "b").links] == [LinkKind.FOLLOWS]
