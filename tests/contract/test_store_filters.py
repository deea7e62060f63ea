"""A filter acts before every limit, hop and count."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from contract.builders import (
    EAST,
    T0,
    apply,
    by_rank,
    ids,
    later,
    link,
    make_note,
    nearby,
    new,
    question,
    reading,
    unit,
)

from graphmem.model import NoteFilter, Scope
from graphmem.ports import NoteStore

MICROSECOND = timedelta(microseconds=1)
FILTERS = {
    "nothing said": (NoteFilter(), ["a", "b", "c", "d"]),
    "one tag": (NoteFilter(tags=frozenset({"red"})), ["a", "b"]),
    "one of two tags": (NoteFilter(tags=frozenset({"blue", "green"})), ["b", "c"]),
    "a tag is compared whole": (NoteFilter(tags=frozenset({"re", "Red", "red "})), []),
    "no tag at all": (NoteFilter(tags=frozenset()), []),
    "since is inclusive": (NoteFilter(since=later(10)), ["b", "c", "d"]),
    "since to the microsecond": (NoteFilter(since=later(10) + MICROSECOND), ["c", "d"]),
    "until is exclusive": (NoteFilter(until=later(20)), ["a", "b"]),
    "until to the microsecond": (NoteFilter(until=later(20) + MICROSECOND), ["a", "b", "c"]),
    "an empty span": (NoteFilter(since=later(20), until=later(20)), []),
    "as_of is inclusive": (NoteFilter(as_of=later(20)), ["a", "b", "c"]),
    "as_of to the microsecond": (NoteFilter(as_of=later(20) - MICROSECOND), ["a", "b"]),
    "a source": (NoteFilter(sources=frozenset({"s"})), ["a", "c"]),
    "no source": (NoteFilter(sources=frozenset()), []),
    "an author": (NoteFilter(authors=frozenset({"Ada", "Bob"})), ["a", "b"]),
    "the archived too": (NoteFilter(archived=True), ["a", "b", "c", "d", "e"]),
    "all conditions at once": (
        NoteFilter(
            sources=frozenset({"s"}),
            authors=frozenset({"Ada"}),
            tags=frozenset({"red"}),
            since=T0,
            until=later(1),
            as_of=T0,
        ),
        ["a"],
    ),
}


def filterable(store: NoteStore, scope: Scope) -> None:
    ns = scope.namespace
    notes = [
        make_note("a", ns, source="s", author="Ada", tags=("red",), created_at=T0),
        make_note("b", ns, source="t", author="Bob", tags=("blue", "red"), created_at=later(10)),
        make_note("c", ns, source="s", tags=("green",), created_at=later(20)),
        make_note("d", ns, author="Dan", created_at=later(30)),
        make_note("e", ns, source="s", author="Eve", tags=("pink",), archived=True),
    ]
    apply(store, scope, *(new(note, EAST, ["word", note.id]) for note in notes))


@pytest.mark.parametrize("name", FILTERS)
def test_filters_act_before_every_limit_and_count(
    store: NoteStore, scope: Scope, name: str
) -> None:
    filterable(store, scope)
    where, admitted = FILTERS[name]
    assert [note.id for note in store.notes(scope, where)] == admitted
    (row,) = store.nearest(scope, EAST[None], 9, where)
    assert [neighbour.note_id for neighbour in row] == admitted
    found = store.candidates(scope, question(EAST, "word", "e", where=where))
    assert ids(found) == admitted
    assert by_rank(found, "vector_rank") == admitted
    assert found.note_count == len(admitted)
    assert found.average_terms == (2.0 if admitted else 0.0)
    assert found.document_frequency == {"word": len(admitted), "e": int("e" in admitted)}
    first = store.candidates(scope, nearby(vector_seeds=1, where=where))
    assert ids(first) == admitted[:1]


def test_an_archived_note_is_neither_near_nor_linked(store: NoteStore, scope: Scope) -> None:
    filterable(store, scope)
    (row,) = reading(store, scope, lambda r: r.nearest(EAST[None], 9))
    assert [neighbour.note_id for neighbour in row] == ["a", "b", "c", "d"]
    assert set(store.get(scope, ["e"])) == {"e"}
    assert set(reading(store, scope, lambda r: r.notes(["e"]))) == {"e"}
    assert set(reading(store, scope, lambda r: r.vectors(["e"]))) == {"e"}
    assert reading(store, scope, lambda r: r.of_source("s")) == ("a", "c", "e")
    stats = store.stats(scope)
    assert (stats.notes, stats.archived) == (5, 1)


def test_a_filter_acts_on_every_hop(store: NoteStore, scope: Scope) -> None:
    far = {"b": unit(2), "c": unit(3)}
    apply(
        store,
        scope,
        new(make_note("a", scope.namespace, tags=("ok",)), EAST),
        new(make_note("b", scope.namespace), far["b"]),
        new(make_note("c", scope.namespace, tags=("ok",)), far["c"]),
        links=[link("a", "b", 0.9), link("b", "c", 0.9)],
    )
    query = nearby(vector_seeds=1, expand=1, hops=3)
    assert ids(store.candidates(scope, query)) == ["a", "b", "c"]
    narrowed = replace(query, where=NoteFilter(tags=frozenset({"ok"})))
    assert ids(store.candidates(scope, narrowed)) == ["a"]


def test_vectors_of_several_rows_are_each_filtered(store: NoteStore, scope: Scope) -> None:
    filterable(store, scope)
    rows = store.nearest(
        scope, np.stack([EAST, -EAST]), 2, NoteFilter(tags=frozenset({"red", "green"}))
    )
    assert [[n.note_id for n in row] for row in rows] == [["a", "b"], ["a", "b"]]
    assert rows[1][0].cosine == pytest.approx(-1.0, abs=1e-6)
