"""The reads a recall makes over one shard: seeds, expansion, statistics."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphmem.model import (
    TERM_CAP,
    CandidateQuery,
    Link,
    Neighbour,
    NoteFilter,
    Scope,
    TermCounts,
    Vector,
)
from graphmem.stores.embedded.columns import NONE
from graphmem.stores.embedded.postings import Rows
from graphmem.stores.embedded.shard import Shard
from graphmem.stores.vectors import Hits, Mask


@dataclass(frozen=True, slots=True)
class Found:
    """What a recall found in a shard, before bodies are read.

    `rows` are in order of id, `cosines` theirs with the question; `vector_ranks` and
    `lexical_ranks` map seeds' rows to ranks.
    """

    rows: list[int]
    cosines: list[float | None]
    vector_ranks: Mapping[int, int]
    lexical_ranks: Mapping[int, int]
    links: tuple[Link, ...]
    note_count: int
    average_terms: float
    document_frequency: Mapping[str, int]
    term_counts: TermCounts


@dataclass(frozen=True, slots=True)
class Postings:
    """The visible rows of each distinct query term, in order of the query."""

    note_count: int
    rows: Mapping[str, Rows]

    def seeding(self) -> list[str]:
        """Return the terms rare enough to seed, or else the rarest that occurs."""
        present = [term for term, rows in self.rows.items() if len(rows)]
        rare = [term for term in present if len(self.rows[term]) <= TERM_CAP]
        if rare or not present:
            return rare
        return [min(present, key=lambda term: len(self.rows[term]))]

    def weight(self, term: str) -> int:
        """Return the term's never-negative idf in millionths.

        ``round(1e6 * ln(1 + (N - df + 0.5) / (df + 0.5)))``: an integer, so that sums
        compare alike everywhere.
        """
        found = len(self.rows[term])
        return round(1e6 * math.log(1 + (self.note_count - found + 0.5) / (found + 0.5)))


def find_candidates(shard: Shard, scope: Scope, query: CandidateQuery) -> Found:
    """Run the steps of :meth:`graphmem.ports.NoteStore.candidates` on the shard."""
    eligible = shard.mask(scope, query.where)
    note_count = int(np.count_nonzero(eligible))
    postings = _postings(shard, query.terms, eligible, note_count)
    nearest = _vector_seeds(shard, query, eligible)
    lexical = lexical_seeds(shard, postings, query.lexical_seeds)
    starts = dict.fromkeys((*nearest[: query.expand], *lexical[: query.expand]))
    expansion = _Expansion(shard, eligible, query)
    reached = {*nearest, *lexical, *expansion.reach(list(starts))}
    rows = shard.sorted_by_id(reached)
    terms = int(shard.columns.terms[eligible].sum()) if note_count else 0
    return Found(
        rows=rows,
        cosines=_cosines(shard, rows, query.vector),
        vector_ranks={row: rank for rank, row in enumerate(nearest)},
        lexical_ranks={row: rank for rank, row in enumerate(lexical)},
        links=links_among(shard, rows, query.min_weight, eligible, expansion.walked),
        note_count=note_count,
        average_terms=terms / note_count if note_count else 0.0,
        document_frequency={t: min(len(r), TERM_CAP) for t, r in postings.rows.items()},
        term_counts=_term_counts(shard, rows, postings.rows),
    )


def nearest_notes(
    shard: Shard, seen: Mask, vectors: Vector, limit: int, at_least: float
) -> tuple[tuple[Neighbour, ...], ...]:
    """Return for each vector the `limit` seen notes of highest cosine, by (-cosine, id)."""
    if not len(vectors) or limit < 1 or not shard.vectors.present.any():
        return ((),) * len(vectors)
    hits = shard.vectors.nearest_of_each(vectors, limit, seen, at_least)
    return tuple(
        tuple(
            Neighbour(shard.ids[row], cosine)
            for row, cosine in _best(shard, each, limit)
            if cosine >= at_least
        )
        for each in hits
    )


def links_among(
    shard: Shard,
    rows: Sequence[int],
    min_weight: float,
    seen: Mask,
    walked: Set[str] | None = None,
) -> tuple[Link, ...]:
    """Return the links of every kind whose ends are among `rows`, by (kind, from, to).

    `rows` are in order of id and seen. With `walked`, only the RELATED links that have an
    end in it.
    """
    chained = shard.sources.follows_among(np.array(rows, dtype=np.intp), seen)
    ids = {shard.ids[row] for row in rows}
    related = shard.links.between(ids if walked is None else walked, ids, min_weight)
    return (*chained, *related, *shard.superseding.among(ids))


# --- seeds -----------------------------------------------------------------------------


def _best(shard: Shard, hits: Hits, limit: int) -> list[tuple[int, float]]:
    """Return rows and cosines of the best hits, by (-cosine, id)."""
    ids = shard.ids
    pairs = zip(hits.rows.tolist(), hits.cosines.tolist(), strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], ids[pair[0]]))[:limit]


def _vector_seeds(shard: Shard, query: CandidateQuery, eligible: Mask) -> list[int]:
    if query.vector_seeds < 1 or not shard.vectors.present.any():
        return []
    hits = shard.vectors.nearest(query.vector, query.vector_seeds, eligible)
    return [row for row, _ in _best(shard, hits, query.vector_seeds)]


def _postings(shard: Shard, terms: Iterable[str], eligible: Mask, note_count: int) -> Postings:
    numbers = shard.vocabulary.numbers
    rows: dict[str, Rows] = {}
    for term in dict.fromkeys(terms):
        number = numbers.get(term)
        holding = shard.by_term.rows(-1 if number is None else number)
        rows[term] = holding[eligible[holding]]
    return Postings(note_count, rows)


def lexical_seeds(shard: Shard, postings: Postings, limit: int) -> list[int]:
    """Return the rows of highest summed term weight, by (-score, number of terms, id)."""
    seeding = postings.seeding()
    if not seeding or limit < 1:
        return []
    scores = np.zeros(shard.columns.count, dtype=np.int64)
    for term in seeding:
        scores[postings.rows[term]] += postings.weight(term)
    rows = np.flatnonzero(scores).astype(np.int32)
    rows = _shortest_of_best(rows, scores[rows], shard.columns.terms[rows], limit)
    order = zip(
        (-scores[rows]).tolist(),
        shard.columns.terms[rows].tolist(),
        [shard.ids[row] for row in rows],
        rows.tolist(),
        strict=True,
    )
    return [row for _, _, _, row in sorted(order)[:limit]]


def _shortest_of_best(
    rows: Rows, scores: NDArray[np.int64], terms: NDArray[np.int32], limit: int
) -> Rows:
    """Return the rows that can be among the first `limit` by (-score, terms), ties included."""
    if len(rows) <= limit:
        return rows
    order = np.lexsort((terms, -scores))
    last = order[limit - 1]
    better = (scores > scores[last]) | ((scores == scores[last]) & (terms <= terms[last]))
    kept: Rows = rows[better]
    return kept


def _term_counts(shard: Shard, rows: Sequence[int], terms: Iterable[str]) -> TermCounts:
    numbers = shard.vocabulary.numbers
    return shard.term_lists.counts(
        np.array(rows, dtype=np.intp), [numbers.get(term, NONE) for term in terms]
    )


def _cosines(shard: Shard, rows: Sequence[int], vector: Vector) -> list[float | None]:
    held = np.array(rows, dtype=np.intp)
    present = shard.vectors.present[held]
    if not present.any():
        return [None] * len(rows)
    cosines = shard.vectors.cosines(held[present], vector).tolist()
    if len(cosines) == len(rows):
        return list(cosines)
    found = iter(cosines)
    return [next(found) if there else None for there in present.tolist()]


# --- expansion -------------------------------------------------------------------------


class _Expansion:
    """Which rows are reached from the starts, through eligible rows only."""

    def __init__(self, shard: Shard, eligible: Mask, query: CandidateQuery) -> None:
        self.shard = shard
        self.eligible = eligible
        self.query = query
        self.walked: set[str] = set()
        """Ids of the starts and of what fewer than ``hops`` hops along RELATED reached."""

    def reach(self, starts: Sequence[int]) -> set[int]:
        """Return what RELATED, FOLLOWS and common sources reach."""
        reached = self._along_related(starts)
        limit = self.query.source_notes
        at = np.array(starts, dtype=np.intp)
        for source in set(self.shard.columns.source[at].tolist()):
            if source != NONE:
                reached.update(self.shard.sources.first(source, limit, self.eligible))
        return reached | self._along_follows(starts)

    def _along_related(self, starts: Sequence[int]) -> set[int]:
        ids, row_of, query = self.shard.ids, self.shard.row_of, self.query
        reached = {ids[row] for row in starts}
        edge = self.walked = set(reached)
        for _ in range(query.hops):
            self.walked = set(reached)
            edge = self.shard.links.beside(edge, query.fanout, query.min_weight, self._admits)
            edge -= reached
            reached |= edge
        return {row_of[each] for each in reached}

    def _admits(self, note_id: str) -> bool:
        return bool(self.eligible[self.shard.row_of[note_id]])

    def _along_follows(self, starts: Sequence[int]) -> set[int]:
        sources, eligible = self.shard.sources, self.eligible
        reached: set[int] = set()
        for direction in (0, 1):
            at = np.array(starts, dtype=np.intp)
            for _ in range(self.query.window):
                if not len(at):
                    break
                at = sources.steps(at, eligible)[direction].astype(np.intp)
                at = at[at != NONE]
                reached.update(at.tolist())
        return reached


def surroundings(shard: Shard, scope: Scope, start: int, hops: int, limit: int) -> list[int]:
    """Return the rows within `hops` of `start`, nearest first, then by id, cut at `limit`."""
    seen = seen_from(shard, scope, start)
    reached, edge = [start], {start}
    visited = {start}
    for _ in range(hops):
        further = {row for row in _next_to(shard, edge, seen) if seen[row]} - visited
        if not further or len(reached) >= limit:
            break
        visited |= further
        reached += shard.sorted_by_id(further)
        edge = further
    return reached[: max(limit, 0)]


def seen_from(shard: Shard, scope: Scope, start: int) -> Mask:
    """Return the mask of what a look around `start` may see: `start` even when archived."""
    seen = shard.mask(scope, NoteFilter()).copy()
    seen[start] = True
    return seen


def _next_to(shard: Shard, rows: Collection[int], seen: Mask) -> set[int]:
    found: set[int] = set()
    ids = {shard.ids[row] for row in rows}
    for link in shard.links.touching(ids):
        found.update((shard.row_of[link.from_id], shard.row_of[link.to_id]))
    for steps in shard.sources.steps(np.array(list(rows), dtype=np.intp), seen):
        found.update(steps.tolist())
    return found - {NONE}
