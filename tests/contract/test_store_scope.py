"""A call sees its namespace, its allow-lists and its filter, and nothing else counts."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta

import pytest
from contract.builders import (
    EAST,
    T0,
    apply,
    by_rank,
    chain,
    change,
    ids,
    later,
    lexical,
    link,
    make_event,
    make_note,
    nearby,
    new,
    question,
    reading,
    snapshot,
    towards,
    unit,
    use,
)

from graphmem.errors import Conflict
from graphmem.model import Neighbourhood, NoteFilter, NoteWrite, Scope, WritePlan
from graphmem.ports import NoteStore

LOOK_ALIKES = (
    "team",
    "team ",
    "team/",
    "team/a",
    "team:a",
    "teams",
    "Team",
    "te",
    "team\u0301",
    "t\u00e9am",
    "te\u0301am",
    "team*",
    "team?",
    "team\nteam",
    "team' OR '1'='1",
    "team`) MATCH (n) DETACH DELETE n //",
    "Note",
    "namespace",
    "n.namespace",
    "$ns",
    "%",
    "_",
    "team\\",
    'team"',
    "团队",
    "\U0001f600",
)


def fill(store: NoteStore, scope: Scope) -> None:
    """Two linked notes of one source, the same in every namespace but for their text."""
    a = make_note("a", scope.namespace, source="s", position=1, content=f"a of {scope.namespace}")
    b = make_note("b", scope.namespace, source="s", position=2, content=f"b of {scope.namespace}")
    apply(
        store,
        scope,
        new(a, EAST, ["word"]),
        new(b, EAST, ["word", "other"]),
        links=[link("a", "b")],
        events=[make_event(a, 2, trigger="b")],
    )


def test_namespaces_that_look_alike_are_apart(store: NoteStore, scope: Scope) -> None:
    scopes = [Scope(f"{scope.namespace} {name}") for name in LOOK_ALIKES]
    for each in scopes:
        fill(store, each)
    for each in scopes:
        assert store.stats(each).notes == 2
        assert {note.content for note in store.notes(each)} == {
            f"a of {each.namespace}",
            f"b of {each.namespace}",
        }
        found = store.candidates(each, question(EAST, "word", hops=3, window=9))
        assert ids(found) == ["a", "b"]
        assert {c.note.namespace for c in found.candidates} == {each.namespace}
        assert (found.note_count, found.document_frequency) == (2, {"word": 2})
        assert [n.note_id for n in store.nearest(each, EAST[None], 99)[0]] == ["a", "b"]
        assert store.check(each).ok
    assert {each.namespace for each in scopes} <= set(store.namespaces())


def test_a_write_in_one_namespace_leaves_the_others(
    store: NoteStore, scope: Scope, other_scope: Scope
) -> None:
    fill(store, scope)
    fill(store, other_scope)
    before = snapshot(store, other_scope)
    apply(
        store,
        scope,
        change(store.get(scope, ["a"])["a"], unit(3), ["new"], tags=("new",)),
        unlinks=[("a", "b")],
        dropped_events=["a@2"],
    )
    store.record_use(scope, use("a", "b", pairs=[("a", "b")]))
    apply(store, scope, erased=["a", "b"])
    assert snapshot(store, other_scope) == before


def test_an_id_belongs_to_its_namespace(store: NoteStore, scope: Scope, other_scope: Scope) -> None:
    fill(store, scope)
    assert reading(store, other_scope, lambda r: r.taken(["a"])) == frozenset()
    assert reading(store, other_scope, lambda r: r.notes(["a"])) == {}
    assert reading(store, other_scope, lambda r: r.vectors(["a"])) == {}
    assert reading(store, other_scope, lambda r: r.links(["a"])) == ()
    assert reading(store, other_scope, lambda r: r.events(["a"])) == ()
    assert reading(store, other_scope, lambda r: r.triggered(["b"])) == ()
    assert reading(store, other_scope, lambda r: r.of_source("s")) == ()
    assert reading(store, other_scope, lambda r: r.nearest(EAST[None], 9)) == ((),)
    assert store.get(other_scope, ["a"]) == {}
    assert store.links(other_scope, "a") == ()
    assert store.neighbourhood(other_scope, "a") == Neighbourhood((), ())
    assert store.events(other_scope, "a") == ()
    assert store.event(other_scope, "a@2") is None
    assert list(store.notes(other_scope)) == []
    assert list(store.records(other_scope)) == []
    assert list(store.all_links(other_scope)) == []
    assert list(store.all_events(other_scope)) == []


# --- allow-lists -------------------------------------------------------------------------


def allowed_and_forbidden(store: NoteStore, scope: Scope, *, forbidden: bool) -> None:
    """Three ordinary notes and, when asked, forbidden ones with extreme signals.

    The forbidden notes are nearer, rarer in words, more important, more linked, in the
    middle of the chain and far more numerous than the allowed ones.
    """
    notes = [
        make_note("a", scope.namespace, source="s", position=1, author="Ada"),
        make_note("b", scope.namespace, source="s", position=5, author="Ada"),
        make_note("c", scope.namespace, source="s", position=7, author="Ada"),
    ]
    apply(
        store,
        scope,
        new(notes[0], towards(0.5), ["ship", "harbour"]),
        new(notes[1], towards(0.4), ["harbour"]),
        new(notes[2], towards(-0.5, axis=2), ["quay"]),
        links=[link("b", "c", 0.75)],
        events=[make_event(notes[0], 2)],
    )
    if forbidden:
        add_forbidden(store, scope)


def add_forbidden(store: NoteStore, scope: Scope) -> None:
    names = [f"A{i:02}" for i in range(20)] + [f"z{i:02}" for i in range(20)]
    notes = [
        make_note(
            name,
            scope.namespace,
            source="s" if i % 2 else "secret",
            position=9 + i if i % 2 else i,
            author="Eve" if i % 4 else None,
            importance=1.0,
            recall_count=1000,
            created_at=T0 + timedelta(days=400),
        )
        for i, name in enumerate(names)
    ]
    apply(
        store,
        scope,
        *(new(note, EAST, ["harbour", "harbour", "ship", "secret"]) for note in notes),
        links=[link(name, id_, 1.0) for name, id_ in itertools.product(names[:12], "abc")],
        events=[make_event(notes[0], 2, trigger="a")],
    )


ALLOWED = frozenset({"Ada"})
SEARCHES = {
    "wide": question(EAST, "harbour", "ship", "secret", hops=3, window=5),
    "narrow": question(
        EAST, "harbour", "ship", vector_seeds=1, lexical_seeds=1, expand=1, fanout=1, window=0
    ),
    "one keyword": lexical("harbour", lexical_seeds=1),
    "one neighbour": nearby(vector_seeds=1),
    "same source": nearby(vector_seeds=1, expand=1, source_notes=2, hops=0, window=0),
}


@pytest.mark.parametrize("search", SEARCHES)
def test_a_forbidden_note_with_extreme_signals_changes_no_candidate(
    store: NoteStore, scope: Scope, other_scope: Scope, search: str
) -> None:
    allowed_and_forbidden(store, scope, forbidden=True)
    allowed_and_forbidden(store, other_scope, forbidden=False)
    seen = store.candidates(replace(scope, authors=ALLOWED), SEARCHES[search])
    alone = store.candidates(replace(other_scope, authors=ALLOWED), SEARCHES[search])
    assert ids(seen) == ids(alone)
    assert (seen.note_count, seen.average_terms) == (alone.note_count, alone.average_terms)
    assert seen.document_frequency == alone.document_frequency
    assert seen.links == alone.links
    for kind in ("vector_rank", "lexical_rank"):
        assert by_rank(seen, kind) == by_rank(alone, kind)


def test_a_filter_acts_like_an_allow_list(store: NoteStore, scope: Scope) -> None:
    allowed_and_forbidden(store, scope, forbidden=True)
    for search in SEARCHES.values():
        filtered = replace(search, where=NoteFilter(authors=ALLOWED))
        assert store.candidates(scope, filtered) == store.candidates(
            replace(scope, authors=ALLOWED), search
        )


def test_allow_lists_bind_every_read(store: NoteStore, scope: Scope) -> None:
    allowed_and_forbidden(store, scope, forbidden=True)
    seeing = replace(scope, authors=ALLOWED)
    hidden = "A00"
    assert [note.id for note in store.notes(seeing)] == ["a", "b", "c"]
    assert [record.note.id for record in store.records(seeing)] == ["a", "b", "c"]
    assert set(store.get(seeing, ["a", hidden])) == {"a"}
    assert [n.note_id for n in store.nearest(seeing, EAST[None], 2)[0]] == ["a", "b"]
    assert store.links(seeing, "b") == (link("b", "c", 0.75),)
    assert store.links(seeing, hidden) == ()
    assert list(store.all_links(seeing)) == [link("b", "c", 0.75)]
    assert [event.id for event in store.all_events(seeing)] == ["a@2"]
    assert store.events(seeing, hidden) == ()
    assert store.event(seeing, f"{hidden}@2") is None
    assert store.neighbourhood(seeing, hidden) == Neighbourhood((), ())
    around = store.neighbourhood(seeing, "a", hops=5)
    assert [note.id for note in around.notes] == ["a", "b", "c"]
    assert {each.pair for each in around.links} == {("b", "a"), ("c", "b"), ("b", "c")}
    stats = store.stats(seeing)
    assert (stats.notes, stats.related, stats.follows, stats.events) == (3, 1, 2, 1)
    assert (stats.sources, stats.recalls, stats.archived) == (1, 0, 0)


def test_allow_lists_bind_the_reads_of_a_write(store: NoteStore, scope: Scope) -> None:
    allowed_and_forbidden(store, scope, forbidden=True)
    seeing = replace(scope, authors=ALLOWED)
    assert set(reading(store, seeing, lambda r: r.notes(["a", "A00"]))) == {"a"}
    assert set(reading(store, seeing, lambda r: r.vectors(["a", "A00"]))) == {"a"}
    assert reading(store, seeing, lambda r: r.links(["a", "b", "A00"])) == (link("b", "c", 0.75),)
    assert reading(store, seeing, lambda r: r.events(["A00"])) == ()
    assert reading(store, seeing, lambda r: r.triggered(["a"])) == ()
    assert reading(store, seeing, lambda r: r.of_source("s")) == ("a", "b", "c")
    assert reading(store, seeing, lambda r: r.of_source("secret")) == ()
    (row,) = reading(store, seeing, lambda r: r.nearest(EAST[None], 2))
    assert [neighbour.note_id for neighbour in row] == ["a", "b"]
    assert reading(store, seeing, lambda r: r.taken(["a", "A00", "no"])) == {"a", "A00"}


def test_a_hidden_id_is_taken_all_the_same(store: NoteStore, scope: Scope) -> None:
    allowed_and_forbidden(store, scope, forbidden=True)
    seeing = replace(scope, authors=ALLOWED)
    before = snapshot(store, scope)
    plan = WritePlan(notes=(new(make_note("A00", scope.namespace, author="Ada"), EAST),))
    with pytest.raises(Conflict):
        store.write(seeing, lambda reader: plan)
    assert snapshot(store, scope) == before


def test_a_chain_is_walked_as_if_hidden_notes_were_not_there(
    store: NoteStore, scope: Scope
) -> None:
    authors = {"a": "Ada", "b": "Eve", "c": "Ada", "d": "Ada"}
    apply(
        store,
        scope,
        *(
            new(make_note(id_, scope.namespace, source="s", position=i, author=author), vector)
            for i, ((id_, author), vector) in enumerate(
                zip(authors.items(), [unit(1), unit(2), unit(3), EAST], strict=True)
            )
        ),
    )
    seeing = replace(scope, authors=ALLOWED)
    query = nearby(vector_seeds=1, expand=1, window=5, source_notes=0)
    assert ids(store.candidates(seeing, query)) == ["a", "c", "d"]
    assert [note.id for note in store.neighbourhood(seeing, "d", hops=2).notes] == ["a", "c", "d"]
    assert [each.pair for each in chain(store, seeing)] == [("c", "a"), ("d", "c")]
    assert store.stats(seeing).follows == 2


def test_sources_are_an_allow_list_too(store: NoteStore, scope: Scope) -> None:
    apply(
        store,
        scope,
        new(make_note("a", scope.namespace, source="s"), EAST, ["w"]),
        new(make_note("b", scope.namespace, source="S"), EAST, ["w"]),
        new(make_note("c", scope.namespace), EAST, ["w"]),
    )
    for sources, seen in ((["s"], ["a"]), (["s", "S"], ["a", "b"]), ([], []), (["x"], [])):
        seeing = replace(scope, sources=frozenset(sources))
        assert [note.id for note in store.notes(seeing)] == seen
        assert ids(store.candidates(seeing, question(EAST, "w"))) == seen
        assert [n.note_id for n in store.nearest(seeing, EAST[None], 9)[0]] == seen
        assert store.stats(seeing).notes == len(seen)
    both = replace(scope, sources=frozenset({"s"}), authors=frozenset({"Ada"}))
    assert list(store.notes(both)) == []


def test_use_of_a_hidden_note_is_not_counted(store: NoteStore, scope: Scope) -> None:
    allowed_and_forbidden(store, scope, forbidden=True)
    seeing = replace(scope, authors=ALLOWED)
    store.record_use(seeing, use("b", "A00", pairs=[("A00", "b"), ("b", "c")], at=later(9)))
    notes = store.get(scope, ["a", "b", "A00"])
    assert {id_: note.recall_count for id_, note in notes.items()} == {
        "a": 0,
        "b": 1,
        "A00": 1000,
    }
    counted = {each.pair for each in store.all_links(scope) if each.retrievals}
    assert counted == {("b", "c")}


def test_a_write_through_an_allow_list_keeps_the_whole_chain(
    store: NoteStore, scope: Scope
) -> None:
    for i, (id_, author) in enumerate([("a", "Ada"), ("b", "Eve"), ("c", "Ada")]):
        note = make_note(id_, scope.namespace, source="s", position=i, author=author)
        apply(store, scope, new(note, EAST))
    late = NoteWrite(
        make_note("d", scope.namespace, source="s", position=3, author="Ada"), (), EAST, 0
    )
    apply(store, replace(scope, authors=ALLOWED), late)
    assert [each.pair for each in chain(store, scope)] == [("b", "a"), ("c", "b"), ("d", "c")]
    assert store.check(scope).ok
