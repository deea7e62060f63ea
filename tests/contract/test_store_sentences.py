"""Vectors of sentences are kept as they are, and each candidate carries its best one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from contract.builders import (
    COSINE_TOLERANCE,
    EAST,
    MODEL,
    apply,
    change,
    directions,
    make_note,
    new,
    question,
    snapshot,
    unit,
)

from graphmem.errors import EmbeddingError, EmbeddingMismatch
from graphmem.model import (
    NO_SENTENCES,
    ModelIdentity,
    Note,
    NoteRecord,
    NoteVectors,
    NoteWrite,
    Scope,
    SentenceVectors,
)
from graphmem.ports import NoteStore


def spoken(note: Note, sentences: SentenceVectors | None, seed: int = 1) -> NoteWrite:
    return replace(new(note, unit(seed), ["word"]), sentences=sentences)


def best(store: NoteStore, scope: Scope) -> dict[str, float | None]:
    found = store.candidates(scope, question(EAST, "word"))
    return {each.note.id: each.sentence_cosine for each in found.candidates}


def held(store: NoteStore, scope: Scope) -> dict[str, bytes | None]:
    return {
        record.note.id: None if record.sentences is None else record.sentences.tobytes()
        for record in store.records(scope)
    }


def toward_east(sentences: SentenceVectors) -> float:
    wide = sentences.astype(np.float64)
    return float((wide[:, 0] / np.linalg.norm(wide, axis=1)).max())


def test_the_best_sentence_of_each_candidate_is_found(store: NoteStore, scope: Scope) -> None:
    of_note = {f"n{count}": directions(*range(10 * count, 11 * count)) for count in range(1, 9)}
    writes = [spoken(make_note(i, scope.namespace), each) for i, each in of_note.items()]
    apply(store, scope, *writes, spoken(make_note("bare", scope.namespace), None))
    found = best(store, scope)
    assert found.pop("bare") is None
    for note_id, sentences in of_note.items():
        assert found[note_id] == pytest.approx(toward_east(sentences), abs=COSINE_TOLERANCE)
    assert held(store, scope)["n3"] == of_note["n3"].tobytes()
    assert held(store, scope)["bare"] is None


def test_a_write_keeps_replaces_or_removes_sentences(store: NoteStore, scope: Scope) -> None:
    note = make_note("a", scope.namespace)
    apply(
        store,
        scope,
        spoken(note, directions(1, 2)),
        spoken(make_note("b", scope.namespace), directions(7)),
    )
    apply(store, scope, change(note, None, ["word"]))
    assert held(store, scope)["a"] == directions(1, 2).tobytes()
    second = store.get(scope, ["a"])["a"]
    apply(store, scope, replace(change(second, None, ["word"]), sentences=directions(3)))
    assert best(store, scope)["a"] == pytest.approx(toward_east(directions(3)), abs=1e-6)
    third = store.get(scope, ["a"])["a"]
    apply(store, scope, replace(change(third, None, ["word"]), sentences=NO_SENTENCES))
    assert best(store, scope)["a"] is None
    assert held(store, scope) == {"a": None, "b": directions(7).tobytes()}
    assert store.check(scope).ok


@pytest.mark.parametrize(
    ("sentences", "error"),
    [
        (directions(1, dimension=9), EmbeddingMismatch),
        (np.zeros((2, 8), dtype=np.int8), EmbeddingError),
    ],
)
def test_sentences_that_do_not_fit_change_nothing(
    store: NoteStore, scope: Scope, sentences: SentenceVectors, error: type[Exception]
) -> None:
    apply(store, scope, spoken(make_note("a", scope.namespace), directions(1)))
    before = snapshot(store, scope)
    fresh = make_note("b", scope.namespace)
    with pytest.raises(error):
        apply(store, scope, spoken(fresh, sentences))
    with pytest.raises(error):
        store.load(scope, [NoteRecord(fresh, (), EAST, sentences)], [], [], MODEL)
    assert snapshot(store, scope) == before


def test_loading_replaces_sentences_with_those_of_the_record(
    store: NoteStore, scope: Scope
) -> None:
    a, b = (make_note(id_, scope.namespace) for id_ in "ab")
    apply(store, scope, spoken(a, directions(1)), spoken(b, directions(2)))
    records = [NoteRecord(a, ("word",), EAST, directions(3, 4)), NoteRecord(b, ("word",), EAST)]
    store.load(scope, records, [], [], MODEL)
    assert held(store, scope) == {"a": directions(3, 4).tobytes(), "b": None}
    assert best(store, scope)["b"] is None


def test_what_is_gone_leaves_no_sentences(
    store: NoteStore, scope: Scope, other_scope: Scope
) -> None:
    for each in (scope, other_scope):
        apply(store, each, spoken(make_note("a", each.namespace), directions(1)))
        assert best(store, each)["a"] is not None
    apply(store, scope, erased=["a"], model=None)
    apply(store, scope, spoken(make_note("a", scope.namespace), None))
    assert store.check(scope).ok
    assert held(store, scope) == best(store, scope) == {"a": None}
    store.drop_namespace(scope.namespace)
    apply(store, scope, spoken(make_note("a", scope.namespace), None))
    assert held(store, scope) == {"a": None}
    assert held(store, other_scope) == {"a": directions(1).tobytes()}


def test_a_new_model_brings_sentences_of_its_own(fresh: NoteStore, scope: Scope) -> None:
    notes = [make_note(id_, scope.namespace) for id_ in "ab"]
    apply(fresh, scope, *(spoken(note, directions(1)) for note in notes))
    wider = ModelIdentity("stub-12", 12)

    def pages(asked: Sequence[Note]) -> NoteVectors:
        sentences = [directions(5, 6, dimension=12) if n.id == "a" else None for n in asked]
        return NoteVectors(np.stack([unit(3, 12) for _ in asked]), sentences)

    fresh.replace_model(wider, pages)
    assert held(fresh, scope) == {"a": directions(5, 6, dimension=12).tobytes(), "b": None}
    before = snapshot(fresh, scope)

    def too_short(asked: Sequence[Note]) -> NoteVectors:
        return NoteVectors(
            np.stack([unit(3) for _ in asked]), [directions(1, dimension=3)] * len(asked)
        )

    with pytest.raises(EmbeddingMismatch):
        fresh.replace_model(MODEL, too_short)
    assert snapshot(fresh, scope) == before
    fresh.replace_model(MODEL, lambda asked: NoteVectors(np.stack([unit(3) for _ in asked])))
    assert held(fresh, scope) == {"a": None, "b": None}
    assert fresh.check(scope).ok


def test_a_copy_of_the_sentences_is_handed_out(store: NoteStore, scope: Scope) -> None:
    apply(store, scope, spoken(make_note("a", scope.namespace), directions(1)))
    (record,) = store.records(scope)
    assert record.sentences is not None
    if record.sentences.flags.writeable:
        record.sentences[:] = 1
    assert held(store, scope)["a"] == directions(1).tobytes()
