r"""How alike notes (or whole sources) are, by more than one cosine.

Three signals of a pair, each comparable between collections:

``cosine``
    of the best pair of parts: two sources are as near as their two nearest notes;
``hubness``
    how near both stand to everything else: a note near to all says little by being near to
    one (local scaling; Zelnik-Manor and Perona, 2004; CSLS, Lample et al., 2018);
``rare terms``
    the terms both share, weighted by the square of their idf: a name in two notes ties them,
    a common word does not.

They are fused by a logistic model fitted on development data, on the scale of the thresholds:
0.72 is where links are cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import InvalidInput
from graphmem.model import Vector

Matrix: TypeAlias = NDArray[np.float64]
"""One value for each two notes or sources, shape (n, n), symmetric."""

Owners: TypeAlias = NDArray[np.int64]
"""For each note the number of what it is a part of, shape (notes,), from 0 without gaps."""

LINK_THRESHOLD = 0.72
"""Where links are cut, the same number as for the raw cosine of the default model."""

NEIGHBOURS = 5
"""How many of the nearest others tell whether something is a hub."""

COSINE_WEIGHT = 5.0
HUB_WEIGHT = -3.0
TERM_WEIGHT = 6.0
CUT = 3.0
"""Value of the weighted sum at the link threshold."""


def cosine_matrix(vectors: Vector) -> Matrix:
    """Return the raw cosine of each two rows of L2-normalised `vectors`.

    >>> cosine_matrix(np.array([[1.0, 0.0], [0.6, 0.8]], dtype=np.float32)).round(2).tolist()
    [[1.0, 0.6], [0.6, 1.0]]
    """
    exact = vectors.astype(np.float64)
    return np.clip(exact @ exact.T, -1.0, 1.0)


def best_of_parts(cosines: Matrix, owners: Owners) -> Matrix:
    """Return for each two wholes the highest value of a pair of their parts.

    >>> cosines = np.array([[1.0, 0.2, 0.7], [0.2, 1.0, 0.4], [0.7, 0.4, 1.0]])
    >>> best_of_parts(cosines, np.array([0, 0, 1])).tolist()
    [[1.0, 0.7], [0.7, 1.0]]
    """
    order = np.argsort(owners, kind="stable")
    starts = np.flatnonzero(np.diff(owners[order], prepend=-1))
    by_row = np.maximum.reduceat(cosines[np.ix_(order, order)], starts, axis=0)
    best: Matrix = np.maximum.reduceat(by_row, starts, axis=1)
    return best


def hubness(similarities: Matrix, neighbours: int = NEIGHBOURS) -> Matrix:
    r"""Return for each two the mean similarity of both to their nearest others.

    .. math:: h(a, b) = \tfrac{1}{2}\,(r(a) + r(b)), \quad
              r(a) = \frac{1}{k} \sum_{c \in N_k(a)} s(a, c)

    Range as that of `similarities`; 0 where there is nothing else.

    Examples
    --------
    >>> hubness(np.array([[1.0, 0.8, 0.2], [0.8, 1.0, 0.2], [0.2, 0.2, 1.0]]), 1).tolist()
    [[0.8, 0.8, 0.5], [0.8, 0.8, 0.5], [0.5, 0.5, 0.2]]
    """
    count = len(similarities)
    kept = min(neighbours, count - 1)
    if kept < 1:
        return np.zeros((count, count))
    others = similarities.copy()
    np.fill_diagonal(others, -np.inf)
    near = np.partition(others, count - kept, axis=1)[:, count - kept :].mean(axis=1)
    return (near[:, None] + near[None, :]) / 2


def rare_terms(terms: Sequence[Sequence[str]]) -> Matrix:
    r"""Return the cosine of each two term vectors, the square of a term's idf its weight.

    .. math:: w(t, d) = [t \in d]\; idf(t)^2, \quad
              idf(t) = \ln\left(1 + \frac{N - df + 0.5}{df + 0.5}\right)

    In [0, 1]; the statistics are those of `terms` alone.

    Examples
    --------
    >>> shared = rare_terms([["ada", "seat"], ["ada", "boat"], ["seat", "boat"], ["moon"]])
    >>> shared[0].round(2).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    documents = [frozenset(document) for document in terms]
    frequency = Counter(term for document in documents for term in document)
    # A term of one document is shared with none: it only makes that document longer.
    shared = {term: row for row, term in enumerate(t for t, df in frequency.items() if df > 1)}
    total = len(documents)
    weight = {
        term: np.log1p((total - df + 0.5) / (df + 0.5)) ** 2 for term, df in frequency.items()
    }
    block = np.zeros((total, len(shared)), dtype=np.float32)
    norms = np.zeros(total)
    for row, document in enumerate(documents):
        norms[row] = np.sqrt(sum(weight[term] ** 2 for term in sorted(document)))
        for term in document:
            if term in shared:
                block[row, shared[term]] = weight[term]
    lengths = np.where(norms > 0, norms, 1.0)
    scaled = block / lengths[:, None].astype(np.float32)
    return np.clip((scaled @ scaled.T).astype(np.float64), 0.0, 1.0) + np.diag(
        (norms > 0) - np.clip(np.sum(scaled.astype(np.float64) ** 2, axis=1), 0.0, 1.0)
    )


def link_similarity(cosines: Matrix, terms: Sequence[Sequence[str]], owners: Owners) -> Matrix:
    r"""Return how alike each two wholes are, in [0, 1], links cut at 0.72.

    .. math:: s = \sigma\left(z - z_0 + \ln\frac{0.72}{0.28}\right), \quad
              z = w_c\,cosine + w_h\,hubness + w_t\,rare

    Parameters
    ----------
    cosines
        Raw cosine of each two notes, shape (n, n); see :func:`cosine_matrix`.
    terms
        Indexed terms of each note.
    owners
        What each note is a part of; ``np.arange(n)`` where notes stand for themselves.

    Raises
    ------
    InvalidInput
        The lengths differ.

    Examples
    --------
    >>> cosines = cosine_matrix(np.array([[1, 0], [0.9, 0.4359], [0, 1]], dtype=np.float32))
    >>> terms = [["ada", "seat"], ["ada", "seat", "aisle"], ["moon"]]
    >>> similarity = link_similarity(cosines, terms, np.arange(3))
    >>> bool(similarity[0, 1] > LINK_THRESHOLD > similarity[0, 2])
    True
    """
    if not len(cosines) == len(terms) == len(owners):
        raise InvalidInput("cosines, terms and owners differ in length")
    best = best_of_parts(cosines, owners)
    z = (
        COSINE_WEIGHT * best
        + HUB_WEIGHT * hubness(best)
        + TERM_WEIGHT * rare_terms(_joined(terms, owners))
    )
    at_cut = np.log(LINK_THRESHOLD / (1.0 - LINK_THRESHOLD))
    similarity: Matrix = 1.0 / (1.0 + np.exp(CUT - z - at_cut))
    return similarity


def _joined(terms: Sequence[Sequence[str]], owners: Owners) -> list[list[str]]:
    wholes: list[list[str]] = [[] for _ in range(int(owners.max(initial=-1)) + 1)]
    for part, owner in zip(terms, owners.tolist(), strict=True):
        wholes[owner].extend(part)
    return wholes
