"""Diversity: re-order a ranking so that its head does not say the same thing twice.

Off by default: on questions that need several pieces of evidence it loses more than it
gains.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput, InvalidPolicy


def maximal_marginal_relevance(
    relevance: Sequence[float] | NDArray[np.float64],
    similarity: NDArray[np.float64],
    *,
    trade_off: float = 0.75,
    limit: int = 20,
) -> tuple[int, ...]:
    r"""Choose items that are relevant and unlike those chosen before.

    .. math:: \operatorname{MMR} = \arg\max_{i \notin S}
              \left[\lambda\, r_i - (1 - \lambda) \max_{j \in S} s_{ij}\right]

    Parameters
    ----------
    relevance
        Shape (n,), in the order of the ranking: earlier items win ties.
    similarity
        Shape (n, n), symmetric, on the scale of `relevance`; the diagonal is not used.
    trade_off
        :math:`\lambda` in [0, 1]; 1 keeps the order of relevance. 0.7 to 0.8 is usual.
    limit
        How many items to choose at most.

    Returns
    -------
    tuple of int
        Indices in the order in which they were chosen.

    Raises
    ------
    InvalidInput
        The shapes do not fit or a value is not finite.
    InvalidPolicy
        `trade_off` lies outside [0, 1] or `limit` is negative.

    References
    ----------
    Carbonell and Goldstein, "The Use of MMR, Diversity-Based Reranking for Reordering
    Documents and Producing Summaries", 1998.

    Examples
    --------
    >>> alike = np.array([[1.0, 0.95, 0.1], [0.95, 1.0, 0.1], [0.1, 0.1, 1.0]])
    >>> maximal_marginal_relevance([0.9, 0.89, 0.6], alike, trade_off=0.7)
    (0, 2, 1)
    """
    scores = np.asarray(relevance, dtype=np.float64)
    if scores.ndim != 1 or similarity.shape != (len(scores), len(scores)):
        raise InvalidInput(f"similarity {similarity.shape} does not fit relevance {scores.shape}")
    if not (np.isfinite(scores).all() and np.isfinite(similarity).all()):
        raise InvalidInput("relevance or similarity holds a value that is not finite")
    if not 0.0 <= trade_off <= 1.0 or limit < 0:
        raise InvalidPolicy(f"trade_off {trade_off} must lie in [0, 1], limit {limit} above 0")
    gain = trade_off * scores
    redundancy = np.full(len(scores), -np.inf)
    chosen: list[int] = []
    left = np.ones(len(scores), dtype=bool)
    while left.any() and len(chosen) < limit:
        penalty = (1.0 - trade_off) * redundancy if chosen else 0.0
        best = int(np.where(left, gain - penalty, -np.inf).argmax())
        chosen.append(best)
        left[best] = False
        redundancy = np.maximum(redundancy, similarity[best])
    return tuple(chosen)


def term_overlap(documents: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    r"""Return the Jaccard similarity of the documents' distinct terms.

    .. math:: s_{ij} = \frac{|T_i \cap T_j|}{|T_i \cup T_j|}

    Returns
    -------
    ndarray of float64, shape (n, n)
        Symmetric, in [0, 1], 1 on the diagonal; 0 between two documents without terms.

    Examples
    --------
    >>> term_overlap([["blue", "kettle"], ["kettle", "lamp"]]).round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    """
    column: dict[str, int] = {}
    distinct = [{column.setdefault(term, len(column)) for term in terms} for terms in documents]
    incidence = np.zeros((len(documents), len(column)), dtype=np.float32)
    for row, columns in enumerate(distinct):
        incidence[row, list(columns)] = 1.0
    shared = (incidence @ incidence.T).astype(np.float64)
    sizes = incidence.sum(axis=1, dtype=np.float64)
    united = sizes[:, None] + sizes[None, :] - shared
    similarity: NDArray[np.float64] = np.divide(
        shared, united, out=np.zeros_like(shared), where=united > 0
    )
    np.fill_diagonal(similarity, 1.0)
    return similarity
