r"""Which of the ranked sources answer a question: a calibrated cut of a recall's ranking.

A score orders one result and is not comparable between questions; how it stands to the best
and to the field below it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput

ANSWER_THRESHOLD = 0.35
"""From this likelihood on a source is linked: where F1 was highest."""

FIELD = 5
"""From this rank (from 0) on the results are the field the first ones are compared with."""

BIAS = -1.26
GAP_WEIGHT = -11.8
FIELD_WEIGHT = 18.6
"""Fitted by logistic regression on the ten best sources of 94 questions of LongMemEval_S."""


def answer_likelihoods(scores: Sequence[float]) -> NDArray[np.float64]:
    r"""Return for each ranked result the likelihood that it belongs to the answer.

    .. math:: p_i = \sigma(b + w_g (s_1 - s_i) + w_f (s_i - \bar{s}_{6..}))

    with the mean of the results from the sixth on as the field (the last one where there are
    fewer). The weights hold for the scores of the default policy, ten results to a question.

    Parameters
    ----------
    scores
        Scores of one result, best first.

    Returns
    -------
    ndarray of float64, shape (n,)
        In [0, 1], falling.

    Raises
    ------
    InvalidInput
        The scores are not finite or not in order.

    Examples
    --------
    >>> likely = answer_likelihoods([0.9, 0.88, 0.4, 0.38, 0.37, 0.36])
    >>> (likely >= ANSWER_THRESHOLD).tolist()
    [True, True, False, False, False, False]
    """
    values = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(values).all() or (np.diff(values) > 0).any():
        raise InvalidInput("scores must be finite and ordered, best first")
    if not len(values):
        return np.zeros(0)
    field = values[min(FIELD, len(values) - 1) :].mean()
    z = BIAS + GAP_WEIGHT * (values[0] - values) + FIELD_WEIGHT * (values - field)
    likelihoods: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-z))
    return likelihoods
