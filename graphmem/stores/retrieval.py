"""The reads a recall makes over one shard: seeds, expansion, statistics."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
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
    Vector,
)
from graphmem.stores.columns import NONE
from graphmem.stores.postings import Rows
from graphmem.stores.shard import Shard
from graphmem.stores.vectors import Hits, Mask


@dataclass(frozen=True, slots=True)
class Found:
    """What a recall found in a shard, before bodies are read.

    `rows` are in order of id; `vector_ranks` and `lexical_ranks` map seeds' rows to ranks.
    """

    rows: list[int]
    cosines: Mapping[int, float]
    vector_ranks: Mapping[int, int]
    lexical_ranks: Mapping[int, int]
    links: tuple[Link, ...]
    note_count: int
    average_terms: float
    document_frequency: Mapping[str, int]


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
        links=links_among(shard, rows, query.min_weight),
        note_count=note_count,
        average_terms=terms / note_count if note_count else 0.0,
        document_frequency={t: min(len(r), TERM_CAP) for t, r in postings.rows.items()},
    )


def nearest_notes(
    shard: Shard, scope: Scope, vectors: Vector, limit: int, where: NoteFilter
) -> tuple[tuple[Neighbour, ...], ...]:
    """Return for each vector the `limit` notes of highest cosine, by (-cosine, id)."""
    if not len(vectors) or limit < 1 or not shard.vectors.present.any():
        return ((),) * len(vectors)
    hits = shard.vectors.nearest_of_each(vectors, limit, shard.mask(scope, where))
    return tuple(
        tuple(Neighbour(shard.ids[row], cosine) for row, cosine in _best(shard, each, limit))
        for each in hits
    )


def links_among(shard: Shard, rows: Sequence[int], min_weight: float) -> tuple[Link, ...]:
    """Return RELATED and FOLLOWS links whose ends are among `rows`, by (kind, from, to)."""
    ids = {shard.ids[row] for row in rows}
    chained = shard.follows_among(rows)
    related = shard.links.among(ids, min_weight)
    chained.sort(key=_pair)
    related.sort(key=_pair)
    return (*chained, *related)


def _pair(link: Link) -> tuple[str, str]:
    return link.from_id, link.to_id


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
    rows = np.unique(np.concatenate([postings.rows[term] for term in seeding]))
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


def _cosines(shard: Shard, rows: Sequence[int], vector: Vector) -> dict[int, float]:
    if not shard.vectors.dimension:
        return {}
    held = np.array(rows, dtype=np.intp)
    held = held[shard.vectors.present[held]]
    return dict(zip(held.tolist(), shard.vectors.cosines(held, vector).tolist(), strict=True))


# --- expansion -------------------------------------------------------------------------


class _Expansion:
    """Which rows are reached from the starts, through eligible rows only."""

    def __init__(self, shard: Shard, eligible: Mask, query: CandidateQuery) -> None:
        self.shard = shard
        self.eligible = eligible
        self.query = query

    def reach(self, starts: Sequence[int]) -> set[int]:
        """Return what RELATED, FOLLOWS and common sources reach."""
        reached = self._along_related(starts)
        sources = dict.fromkeys(int(self.shard.columns.source[row]) for row in starts)
        for source in sources:
            if source != NONE:
                reached.update(self._of_source(source))
        for row in starts:
            reached.update(self._along_follows(row))
        return reached

    def _along_related(self, starts: Sequence[int]) -> set[int]:
        ids, row_of, links = self.shard.ids, self.shard.row_of, self.shard.links
        reached, edge = set(starts), set(starts)
        for _ in range(self.query.hops):
            links.ensure([ids[row] for row in edge])
            further: set[int] = set()
            for row in edge:
                further.update(row_of[other] for other in self._strongest(ids[row]))
            edge = further - reached
            reached |= edge
        return reached

    def _strongest(self, note_id: str) -> list[str]:
        return self.shard.links.strongest(
            note_id, self.query.fanout, self.query.min_weight, self._admits
        )

    def _admits(self, note_id: str) -> bool:
        return bool(self.eligible[self.shard.row_of[note_id]])

    def _along_follows(self, row: int) -> set[int]:
        chain = self.shard.chain_of(row)
        reached: set[int] = set()
        if chain is None:
            return reached
        for step in (chain.before, chain.after):
            at = row
            for _ in range(self.query.window):
                beside = step(at)
                if beside is None or not self.eligible[beside]:
                    break
                reached.add(beside)
                at = beside
        return reached

    def _of_source(self, source: int) -> list[int]:
        """Return the source's first rows by (-importance, id)."""
        limit = self.query.source_notes
        rows = self.shard.by_source.rows(source)
        rows = rows[self.eligible[rows]]
        if limit < 1 or not len(rows):
            return []
        importance = self.shard.columns.importance[rows]
        if len(rows) > limit:
            least = np.partition(importance, len(rows) - limit)[len(rows) - limit]
            rows, importance = rows[importance >= least], importance[importance >= least]
        ids = self.shard.ids
        pairs = zip((-importance).tolist(), rows.tolist(), strict=True)
        best = sorted(pairs, key=lambda pair: (pair[0], ids[pair[1]]))[:limit]
        return [row for _, row in best]


def surroundings(shard: Shard, scope: Scope, start: int, hops: int, limit: int) -> list[int]:
    """Return the rows within `hops` of `start`, nearest first, then by id, cut at `limit`."""
    seen = shard.mask(scope, NoteFilter())
    reached, edge = [start], {start}
    visited = {start}
    for _ in range(hops):
        further = {row for row in _next_to(shard, edge) if seen[row]} - visited
        if not further or len(reached) >= limit:
            break
        visited |= further
        reached += shard.sorted_by_id(further)
        edge = further
    return reached[: max(limit, 0)]


def _next_to(shard: Shard, rows: Iterable[int]) -> set[int]:
    found: set[int] = set()
    ids = {shard.ids[row] for row in rows}
    for link in shard.links.touching(ids):
        found.update((shard.row_of[link.from_id], shard.row_of[link.to_id]))
    for row in rows:
        chain = shard.chain_of(row)
        if chain is not None:
            found.update(at for at in (chain.before(row), chain.after(row)) if at is not None)
    return found
