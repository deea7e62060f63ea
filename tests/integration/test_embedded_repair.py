"""Damage done behind the store's back is found, named and, where possible, mended."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from contract.builders import (
    DIMENSION,
    apply,
    change,
    directions,
    link,
    make_event,
    make_note,
    new,
    question,
    snapshot,
    unit,
)

from graphmem.model import NoteFilter, Scope, Source
from graphmem.stores.embedded.store import NetworkXStore
from graphmem.stores.embedded.vectorfile import BLOCK

SCOPE = Scope("ns")


def all_numbers(value: float) -> str:
    """Set every number of every vector."""
    block = np.full(BLOCK * DIMENSION, value, dtype="<f4").tobytes().hex()
    return f"UPDATE vector SET value = x'{block}'"  # noqa: S608 - a number


SEVENS, NANS = all_numbers(7.0), all_numbers(np.nan)

DAMAGE = {
    "DELETE FROM note WHERE id = 'c'": ("other end does not exist", True),
    "UPDATE link SET low = high, high = low": ("not in order", True),
    "UPDATE link SET weight = 7": ("out of range", False),
    "UPDATE vector SET value = x'0000803f'": ("4 bytes do not make", True),
    SEVENS: ("length 19.799 instead of 1", True),
    NANS: ("not finite", True),
    "UPDATE vector SET block = block + 1000": ("there is no such note", True),
    "UPDATE sentence SET value = x'0102'": ("2 bytes do not make vectors of", True),
    "UPDATE sentence SET value = '12345678'": ("8 bytes do not make vectors of", True),
    "UPDATE sentence SET note = note + 1000": ("sentences of key", True),
    "DELETE FROM term WHERE word = 'one'": ("terms without a word", True),
    "UPDATE note SET terms = x'00'": ("terms without a word", True),
    "INSERT INTO term SELECT max(key) + 9, 'unheld' FROM term": ("held by no note", True),
    "UPDATE event SET note = note + 1000": ("its note does not exist", True),
    "UPDATE event SET revision = 5": ("does not fit revision", False),
    "UPDATE note SET importance_score = 2 WHERE id = 'a'": ("importance", False),
    "UPDATE note SET content_revision = 9 WHERE id = 'a'": ("revisions do not fit", False),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.graphmem"
    store = NetworkXStore.open(path)
    notes = [make_note(id_, "ns", source="s", position=1) for id_ in "abc"]
    apply(
        store,
        SCOPE,
        *(
            replace(new(note, unit(i), ["one", note.id]), sentences=directions(i))
            for i, note in enumerate(notes)
        ),
        links=[link("a", "b"), link("b", "c")],
    )
    apply(store, SCOPE, change(notes[0], None, ["one"]), events=[make_event(notes[0], 2)])
    store.close()
    return path


@pytest.fixture
def store(path: Path) -> Iterator[NetworkXStore]:
    store = NetworkXStore.open(path)
    yield store
    store.close()


def damage(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    with connection:
        connection.execute(statement)
    connection.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE event SET before = 'no json'",
        "UPDATE note SET metadata = '{' WHERE id = 'a'",
        "UPDATE note SET given = '[' WHERE id = 'a'",
    ],
)
def test_a_repair_leaves_the_unreadable_in_the_damaged_file(path: Path, statement: str) -> None:
    damage(path, statement)
    store = NetworkXStore.open(path)
    (problem,) = store.check(SCOPE).problems
    assert "unreadable" in problem
    report = store.check(SCOPE, repair=True)
    assert (problem in report.problems[0], len(report.problems)) == (True, 1)
    assert "damaged one is kept" in report.repaired[0]
    assert store.check(SCOPE).ok
    notes = {note.id: note.content for note in store.notes(SCOPE)}
    assert notes.keys() == {"a", "b", "c"}
    assert len(list(store.all_links(SCOPE))) == 2
    store.close()


@pytest.mark.parametrize("statement", DAMAGE)
def test_damage_is_found_and_mended_where_it_can_be(path: Path, statement: str) -> None:
    words, mendable = DAMAGE[statement]
    damage(path, statement)
    store = NetworkXStore.open(path)
    report = store.check(SCOPE)
    assert any(words in problem for problem in report.problems)
    assert report.repaired == ()
    assert store.check(SCOPE).problems == report.problems
    mended = store.check(SCOPE, repair=True)
    assert mended.problems == report.problems
    assert bool(mended.repaired) == mendable
    assert (store.check(SCOPE).problems == ()) == mendable
    if mendable:
        snapshot(store, SCOPE)
        store.candidates(SCOPE, question(unit(1), "one"))
    store.close()


def test_a_sound_store_has_no_findings_and_is_not_changed(store: NetworkXStore) -> None:
    before = snapshot(store, SCOPE)
    report = store.check(SCOPE, repair=True)
    assert (report.notes, report.links, report.events) == (3, 2, 1)
    assert report.ok
    assert report.repaired == ()
    assert snapshot(store, SCOPE) == before


def test_memory_that_differs_from_the_file_is_found(store: NetworkXStore, path: Path) -> None:
    store.links(SCOPE, "a")
    damage(path, "UPDATE link SET weight = 0.25")  # not listed as a change: not noticed
    damage(path, "UPDATE note SET archived = 1 WHERE id = 'b'")
    problems = store.check(SCOPE).problems
    assert any("note 'b'" in problem for problem in problems)
    assert any("('a', 'b')" in problem for problem in problems)


def test_findings_about_what_a_scope_may_not_see_are_not_told(path: Path) -> None:
    store = NetworkXStore.open(path)
    (note,) = store.get(SCOPE, ["a"]).values()
    apply(store, SCOPE, change(note, None, ["one"], source=Source("hidden")))
    store.close()
    damage(path, "UPDATE note SET importance_score = 2 WHERE id = 'a'")
    store = NetworkXStore.open(path)
    assert store.check(Scope("ns", sources=frozenset({"s"}))).problems == ()
    assert store.check(SCOPE).problems != ()
    store.close()


def test_notes_with_a_bad_vector_are_still_found_by_their_words(path: Path) -> None:
    damage(path, "UPDATE vector SET value = x'00'")
    store = NetworkXStore.open(path)
    found = store.candidates(SCOPE, question(unit(1), "one"))
    assert len(found.candidates) == 3
    assert all(candidate.cosine is None for candidate in found.candidates)
    assert store.nearest(SCOPE, np.stack([unit(1)]), 3, NoteFilter()) == ((),)
    store.close()
