"""Neighbours are exact, ordered, and complete for a small namespace beside a huge one."""

from __future__ import annotations

import numpy as np
import pytest
from contract.builders import (
    DIMENSION,
    EAST,
    apply,
    change,
    make_note,
    new,
    reading,
    towards,
    unit,
)
from contract.stores import EVERY_RELEASE

from graphmem.model import Neighbour, NoteFilter, Scope
from graphmem.ports import NoteStore

pytestmark = pytest.mark.parametrize("store", EVERY_RELEASE, indirect=True)


def put(store: NoteStore, scope: Scope, vectors: dict[str, np.ndarray]) -> None:
    apply(store, scope, *(new(make_note(id_, scope.namespace), v) for id_, v in vectors.items()))


def test_each_row_gets_its_own_nearest(store: NoteStore, scope: Scope) -> None:
    stored = {f"n{i:03}": unit(i) for i in range(200)}
    put(store, scope, stored)
    asked = np.stack([unit(1000 + i) for i in range(12)])
    matrix = np.stack([stored[id_] for id_ in sorted(stored)]).astype(np.float64)
    rows = store.nearest(scope, asked, 7)
    assert rows == reading(store, scope, lambda r: r.nearest(asked, 7))
    assert len(rows) == 12
    for vector, found in zip(asked, rows, strict=True):
        cosines = matrix @ vector.astype(np.float64)
        best = np.argsort(-cosines)[:7]
        assert [each.note_id for each in found] == [f"n{i:03}" for i in best]
        np.testing.assert_allclose([each.cosine for each in found], cosines[best], atol=1e-6)


@pytest.mark.parametrize("rows", [1, 12])
def test_what_is_too_far_is_left_out(store: NoteStore, scope: Scope, rows: int) -> None:
    put(store, scope, {f"n{i:03}": unit(i) for i in range(200)})
    asked = np.stack([unit(1000 + i) for i in range(rows)])
    nearest = reading(store, scope, lambda r: r.nearest(asked, 50))
    least = float(np.median([each.cosine for each in nearest[0]]))
    near = reading(store, scope, lambda r: r.nearest(asked, 50, least))
    assert near == tuple(tuple(n for n in row if n.cosine >= least) for row in nearest)
    assert 0 < len(near[0]) < 50


def test_cosines_are_raw(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": EAST, "b": -EAST, "c": towards(0.0), "d": towards(0.72)})
    (found,) = store.nearest(scope, EAST[None], 9)
    assert [each.note_id for each in found] == ["a", "d", "c", "b"]
    np.testing.assert_allclose([each.cosine for each in found], [1.0, 0.72, 0.0, -1.0], atol=1e-6)


def test_cosines_stay_within_their_range(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {f"n{i}": unit(i) for i in range(50)})
    for i in range(50):
        (found,) = store.nearest(scope, unit(i)[None], 50)
        assert all(-1.0 - 1e-6 <= each.cosine <= 1.0 + 1e-6 for each in found)
        assert all(isinstance(each, Neighbour) for each in found)
        assert all(isinstance(each.cosine, float) for each in found)


@pytest.mark.parametrize("limit", [0, 1, 2, 10**9])
def test_limits(store: NoteStore, scope: Scope, limit: int) -> None:
    put(store, scope, {"a": EAST, "b": towards(0.5), "c": -EAST})
    (found,) = store.nearest(scope, EAST[None], limit)
    assert [each.note_id for each in found] == ["a", "b", "c"][:limit]


def test_no_vectors_no_rows(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": EAST})
    assert store.nearest(scope, np.zeros((0, DIMENSION), np.float32), 5) == ()


def test_a_scope_without_vectors_has_empty_rows(store: NoteStore, scope: Scope) -> None:
    assert store.nearest(scope, np.stack([EAST, EAST]), 5) == ((), ())
    apply(store, scope, new(make_note("a", scope.namespace), None))
    assert store.nearest(scope, np.stack([EAST, EAST]), 5) == ((), ())


def test_archived_notes_are_found_on_request(store: NoteStore, scope: Scope) -> None:
    put(store, scope, {"a": EAST, "b": EAST})
    apply(store, scope, change(store.get(scope, ["a"])["a"], archived=True))
    (found,) = store.nearest(scope, EAST[None], 1)
    assert [each.note_id for each in found] == ["b"]
    (found,) = store.nearest(scope, EAST[None], 1, NoteFilter(archived=True))
    assert [each.note_id for each in found] == ["a"]


def test_a_write_is_near_at_once(store: NoteStore, scope: Scope) -> None:
    """Also under an approximate index that learns of a write late."""
    for i in range(20):
        put(store, scope, {f"n{i:02}": EAST})
        (found,) = store.nearest(scope, EAST[None], 99)
        assert [each.note_id for each in found] == [f"n{j:02}" for j in range(i + 1)]
    for i in range(20):
        apply(store, scope, erased=[f"n{i:02}"])
        (found,) = store.nearest(scope, EAST[None], 99)
        assert [each.note_id for each in found] == [f"n{j:02}" for j in range(i + 1, 20)]
