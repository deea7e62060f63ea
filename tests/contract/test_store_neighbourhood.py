"""A note and what is around it, by hops."""

from __future__ import annotations

from contract.builders import (
    EAST,
    apply,
    link,
    make_note,
    new,
)

from graphmem.model import (
    Scope,
)
from graphmem.ports import NoteStore


def test_a_neighbourhood_grows_by_hops(store: NoteStore, scope: Scope) -> None:
    ns = scope.namespace
    notes = [make_note(id_, ns, source="s", position=i) for i, id_ in enumerate("pq")]
    apply(
        store,
        scope,
        *(new(note, EAST) for note in notes),
        *(new(make_note(id_, ns), EAST) for id_ in "abcx"),
        links=[link("a", "b"), link("b", "c"), link("c", "p"), link("a", "c", 0.1)],
    )
    reached = {0: "a", 1: "abc", 2: "abcp", 3: "abcpq", 9: "abcpq"}
    for hops, expected in reached.items():
        around = store.neighbourhood(scope, "a", hops)
        assert [note.id for note in around.notes] == list(expected)
    around = store.neighbourhood(scope, "a", 9)
    assert [(each.kind, *each.pair) for each in around.links] == [
        ("FOLLOWS", "q", "p"),
        ("RELATED", "a", "b"),
        ("RELATED", "a", "c"),
        ("RELATED", "b", "c"),
        ("RELATED", "c", "p"),
    ]


def test_a_neighbourhood_is_cut_at_the_far_end(store: NoteStore, scope: Scope) -> None:
    ids = ["z", "y", "a", "b", "c"]
    apply(
        store,
        scope,
        *(new(make_note(id_, scope.namespace), EAST) for id_ in ids),
        links=[link("z", "y"), link("y", "a"), link("y", "b"), link("y", "c")],
    )
    cut = {1: ["z"], 2: ["y", "z"], 3: ["a", "y", "z"], 4: ["a", "b", "y", "z"]}
    for limit, expected in cut.items():
        around = store.neighbourhood(scope, "z", hops=2, limit=limit)
        assert [note.id for note in around.notes] == expected
        assert all(set(each.pair) <= set(expected) for each in around.links)
        assert len(around.links) == limit - 1


def test_archived_notes_are_not_walked_through(store: NoteStore, scope: Scope) -> None:
    apply(
        store,
        scope,
        *(new(make_note(id_, scope.namespace, archived=id_ == "b"), EAST) for id_ in "abc"),
        links=[link("a", "b"), link("b", "c")],
    )
    assert [note.id for note in store.neighbourhood(scope, "a", 5).notes] == ["a"]
    around = store.neighbourhood(scope, "b", 1)
    assert [note.id for note in around.notes] == ["a", "b", "c"]
    assert [each.pair for each in around.links] == [("a", "b"), ("b", "c")]


def test_an_unknown_note_has_no_neighbourhood(store: NoteStore, scope: Scope) -> None:
    assert store.neighbourhood(scope, "nobody").notes == ()
    assert store.neighbourhood(scope, "nobody").links == ()
