"""SUPERSEDES at the stores: beside RELATED, directed, and gone with either end."""

from __future__ import annotations

import pytest
from contract.builders import (
    T0,
    apply,
    ids,
    link,
    make_note,
    nearby,
    new,
    reading,
    snapshot,
    towards,
)

from graphmem.errors import Conflict, InvalidInput
from graphmem.model import Disagreement, DisagreementKind, Link, LinkKind, Scope, supersedes
from graphmem.ports import NoteStore

REASON = Disagreement(DisagreementKind.DATE, "at 9:15 \u2192 'early'", "11:30")


def newer(newer_id: str, older_id: str, cosine: float = 0.8) -> Link:
    return supersedes(newer_id, older_id, cosine, T0, REASON)


def fill(store: NoteStore, scope: Scope, links: tuple[Link, ...]) -> None:
    """Four notes, all linked, with these SUPERSEDES links."""
    names = "abcd"
    notes = (
        new(make_note(id_, scope.namespace, source=id_), towards(0.9, axis))
        for axis, id_ in enumerate(names, 1)
    )
    related = (link(a, b) for at, a in enumerate(names) for b in names[at + 1 :])
    apply(store, scope, *notes, links=(*related, *links))


def superseding(store: NoteStore, scope: Scope) -> list[Link]:
    return [each for each in store.all_links(scope) if each.kind is LinkKind.SUPERSEDES]


def test_every_read_shows_it_as_it_was_written(store: NoteStore, scope: Scope) -> None:
    both = (newer("b", "a", -0.25), newer("b", "c"))
    fill(store, scope, both)
    related = [each for each in store.all_links(scope) if each.kind is LinkKind.RELATED]
    assert len(related) == 6
    assert superseding(store, scope) == list(both)
    around = store.neighbourhood(scope, "a")
    assert around.links[-2:] == both
    found = store.candidates(scope, nearby())
    assert ids(found) == ["a", "b", "c", "d"]
    assert found.links[-2:] == both
    assert store.stats(scope).superseding == 2
    assert store.stats(scope).related == 6
    assert store.links(scope, "a") == tuple(
        sorted((each for each in related if "a" in each.pair), key=lambda each: each.other("a"))
    )
    assert store.check(scope).ok


def test_links_of_notes_come_by_pair_then_kind(store: NoteStore, scope: Scope) -> None:
    fill(store, scope, (newer("a", "b"), newer("c", "a")))
    found = reading(store, scope, lambda r: r.links(["a"]))
    assert [(*each.pair, each.kind.value) for each in found] == [
        ("a", "b", "RELATED"), ("a", "b", "SUPERSEDES"), ("a", "c", "RELATED"),
        ("a", "d", "RELATED"), ("c", "a", "SUPERSEDES"),
    ]  # fmt: skip


def test_it_is_seen_with_both_ends_only(store: NoteStore, scope: Scope) -> None:
    fill(store, scope, (newer("b", "a"), newer("c", "b")))
    seeing = Scope(scope.namespace, sources=frozenset("bcd"))
    assert superseding(store, seeing) == [newer("c", "b")]
    assert store.stats(seeing).superseding == 1
    assert reading(store, seeing, lambda r: r.links(["a", "b"]))[-1] == newer("c", "b")
    assert store.candidates(seeing, nearby()).links[-1:] == (newer("c", "b"),)
    assert [
        each for each in store.neighbourhood(seeing, "b").links if each.kind is LinkKind.SUPERSEDES
    ] == [newer("c", "b")]


def test_each_kind_is_unlinked_for_itself(store: NoteStore, scope: Scope) -> None:
    fill(store, scope, (newer("b", "a"), newer("c", "b")))
    apply(store, scope, unsuperseded=[("b", "a"), ("b", "c"), ("a", "nobody")])
    assert superseding(store, scope) == [newer("c", "b")]
    assert store.stats(scope).related == 6
    apply(store, scope, unlinks=[("b", "c")])
    assert superseding(store, scope) == [newer("c", "b")]
    assert store.stats(scope).related == 5


def test_written_again_it_is_replaced(store: NoteStore, scope: Scope) -> None:
    fill(store, scope, (newer("b", "a"),))
    other = supersedes("b", "a", 0.5, None, Disagreement(DisagreementKind.NEGATION, "x", "y"))
    apply(store, scope, links=[other])
    assert superseding(store, scope) == [other]


@pytest.mark.parametrize("gone", ["a", "b"])
def test_it_goes_with_either_end(store: NoteStore, scope: Scope, gone: str) -> None:
    fill(store, scope, (newer("b", "a"), newer("d", "c")))
    apply(store, scope, erased=[gone])
    assert superseding(store, scope) == [newer("d", "c")]
    assert store.check(scope).ok


def test_namespaces_keep_their_own(store: NoteStore, scope: Scope, other_scope: Scope) -> None:
    fill(store, scope, (newer("b", "a"),))
    fill(store, other_scope, (newer("c", "a"),))
    store.drop_namespace(other_scope.namespace)
    assert superseding(store, scope) == [newer("b", "a")]
    assert superseding(store, other_scope) == []


@pytest.mark.parametrize(
    "bad",
    [
        newer("a", "a"),
        Link("b", "a", 1.0, 1.0, LinkKind.SUPERSEDES),
        newer("b", "nobody"),
    ],
)
def test_what_is_none_is_refused_whole(store: NoteStore, scope: Scope, bad: Link) -> None:
    fill(store, scope, ())
    before = snapshot(store, scope)
    with pytest.raises((InvalidInput, Conflict), match="nothing was changed"):
        apply(store, scope, links=[bad])
    assert snapshot(store, scope) == before


def test_a_note_that_is_loaded_anew_keeps_it(store: NoteStore, scope: Scope) -> None:
    fill(store, scope, (newer("b", "a"),))
    assert superseding(store, scope) == [newer("b", "a")]
    store.load(scope, [next(store.records(scope))], (), (), store.model())
    assert superseding(store, scope) == [newer("b", "a")]
    assert store.check(scope).ok


def test_it_is_loaded_as_it_is(store: NoteStore, scope: Scope) -> None:
    fill(store, scope, ())
    store.load(scope, (), [newer("b", "a")], (), store.model())
    store.load(scope, (), [newer("b", "a")], (), store.model())
    assert superseding(store, scope) == [newer("b", "a")]
