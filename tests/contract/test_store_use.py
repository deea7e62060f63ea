"""Use is counted for what a recall returned, at once, and never moves a clock back."""

from __future__ import annotations

from dataclasses import replace

from contract.builders import (
    EAST,
    T0,
    apply,
    change,
    later,
    link,
    make_note,
    new,
    question,
    snapshot,
    use,
)

from graphmem.model import Link, LinkKind, Note, Scope
from graphmem.ports import NoteStore


def linked(store: NoteStore, scope: Scope) -> None:
    notes = [make_note(id_, scope.namespace, source="s", position=i) for i, id_ in enumerate("abc")]
    apply(
        store,
        scope,
        *(new(note, EAST) for note in notes),
        links=[link("a", "b", 0.75), link("b", "c", 0.8)],
    )


def note_of(store: NoteStore, scope: Scope, id_: str) -> Note:
    return store.get(scope, [id_])[id_]


def link_of(store: NoteStore, scope: Scope, *pair: str) -> Link:
    return next(each for each in store.all_links(scope) if each.pair == pair)


def test_exactly_what_was_returned_is_counted(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    before = snapshot(store, scope)
    store.record_use(scope, use("a", "c", pairs=[("a", "b")], at=later(60)))
    a, c = note_of(store, scope, "a"), note_of(store, scope, "c")
    assert (a.recall_count, a.last_accessed_at) == (1, later(60))
    assert (c.recall_count, c.last_accessed_at) == (1, later(60))
    used = link_of(store, scope, "a", "b")
    assert (used.retrievals, used.last_retrieved_at) == (1, later(60))
    after = snapshot(store, scope)
    assert after.records[1] == before.records[1]
    assert after.related[1] == before.related[1]
    assert after.follows == before.follows
    assert replace(a, recall_count=0, last_accessed_at=T0) == before.records[0].note
    assert replace(used, retrievals=0, last_retrieved_at=None) == before.related[0]


def test_every_read_shows_the_use_at_once(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    for _ in range(3):
        store.record_use(scope, use("a", pairs=[("a", "b")], at=later(60)))
    used = link_of(store, scope, "a", "b")
    assert note_of(store, scope, "a").recall_count == 3
    assert next(iter(store.notes(scope))).recall_count == 3
    assert next(iter(store.records(scope))).note.recall_count == 3
    assert store.neighbourhood(scope, "a").notes[0].recall_count == 3
    found = store.candidates(scope, question(EAST))
    assert found.candidates[0].note.recall_count == 3
    for links in (store.links(scope, "a"), store.neighbourhood(scope, "a").links, found.links):
        assert used in links
        assert used.retrievals == 3
    assert store.stats(scope).recalls == 3


def test_a_late_use_does_not_move_the_clock_back(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    store.record_use(scope, use("a", pairs=[("a", "b")], at=later(60)))
    store.record_use(scope, use("a", pairs=[("a", "b")], at=later(30)))
    store.record_use(scope, use("b", at=later(-30)))
    a, b = note_of(store, scope, "a"), note_of(store, scope, "b")
    assert (a.recall_count, a.last_accessed_at) == (2, later(60))
    assert (b.recall_count, b.last_accessed_at) == (1, T0)
    used = link_of(store, scope, "a", "b")
    assert (used.retrievals, used.last_retrieved_at) == (2, later(60))


def test_use_of_what_is_not_there_is_ignored(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    before = snapshot(store, scope)
    store.record_use(scope, use("x", pairs=[("a", "c"), ("b", "x")]))
    store.record_use(scope, use())
    assert snapshot(store, scope) == before


def test_follows_is_not_counted(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    apply(store, scope, unlinks=[("a", "b")])
    before = snapshot(store, scope)
    store.record_use(scope, use(pairs=[("a", "b"), ("b", "a")]))
    assert snapshot(store, scope) == before
    chained = [each for each in store.neighbourhood(scope, "b").links if each.kind == "FOLLOWS"]
    assert chained == [
        Link("b", "a", 1.0, 1.0, LinkKind.FOLLOWS),
        Link("c", "b", 1.0, 1.0, LinkKind.FOLLOWS),
    ]


def test_use_does_not_count_as_a_revision(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    note = note_of(store, scope, "a")
    store.record_use(scope, use("a", at=later(60)))
    apply(store, scope, change(note, tags=("x",)))
    changed = note_of(store, scope, "a")
    assert (changed.revision, changed.recall_count, changed.tags) == (2, 1, ("x",))


def test_use_of_an_erased_note_is_gone(store: NoteStore, scope: Scope) -> None:
    linked(store, scope)
    store.record_use(scope, use("a", pairs=[("a", "b")], at=later(60)))
    apply(store, scope, erased=["a"])
    apply(store, scope, new(make_note("a", scope.namespace), EAST), links=[link("a", "b", 0.75)])
    assert note_of(store, scope, "a") == make_note("a", scope.namespace)
    assert link_of(store, scope, "a", "b") == link("a", "b", 0.75)


def test_use_of_one_namespace_stays_there(
    store: NoteStore, scope: Scope, other_scope: Scope
) -> None:
    linked(store, scope)
    linked(store, other_scope)
    before = snapshot(store, other_scope)
    store.record_use(scope, use("a", "b", "c", pairs=[("a", "b"), ("b", "c")]))
    assert snapshot(store, other_scope) == before
