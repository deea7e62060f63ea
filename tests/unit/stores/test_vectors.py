from __future__ import annotations

import numpy as np
import pytest

from graphmem.model import Vector
from graphmem.stores import vectors as module
from graphmem.stores.vectors import Hits, VectorBlock


def directions(seed: int, count: int, dimension: int = 24) -> Vector:
    found = np.random.default_rng(seed).standard_normal((count, dimension))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def block_of(vectors: Vector) -> VectorBlock:
    block = VectorBlock(vectors.shape[1])
    block.extend(len(vectors))
    block.put(np.arange(len(vectors)), vectors)
    return block


def best(vectors: Vector, eligible: np.ndarray, query: Vector, limit: int) -> list[int]:
    cosines = vectors.astype(np.float64) @ query.astype(np.float64)
    rows = [row for row in np.argsort(-cosines, kind="stable").tolist() if eligible[row]]
    return sorted(rows[:limit])


def first(hits: Hits, limit: int) -> list[int]:
    order = np.argsort(-hits.cosines, kind="stable")[:limit]
    return sorted(hits.rows[order].tolist())


@pytest.mark.parametrize("share", [1.0, 0.6, 0.1, 0.0])
@pytest.mark.parametrize("limit", [1, 7, 500])
def test_the_nearest_are_those_of_a_full_scan(share: float, limit: int) -> None:
    vectors, queries = directions(1, 3000), directions(2, 9)
    eligible = np.random.default_rng(3).random(3000) < share
    block = block_of(vectors)
    many = block.nearest_of_each(queries, limit, eligible)
    for query, hits in zip(queries, many, strict=True):
        single = block.nearest(query, limit, eligible)
        assert first(single, limit) == best(vectors, eligible, query, limit)
        assert first(hits, limit) == best(vectors, eligible, query, limit)
        expected = vectors[hits.rows].astype(np.float64) @ query.astype(np.float64)
        np.testing.assert_allclose(hits.cosines, expected, atol=1e-12)


def test_the_nearest_are_found_across_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS_AT_ONCE", 50)
    monkeypatch.setattr(module, "_FIRST_ROWS", 20)
    vectors, queries = directions(4, 333), directions(5, 4)
    everything = np.ones(333, dtype=bool)
    hits = block_of(vectors).nearest_of_each(queries, 10, everything)
    for query, found in zip(queries, hits, strict=True):
        assert first(found, 10) == best(vectors, everything, query, 10)


@pytest.mark.parametrize("dimension", [1, 5, 8, 31, 384])
def test_equal_vectors_have_equal_cosines_wherever_they_lie(dimension: int) -> None:
    vectors = directions(6, 257, dimension)
    vectors[::2] = vectors[0]
    block, query = block_of(vectors), directions(7, 2, dimension)
    everything = np.ones(257, dtype=bool)
    alone = block.nearest(query[0], 257, everything)
    together = block.nearest_of_each(query, 257, everything)[0]
    equal = np.arange(257) % 2 == 0
    assert len(set(alone.cosines[equal[alone.rows]].tolist())) == 1
    assert set(alone.cosines.tolist()) == set(together.cosines.tolist())


def test_all_ties_at_the_limit_are_returned() -> None:
    vectors = np.tile(directions(8, 1), (40, 1))
    block = block_of(vectors)
    everything = np.ones(40, dtype=bool)
    assert len(block.nearest(vectors[0], 3, everything).rows) == 40
    assert len(block.nearest_of_each(vectors[:2], 3, everything)[1].rows) == 40


def test_a_row_without_vector_is_never_near() -> None:
    block = block_of(directions(9, 5))
    block.extend(3)
    block.clear(2)
    everything = np.ones(8, dtype=bool)
    for hits in block.nearest_of_each(directions(10, 2), 8, everything):
        assert sorted(hits.rows.tolist()) == [0, 1, 3, 4]


def test_a_moved_vector_is_the_same_and_a_cleared_one_is_gone() -> None:
    vectors = directions(11, 2)
    block = block_of(vectors)
    block.extend(2)
    block.move(0, 2)
    block.clear(0)
    block.move(0, 3)
    assert block.values[2].tobytes() == vectors[0].tobytes()
    assert not block.values[0].any()
    assert block.present.tolist() == [False, True, True, False]


def test_growing_keeps_what_is_there() -> None:
    vectors = directions(12, 300)
    block = VectorBlock(24)
    for row, vector in enumerate(vectors):
        block.extend(1)
        block.put(np.array([row]), vector[None])
    assert block.values.tobytes() == vectors.tobytes()


def test_the_order_is_that_of_exact_cosines_where_float32_cannot_tell() -> None:
    around = directions(13, 1, 384) + 3e-8 * directions(14, 2000, 384)
    vectors = around.astype(np.float32)
    block, queries = block_of(vectors), directions(15, 3, 384)
    everything = np.ones(2000, dtype=bool)
    many = block.nearest_of_each(queries, 5, everything)
    for query, hits in zip(queries, many, strict=True):
        exact = vectors.astype(np.float64) @ query.astype(np.float64)
        highest = np.sort(exact)[-5:]
        for found in (hits, block.nearest(query, 5, everything)):
            np.testing.assert_allclose(np.sort(found.cosines)[-5:], highest, rtol=0, atol=1e-15)
