"""The vectors of a namespace in one float32 block, searched by exact products."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from graphmem.model import Vector

Mask = NDArray[np.bool_]
"""One truth value per row."""

_SLACK = np.float32(1e-5)
"""More than float32 products of unit vectors differ from their exact cosine."""

_WIDEST = np.float32(1.5)
"""More than any cosine, even of vectors that are only nearly of unit length."""

_ROWS_AT_ONCE = 4096
_FIRST_ROWS = 1024
_PAIRS_AT_ONCE = 256
_GROWTH = 1.5

_SCANNED_ALONE = 32_768
"""Rows up to which one core scans as quickly as many: the threads of a BLAS product keep
spinning for milliseconds after it, on cores that other readers need."""


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Rows near one vector with their raw cosines, in no order."""

    rows: NDArray[np.intp]
    cosines: NDArray[np.float64]


class VectorBlock:
    """Vectors by row number; rows without a vector are holes.

    A first pass by float32 products picks rows with some slack; their cosines are then
    computed alike for every row in float64, so that equal vectors have equal cosines
    wherever they lie, and agree with any other store that does the same.

    Parameters
    ----------
    dimension
        Length of a vector; 0 while the store has no model.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.count = 0
        self._values: Vector = np.empty((0, dimension), dtype=np.float32)
        self._present: Mask = np.zeros(0, dtype=bool)

    @property
    def present(self) -> Mask:
        """Which rows have a vector."""
        return self._present[: self.count]

    @property
    def values(self) -> Vector:
        """The block, shape (count, dimension); rows without a vector are no vectors."""
        return self._values[: self.count]

    def extend(self, rows: int) -> None:
        """Append `rows` rows without vectors."""
        needed = self.count + rows
        if needed > len(self._present):
            self.reserve(max(needed, int(len(self._present) * _GROWTH), 64))
        self.count = needed

    def reserve(self, capacity: int) -> None:
        """Make room for `capacity` rows."""
        values = np.zeros((capacity, self.dimension), dtype=np.float32)
        values[: self.count] = self._values[: self.count]
        present = np.zeros(capacity, dtype=bool)
        present[: self.count] = self.present
        self._values, self._present = values, present

    def put(self, rows: NDArray[np.intp], vectors: Vector) -> None:
        """Set the vectors of these rows, shape (len(rows), dimension)."""
        self._values[rows] = vectors
        self._present[rows] = True

    def copy_in(self, first: int, vectors: Vector) -> None:
        """Set consecutive rows from `first`; zeros stand for no vector."""
        stop = first + len(vectors)
        self._values[first:stop] = vectors
        present = vectors[:, 0] != 0.0
        holes = np.flatnonzero(~present)
        present[holes] = vectors[holes].any(axis=1)
        self._present[first:stop] = present

    def move(self, old: int, new: int) -> None:
        """Give row `new` the vector of row `old`, or none if it has none."""
        if self._present[old]:
            self._values[new] = self._values[old]
            self._present[new] = True

    def clear(self, row: int) -> None:
        """Take the row's vector away and overwrite it."""
        self._present[row] = False
        self._values[row] = 0.0

    def of(self, row: int) -> Vector | None:
        """Return a copy of the row's vector, if it has one."""
        if not self._present[row]:
            return None
        vector: Vector = self._values[row].copy()
        return vector

    def cosines(self, rows: NDArray[np.intp], vector: Vector) -> NDArray[np.float64]:
        """Return the cosines of these rows with `vector`, the same wherever a row lies."""
        return _cosines(self._values[rows], vector)

    def nearest(self, vector: Vector, limit: int, eligible: Mask) -> Hits:
        """Return at least the `limit` eligible rows of highest cosine, ties included."""
        rows = np.flatnonzero(eligible & self.present)
        if len(rows) < self.count // 4:
            scores = _products(self._values[rows], vector)
        else:
            scores = _products(self.values, vector)
            if len(rows) < self.count:
                scores = scores[rows]
        if len(rows) > limit:
            kth = np.partition(scores, len(rows) - limit)[len(rows) - limit]
            rows = rows[scores >= kth - _SLACK]
        return Hits(rows, self.cosines(rows, vector))

    def nearest_of_each(
        self, vectors: Vector, limit: int, eligible: Mask, at_least: float = -1.0
    ) -> list[Hits]:
        """Return :meth:`nearest` for each row of `vectors`, by blocked products.

        Rows whose cosine is below `at_least` may be left out.
        """
        if len(vectors) == 1:
            return [self.nearest(vectors[0], limit, eligible)]
        best = _Best(len(vectors), limit, at_least)
        queries, rows = self._shortlist(vectors, best, eligible & self.present)
        exact = _paired_cosines(self._values, rows, vectors, queries)
        bounds = np.searchsorted(queries, np.arange(len(vectors) + 1))
        return [
            Hits(rows[start:stop], exact[start:stop]) for start, stop in pairwise(bounds.tolist())
        ]

    def _shortlist(
        self, vectors: Vector, best: _Best, eligible: Mask
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs (query, row), sorted by query, that hold every query's best rows."""
        space = np.empty(len(vectors) * _ROWS_AT_ONCE, dtype=np.float32)
        start = 0
        while start < self.count:
            stop = min(start + (_ROWS_AT_ONCE if start else _FIRST_ROWS), self.count)
            scores = space[: len(vectors) * (stop - start)].reshape(len(vectors), stop - start)
            np.matmul(vectors, self._values[start:stop].T, out=scores)
            blind = np.flatnonzero(~eligible[start:stop])
            if len(blind):
                scores[:, blind] = -np.inf
            best.merge(scores, start)
            start = stop
        return best.queries, best.rows


class _Best:
    """The best rows so far of several queries, as flat arrays sorted by query."""

    def __init__(self, queries: int, limit: int, at_least: float) -> None:
        self.limit = limit
        # Below any cosine there is nothing to leave out, except rows that are not eligible.
        self.open = at_least <= -1.0
        lowest = np.finfo(np.float32).min if self.open else np.float32(at_least) - _SLACK
        self.floor = np.full(queries, lowest, dtype=np.float32)
        self.queries = np.empty(0, dtype=np.intp)
        self.rows = np.empty(0, dtype=np.intp)
        self._scores = np.empty(0, dtype=np.float32)

    def merge(self, scores: NDArray[np.float32], first_row: int) -> None:
        """Take in the scores of the rows from `first_row`, shape (queries, rows)."""
        width = scores.shape[1]
        floor = self.floor
        if self.open and not len(self.rows) and width > self.limit:
            kth = np.partition(scores, width - self.limit, axis=1)[:, width - self.limit]
            floor = np.maximum(floor, kth - _SLACK)
        flat = np.flatnonzero(scores >= floor[:, None])
        queries, columns = np.divmod(flat, width)
        self.queries = np.concatenate((self.queries, queries))
        self.rows = np.concatenate((self.rows, columns + first_row))
        found = np.clip(scores.ravel()[flat], -_WIDEST, _WIDEST)
        self._scores = np.concatenate((self._scores, found))
        self._trim()

    def _trim(self) -> None:
        """Drop what can no longer be among the best, and raise the floors."""
        # One key that sorts by query, then best first.
        order = np.argsort(self.queries * (4.0 * _WIDEST) - self._scores)
        queries, scores = self.queries[order], self._scores[order]
        starts = np.searchsorted(queries, np.arange(len(self.floor)))
        counts = np.diff(np.append(starts, len(queries)))
        full = np.flatnonzero(counts >= self.limit)
        self.floor[full] = scores[starts[full] + self.limit - 1] - _SLACK
        keep = scores >= self.floor[queries]
        self.queries, self.rows = queries[keep], self.rows[order][keep]
        self._scores = scores[keep]


def _products(values: Vector, vector: Vector) -> Vector:
    """Return the product of each row with `vector`, to within :data:`_SLACK`."""
    scores: Vector
    if len(values) > _SCANNED_ALONE:
        scores = values @ vector
    else:
        scores = np.einsum("ij,j->i", values, vector)
    return scores


def _cosines(values: Vector, vector: Vector) -> NDArray[np.float64]:
    # einsum sums every row in the same order, where a matrix product does not.
    sums = np.einsum("ij,j->i", values.astype(np.float64), vector.astype(np.float64))
    cosines: NDArray[np.float64] = np.clip(sums, -1.0, 1.0)
    return cosines


def _paired_cosines(
    values: Vector,
    rows: NDArray[np.intp],
    vectors: Vector,
    queries: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return the cosine of each pair (query, row), in pieces that keep memory small."""
    exact = np.empty(len(rows))
    wide = vectors.astype(np.float64)
    for start in range(0, len(rows), _PAIRS_AT_ONCE):
        piece = slice(start, start + _PAIRS_AT_ONCE)
        sums = np.einsum("ij,ij->i", values[rows[piece]].astype(np.float64), wide[queries[piece]])
        exact[piece] = np.clip(sums, -1.0, 1.0)
    return exact
