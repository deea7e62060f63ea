"""One write is one transaction: whole, compared with what is stored, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from contract.builders import (
    EAST,
    MODEL,
    apply,
    change,
    full_note,
    later,
    link,
    make_event,
    make_note,
    new,
    reading,
    snapshot,
    stored,
    unit,
    use,
)

from graphmem.errors import Conflict, EmbeddingMismatch, GraphmemError
from graphmem.model import ModelIdentity, NoteRecord, NoteWrite, Scope, WritePlan
from graphmem.ports import NoteStore, ScopeReader


def test_every_field_comes_back_as_written(store: NoteStore, scope: Scope) -> None:
    note, vector, terms = full_note("n1", scope.namespace), unit(1), ("ada", "seat", "ada")
    apply(store, scope, new(note, vector, terms))
    assert store.get(scope, ["n1"]) == {"n1": note}
    assert [stored(record) for record in store.records(scope)] == [
        stored(NoteRecord(note, terms, vector))
    ]


def test_write_returns_the_plan_that_was_applied(store: NoteStore, scope: Scope) -> None:
    plan = WritePlan(notes=(new(make_note("n1", scope.namespace), EAST),), model=MODEL)
    assert store.write(scope, lambda reader: plan) == plan


def test_an_empty_plan_changes_nothing(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, new(make_note("n1", scope.namespace), EAST))
    before = snapshot(store, scope)
    assert store.write(scope, lambda reader: WritePlan()).empty
    assert snapshot(store, scope) == before


def test_the_decision_sees_the_scope_as_it_stands(store: NoteStore, scope: Scope) -> None:
    note = full_note("n1", scope.namespace)
    other = make_note("n2", scope.namespace, source="chat-7")
    event = make_event(note, 2, trigger="n2")
    apply(
        store,
        scope,
        new(note, EAST),
        new(other, None),
        links=[link("n1", "n2")],
        events=[event],
    )
    assert reading(store, scope, lambda r: r.model()) == MODEL
    assert reading(store, scope, lambda r: r.notes(["n2", "n1", "n3"])) == {"n1": note, "n2": other}
    assert reading(store, scope, lambda r: r.taken(["n1", "n3"])) == {"n1"}
    vectors = reading(store, scope, lambda r: r.vectors(["n1", "n2", "n3"]))
    assert {id_: vector.tobytes() for id_, vector in vectors.items()} == {"n1": EAST.tobytes()}
    assert vectors["n1"].dtype == np.float32
    assert reading(store, scope, lambda r: r.links(["n2"])) == (link("n1", "n2"),)
    assert reading(store, scope, lambda r: r.links(["n3"])) == ()
    assert reading(store, scope, lambda r: r.events(["n1", "n2"])) == (event,)
    assert reading(store, scope, lambda r: r.events(["n2"])) == ()
    assert reading(store, scope, lambda r: r.triggered(["n2"])) == (event,)
    assert reading(store, scope, lambda r: r.triggered(["n1"])) == ()
    assert reading(store, scope, lambda r: r.of_source("chat-7")) == ("n1", "n2")
    assert reading(store, scope, lambda r: r.of_source("chat")) == ()


def test_reads_of_nothing_are_empty(store: NoteStore, scope: Scope) -> None:
    def read(reader: ScopeReader) -> None:
        assert reader.notes([]) == {}
        assert reader.taken([]) == frozenset()
        assert reader.vectors([]) == {}
        assert reader.links([]) == ()
        assert reader.events([]) == ()
        assert reader.triggered([]) == ()
        assert reader.of_source("s") == ()
        assert reader.nearest(np.zeros((0, 8), np.float32), 5) == ()
        assert reader.nearest(EAST[None], 5) == ((),)

    reading(store, scope, read)


def test_links_and_events_are_read_in_order(store: NoteStore, scope: Scope) -> None:
    notes = {id_: make_note(id_, scope.namespace) for id_ in "abcd"}
    links = [link("c", "d"), link("a", "d"), link("b", "c"), link("a", "b")]
    events = [
        make_event(notes["b"], 3, trigger="d"),
        make_event(notes["b"], 2, trigger="d"),
        make_event(notes["a"], 11, trigger="d"),
        make_event(notes["a"], 9, trigger="d"),
    ]
    apply(store, scope, *(new(note) for note in notes.values()), links=links, events=events)
    ordered = sorted(links, key=lambda each: each.pair)
    by_revision = [events[3], events[2], events[1], events[0]]
    assert reading(store, scope, lambda r: r.links(list("dcba"))) == tuple(ordered)
    assert reading(store, scope, lambda r: r.events(list("ba"))) == tuple(by_revision)
    assert reading(store, scope, lambda r: r.triggered(["d"])) == tuple(by_revision)
    assert list(store.all_links(scope)) == ordered
    assert list(store.all_events(scope)) == by_revision
    assert store.events(scope, "a") == tuple(by_revision[:2])
    assert store.event(scope, "b@3") == events[0]
    assert store.event(scope, "b@4") is None


def test_a_decision_that_raises_changes_nothing(store: NoteStore, scope: Scope) -> None:
    class Refused(Exception):  # noqa: N818 - a name for this test only
        pass

    def decide(reader: ScopeReader) -> WritePlan:
        raise Refused

    apply(store, scope, new(make_note("n1", scope.namespace), EAST))
    before = snapshot(store, scope)
    with pytest.raises(Refused):
        store.write(scope, decide)
    assert snapshot(store, scope) == before
    apply(store, scope, new(make_note("n2", scope.namespace), EAST))


def seeded(store: NoteStore, scope: Scope) -> None:
    """Three linked notes of one source, one of them changed once."""
    notes = [make_note(f"n{i}", scope.namespace, source="s", position=i) for i in (1, 2, 3)]
    apply(
        store,
        scope,
        *(new(note, unit(i), [f"term{i}"]) for i, note in enumerate(notes)),
        links=[link("n1", "n2"), link("n2", "n3")],
    )
    changed = change(notes[0], unit(9), ["changed"], tags=("changed",))
    apply(store, scope, changed, events=[make_event(notes[0], 2, trigger="n2")])
    store.record_use(scope, use("n1", pairs=[("n1", "n2")]))


def refused_plans() -> dict[str, Callable[[Scope], WritePlan]]:
    """Plans in which one part cannot be applied, after parts that could be."""

    def beside_a_good_note(scope: Scope, *bad: NoteWrite, **parts: object) -> WritePlan:
        good = new(make_note("good", scope.namespace, source="s", position=0), EAST, ["good"])
        plan = WritePlan(
            notes=(good, *bad),
            links=(link("good", "n1"),),
            unlinks=(("n1", "n2"),),
            erased=("n3",),
            dropped_events=("n1@2",),
            model=MODEL,
        )
        return replace(plan, **parts)  # type: ignore[arg-type] # fields of WritePlan

    def note(scope: Scope, id_: str, revision: int) -> NoteWrite:
        made = make_note(id_, scope.namespace, revision=revision + 1)
        return NoteWrite(made, (), None, expected_revision=revision)

    return {
        "a new note whose id is taken": lambda s: beside_a_good_note(s, note(s, "n2", 0)),
        "a revision that has passed": lambda s: beside_a_good_note(s, note(s, "n1", 1)),
        "a revision still to come": lambda s: beside_a_good_note(s, note(s, "n2", 2)),
        "a change of a note that is not there": lambda s: beside_a_good_note(s, note(s, "n9", 1)),
        "another model": lambda s: beside_a_good_note(s, model=ModelIdentity("other", 8)),
        "another dimension": lambda s: beside_a_good_note(s, model=ModelIdentity("stub-8", 9)),
        "a vector of another length": lambda s: beside_a_good_note(
            s, new(make_note("n4", s.namespace), unit(1, 9))
        ),
        "a link to a note that is not there": lambda s: beside_a_good_note(
            s, links=(link("n1", "n9"),)
        ),
        "an event of a note that is not there": lambda s: beside_a_good_note(
            s, events=(make_event(make_note("n9", s.namespace), 2),)
        ),
        "a note of another namespace": lambda s: beside_a_good_note(
            s, new(make_note("n4", s.namespace + "x"), EAST)
        ),
    }


@pytest.mark.parametrize("reason", refused_plans())
def test_a_plan_with_one_wrong_part_changes_nothing(
    store: NoteStore, scope: Scope, reason: str
) -> None:
    seeded(store, scope)
    plan = refused_plans()[reason](scope)
    before = snapshot(store, scope)
    with pytest.raises(GraphmemError):
        store.write(scope, lambda reader: plan)
    assert snapshot(store, scope) == before
    assert store.check(scope).ok


@pytest.mark.parametrize(
    "reason", [reason for reason in refused_plans() if "revision" in reason or "id is" in reason]
)
def test_compare_and_swap_fails_as_a_conflict(store: NoteStore, scope: Scope, reason: str) -> None:
    seeded(store, scope)
    plan = refused_plans()[reason](scope)
    with pytest.raises(Conflict):
        store.write(scope, lambda reader: plan)


@pytest.mark.parametrize(
    "reason", ["another model", "another dimension", "a vector of another length"]
)
def test_another_model_fails_as_a_mismatch(store: NoteStore, scope: Scope, reason: str) -> None:
    seeded(store, scope)
    plan = refused_plans()[reason](scope)
    with pytest.raises(EmbeddingMismatch):
        store.write(scope, lambda reader: plan)


def test_the_first_plan_with_a_model_names_the_stores_model(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, new(make_note("n1", scope.namespace), EAST), model=MODEL)
    apply(store, scope, new(make_note("n2", scope.namespace), EAST), model=None)
    assert store.model() == MODEL


def test_an_upsert_keeps_use_and_vector(store: NoteStore, scope: Scope) -> None:
    note = make_note("n1", scope.namespace)
    apply(store, scope, new(note, EAST, ["one"]))
    store.record_use(scope, use("n1", at=later(60)))
    apply(
        store,
        scope,
        change(note, None, ["two"], content="changed", recall_count=99, last_accessed_at=later(9)),
    )
    (record,) = store.records(scope)
    assert record.note.content == "changed"
    assert record.note.revision == 2
    assert record.note.recall_count == 1
    assert record.note.last_accessed_at == later(60)
    assert record.terms == ("two",)
    assert record.embedding is not None
    assert record.embedding.tobytes() == EAST.tobytes()


def test_a_new_note_takes_the_use_of_its_plan(store: NoteStore, scope: Scope) -> None:
    note = make_note("n1", scope.namespace, recall_count=7, last_accessed_at=later(60))
    apply(store, scope, new(note, EAST))
    assert store.get(scope, ["n1"])["n1"] == note


def test_a_new_vector_takes_the_place_of_the_old(store: NoteStore, scope: Scope) -> None:
    note = make_note("n1", scope.namespace)
    apply(store, scope, new(note, unit(1)))
    apply(store, scope, change(note, EAST))
    (row,) = store.nearest(scope, EAST[None], 5)
    assert [neighbour.note_id for neighbour in row] == ["n1"]
    assert row[0].cosine == pytest.approx(1.0, abs=1e-6)


def test_a_note_may_stay_without_vector(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, new(make_note("n1", scope.namespace), None, ["term"]))
    assert store.nearest(scope, EAST[None], 5) == ((),)
    (record,) = store.records(scope)
    assert record.embedding is None


def test_links_are_made_replaced_and_removed(store: NoteStore, scope: Scope) -> None:
    apply(
        store,
        scope,
        *(new(make_note(id_, scope.namespace), EAST) for id_ in "abc"),
        links=[link("a", "b", 0.75), link("a", "c", 0.8)],
    )
    store.record_use(scope, use("a", "b", pairs=[("a", "b")], at=later(5)))
    weaker = link("a", "b", 0.75, weight=0.25, retrievals=7, last_retrieved_at=later(9))
    apply(store, scope, links=[weaker], unlinks=[("a", "c")])
    assert list(store.all_links(scope)) == [weaker]
    assert store.links(scope, "a") == (weaker,)
    assert store.links(scope, "c") == ()


def test_unlinked_and_linked_again_is_a_new_link(store: NoteStore, scope: Scope) -> None:
    apply(
        store,
        scope,
        *(new(make_note(id_, scope.namespace), EAST) for id_ in "ab"),
        links=[link("a", "b", 0.75, retrievals=3, last_retrieved_at=later(1))],
    )
    apply(store, scope, unlinks=[("a", "b")])
    again = link("a", "b", 0.9, created_at=later(60))
    apply(store, scope, links=[again])
    assert list(store.all_links(scope)) == [again]


def test_links_of_a_note_are_sorted_and_cut_by_weight(store: NoteStore, scope: Scope) -> None:
    weights = {"a": 0.5, "b": 0.9, "c": 0.9, "d": 0.75, "z": 0.9}
    apply(
        store,
        scope,
        *(new(make_note(id_, scope.namespace), EAST) for id_ in [*weights, "m"]),
        links=[link("m", id_, weight) for id_, weight in weights.items()],
    )
    assert [each.other("m") for each in store.links(scope, "m")] == ["b", "c", "z", "d", "a"]
    assert [each.other("m") for each in store.links(scope, "m", 0.75)] == ["b", "c", "z", "d"]
    assert store.links(scope, "nobody") == ()


def test_links_to_archived_notes_are_left_out(store: NoteStore, scope: Scope) -> None:
    a, b = make_note("a", scope.namespace), make_note("b", scope.namespace)
    apply(store, scope, new(a, EAST), new(b, EAST), links=[link("a", "b")])
    apply(store, scope, change(b, archived=True))
    assert store.links(scope, "a") == ()
    assert list(store.all_links(scope)) == [link("a", "b")]
    apply(store, scope, change(replace(b, revision=2), archived=False))
    assert store.links(scope, "a") == (link("a", "b"),)


def test_events_are_kept_until_dropped(store: NoteStore, scope: Scope) -> None:
    note = full_note("n1", scope.namespace)
    first, second = make_event(note, 2), make_event(note, 3, trigger="n2")
    apply(store, scope, new(note), events=[first])
    apply(store, scope, events=[second])
    assert store.events(scope, "n1") == (first, second)
    apply(store, scope, dropped_events=[first.id])
    assert store.events(scope, "n1") == (second,)
    assert store.event(scope, first.id) is None


def test_erased_notes_leave_no_trace(store: NoteStore, scope: Scope) -> None:
    notes = [make_note(id_, scope.namespace, source="s", position=1) for id_ in "abc"]
    apply(
        store,
        scope,
        *(new(note, EAST, ["word", note.id]) for note in notes),
        links=[link("a", "b"), link("a", "c"), link("b", "c")],
        events=[make_event(note, 2) for note in notes],
    )
    apply(store, scope, erased=["b"])
    assert store.get(scope, ["b"]) == {}
    assert store.events(scope, "b") == ()
    assert store.event(scope, "b@2") is None
    assert store.links(scope, "b") == ()
    assert list(store.all_links(scope)) == [link("a", "c")]
    assert [event.note_id for event in store.all_events(scope)] == ["a", "c"]
    assert [n.note_id for n in store.nearest(scope, EAST[None], 9)[0]] == ["a", "c"]
    assert store.neighbourhood(scope, "b").notes == ()
    assert reading(store, scope, lambda r: r.taken(["b"])) == frozenset()
    assert reading(store, scope, lambda r: r.of_source("s")) == ("a", "c")
    assert store.check(scope).ok


def test_an_erased_id_can_be_written_anew(store: NoteStore, scope: Scope) -> None:
    note = make_note("a", scope.namespace)
    apply(store, scope, new(note, EAST, ["old"]), events=[make_event(note, 2)])
    store.record_use(scope, use("a"))
    apply(store, scope, erased=["a"])
    again = make_note("a", scope.namespace, content="another text")
    apply(store, scope, new(again, unit(5), ["fresh"]))
    assert store.get(scope, ["a"]) == {"a": again}
    assert store.events(scope, "a") == ()


def test_taking_away_what_is_not_there_is_harmless(store: NoteStore, scope: Scope) -> None:
    seeded(store, scope)
    before = snapshot(store, scope)
    apply(store, scope, unlinks=[("n1", "n3"), ("x", "y")], dropped_events=["n9@4"], erased=["n9"])
    assert snapshot(store, scope) == before
