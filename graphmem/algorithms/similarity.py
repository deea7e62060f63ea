r"""How alike notes (or whole sources) are, by more than one cosine.

Two notes without headings, or two sources, are alike by

``cosine``
    of the best pair of parts: two sources are as near as their two nearest notes;
``terms``
    the cosine of their terms, weighted by idf: a name in two notes ties them.

Two documents with headings are tied when one names the other; that they speak of the same
kind of thing (a high cosine) says little there:

``mention``
    the heading of one stands in the other, the rarer the heading the more;
``hubness``
    how near both stand to everything else: a document near to all says little by being near
    to one (local scaling; Zelnik-Manor and Perona, 2004; CSLS, Lample et al., 2018).

The first two are fused by a logistic model, the others by weights from a grid, both fitted on
development data (LongMemEval_S; MuSiQue and HotpotQA) and set on the scale of the thresholds:
0.72 is where links are cut. Every matrix is dense: meant for some thousands of notes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
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

COSINE_WEIGHT = 7.67
TERM_WEIGHT = 14.25
CUT = 8.53
"""Weights of the sum for notes and sources, and its value at the link threshold."""

MENTION_WEIGHT = 10.0
HUB_WEIGHT = -5.0
DOCUMENT_CUT = 6.24
"""Weights of the sum for documents with headings, and its value at the link threshold."""


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
    mean: NDArray[np.float64] = (near[:, None] + near[None, :]) / 2
    return mean


def term_similarity(
    terms: Sequence[Sequence[str]], background: Sequence[Sequence[str]] | None = None
) -> Matrix:
    r"""Return the cosine of each two tf-idf vectors.

    .. math:: w(t, d) = (1 + \ln f_{t,d})\, idf(t), \quad
              idf(t) = \ln\left(1 + \frac{N - df + 0.5}{df + 0.5}\right)

    Parameters
    ----------
    terms
        Terms of each document, with repetition.
    background
        The documents N and df are counted over, each holding the terms of one in `terms`;
        `terms` themselves when not given.

    Returns
    -------
    ndarray of float64, shape (n, n)
        In [0, 1]; the diagonal is 1 where there are terms.

    Examples
    --------
    >>> shared = term_similarity([["ada", "seat"], ["ada", "boat"], ["seat", "boat"], ["moon"]])
    >>> shared[0].round(2).tolist()
    [1.0, 0.5, 0.5, 0.0]
    """
    counts = [Counter(document) for document in terms]
    weight = _inverse_frequencies(terms if background is None else background)
    held = Counter(term for count in counts for term in count)
    # A term of one document is shared with none: it only makes that document longer.
    column = {term: row for row, term in enumerate(t for t, times in held.items() if times > 1)}
    block = np.zeros((len(counts), len(column)), dtype=np.float32)
    for row, count in enumerate(counts):
        values = {term: (1 + math.log(times)) * weight[term] for term, times in count.items()}
        length = math.sqrt(math.fsum(value * value for value in values.values())) or 1.0
        for term, value in values.items():
            if term in column:
                block[row, column[term]] = value / length
    similarity = np.clip((block @ block.T).astype(np.float64), 0.0, 1.0)
    np.fill_diagonal(similarity, [float(bool(count)) for count in counts])
    return similarity


def _inverse_frequencies(documents: Sequence[Sequence[str]]) -> dict[str, float]:
    frequency = Counter(term for document in documents for term in set(document))
    total = len(documents)
    return {term: math.log1p((total - df + 0.5) / (df + 0.5)) for term, df in frequency.items()}


def mentions(headings: Sequence[Sequence[str]], terms: Sequence[Sequence[str]]) -> Matrix:
    r"""Return whether the heading of one stands in the other, word for word, by its rarity.

    .. math:: m(a, b) = \max_{x \ne y \in \{a, b\}} [h_x \subset y]\,
              \frac{\ln(1 + N / n_x)}{\ln(1 + N)}

    with :math:`n_x` the number of documents that hold the heading of x. In [0, 1]; 0 without a
    heading, and on the diagonal.

    Examples
    --------
    >>> terms = [["maro", "plot"], ["boat", "near", "maro", "plot"], ["plot", "maro"]]
    >>> mentions([["maro", "plot"], ["boat"], []], terms)[0].round(2).tolist()
    [0.0, 0.66, 0.0]
    """
    count = len(terms)
    lengths = {len(heading) for heading in headings if heading}
    wanted = {tuple(heading) for heading in headings if heading}
    holders: dict[tuple[str, ...], list[int]] = {heading: [] for heading in wanted}
    for row, document in enumerate(terms):
        runs = {tuple(document[i : i + n]) for n in lengths for i in range(len(document) - n + 1)}
        for run in runs & wanted:
            holders[run].append(row)
    named = np.zeros((count, count))
    for row, heading in enumerate(headings):
        held = holders.get(tuple(heading), [])
        if held:
            named[row, held] = math.log1p(count / len(held)) / math.log1p(count)
    np.fill_diagonal(named, 0.0)
    return np.maximum(named, named.T)


@dataclass(frozen=True, slots=True, eq=False)
class Wholes:
    """What is linked: n wholes (notes, or sources of several notes) with their words.

    Attributes
    ----------
    owners
        For each note the number of the whole it is a part of; ``np.arange(n)`` where notes
        stand for themselves.
    terms
        Terms by which each whole is compared, with repetition and in order.
    background
        All terms of each whole, over which idf is counted.
    headings
        Terms of each whole's heading, empty without one.

    Raises
    ------
    InvalidInput
        The lengths differ.
    """

    owners: Owners
    terms: Sequence[Sequence[str]]
    background: Sequence[Sequence[str]]
    headings: Sequence[Sequence[str]]

    def __post_init__(self) -> None:
        count = int(self.owners.max(initial=-1)) + 1
        if not count == len(self.terms) == len(self.background) == len(self.headings):
            raise InvalidInput("owners, terms, background and headings differ in length")


def link_similarity(cosines: Matrix, wholes: Wholes) -> Matrix:
    r"""Return how alike each two wholes are, in [0, 1], links cut at 0.72.

    .. math:: s = \sigma\left(\sum_k w_k x_k - z_0 + \ln\frac{0.72}{0.28}\right)

    over cosine and terms, or over mention and hubness where both have a heading.

    Parameters
    ----------
    cosines
        Raw cosine of each two notes; see :func:`cosine_matrix`.

    Returns
    -------
    ndarray of float64, shape (n, n)

    Raises
    ------
    InvalidInput
        The cosines are not those of the notes in `wholes`.

    Examples
    --------
    >>> cosines = cosine_matrix(np.array([[1, 0], [0.9, 0.4359], [0, 1]], dtype=np.float32))
    >>> terms = [["ada", "seat"], ["ada", "seat", "aisle"], ["moon"]]
    >>> similarity = link_similarity(cosines, Wholes(np.arange(3), terms, terms, [[], [], []]))
    >>> bool(similarity[0, 1] > LINK_THRESHOLD > similarity[0, 2])
    True
    """
    if len(cosines) != len(wholes.owners):
        raise InvalidInput("cosines and owners differ in length")
    best = best_of_parts(cosines, wholes.owners)
    z = COSINE_WEIGHT * best - CUT
    z += TERM_WEIGHT * term_similarity(wholes.terms, wholes.background)
    headed = np.array([bool(heading) for heading in wholes.headings])
    documents = np.logical_and.outer(headed, headed)
    if documents.any():
        named = MENTION_WEIGHT * mentions(wholes.headings, wholes.terms)
        z = np.where(documents, named + HUB_WEIGHT * hubness(best) - DOCUMENT_CUT, z)
    similarity: Matrix = 1.0 / (1.0 + np.exp(-z) * (1.0 - LINK_THRESHOLD) / LINK_THRESHOLD)
    return similarity
