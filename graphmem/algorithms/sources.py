"""Ranking sources from their ranked notes, each with the notes that speak for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from graphmem.algorithms.candidate_table import Column, Rows
from graphmem.algorithms.relevance import Ranked, Ranking, fuse

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
class SourceRanking:
    """The sources of a candidate set in order.

    Attributes
    ----------
    ranking
        The ranking of the notes.
    parts
        By name, what each candidate brings its source, shape (n,).
    best
        By source number, the row of the candidate that scores it, shape (sources,).
    order
        Source numbers, best first, ties by id.
    """

    ranking: Ranking
    parts: Mapping[str, Column]
    best: Rows
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
        contributions = {name: float(part[self.best[number]]) for name, part in self.parts.items()}
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

    .. math:: s(source) = \max_{c \in source} \sum_k w_k \, signal_k(c)

    with the policy's weights for sources, whose parts are those of the best candidate. They
    differ from the weights of notes: once whole sources compete, what surrounds a note
    matters less. A policy without them takes the score of the source's best note.
    """
    table = ranking.table
    weights = ranking.policy.source_weights
    if weights:
        parts = {name: weight * ranking.columns[name] for name, weight in weights.items()}
        scores = fuse(weights, ranking.columns, len(table))
    else:
        parts, scores = dict(ranking.blend.contributions), ranking.blend.scores
    rows, names = table.sources
    by_score = np.argsort(-scores, kind="stable")
    numbers, first = np.unique(rows[by_score], return_index=True)
    best = by_score[first[numbers >= 0]]
    order = sorted(range(len(names)), key=lambda number: (-scores[best[number]], names[number]))
    return SourceRanking(ranking, parts, best, np.array(order, dtype=np.int64))
