"""Records move between stores as they are; models, namespaces and counts of a whole store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from contract.builders import (
    EAST,
    MODEL,
    apply,
    chain,
    change,
    full_note,
    later,
    link,
    make_event,
    make_note,
    new,
    question,
    snapshot,
    towards,
    unit,
    use,
)
from reference_store import ReferenceStore

from graphmem.errors import EmbeddingError, EmbeddingMismatch, GraphmemError
from graphmem.model import (
    Link,
    ModelIdentity,
    Note,
    NoteFilter,
    NoteRecord,
    NoteVectors,
    Scope,
    Vector,
)
from graphmem.ports import NoteStore


def lived_in(store: NoteStore, scope: Scope) -> None:
    """A scope with a bit of everything that records must carry."""
    full = full_note("full", scope.namespace)
    notes = [make_note(f"n{i}", scope.namespace, source="s", position=i // 2) for i in range(5)]
    apply(
        store,
        scope,
        new(full, unit(99), ["ada", "seat", "ada"]),
        new(make_note("bare", scope.namespace), None),
        *(new(note, unit(i), [f"w{i}", "w"]) for i, note in enumerate(notes)),
        links=[link("n0", "n1", 0.9), link("bare", "n4", 1 / 3), link("full", "n2", 0.75)],
    )
    changed = change(notes[0], unit(50), ["fresh"], tags=("t",), content="changed")
    archived = change(notes[1], archived=True)
    apply(store, scope, changed, archived, events=[make_event(notes[0], 2, trigger="n1")])
    store.record_use(scope, use("full", "n0", pairs=[("n0", "n1")], at=later(90)))


def copied(source: NoteStore, target: NoteStore, scope: Scope) -> None:
    target.load(
        scope,
        list(source.records(scope)),
        list(source.all_links(scope)),
        list(source.all_events(scope)),
        source.model(),
    )


def test_a_copy_through_another_store_equals_the_first(store: NoteStore, scope: Scope) -> None:
    model, back = ReferenceStore(), ReferenceStore()
    lived_in(model, scope)
    copied(model, store, scope)
    assert snapshot(store, scope) == snapshot(model, scope)
    assert store.check(scope).ok
    copied(store, back, scope)
    assert snapshot(back, scope) == snapshot(model, scope)


def test_the_same_operations_leave_the_same_state(store: NoteStore, scope: Scope) -> None:
    model = ReferenceStore()
    lived_in(store, scope)
    lived_in(model, scope)
    assert snapshot(store, scope) == snapshot(model, scope)


def test_loading_twice_changes_nothing(store: NoteStore, scope: Scope) -> None:
    lived_in(store, scope)
    before = snapshot(store, scope)
    copied(store, store, scope)
    assert snapshot(store, scope) == before


def test_loaded_notes_are_searchable(store: NoteStore, scope: Scope) -> None:
    record = NoteRecord(make_note("a", scope.namespace), ("w",), EAST)
    store.load(scope, [record], [], [], MODEL)
    (candidate,) = store.candidates(scope, question(EAST, "w")).candidates
    assert (candidate.vector_rank, candidate.lexical_rank) == (0, 0)


def test_loading_replaces_the_same_identities(store: NoteStore, scope: Scope) -> None:
    lived_in(store, scope)
    note = make_note("n0", scope.namespace, content="loaded", revision=7, recall_count=3)
    event = replace(make_event(note, 2), proposer="user")
    each = link("n0", "n1", 0.5, created_at=later(1000), retrievals=9)
    store.load(scope, [NoteRecord(note, ("w9",), EAST)], [each], [event], MODEL)
    assert store.get(scope, ["n0"])["n0"] == note
    assert store.events(scope, "n0") == (event,)
    assert next(found for found in store.all_links(scope) if found.pair == each.pair) == each
    assert store.stats(scope).notes == 7
    assert "n0" not in {a for pair in [x.pair for x in chain(store, scope)] for a in pair}


def test_a_loaded_record_without_vector_has_none(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, new(make_note("a", scope.namespace), EAST))
    store.load(scope, [NoteRecord(make_note("a", scope.namespace), (), None)], [], [], MODEL)
    assert store.nearest(scope, EAST[None], 5) == ((),)
    assert next(iter(store.records(scope))).embedding is None


def test_links_and_events_may_be_loaded_for_stored_notes(store: NoteStore, scope: Scope) -> None:
    notes = [make_note(id_, scope.namespace) for id_ in "ab"]
    apply(store, scope, *(new(note, EAST) for note in notes))
    store.load(scope, [], [link("a", "b")], [make_event(notes[0], 2)], None)
    assert list(store.all_links(scope)) == [link("a", "b")]
    assert list(store.all_events(scope)) == [make_event(notes[0], 2)]


def test_loading_nothing_is_harmless(store: NoteStore, scope: Scope) -> None:
    store.load(scope, [], [], [], None)
    assert store.stats(scope).notes == 0


Parts = tuple[Sequence[NoteRecord], Sequence[Link], ModelIdentity | None]


def bad_loads(scope: Scope) -> dict[str, Parts]:
    good = NoteRecord(make_note("good", scope.namespace, source="s", position=9), ("w",), EAST)
    return {
        "a link to a note that is not there": ([good], [link("good", "nobody")], MODEL),
        "another model": ([good], [], ModelIdentity("other", 8)),
        "a vector of another length": (
            [good, NoteRecord(make_note("x", scope.namespace), (), unit(1, 5))],
            [],
            MODEL,
        ),
        "a note of another namespace": (
            [good, NoteRecord(make_note("x", "elsewhere"), (), EAST)],
            [],
            MODEL,
        ),
    }


@pytest.mark.parametrize("reason", bad_loads(Scope("names only")))
def test_a_bad_load_changes_nothing(store: NoteStore, scope: Scope, reason: str) -> None:
    lived_in(store, scope)
    before = snapshot(store, scope)
    records, links, model = bad_loads(scope)[reason]
    with pytest.raises(GraphmemError):
        store.load(scope, records, links, [], model)
    assert snapshot(store, scope) == before
    assert store.check(scope).ok


def test_an_event_of_a_missing_note_is_not_loaded(store: NoteStore, scope: Scope) -> None:
    lived_in(store, scope)
    before = snapshot(store, scope)
    with pytest.raises(GraphmemError):
        store.load(scope, [], [], [make_event(make_note("nobody", scope.namespace), 2)], MODEL)
    assert snapshot(store, scope) == before


# --- another model -----------------------------------------------------------------------


WIDER = ModelIdentity("stub-12", 12)


def wide_vector(note: Note) -> Vector:
    return unit(sum(map(ord, note.namespace + note.id)), WIDER.dimension)


def wide(notes: Sequence[Note]) -> NoteVectors:
    return NoteVectors(np.stack([wide_vector(note) for note in notes]))


def test_a_fresh_store_has_no_model(fresh: NoteStore, scope: Scope) -> None:
    assert fresh.model() is None
    assert fresh.namespaces() == ()
    assert fresh.stats(scope).model is None
    apply(fresh, scope, new(make_note("a", scope.namespace), None, ["w"]), model=None)
    assert fresh.model() is None
    assert fresh.candidates(scope, question(EAST, "w")).candidates[0].cosine is None
    apply(fresh, scope, new(make_note("b", scope.namespace), EAST))
    assert fresh.model() == MODEL
    assert fresh.stats(scope).model == MODEL


def test_a_new_model_takes_the_whole_store(
    fresh: NoteStore, scope: Scope, other_scope: Scope
) -> None:
    for each in (scope, other_scope):
        lived_in(fresh, each)
    before = {each: snapshot(fresh, each) for each in (scope, other_scope)}
    fresh.replace_model(WIDER, wide)
    assert fresh.model() == WIDER
    for each in (scope, other_scope):
        for record, old in zip(fresh.records(each), before[each].records, strict=True):
            assert record.note == old.note
            assert record.terms == old.terms
            assert record.embedding is not None
            assert record.embedding.tobytes() == wide_vector(record.note).tobytes()
        after = snapshot(fresh, each)
        assert (after.related, after.follows, after.events) == (
            before[each].related,
            before[each].follows,
            before[each].events,
        )
        assert fresh.check(each).ok
    wanted = wide_vector(fresh.get(scope, ["n3"])["n3"])
    assert fresh.nearest(scope, wanted[None], 1)[0][0].note_id == "n3"
    assert len(fresh.nearest(scope, wanted[None], 99, NoteFilter(archived=True))[0]) == 7
    with pytest.raises(EmbeddingMismatch):
        apply(fresh, scope, new(make_note("x", scope.namespace), EAST), model=MODEL)
    apply(fresh, scope, new(make_note("x", scope.namespace), wanted), model=WIDER)
    assert [n.note_id for n in fresh.nearest(scope, wanted[None], 2)[0]] == ["n3", "x"]


def test_a_model_of_the_same_length_takes_over_too(fresh: NoteStore, scope: Scope) -> None:
    lived_in(fresh, scope)
    twin = ModelIdentity("stub-8 revision 2", 8)
    for _ in range(2):
        fresh.replace_model(twin, lambda notes: NoteVectors(np.stack([EAST for _ in notes])))
        assert fresh.model() == twin
    assert len(fresh.nearest(scope, EAST[None], 99)[0]) == 6
    fresh.replace_model(MODEL, lambda notes: NoteVectors(np.stack([towards(0.5) for _ in notes])))
    (found,) = fresh.nearest(scope, EAST[None], 99)
    assert [each.cosine for each in found] == pytest.approx([0.5] * 6, abs=1e-6)


def test_a_failing_re_embedding_keeps_the_old_model(fresh: NoteStore, scope: Scope) -> None:
    class Broken(Exception):  # noqa: N818 - a name for this test only
        pass

    calls = 0

    def breaks(notes: Sequence[Note]) -> NoteVectors:
        nonlocal calls
        calls += 1
        raise Broken

    lived_in(fresh, scope)
    before = snapshot(fresh, scope)
    with pytest.raises(Broken):
        fresh.replace_model(WIDER, breaks)
    assert calls == 1
    assert snapshot(fresh, scope) == before
    assert fresh.nearest(scope, EAST[None], 3) == fresh.nearest(scope, EAST[None], 3)
    apply(fresh, scope, new(make_note("x", scope.namespace), EAST))
    fresh.replace_model(WIDER, wide)
    assert fresh.model() == WIDER


@pytest.mark.parametrize("wrong", ["too short", "too few", "too many"])
def test_vectors_of_a_wrong_shape_keep_the_old_model(
    fresh: NoteStore, scope: Scope, wrong: str
) -> None:
    def pages(notes: Sequence[Note]) -> NoteVectors:
        vectors = wide(notes).notes
        return NoteVectors(
            {
                "too short": vectors[:, 1:],
                "too few": vectors[1:],
                "too many": np.concatenate([vectors, vectors]),
            }[wrong]
        )

    lived_in(fresh, scope)
    before = snapshot(fresh, scope)
    with pytest.raises(EmbeddingError):
        fresh.replace_model(WIDER, pages)
    assert snapshot(fresh, scope) == before
    assert fresh.check(scope).ok


def test_an_empty_store_takes_a_model(fresh: NoteStore, scope: Scope) -> None:
    fresh.replace_model(WIDER, wide)
    assert fresh.model() == WIDER
    apply(fresh, scope, new(make_note("a", scope.namespace), unit(1, 12)), model=WIDER)
    assert len(fresh.nearest(scope, unit(1, 12)[None], 5)[0]) == 1


# --- namespaces and counts ---------------------------------------------------------------


def test_namespaces_are_those_that_hold_a_note(fresh: NoteStore) -> None:
    names = ["b", "a", "B", "a b", "\uff5e", "\U0001f600"]
    for name in names:
        apply(fresh, Scope(name), new(make_note("n", name, archived=name == "b"), EAST))
    assert fresh.namespaces() == tuple(sorted(names))
    apply(fresh, Scope("a"), erased=["n"])
    assert fresh.namespaces() == tuple(sorted(set(names) - {"a"}))
    fresh.drop_namespace("b")
    assert fresh.namespaces() == tuple(sorted(set(names) - {"a", "b"}))


def test_a_dropped_namespace_is_gone_whole(
    store: NoteStore, scope: Scope, other_scope: Scope
) -> None:
    lived_in(store, scope)
    lived_in(store, other_scope)
    before = snapshot(store, other_scope)
    assert store.drop_namespace(scope.namespace) == 7
    assert snapshot(store, scope) == replace(snapshot(ReferenceStore(), scope), model=store.model())
    assert store.stats(scope).recalls == 0
    assert store.candidates(scope, question(EAST, "w")).note_count == 0
    assert store.nearest(scope, EAST[None], 5) == ((),)
    assert scope.namespace not in store.namespaces()
    assert snapshot(store, other_scope) == before
    assert store.drop_namespace(scope.namespace) == 0
    lived_in(store, scope)
    assert store.stats(scope).notes == 7
    assert store.check(scope).ok


def test_stats_count_what_there_is(store: NoteStore, scope: Scope) -> None:
    lived_in(store, scope)
    stats = store.stats(scope)
    assert (stats.namespace, stats.notes, stats.archived) == (scope.namespace, 7, 1)
    assert (stats.related, stats.follows, stats.sources) == (3, 4, 2)
    assert (stats.events, stats.recalls, stats.model) == (1, 6, MODEL)
    assert isinstance(stats.schema_version, int)
    assert stats.store


def test_stats_of_nothing_are_zero(store: NoteStore, scope: Scope) -> None:
    stats = store.stats(scope)
    assert (stats.notes, stats.archived, stats.related, stats.follows) == (0, 0, 0, 0)
    assert (stats.sources, stats.events, stats.recalls) == (0, 0, 0)


@pytest.mark.parametrize("repair", [False, True])
def test_a_sound_store_has_nothing_to_repair(store: NoteStore, scope: Scope, repair: bool) -> None:
    lived_in(store, scope)
    before = snapshot(store, scope)
    report = store.check(scope, repair=repair)
    assert report.ok
    assert (report.problems, report.repaired) == ((), ())
    assert (report.notes, report.events) == (7, 1)
    assert snapshot(store, scope) == before
