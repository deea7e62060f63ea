"""Notes by source: the order in which they follow each other, and by importance."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from graphmem.model import Link, LinkKind
from graphmem.stores.embedded.columns import NO_POSITION, NONE, Columns
from graphmem.stores.embedded.postings import PostingIndex, Rows, Vocabulary
from graphmem.stores.vectors import Mask

_TRIED_FIRST = 64
_SKIPPED_SINGLY = 8
_FOLLOWS_KEPT = 100_000


class Sources:
    """The sources of a namespace and the order of their notes.

    FOLLOWS is derived: a source's notes with a position, in order of (position, id). The
    order of a source is built when a read first touches it and kept from then on.

    Parameters
    ----------
    columns, ids
        The shard's own.
    """

    def __init__(self, columns: Columns, ids: list[str]) -> None:
        self.names = Vocabulary()
        self.postings = PostingIndex()
        self._columns = columns
        self._ids = ids
        self._chains: dict[int, list[int]] = {}
        self._ranked: dict[int, list[int]] = {}
        self._before: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._after: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._follows: dict[tuple[int, int], Link] = {}

    def rows(self, source: int) -> Rows:
        """Return the living rows of a source."""
        rows = self.postings.rows(source)
        return rows[self._columns.alive[rows]]

    def steps(self, rows: NDArray[np.intp], seen: Mask) -> tuple[Rows, Rows]:
        """Return for each row the seen row it follows and the one that follows it; else NONE.

        Rows that are not seen are skipped.
        """
        for source in set(self._columns.source[rows].tolist()) - self._chains.keys():
            if source != NONE:
                self._chain_up(source)
        self._reach(self._columns.count)
        before, after = self._before[rows], self._after[rows]
        for step, reached in ((self._before, before), (self._after, after)):
            hidden = _skip(step, reached, seen)
            for source in set(self._columns.source[rows[hidden]].tolist()):
                self._skip_far(int(source), rows, (before, after), seen)
        return before, after

    def follows_among(self, rows: NDArray[np.intp], seen: Mask) -> list[Link]:
        """Return the FOLLOWS links whose two ends are among `rows`, in order of `rows`.

        Links of the chain of the seen rows; see :meth:`steps`.
        """
        before, _ = self.steps(rows, seen)
        inside = np.zeros(self._columns.count + 1, dtype=bool)  # the last one is for NONE
        inside[rows] = True
        held = inside[before]
        return [
            self._link(row, earlier)
            for row, earlier in zip(rows[held].tolist(), before[held].tolist(), strict=True)
        ]

    def first(self, source: int, limit: int, eligible: Mask) -> list[int]:
        """Return the source's first eligible rows by (-importance, id)."""
        ranked = self._ranked.get(source)
        if ranked is None:
            ranked = self._ranked[source] = sorted(self.rows(source).tolist(), key=self._rank)
        found = [row for row in islice(ranked, _TRIED_FIRST) if eligible[row]]
        if len(found) < limit and len(ranked) > _TRIED_FIRST:
            rest = np.array(ranked[_TRIED_FIRST:])
            found += rest[eligible[rest]][:limit].tolist()
        return found[:limit]

    def _skip_far(
        self, source: int, rows: NDArray[np.intp], reached: tuple[Rows, Rows], seen: Mask
    ) -> None:
        """Set what the rows of one source reach, from the whole chain of its seen rows."""
        before, after = reached
        chain = np.array(self._chains[source], dtype=np.int32)
        places = np.zeros(self._columns.count, dtype=np.int32)
        places[chain] = np.arange(len(chain))
        placed = self._columns.position[rows] != NO_POSITION
        own = np.flatnonzero((self._columns.source[rows] == source) & placed)
        shown = np.flatnonzero(seen[chain])
        ends = np.concatenate(([NONE], chain[shown], [NONE])).astype(np.int32)
        before[own] = ends[np.searchsorted(shown, places[rows[own]], side="left")]
        after[own] = ends[np.searchsorted(shown, places[rows[own]], side="right") + 1]

    # --- changes -----------------------------------------------------------------------

    def pack(self) -> None:
        """Index all rows anew, as they are after loading."""
        source = self._columns.source
        placed = np.flatnonzero(source != NONE).astype(np.int32)
        self.postings = PostingIndex(source[placed], placed)

    def enter(self, row: int, source: int, *, known: bool = False) -> None:
        """Take in a living row, whose columns are set; `known` when it left before."""
        if source == NONE:
            return
        if not known:
            self.postings.add(row, (source,))
        if source in self._ranked:
            insort(self._ranked[source], row, key=self._rank)
        if source in self._chains and self._columns.position[row] != NO_POSITION:
            chain = self._chains[source]
            place = bisect_left(chain, self._place(row), key=self._place)
            chain.insert(place, row)
            self._tie(chain[max(place - 1, 0) : place + 2])
            if place == 0:
                self._before[row] = NONE
            if place == len(chain) - 1:
                self._after[row] = NONE

    def leave(self, row: int) -> None:
        """Take a row out, before it dies or its columns change."""
        source = int(self._columns.source[row])
        ranked, chain = self._ranked.get(source), self._chains.get(source)
        if ranked is not None:
            del ranked[bisect_left(ranked, self._rank(row), key=self._rank)]
        if chain is not None and self._columns.position[row] != NO_POSITION:
            place = bisect_left(chain, self._place(row), key=self._place)
            del chain[place]
            before, after = int(self._before[row]), int(self._after[row])
            if before != NONE:
                self._after[before] = after
            if after != NONE:
                self._before[after] = before
            self._before[row] = self._after[row] = NONE

    def _chain_up(self, source: int) -> None:
        rows = self.rows(source)
        rows = rows[self._columns.position[rows] != NO_POSITION]
        chain = sorted(rows.tolist(), key=self._place)
        self._chains[source] = chain
        self._reach(self._columns.count)
        self._before[rows] = self._after[rows] = NONE
        self._tie(chain)

    def _tie(self, chain: Iterable[int]) -> None:
        self._reach(self._columns.count)
        for earlier, later in pairwise(chain):
            self._before[later], self._after[earlier] = earlier, later

    def _reach(self, count: int) -> None:
        """Have an entry for every row."""
        if count > len(self._before):
            more = np.full(count + count // 2 - len(self._before), NONE, dtype=np.int32)
            self._before = np.concatenate((self._before, more))
            self._after = np.concatenate((self._after, more))

    def _rank(self, row: int) -> tuple[float, str]:
        return -float(self._columns.importance[row]), self._ids[row]

    def _place(self, row: int) -> tuple[int, str]:
        return int(self._columns.position[row]), self._ids[row]

    def _link(self, row: int, earlier: int) -> Link:
        found = self._follows.get((row, earlier))
        if found is None:
            if len(self._follows) >= _FOLLOWS_KEPT:
                self._follows.clear()
            found = self._follows[row, earlier] = Link(
                self._ids[row], self._ids[earlier], weight=1.0, cosine=1.0, kind=LinkKind.FOLLOWS
            )
        return found


def _skip(step: Rows, reached: Rows, seen: Mask) -> NDArray[np.intp]:
    """Go on from rows that are not seen, a few steps; return where that was not enough."""
    for _ in range(_SKIPPED_SINGLY):
        hidden = np.flatnonzero((reached != NONE) & ~seen[reached])
        if not len(hidden):
            break
        reached[hidden] = step[reached[hidden]]
    return np.flatnonzero((reached != NONE) & ~seen[reached])
