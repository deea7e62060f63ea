"""Expansion from the seeds: along links, along the source, within its bounds."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from contract.builders import (
    EAST,
    apply,
    change,
    cosine_of,
    follows,
    ids,
    link,
    make_note,
    nearby,
    new,
    put,
    question,
    towards,
)
from contract.stores import EVERY_RELEASE

from graphmem.model import CandidateQuery, NoteFilter, Scope
from graphmem.ports import NoteStore

pytestmark = pytest.mark.parametrize("store", EVERY_RELEASE, indirect=True)


def star(store: NoteStore, scope: Scope, weights: dict[str, float]) -> None:
    """A seed ``s`` linked to notes far from the question."""
    put(store, scope, {"s": (EAST, ())} | dict.fromkeys(weights, (-EAST, ())))
    apply(store, scope, links=[link("s", id_, weight) for id_, weight in weights.items()])


def from_seed(**fields: object) -> CandidateQuery:
    return nearby(**{"vector_seeds": 1, "expand": 1, **fields})


def test_related_notes_come_in_by_their_links(store: NoteStore, scope: Scope) -> None:
    star(store, scope, {"a": 0.75, "b": 0.8})
    found = store.candidates(scope, from_seed())
    assert ids(found) == ["a", "b", "s"]
    assert [c.vector_rank for c in found.candidates] == [None, None, 0]
    assert cosine_of(found.candidates[0]) == pytest.approx(-1.0, abs=1e-6)
    assert found.links == (link("a", "s", 0.75), link("b", "s", 0.8))
    assert ids(store.candidates(scope, from_seed(hops=0))) == ["s"]
    assert ids(store.candidates(scope, from_seed(expand=0))) == ["s"]


def test_fanout_takes_the_strongest_links(store: NoteStore, scope: Scope) -> None:
    star(store, scope, {"d": 0.8, "c": 0.8, "b": 0.9, "a": 0.75, "e": 0.8})
    assert ids(store.candidates(scope, from_seed(fanout=1))) == ["b", "s"]
    assert ids(store.candidates(scope, from_seed(fanout=3))) == ["b", "c", "d", "s"]
    assert ids(store.candidates(scope, from_seed(fanout=0))) == ["s"]


def test_fanout_counts_admitted_links_only(store: NoteStore, scope: Scope) -> None:
    star(store, scope, {"a": 0.9, "b": 0.8, "c": 0.75})
    note = store.get(scope, ["a"])["a"]
    apply(store, scope, change(note, archived=True))
    assert ids(store.candidates(scope, from_seed(fanout=1))) == ["b", "s"]


def test_weak_links_are_neither_walked_nor_shown(store: NoteStore, scope: Scope) -> None:
    star(store, scope, {"a": 0.75, "b": 0.5})
    found = store.candidates(scope, from_seed(min_weight=0.75))
    assert ids(found) == ["a", "s"]
    assert found.links == (link("a", "s", 0.75),)
    everything = store.candidates(scope, nearby(min_weight=0.75, expand=3))
    assert ids(everything) == ["a", "b", "s"]
    assert everything.links == (link("a", "s", 0.75),)


def test_the_present_weight_decides_not_the_first_cosine(store: NoteStore, scope: Scope) -> None:
    star(store, scope, {"a": 0.9, "b": 0.8})
    apply(store, scope, links=[link("a", "s", 0.9, weight=0.25)])
    assert ids(store.candidates(scope, from_seed(fanout=1))) == ["b", "s"]
    assert ids(store.candidates(scope, from_seed(min_weight=0.5))) == ["b", "s"]


def line(store: NoteStore, scope: Scope, order: str) -> None:
    """Notes linked one after the other; the first is the seed."""
    put(store, scope, {id_: (EAST if id_ == order[0] else -EAST, ()) for id_ in order})
    pairs = itertools.pairwise(order)
    apply(store, scope, links=[link(a, b, 0.8) for a, b in pairs])


def test_hops_bound_the_walk(store: NoteStore, scope: Scope) -> None:
    line(store, scope, "mcxbz")
    reached = {0: "m", 1: "cm", 2: "cmx", 3: "bcmx", 4: "bcmxz", 9: "bcmxz"}
    for hops, expected in reached.items():
        assert ids(store.candidates(scope, from_seed(hops=hops))) == list(expected)


def test_a_later_hop_has_its_own_fanout(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"s": (EAST, ())} | dict.fromkeys("abcd", (-EAST, ())))
    apply(
        store,
        scope,
        links=[link("s", "a", 0.75), link("a", "b", 0.9), link("a", "c", 0.8), link("a", "d", 0.8)],
    )
    assert ids(store.candidates(scope, from_seed(hops=2, fanout=1))) == ["a", "b", "s"]
    assert ids(store.candidates(scope, from_seed(hops=2, fanout=2))) == ["a", "b", "c", "s"]


def test_only_the_first_seeds_are_expanded(store: NoteStore, scope: Scope) -> None:
    put(
        store,
        scope,
        {
            "a": (towards(0.9), ()),
            "b": (towards(0.8), ()),
            "x": (-EAST, ()),
            "y": (-EAST, ()),
            "l": (None, ["w"]),
            "z": (-EAST, ()),
        },
    )
    apply(store, scope, links=[link("a", "x"), link("b", "y"), link("l", "z")])
    found = store.candidates(scope, question(EAST, "w", vector_seeds=2, expand=1))
    assert ids(found) == ["a", "b", "l", "x", "z"]


def test_a_seed_that_is_no_start_is_walked_on_from(store: NoteStore, scope: Scope) -> None:
    put(
        store,
        scope,
        {"a": (towards(0.9), ()), "b": (towards(0.8), ()), "c": (-EAST, ())},
    )
    apply(store, scope, links=[link("a", "b"), link("b", "c")])
    query = nearby(vector_seeds=2, expand=1)
    assert ids(store.candidates(scope, replace(query, hops=1))) == ["a", "b"]
    assert ids(store.candidates(scope, replace(query, hops=2))) == ["a", "b", "c"]


def row(store: NoteStore, scope: Scope, seed: str, importances: dict[str, float]) -> None:
    """One source, in order; only `seed` is near the question."""
    apply(
        store,
        scope,
        *(
            new(
                make_note(
                    id_, scope.namespace, source="s", position=i, importance=importances[id_]
                ),
                EAST if id_ == seed else -EAST,
            )
            for i, id_ in enumerate(importances)
        ),
    )


def test_the_window_reaches_both_ways_along_the_source(store: NoteStore, scope: Scope) -> None:
    row(store, scope, "e", dict.fromkeys("gbdeacf", 0.5))
    reached = {0: "e", 1: "ade", 2: "abcde", 3: "abcdefg", 9: "abcdefg"}
    for window, expected in reached.items():
        query = from_seed(window=window, source_notes=0)
        assert ids(store.candidates(scope, query)) == list(expected)


def test_the_window_skips_a_note_that_is_filtered_out(store: NoteStore, scope: Scope) -> None:
    row(store, scope, "e", dict.fromkeys("gbdeacf", 0.5))
    apply(store, scope, change(store.get(scope, ["a"])["a"], archived=True))
    query = from_seed(window=9, source_notes=0)
    assert ids(store.candidates(scope, query)) == ["b", "c", "d", "e", "f", "g"]
    near = store.candidates(scope, replace(query, window=1))
    assert ids(near) == ["c", "d", "e"]
    assert [link.pair for link in near.links] == [("c", "e"), ("e", "d")]
    everything = replace(query, where=NoteFilter(archived=True))
    assert ids(store.candidates(scope, everything)) == list("abcdefg")


def test_the_most_important_notes_of_the_source_come_in(store: NoteStore, scope: Scope) -> None:
    row(store, scope, "e", {"g": 0.25, "b": 0.75, "d": 0.75, "e": 0.0, "a": 0.5, "c": 1.0})
    apply(store, scope, new(make_note("x", scope.namespace, source="t", importance=1.0), -EAST))
    reached = {0: "e", 1: "ce", 2: "bce", 3: "bcde", 4: "abcde", 8: "abcdeg"}
    for source_notes, expected in reached.items():
        query = from_seed(window=0, source_notes=source_notes)
        assert ids(store.candidates(scope, query)) == list(expected)


def test_a_source_counts_without_positions(store: NoteStore, scope: Scope) -> None:
    apply(
        store,
        scope,
        new(make_note("a", scope.namespace, source="s"), EAST),
        new(make_note("b", scope.namespace, source="s"), -EAST),
        new(make_note("c", scope.namespace), -EAST),
    )
    assert ids(store.candidates(scope, from_seed())) == ["a", "b"]


def test_what_came_in_by_source_is_not_walked_on_from(store: NoteStore, scope: Scope) -> None:
    row(store, scope, "a", dict.fromkeys("ab", 0.5))
    apply(store, scope, new(make_note("c", scope.namespace), -EAST), links=[link("b", "c")])
    assert ids(store.candidates(scope, from_seed(hops=3))) == ["a", "b"]


def test_links_of_the_expansion_are_listed_once_in_order(store: NoteStore, scope: Scope) -> None:
    row(store, scope, "a", dict.fromkeys("abc", 0.5))
    apply(store, scope, links=[link("b", "c", 0.75), link("a", "c", 0.8), link("a", "b", 0.9)])
    assert store.candidates(scope, from_seed(hops=2)).links == (
        follows("b", "a"),
        follows("c", "b"),
        link("a", "b", 0.9),
        link("a", "c", 0.8),
        link("b", "c", 0.75),
    )


def test_links_that_no_hop_goes_along_are_left_out(store: NoteStore, scope: Scope) -> None:
    row(store, scope, "a", dict.fromkeys("abc", 0.5))
    apply(store, scope, links=[link("b", "c", 0.75), link("a", "c", 0.8), link("a", "b", 0.9)])
    related = link("a", "b", 0.9), link("a", "c", 0.8)
    for hops in (0, 1):
        found = store.candidates(scope, from_seed(hops=hops))
        assert found.links == (follows("b", "a"), follows("c", "b"), *related)


def test_links_to_outside_the_set_are_left_out(store: NoteStore, scope: Scope) -> None:
    line(store, scope, "abc")
    found = store.candidates(scope, from_seed(hops=1))
    assert ids(found) == ["a", "b"]
    assert found.links == (link("a", "b", 0.8),)
