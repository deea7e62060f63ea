"""Relevance: named signals of each candidate, fused by a policy's weights, then ranked.

Every ranking ends in :func:`~graphmem.algorithms.salience.rank_salient_memories` (or in
the ``weighted`` policy); what is fused here enters it as ``relevance``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from graphmem.algorithms.importance import ranked_importance
from graphmem.algorithms.salience import (
    MemorySignal,
    SalienceWeights,
    SalientMemory,
    WeightedSignal,
    rank_salient_memories,
    rank_weighted_memories,
)
from graphmem.algorithms.signals import SIGNALS, Board, Column
from graphmem.errors import InvalidPolicy
from graphmem.model import Candidate
from graphmem.policy import Policy, SalienceRanking, WeightedRanking


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """One candidate with its score, the parts that sum to it, and the signals behind them."""

    candidate: Candidate
    score: float
    contributions: Mapping[str, float]
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """A candidate set in order, best first, with every candidate's fused relevance.

    `relevance` has shape (n,) in the order of the board's candidates.
    """

    board: Board
    relevance: Column
    ranked: tuple[Ranked, ...]


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


def measure(board: Board, weights: Mapping[str, float]) -> dict[str, Column]:
    """Compute the signals that have a weight.

    Raises
    ------
    InvalidPolicy
        A name is no signal; the message lists those that are.
    """
    for name in weights:
        if name not in SIGNALS:
            raise InvalidPolicy(f"no signal {name!r}; known: {', '.join(sorted(SIGNALS))}")
    return {name: SIGNALS[name](board) for name in weights}


def rank_candidates(board: Board, policy: Policy) -> Ranking:
    """Rank the whole candidate set, ties by id."""
    weights = policy.relevance.weights
    count = len(board.candidates)
    if not count:
        return Ranking(board, np.zeros(0), ())
    columns = measure(board, weights)
    relevance = fuse(weights, columns, count)
    salient = _salient(board, columns, relevance, policy)
    place = {c.note.id: row for row, c in enumerate(board.candidates)}
    ranked = (_ranked(board, columns, place[s.memory_id], s) for s in salient)
    return Ranking(board, relevance, tuple(ranked))


def _ranked(
    board: Board, columns: Mapping[str, Column], row: int, salient: SalientMemory
) -> Ranked:
    signals = {name: float(column[row]) for name, column in columns.items()}
    return Ranked(
        board.candidates[row], salient.score, salient.contributions, {**signals, **salient.signals}
    )


def _salient(
    board: Board, columns: Mapping[str, Column], relevance: Column, policy: Policy
) -> tuple[SalientMemory, ...]:
    ranking = policy.ranking
    if isinstance(ranking, WeightedRanking):
        return _by_weighted_sum(board, ranking)
    return _by_salience(board, relevance, ranking)


def _by_salience(
    board: Board, relevance: Column, ranking: SalienceRanking
) -> tuple[SalientMemory, ...]:
    at = board.question.at
    rows = [
        MemorySignal(c.note.id, hours(at, c.note.last_accessed_at), importance(c), value)
        for c, value in zip(board.candidates, relevance.tolist(), strict=True)
    ]
    return rank_salient_memories(
        rows,
        recency_decay=ranking.recency_decay,
        weights=SalienceWeights(ranking.recency, ranking.importance, ranking.relevance),
        limit=len(rows),
    )


def _by_weighted_sum(board: Board, ranking: WeightedRanking) -> tuple[SalientMemory, ...]:
    at = board.question.at
    rows = [
        WeightedSignal(c.note.id, hours(at, c.note.created_at), importance(c), cosine, match)
        for c, cosine, match in zip(
            board.candidates, board.vector.tolist(), board.lexical.tolist(), strict=True
        )
    ]
    return rank_weighted_memories(rows, ranking=ranking, limit=len(rows))


def hours(at: datetime, since: datetime) -> float:
    """Return the hours from `since` to `at`; a moment in the future counts as now."""
    return max(0.0, (at - since).total_seconds() / 3600.0)


def importance(candidate: Candidate) -> float:
    """Return a candidate's importance as ranked, in [0, 1]."""
    note = candidate.note
    return ranked_importance(note.importance, note.recall_count, note.feedback)
