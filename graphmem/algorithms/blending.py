"""Blending the signals of a candidate set into scores, column by column.

The arithmetic behind :func:`~graphmem.algorithms.salience.rank_salient_memories` and
:func:`~graphmem.algorithms.salience.rank_weighted_memories`, for a recall that holds its
candidates as columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidPolicy
from graphmem.policy import WeightedRanking

Column: TypeAlias = NDArray[np.float64]

RECENCY_DECAY = 0.995
"""Recency kept per hour since the last access: a half-life of 138.3 hours."""

WEIGHTED_RANKING = WeightedRanking()
"""Default weights of :func:`rank_weighted_memories`."""


def require_weights(weights: Mapping[str, float]) -> None:
    """Refuse weights that are negative, not finite, or all zero."""
    for name, weight in weights.items():
        if not (isfinite(weight) and weight >= 0):
            raise InvalidPolicy(f"{name}: {weight!r} is not a finite number >= 0")
    if not any(weights.values()):
        raise InvalidPolicy(f"{', '.join(weights)}: all weights are zero, nothing would be ranked")


@dataclass(frozen=True, slots=True)
class SalienceWeights:
    """Weights of the three normalised signals; none negative, at least one positive.

    Raises
    ------
    InvalidPolicy
        A weight is negative or not finite, or all are zero.
    """

    recency: float = 0.15
    importance: float = 0.15
    relevance: float = 0.70

    def __post_init__(self) -> None:
        require_weights(asdict(self))


SALIENCE_WEIGHTS = SalienceWeights()
"""Default weights of :func:`~graphmem.algorithms.salience.rank_salient_memories`."""


@dataclass(frozen=True, slots=True, eq=False)
class Blend:
    """Scores of a whole candidate set with their parts; every column has shape (n,).

    Attributes
    ----------
    scores
        Sum of the contributions.
    contributions
        Weighted part of each signal.
    signals
        The values the weights were applied to.
    """

    scores: Column
    contributions: Mapping[str, Column]
    signals: Mapping[str, Column]

    @classmethod
    def of(cls, weights: Mapping[str, float], signals: Mapping[str, Column]) -> Blend:
        """Weigh and add the signals, all of one length."""
        contributions = {name: weights[name] * column for name, column in signals.items()}
        count = len(next(iter(signals.values())))
        return cls(sum(contributions.values(), np.zeros(count)), contributions, signals)


def blend_salience(
    hours_since_access: Column,
    importance: Column,
    relevance: Column,
    *,
    recency_decay: float = RECENCY_DECAY,
    weights: SalienceWeights = SALIENCE_WEIGHTS,
) -> Blend:
    """Return the scores of :func:`rank_salient_memories` for columns of finite numbers.

    Parameters
    ----------
    hours_since_access, importance, relevance
        One number a memory, shape (n,), n >= 1; hours not negative.

    Raises
    ------
    InvalidPolicy
        `recency_decay` lies outside (0, 1].

    Examples
    --------
    >>> blend = blend_salience(np.array([0.0, 138.3]), np.array([0.2, 0.8]), np.array([0.9, 0.1]))
    >>> blend.scores.round(2).tolist()
    [0.85, 0.15]
    """
    require_decay(recency_decay)
    normalised = {
        "recency": _min_max(np.power(recency_decay, hours_since_access)),
        "importance": _min_max(importance),
        "relevance": _min_max(relevance) if relevance.any() else relevance,
    }
    return Blend.of(asdict(weights), normalised)


def blend_weighted(
    hours_since_written: Column,
    importance: Column,
    vector_similarity: Column,
    keyword_match: Column,
    *,
    ranking: WeightedRanking = WEIGHTED_RANKING,
) -> Blend:
    """Return the scores of :func:`rank_weighted_memories` for columns of finite numbers.

    Every column has shape (n,), n >= 1; hours are not negative.

    Raises
    ------
    InvalidPolicy
        All weights are zero.

    Examples
    --------
    >>> half = np.array([0.5])
    >>> blend_weighted(np.array([138.3]), np.array([1.0]), half, half).scores.round(3).tolist()
    [0.675]
    """
    weights = named_weights(ranking)
    require_weights(weights)
    raw = {
        "vector": vector_similarity,
        "keyword": keyword_match,
        "importance": importance,
        "decay": np.power(ranking.decay, hours_since_written),
    }
    return Blend.of(weights, raw)


def named_weights(ranking: WeightedRanking) -> dict[str, float]:
    """Return the weights of a weighted ranking by the name of their signal."""
    return {
        "vector": ranking.alpha,
        "keyword": ranking.beta,
        "importance": ranking.gamma,
        "decay": ranking.decay_weight,
    }


def _min_max(column: Column) -> Column:
    """Map the column onto [0, 1]; a constant column becomes 1."""
    low, high = float(column.min()), float(column.max())
    if low == high:
        return np.ones_like(column)
    if not isfinite(high - low):
        column, low, high = column / 2, low / 2, high / 2
    normalised: Column = (column - low) / (high - low)
    return normalised


def require_decay(recency_decay: float) -> None:
    """Refuse a share kept per hour outside (0, 1]."""
    if not 0.0 < recency_decay <= 1.0:
        raise InvalidPolicy(f"recency_decay: {recency_decay!r} lies outside (0, 1]")
