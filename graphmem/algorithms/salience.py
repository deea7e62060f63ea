"""Salience: which memories of one candidate set deserve to be recalled first.

Two policies rank a set. :func:`rank_salient_memories` blends recency, importance and
relevance after normalising each over the set; :func:`rank_weighted_memories` adds raw
signals. Both return every part of a score; the arithmetic is that of
:mod:`graphmem.algorithms.blending`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

import numpy as np

from graphmem.algorithms.blending import (
    RECENCY_DECAY,
    SALIENCE_WEIGHTS,
    WEIGHTED_RANKING,
    Blend,
    Column,
    SalienceWeights,
    blend_salience,
    blend_weighted,
    named_weights,
    require_decay,
    require_weights,
)
from graphmem.errors import InvalidInput, InvalidQuery
from graphmem.policy import WeightedRanking


@dataclass(frozen=True, slots=True)
class MemorySignal:
    """What :func:`rank_salient_memories` knows of one candidate.

    Attributes
    ----------
    memory_id
        Identifier, unique within the set.
    hours_since_access
        Hours since the memory was last recalled or written; not negative.
    importance, relevance
        Any finite numbers on a scale of their own: only their order and spacing within
        the set count.
    """

    memory_id: str
    hours_since_access: float
    importance: float
    relevance: float


@dataclass(frozen=True, slots=True)
class SalientMemory:
    """One ranked memory.

    Attributes
    ----------
    memory_id
        Identifier of the signal.
    score
        Orders this result only.
    contributions
        Weighted part of each signal; their sum is `score`.
    signals
        The values the weights were applied to.
    """

    memory_id: str
    score: float
    contributions: Mapping[str, float]
    signals: Mapping[str, float]


def rank_salient_memories(
    signals: Iterable[MemorySignal],
    *,
    recency_decay: float = RECENCY_DECAY,
    weights: SalienceWeights = SALIENCE_WEIGHTS,
    limit: int = 20,
) -> tuple[SalientMemory, ...]:
    r"""Rank the memories of one candidate set by recency, importance and relevance.

    .. math:: s = w_{rec} \hat r + w_{imp} \hat i + w_{rel} \hat v, \qquad
              r = decay^{hours}

    Each hat is a min-max normalisation over the given set, so that 0 is its lowest and 1
    its highest value. A constant column (and so every column of a set of one) becomes 1;
    a relevance of 0 throughout stays 0, because nothing matched.

    Scores are comparable within one call only: one more candidate can move the score of
    every other.

    Parameters
    ----------
    signals
        The whole candidate set, each id once.
    recency_decay
        Recency kept per hour, in (0, 1].
    weights
        Weights of the normalised signals.
    limit
        How many memories to return at most.

    Returns
    -------
    tuple of SalientMemory
        By falling score, ties by id; each score lies in [0, sum of the weights].
        Contributions and signals are named ``recency``, ``importance``, ``relevance``.

    Raises
    ------
    InvalidInput
        A signal is not a finite number, hours are negative, an id is empty or given twice.
    InvalidPolicy
        `recency_decay` lies outside (0, 1].
    InvalidQuery
        `limit` is not a positive integer.

    References
    ----------
    Park et al., "Generative Agents: Interactive Simulacra of Human Behavior", 2023,
    arXiv:2304.03442, section 4.1.

    Examples
    --------
    >>> ranked = rank_salient_memories([
    ...     MemorySignal("seat", hours_since_access=0, importance=0.2, relevance=0.9),
    ...     MemorySignal("lunch", hours_since_access=138.3, importance=0.8, relevance=0.1),
    ... ])
    >>> [(memory.memory_id, round(memory.score, 2)) for memory in ranked]
    [('seat', 0.85), ('lunch', 0.15)]
    >>> {name: round(part, 2) for name, part in ranked[0].contributions.items()}
    {'recency': 0.15, 'importance': 0.0, 'relevance': 0.7}
    """
    require_decay(recency_decay)
    _require_limit(limit)
    given = tuple(signals)
    ids = _require_ids(given)
    if not ids:
        return ()
    blend = blend_salience(
        _hours(given, "hours_since_access"),
        _column(given, "importance"),
        _column(given, "relevance"),
        recency_decay=recency_decay,
        weights=weights,
    )
    return _ranked(ids, blend, limit)


@dataclass(frozen=True, slots=True)
class WeightedSignal:
    """What :func:`rank_weighted_memories` knows of one candidate.

    Attributes
    ----------
    memory_id
        Identifier, unique within the set.
    hours_since_written
        Hours since the memory was written; not negative.
    importance
        Importance as ranked, in [0, 1]: that of the note, raised by use and feedback.
    vector_similarity
        Raw cosine with the question, in [-1, 1]; 0 for a note without vector.
    keyword_match
        Keyword match in [0, 1]; 0 when no word of the question occurs.
    """

    memory_id: str
    hours_since_written: float
    importance: float
    vector_similarity: float
    keyword_match: float


def rank_weighted_memories(
    signals: Iterable[WeightedSignal],
    *,
    ranking: WeightedRanking = WEIGHTED_RANKING,
    limit: int = 20,
) -> tuple[SalientMemory, ...]:
    r"""Rank memories by a plain weighted sum of raw signals.

    .. math:: s = \alpha\, vector + \beta\, keyword + \gamma\, importance
              + w_{decay}\, decay^{hours}

    Nothing is normalised over the set: a memory's score does not depend on the others.
    Importance counts before the cut at `limit`, so that it can rescue a memory.

    Parameters
    ----------
    signals
        The candidates, each id once.
    ranking
        Weights, and the share of the decay term kept per hour since the memory was
        written (0.995: half after 138.3 hours).
    limit
        How many memories to return at most.

    Returns
    -------
    tuple of SalientMemory
        By falling score, ties by id. Contributions and signals are named ``vector``,
        ``keyword``, ``importance``, ``decay``; the signal ``decay`` is decay ** hours.

    Raises
    ------
    InvalidInput
        A signal is not a finite number, hours are negative, an id is empty or given twice.
    InvalidPolicy
        All weights are zero.
    InvalidQuery
        `limit` is not a positive integer.

    Examples
    --------
    >>> best, = rank_weighted_memories([
    ...     WeightedSignal("rule", hours_since_written=138.3, importance=1.0,
    ...                    vector_similarity=0.5, keyword_match=0.5),
    ... ])
    >>> {name: round(part, 3) for name, part in best.contributions.items()}
    {'vector': 0.35, 'keyword': 0.15, 'importance': 0.15, 'decay': 0.025}
    >>> round(best.score, 3)
    0.675
    """
    require_weights(named_weights(ranking))
    _require_limit(limit)
    given = tuple(signals)
    ids = _require_ids(given)
    if not ids:
        return ()
    blend = blend_weighted(
        _hours(given, "hours_since_written"),
        _column(given, "importance"),
        _column(given, "vector_similarity"),
        _column(given, "keyword_match"),
        ranking=ranking,
    )
    return _ranked(ids, blend, limit)


_Signal = TypeVar("_Signal", MemorySignal, WeightedSignal)


def _ranked(ids: Sequence[str], blend: Blend, limit: int) -> tuple[SalientMemory, ...]:
    """Order by score and build the values of the first `limit` only."""
    return tuple(
        SalientMemory(
            memory_id=ids[index],
            score=float(blend.scores[index]),
            contributions={name: float(part[index]) for name, part in blend.contributions.items()},
            signals={name: float(value[index]) for name, value in blend.signals.items()},
        )
        for index in _best(blend.scores, ids, limit)
    )


def _best(scores: Column, ids: Sequence[str], limit: int) -> list[int]:
    """Return the indices of the `limit` highest scores by (-score, id)."""
    if limit < len(ids):
        lowest_kept = np.partition(scores, -limit)[-limit]
        kept = np.flatnonzero(scores >= lowest_kept).tolist()
    else:
        kept = list(range(len(ids)))
    return sorted(kept, key=lambda index: (-scores[index], ids[index]))[:limit]


def _column(signals: Sequence[_Signal], name: str) -> Column:
    """Read one attribute of all signals as finite numbers."""
    read: Callable[[_Signal], float] = attrgetter(name)
    try:
        column = np.asarray(array("d", map(read, signals)))
    except (TypeError, OverflowError) as error:
        raise InvalidInput(f"{name}: a signal is not a finite number ({error})") from error
    finite = np.isfinite(column)
    if not finite.all():
        culprit = signals[int(finite.argmin())]
        raise InvalidInput(
            f"{name}: {read(culprit)!r} of memory {culprit.memory_id!r} is not a finite number"
        )
    return column


def _hours(signals: Sequence[_Signal], name: str) -> Column:
    column = _column(signals, name)
    if column.min() < 0:
        culprit = signals[int(column.argmin())]
        raise InvalidInput(
            f"{name}: {column.min()} of memory {culprit.memory_id!r} is negative; "
            "clamp a clock that ran ahead to 0"
        )
    return column


def _require_ids(signals: Sequence[_Signal]) -> list[str]:
    ids = [signal.memory_id for signal in signals]
    if not all(ids):
        raise InvalidInput("memory_id: an id is empty")
    if len(set(ids)) != len(ids):
        twice = next(memory_id for memory_id in ids if ids.count(memory_id) > 1)
        raise InvalidInput(f"memory_id: {twice!r} is given twice")
    return ids


def _require_limit(limit: int) -> None:
    if type(limit) is not int or limit < 1:
        raise InvalidQuery(f"limit: {limit!r} is not a positive integer")
