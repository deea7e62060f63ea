"""Ranking sources from their ranked notes, each with the notes that speak for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from graphmem.algorithms.candidate_table import Column, Rows
from graphmem.algorithms.relevance import Ranked, Ranking, fuse, values_at

SPEAKING = 3
"""How many notes speak for a source."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceRank:
    """One source with its score, the parts that sum to it, and its notes, best first."""

    source_id: str
    score: float
    contributions: Mapping[str, float]
    ranked: tuple[Ranked, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """What the scores of candidates come to for their sources.

    Attributes
    ----------
    best
        By source number, the row of its best candidate, shape (sources,).
    breadth
        How far its second best candidate stands above the median of all candidates, not
        negative; 0 with one candidate.
    """

    best: Rows
    breadth: Column


def pool_by_source(scores: Column, sources: Rows, count: int) -> Pool:
    """Pool the scores of candidates by the number of their source, -1 for none.

    Every number from 0 to `count` - 1 has a candidate; ties go to the earlier row.

    >>> pool = pool_by_source(np.array([0.1, 0.9, 0.5, 0.7]), np.array([0, 1, 0, 1]), 2)
    >>> pool.best.tolist(), pool.breadth.round(6).tolist()
    ([2, 1], [0.0, 0.1])
    """
    held = np.flatnonzero(sources >= 0)
    order = held[np.lexsort((-scores[held], sources[held]))]
    starts = np.searchsorted(sources[order], np.arange(count))
    ends = np.append(starts[1:], len(order))
    several = np.flatnonzero(ends - starts > 1)
    breadth = np.zeros(count)
    if len(several):
        breadth[several] = scores[order[starts[several] + 1]] - _median(scores)
    return Pool(order[starts], np.maximum(breadth, 0.0))


def _median(values: Column) -> float:
    """Return the median; numpy's own would load all of numpy.ma into a cold process."""
    low, high = (len(values) - 1) // 2, len(values) // 2
    ordered = np.partition(values, (low, high))
    return float((ordered[low] + ordered[high]) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class SourceRanking:
    """The sources of a candidate set in order.

    Attributes
    ----------
    ranking
        The ranking of the notes.
    parts
        By name, what adds up to the score of each source, shape (sources,).
    order
        Source numbers, best first, ties by id.
    """

    ranking: Ranking
    parts: Mapping[str, Column]
    order: Rows

    def first(self, limit: int) -> tuple[SourceRank, ...]:
        """Return the first `limit` sources."""
        return tuple(self._rank(number) for number in self.order[:limit].tolist())

    def holding(self, notes: Collection[Ranked]) -> tuple[SourceRank, ...]:
        """Return the sources of these notes, best first."""
        sources = (ranked.candidate.note.source for ranked in notes)
        named = {source.id for source in sources if source is not None}
        _, names = self.ranking.table.sources
        return tuple(self._rank(at) for at in self.order.tolist() if names[at] in named)

    def _rank(self, number: int) -> SourceRank:
        rows, names = self.ranking.table.sources
        contributions = values_at(self.parts, number)
        order = self.ranking.order
        speaking = order[rows[order] == number][:SPEAKING]
        return SourceRank(
            names[number],
            sum(contributions.values()),
            contributions,
            self.ranking.at(speaking.tolist()),
        )


def rank_sources(ranking: Ranking) -> SourceRanking:
    r"""Rank the sources of a candidate set.

    .. math:: s(source) = v_1 + \beta \max(0, v_2 - m), \qquad
              v(c) = \sum_k w_k \, signal_k(c)

    with the policy's weights for sources, the best and second best candidate of the source
    and the median m of all candidates. Parts are the weighted signals of the best candidate
    and ``breadth``. The weights differ from those of notes: once whole sources compete, what
    surrounds a note matters less. A policy without them takes the score of the source's best
    note.
    """
    relevance = ranking.policy
    weights = relevance.source_weights
    rows, names = ranking.table.sources
    scores = fuse(weights, ranking.columns, len(rows)) if weights else ranking.blend.scores
    pool = pool_by_source(scores, rows, len(names))
    if weights:
        parts = {
            name: weight * ranking.columns[name][pool.best] for name, weight in weights.items()
        }
        parts["breadth"] = relevance.source_breadth * pool.breadth
    else:
        parts = {name: part[pool.best] for name, part in ranking.blend.contributions.items()}
    totals = sum(parts.values(), np.zeros(len(names))).tolist()
    order = sorted(range(len(names)), key=lambda number: (-totals[number], names[number]))
    return SourceRanking(ranking, parts, np.array(order, dtype=np.int64))
