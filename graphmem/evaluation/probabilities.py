"""Whether probabilities mean what they say, and how sure a measure is.

`scores` are probabilities in [0, 1]; `labels` tell what was true. Weights let a data set of
any composition be read at the prior a probability was made for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmem.errors import InvalidInput
from graphmem.evaluation.metrics import Interval, auroc, average_precision

BINS = 10
"""How many equally wide bins a reliability diagram has."""

_RESAMPLES = 500


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One bin of a reliability diagram.

    Attributes
    ----------
    low, high
        Its borders; the last bin holds 1 too.
    weight
        Share of all questions in it, in [0, 1].
    predicted, observed
        Mean probability and share of true labels, weighted.
    """

    low: float
    high: float
    weight: float
    predicted: float
    observed: float


def prior_weights(labels: ArrayLike, prior: float) -> NDArray[np.float64]:
    """Return weights that sum to 1 and give the positives the share `prior`.

    Raises
    ------
    InvalidInput
        There is no positive or no negative.

    Examples
    --------
    >>> prior_weights([True, False, False], 0.5).tolist()
    [0.5, 0.25, 0.25]
    """
    positive = np.asarray(labels, dtype=np.bool_)
    positives, negatives = int(positive.sum()), int((~positive).sum())
    if not positives or not negatives:
        raise InvalidInput("a prior needs at least one positive and one negative")
    return np.where(positive, prior / positives, (1.0 - prior) / negatives)


def reliability(
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None
) -> tuple[ReliabilityBin, ...]:
    """Return the filled bins of a reliability diagram, lowest first.

    Examples
    --------
    >>> [(b.low, b.predicted, b.observed) for b in reliability([0.9, 0.92, 0.1], [1, 0, 0])]
    [(0.1, 0.1, 0.0), (0.9, 0.91, 0.5)]
    """
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels, dtype=np.float64)
    share = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
    share = share / share.sum()
    place = np.minimum((values * BINS).astype(np.int64), BINS - 1)
    bins = []
    for number in np.unique(place).tolist():
        inside = place == number
        weight = float(share[inside].sum())
        bins.append(
            ReliabilityBin(
                low=number / BINS,
                high=(number + 1) / BINS,
                weight=weight,
                predicted=float(share[inside] @ values[inside]) / weight,
                observed=float(share[inside] @ positive[inside]) / weight,
            )
        )
    return tuple(bins)


def expected_calibration_error(
    scores: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None
) -> float:
    r"""Return the expected calibration error, in [0, 1]; 0 is perfect.

    .. math:: ECE = \sum_b w_b \, |observed_b - predicted_b|

    over ten equally wide bins of the probability.

    References
    ----------
    Guo et al., "On Calibration of Modern Neural Networks", 2017, arXiv:1706.04599.

    Examples
    --------
    >>> round(expected_calibration_error([0.9, 0.92, 0.1], [1, 0, 0]), 4)
    0.3067
    """
    return sum(
        part.weight * abs(part.observed - part.predicted)
        for part in reliability(scores, labels, weights)
    )


def auroc_interval(scores: ArrayLike, labels: ArrayLike, *, seed: int = 0) -> Interval:
    """Return the AUROC with its 95 % bootstrap interval over questions.

    Positives and negatives are drawn apart, so that each resample has both.

    Examples
    --------
    >>> auroc_interval([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0])
    Interval(mean=1.0, low=1.0, high=1.0)
    """
    return _interval(auroc, scores, labels, seed)


def average_precision_interval(scores: ArrayLike, labels: ArrayLike, *, seed: int = 0) -> Interval:
    """Return the average precision with its 95 % bootstrap interval, drawn likewise."""
    return _interval(average_precision, scores, labels, seed)


def _interval(
    measure: Callable[[ArrayLike, ArrayLike], float],
    scores: ArrayLike,
    labels: ArrayLike,
    seed: int,
) -> Interval:
    values = np.asarray(scores, dtype=np.float64)
    positive = np.asarray(labels, dtype=np.bool_)
    groups = [np.flatnonzero(positive), np.flatnonzero(~positive)]
    generator = np.random.default_rng(seed)
    drawn = []
    for _ in range(_RESAMPLES):
        rows = np.concatenate([generator.choice(group, len(group)) for group in groups])
        drawn.append(measure(values[rows], positive[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(measure(values, positive), float(low), float(high))
