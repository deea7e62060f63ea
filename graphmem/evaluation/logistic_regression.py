"""Logistic regression with a ridge, by Newton's method: small enough to read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from graphmem.algorithms.answerability import LogisticModel
from graphmem.errors import InvalidInput

RIDGE = 1.0
"""Strength of the penalty on coefficients of standardised signals."""

_STEPS = 100
_TOLERANCE = 1e-9


def fit_logistic(
    names: Sequence[str],
    signals: ArrayLike,
    labels: ArrayLike,
    weights: ArrayLike,
    *,
    ridge: float = RIDGE,
) -> LogisticModel:
    r"""Return the model that maximises the penalised, weighted log-likelihood.

    .. math:: \sum_i w_i \ln p_i(y_i) - \frac{\lambda}{2} \sum_k \beta_k^2

    with the coefficients of the signals at mean 0 and deviation 1; they are returned on the
    scale of the raw signals. The intercept is not penalised.

    Parameters
    ----------
    names
        Names of the signals, one a column.
    signals
        Shape (n, len(names)).
    labels
        Shape (n,), 0 or 1, both present.
    weights
        Shape (n,), not negative: how much each row counts.
    ridge
        :math:`\lambda`, not negative.

    Raises
    ------
    InvalidInput
        The shapes do not fit, or only one label is present.

    Examples
    --------
    >>> model = fit_logistic(["x"], [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1], [1, 1, 1, 1])
    >>> round(-model.intercept / model.weights["x"], 3)
    1.5
    """
    rows = np.asarray(signals, dtype=np.float64)
    truth = np.asarray(labels, dtype=np.float64)
    share = np.asarray(weights, dtype=np.float64)
    if rows.shape != (len(truth), len(names)) or share.shape != truth.shape:
        raise InvalidInput(f"signals of shape {rows.shape} fit neither names nor labels")
    if len(np.unique(truth[share > 0])) < 2:
        raise InvalidInput("a fit needs rows of both labels")
    mean = np.average(rows, axis=0, weights=share)
    deviation = np.sqrt(np.average((rows - mean) ** 2, axis=0, weights=share))
    deviation[deviation == 0.0] = 1.0
    design = np.column_stack([np.ones(len(rows)), (rows - mean) / deviation])
    penalty = np.full(design.shape[1], ridge)
    penalty[0] = 0.0
    beta = np.zeros(design.shape[1])
    for _ in range(_STEPS):
        predicted = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -30.0, 30.0)))
        gradient = design.T @ (share * (truth - predicted)) - penalty * beta
        curvature = share * predicted * (1.0 - predicted) + 1e-12
        step = np.linalg.solve((design.T * curvature) @ design + np.diag(penalty), gradient)
        beta += step
        if np.abs(step).max() < _TOLERANCE:
            break
    slopes = beta[1:] / deviation
    return LogisticModel(
        float(beta[0] - slopes @ mean), dict(zip(names, slopes.tolist(), strict=True))
    )
