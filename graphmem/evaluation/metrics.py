"""Measures of retrieval and of decisions, as pure functions with their definitions.

`ranking` is a list of ids, best first; `gold` the ids that hold the answer, never empty:
a question without gold has no recall.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmem.errors import InvalidInput


def evidence_recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return the share of the gold ids among the first `k`, in [0, 1].

    >>> evidence_recall(["a", "x", "b"], {"a", "b"}, k=2)
    0.5
    """
    if not gold:
        raise InvalidInput("gold is empty: a question without gold has no recall")
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))


def any_recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 when at least one gold id is among the first `k`, else 0.

    >>> any_recall(["a", "x", "b"], {"a", "b"}, k=2)
    1.0
    """
    return float(evidence_recall(ranking, gold, k) > 0)


def complete_recall(ranking: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 when every gold id is among the first `k`, else 0 (also called recall-all).

    >>> complete_recall(["a", "x", "b"], {"a", "b"}, k=2)
    0.0
    >>> complete_recall(["a", "x", "b"], {"a", "b"}, k=3)
    1.0
    """
    return float(set(gold) <= set(ranking[:k]) and evidence_recall(ranking, gold, k) == 1.0)


def gold_ranks(ranking: Sequence[str], gold: Collection[str]) -> tuple[int | None, ...]:
    """Return the 1-based ranks of the gold ids, rising; ``None`` for each not in the list.

    >>> gold_ranks(["a", "x", "b"], {"a", "b", "c"})
    (1, 3, None)
    """
    place = {item: rank for rank, item in enumerate(ranking, start=1)}
    found = sorted(place[item] for item in set(gold) if item in place)
    return (*found, *([None] * (len(set(gold)) - len(found))))


def auroc(scores: ArrayLike, labels: ArrayLike) -> float:
    r"""Return the area under the ROC curve, in [0, 1].

    The probability that a positive scores above a negative, ties counted half:

    .. math:: \frac{R^+ - n^+ (n^+ + 1) / 2}{n^+ n^-}

    with :math:`R^+` the sum of the positives' average ranks (Mann and Whitney, 1947).

    Raises
    ------
    InvalidInput
        There is no positive or no negative, or the lengths differ.

    Examples
    --------
    >>> auroc([0.9, 0.4, 0.4, 0.1], [True, True, False, False])
    0.875
    """
    values, positive = _paired(scores, labels)
    positives = int(positive.sum())
    negatives = len(values) - positives
    if not positives or not negatives:
        raise InvalidInput("AUROC needs at least one positive and one negative")
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    average_rank = np.cumsum(counts) - (counts - 1) / 2
    rank_sum = float(average_rank[inverse][positive].sum())
    return (rank_sum - positives * (positives + 1) / 2) / (positives * negatives)


def average_precision(scores: ArrayLike, labels: ArrayLike) -> float:
    r"""Return the average precision, in [0, 1].

    .. math:: AP = \sum_n (R_n - R_{n-1}) P_n

    over the distinct scores as thresholds, highest first, without interpolation; equal
    scores enter together.

    Raises
    ------
    InvalidInput
        There is no positive, or the lengths differ.

    Examples
    --------
    >>> round(average_precision([0.9, 0.8, 0.7, 0.6], [True, False, True, False]), 4)
    0.8333
    """
    values, positive = _paired(scores, labels)
    if not positive.any():
        raise InvalidInput("average precision needs at least one positive")
    order = np.argsort(-values, kind="stable")
    hits = np.cumsum(positive[order])
    last = np.append(np.diff(values[order]) != 0, True)
    precision = (hits / np.arange(1, len(values) + 1))[last]
    recall = hits[last] / hits[-1]
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its bootstrap interval."""

    mean: float
    low: float
    high: float


def bootstrap_interval(
    values: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Interval:
    """Return the mean of `values` and its percentile bootstrap interval.

    Over differences of paired values this is the paired bootstrap: an interval that does
    not hold 0 speaks for a difference.

    Parameters
    ----------
    values
        One number for each independent unit (a question), shape (n,), n >= 1.
    level
        Share of the bootstrap means inside the interval.
    resamples, seed
        Number of resamples and the seed that makes them repeatable.

    References
    ----------
    Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.

    Examples
    --------
    >>> interval = bootstrap_interval([0.0, 1.0, 1.0, 1.0])
    >>> interval.mean, interval.low <= 0.75 <= interval.high
    (0.75, True)
    >>> bootstrap_interval([0.5, 0.5])
    Interval(mean=0.5, low=0.5, high=0.5)
    """
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1 or not len(column):
        raise InvalidInput("a bootstrap needs at least one value")
    generator = np.random.default_rng(seed)
    means = np.array(
        [column[generator.integers(0, len(column), len(column))].mean() for _ in range(resamples)]
    )
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(column.mean()), float(low), float(high))


def _paired(scores: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels, dtype=np.bool_)
    if values.shape != positive.shape or values.ndim != 1:
        raise InvalidInput(
            f"scores and labels differ in length: {values.shape} and {positive.shape}"
        )
    return values, positive
