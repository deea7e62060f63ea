"""Relevance: named signals of each candidate, fused by a policy's weights, then ranked.

Every ranking ends in the blend of
:func:`~graphmem.algorithms.salience.rank_salient_memories` (or in the ``weighted`` policy);
what is fused here enters it as ``relevance``. Candidates stay columns of a table until a
ranking is cut: only what is returned becomes a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from graphmem.algorithms.blending import (
    Blend,
    SalienceWeights,
    blend_salience,
    blend_weighted,
)
from graphmem.algorithms.candidate_table import CandidateTable, Column, Rows
from graphmem.algorithms.diversity import maximal_marginal_relevance, term_overlap
from graphmem.algorithms.importance import ranked_importance
from graphmem.algorithms.newest_first import newest_first
from graphmem.algorithms.signals import measure
from graphmem.model import Candidate, Note
from graphmem.policy import Policy, RelevancePolicy, SalienceRanking, WeightedRanking

DIVERSIFIED = 50
"""How much of a ranking's head a policy's diversity re-orders."""


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """One candidate with its score, the parts that sum to it, and the signals behind them."""

    candidate: Candidate
    score: float
    contributions: Mapping[str, float]
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """A candidate set in order.

    Attributes
    ----------
    table
        The question and its candidates.
    policy
        What relevance was fused by.
    columns
        The signals of relevance, each of shape (n,).
    blend
        Scores and their parts.
    order
        Rows of the table, best first, ties by id; with a policy's diversity, the order of
        :func:`~graphmem.algorithms.diversity.maximal_marginal_relevance`.
    """

    table: CandidateTable
    policy: RelevancePolicy
    columns: Mapping[str, Column]
    blend: Blend
    order: Rows

    def __len__(self) -> int:
        return len(self.order)

    def best(self, limit: int) -> tuple[Ranked, ...]:
        """Return the first `limit` candidates."""
        return self.at(self.order[:limit].tolist())

    def at(self, rows: Iterable[int]) -> tuple[Ranked, ...]:
        """Return the candidates of these rows, in the order given."""
        return tuple(self._ranked(row) for row in rows)

    def _ranked(self, row: int) -> Ranked:
        return Ranked(
            candidate=self.table.candidates[row],
            score=float(self.blend.scores[row]),
            contributions=values_at(self.blend.contributions, row),
            signals=values_at(self.columns, row) | values_at(self.blend.signals, row),
        )


def values_at(columns: Mapping[str, Column], row: int) -> dict[str, float]:
    """Return one row of some columns by name.

    >>> values_at({"vector": np.array([0.5, 0.25])}, 1)
    {'vector': 0.25}
    """
    return {name: float(column[row]) for name, column in columns.items()}


def fuse(weights: Mapping[str, float], columns: Mapping[str, Column], count: int) -> Column:
    """Return the weighted sum of the named columns, shape (count,).

    >>> fuse({"vector": 0.7, "lexical": 0.3},
    ...      {"vector": np.array([1.0, 0.0]), "lexical": np.array([0.0, 1.0])}, 2).tolist()
    [0.7, 0.3]
    """
    total = np.zeros(count)
    for name, weight in weights.items():
        total += weight * columns[name]
    return total


def rank_candidates(table: CandidateTable, policy: Policy) -> Ranking:
    """Rank the whole candidate set, ties by id, newer notes before those they supersede.

    Raises
    ------
    InvalidPolicy
        The policy weighs a signal that does not exist.
    """
    relevance = policy.relevance
    columns = measure(table, {*relevance.weights, *(relevance.source_weights or ())})
    blend = _blend(table, fuse(relevance.weights, columns, len(table)), policy)
    if table.superseding:
        blend = newest_first(blend, table.vector, table.superseding)
    order = np.argsort(-blend.scores, kind="stable")
    if policy.diversity is not None:
        order = _diversified(table, blend, order, policy.diversity)
    return Ranking(table, relevance, columns, blend, order)


def _diversified(table: CandidateTable, blend: Blend, order: Rows, trade_off: float) -> Rows:
    """Re-order the head of a ranking by maximal marginal relevance."""
    head = order[:DIVERSIFIED]
    alike = term_overlap([table.candidates[row].terms for row in head.tolist()])
    chosen = maximal_marginal_relevance(
        blend.scores[head], alike, trade_off=trade_off, limit=DIVERSIFIED
    )
    return np.concatenate([head[list(chosen)], order[DIVERSIFIED:]])


def _blend(table: CandidateTable, relevance: Column, policy: Policy) -> Blend:
    if not len(table):
        return Blend(relevance, {}, {})
    ranking = policy.ranking
    if isinstance(ranking, WeightedRanking):
        return _by_weighted_sum(table, ranking)
    return _by_salience(table, relevance, ranking)


def _by_salience(table: CandidateTable, relevance: Column, ranking: SalienceRanking) -> Blend:
    at = table.question.at
    return blend_salience(
        hours_since([note.last_accessed_at for note in table.notes], at),
        np.array([importance(note) for note in table.notes]),
        relevance,
        recency_decay=ranking.recency_decay,
        weights=SalienceWeights(ranking.recency, ranking.importance, ranking.relevance),
    )


def _by_weighted_sum(table: CandidateTable, ranking: WeightedRanking) -> Blend:
    at = table.question.at
    return blend_weighted(
        hours_since([note.created_at for note in table.notes], at),
        np.array([importance(note) for note in table.notes]),
        table.vector,
        table.lexical,
        ranking=ranking,
    )


def hours_since(moments: Iterable[datetime], at: datetime) -> Column:
    """Return the hours from each moment to `at`; a moment in the future counts as now."""
    seconds = np.array([(at - moment).total_seconds() for moment in moments])
    hours: Column = np.maximum(seconds, 0.0) / 3600.0
    return hours


def importance(note: Note) -> float:
    """Return a note's importance as ranked, in [0, 1]."""
    if not (note.recall_count or note.feedback):  # most notes: nothing raises or lowers it
        return note.importance
    return ranked_importance(note.importance, note.recall_count, note.feedback)
