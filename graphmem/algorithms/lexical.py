"""Lexical relevance of the candidates: BM25, coverage of the question, and phrases.

Only the terms of the question are counted, and idf and average length come from the
authorised scope (:class:`TermStatistics`), never from the candidates or a foreign note:
both stores give the same numbers and a score says nothing of what may not be seen.

A term repeated in the question counts once, here as for the lexical seeds of a store.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import fsum, isfinite, log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]  # ships no annotations

from graphmem.errors import InvalidInput, InvalidPolicy
from graphmem.model import CandidateSet, TermCounts


@dataclass(frozen=True, slots=True)
class TermStatistics:
    """How common the question's terms are among the notes a caller may see.

    Attributes
    ----------
    note_count
        Number of notes N.
    average_terms
        Mean number of indexed terms of a note.
    document_frequency
        For a term, in how many notes it occurs; a term left out occurs in none.

    Raises
    ------
    InvalidInput
        A count is negative or the average is not a finite number >= 0.
    """

    note_count: int
    average_terms: float
    document_frequency: Mapping[str, int]

    def __post_init__(self) -> None:
        if self.note_count < 0 or any(count < 0 for count in self.document_frequency.values()):
            raise InvalidInput("statistics: a count of notes is negative")
        if not (isfinite(self.average_terms) and self.average_terms >= 0):
            raise InvalidInput(f"average_terms: {self.average_terms!r} is not a finite number >= 0")

    @classmethod
    def of(cls, candidate_set: CandidateSet) -> TermStatistics:
        """Take the statistics a store computed over the scope and filter of one recall."""
        return cls(
            candidate_set.note_count,
            candidate_set.average_terms,
            candidate_set.document_frequency,
        )

    def inverse_document_frequency(self, term: str) -> float:
        r"""Return the idf of a term, which is never negative.

        .. math:: idf(t) = \ln\left(1 + \frac{N - df + 0.5}{df + 0.5}\right)

        This is the form of Lucene; the original of Robertson and Sparck Jones falls below
        zero for a term that more than half of the notes contain.

        Examples
        --------
        >>> statistics = TermStatistics(3, 5.0, {"kettle": 3, "lamp": 1})
        >>> round(statistics.inverse_document_frequency("kettle"), 4)
        0.1335
        >>> round(statistics.inverse_document_frequency("lamp"), 4)
        0.9808
        """
        frequency = min(self.document_frequency.get(term, 0), self.note_count)
        return log(1.0 + (self.note_count - frequency + 0.5) / (frequency + 0.5))


@dataclass(frozen=True, slots=True, eq=False)
class TermMatch:
    r"""How documents match each distinct term of a question.

    Attributes
    ----------
    bm25
        Score of each document, shape (n,), as :func:`lexical_relevance` returns it.
    saturated
        Saturated frequency of each term in each document, shape (n, terms), in [0, 1):
        :math:`f / (f + k_1 (1 - b + b\,|d| / \overline{|d|}))`.
    idf
        Inverse document frequency of each term, shape (terms,), not negative.
    """

    bm25: NDArray[np.float64]
    saturated: NDArray[np.float64]
    idf: NDArray[np.float64]


def match_terms(
    query_terms: Sequence[str],
    documents: Sequence[Sequence[str]],
    statistics: TermStatistics,
    *,
    k1: float = 1.2,
    b: float = 0.75,
) -> TermMatch:
    """Match documents with the distinct terms of a question, in one pass over the documents.

    Parameters and errors are those of :func:`lexical_relevance`.

    Examples
    --------
    >>> statistics = TermStatistics(2, 2.5, {"blue": 1, "kettle": 1})
    >>> match = match_terms(["blue", "kettle"], [["blue", "shelf"], [], ["lamp"]], statistics)
    >>> match.saturated.round(3).tolist()
    [[0.495, 0.0], [0.0, 0.0], [0.0, 0.0]]
    >>> match.bm25.round(3).tolist(), match.idf.round(3).tolist()
    ([0.755, 0.0, 0.0], [0.693, 0.693])
    """
    terms = tuple(dict.fromkeys(query_terms))
    return match_counts(terms, count_terms(terms, documents), statistics, k1=k1, b=b)


def match_counts(
    terms: Sequence[str],
    counted: TermCounts,
    statistics: TermStatistics,
    *,
    k1: float = 1.2,
    b: float = 0.75,
) -> TermMatch:
    """Match documents whose terms are counted already; as :func:`match_terms`.

    `terms` are distinct and those of the columns of `counted`.
    """
    _require_parameters(k1, b)
    ranker = _ScopedBM25(terms, counted, statistics, k1, b)
    idf = np.array([ranker.idf[term] for term in terms])
    return TermMatch(ranker.get_scores(terms), ranker.saturated(), idf)


def count_terms(terms: Sequence[str], documents: Sequence[Sequence[str]]) -> TermCounts:
    """Count how often each of the distinct `terms` occurs in each document.

    Examples
    --------
    >>> counted = count_terms(["blue", "kettle"], [["blue", "shelf", "blue"], []])
    >>> counted.counts.tolist(), counted.lengths.tolist()
    ([[2.0, 0.0], [0.0, 0.0]], [3.0, 0.0])
    """
    column = {term: number for number, term in enumerate(terms)}
    held_in = frozenset(column).intersection
    cells = [
        (row, column[term], document.count(term))
        for row, document in enumerate(documents)
        for term in held_in(document)
    ]
    counts = np.zeros((len(documents), len(column)))
    if cells:
        rows, columns, found = np.array(cells).T
        counts[rows, columns] = found
    return TermCounts(counts, np.array([len(each) for each in documents], dtype=np.float64))


def lexical_relevance(
    query_terms: Sequence[str],
    documents: Sequence[Sequence[str]],
    statistics: TermStatistics,
    *,
    k1: float = 1.2,
    b: float = 0.75,
) -> NDArray[np.float64]:
    r"""Score documents with BM25 for the distinct terms of a question.

    .. math:: s(d) = \sum_{t \in q} idf(t)\,
              \frac{f_{t,d}\,(k_1 + 1)}{f_{t,d} + k_1 (1 - b + b\,|d| / \overline{|d|})}

    Parameters
    ----------
    query_terms
        Terms of the question.
    documents
        Terms of each candidate, with repetition.
    statistics
        Counts over the authorised scope.
    k1
        Saturation of a term's frequency; positive.
    b
        Weight of the length normalisation, in [0, 1].

    Returns
    -------
    ndarray of float64, shape (len(documents),)
        Not negative, without an upper bound; 0 exactly when a document is empty or holds
        no term of the question.

    Raises
    ------
    InvalidPolicy
        `k1` or `b` lies outside its range.

    References
    ----------
    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009.

    Examples
    --------
    >>> statistics = TermStatistics(2, 2.5, {"blue": 1, "kettle": 1})
    >>> scores = lexical_relevance(
    ...     ["blue", "kettle"], [["blue", "kettle", "shelf"], ["grey", "lamp"], []], statistics
    ... )
    >>> [round(float(score), 4) for score in scores]
    [1.2814, 0.0, 0.0]
    """
    return match_terms(query_terms, documents, statistics, k1=k1, b=b).bm25


def _require_parameters(k1: float, b: float) -> None:
    if not (isfinite(k1) and k1 > 0):
        raise InvalidPolicy(f"k1: {k1!r} is not a finite number > 0")
    if not 0.0 <= b <= 1.0:
        raise InvalidPolicy(f"b: {b!r} lies outside [0, 1]")


def term_coverage(
    query_terms: Sequence[str],
    documents: Sequence[Sequence[str]],
    statistics: TermStatistics,
) -> NDArray[np.float64]:
    r"""Return how much of the question each document holds.

    .. math:: c(d) = \frac{\sum_{t \in q \cap d} idf(t)}{\sum_{t \in q} idf(t)}

    A raw signal: unlike BM25 it can be compared between questions.

    Returns
    -------
    ndarray of float64, shape (len(documents),)
        In [0, 1]; 0 throughout for a question without terms.

    Examples
    --------
    >>> statistics = TermStatistics(10, 3.0, {"ada": 9, "seat": 1})
    >>> coverage = term_coverage(["ada", "seat"], [["seat"], ["ada"], ["ada", "seat"]], statistics)
    >>> [round(float(share), 2) for share in coverage]
    [0.93, 0.07, 1.0]
    """
    weights = {
        term: statistics.inverse_document_frequency(term) for term in dict.fromkeys(query_terms)
    }
    vocabulary = frozenset(weights)
    return _covered(weights, map(vocabulary.intersection, documents))


def phrase_coverage(
    query_terms: Sequence[str],
    documents: Sequence[Sequence[str]],
    statistics: TermStatistics,
) -> NDArray[np.float64]:
    r"""Return how much of the question's word order each document keeps.

    As :func:`term_coverage`, over pairs of different neighbouring terms; a pair weighs the
    idf of both its terms together and is held when they stand side by side in that order.

    Returns
    -------
    ndarray of float64, shape (len(documents),)
        In [0, 1]; 0 throughout for a question without such a pair.

    Examples
    --------
    >>> statistics = TermStatistics(4, 3.0, {"aisle": 2, "seat": 2})
    >>> phrase_coverage(["aisle", "seat"], [["seat", "aisle"], ["aisle", "seat"]], statistics)
    array([0., 1.])
    """
    weights = {
        pair: sum(map(statistics.inverse_document_frequency, pair))
        for pair in pairwise(query_terms)
        if pair[0] != pair[1]
    }
    pairs, vocabulary = frozenset(weights), frozenset(query_terms)
    return _covered(
        weights,
        (
            # Few candidates hold two terms of the question: only those are paired up.
            pairs.intersection(pairwise(document))
            if len(vocabulary.intersection(document)) > 1
            else ()
            for document in documents
        ),
    )


_Part = TypeVar("_Part", str, tuple[str, str])


def _covered(
    weights: Mapping[_Part, float], held: Iterable[Collection[_Part]]
) -> NDArray[np.float64]:
    """Return the weighted share of the parts each document holds."""
    # fsum does not depend on the order in which a set hands out its members.
    total = fsum(weights.values())
    return np.array(
        [fsum(map(weights.__getitem__, parts)) / total if parts else 0.0 for parts in held],
        dtype=np.float64,
    )


class _ScopedBM25(BM25Okapi):  # type: ignore[misc]  # the base class has no annotations
    """BM25Okapi with the statistics of a scope, over documents that are counted already.

    Counts are one array instead of a mapping a document, so that scoring is a few products.
    """

    def __init__(
        self,
        terms: Sequence[str],
        counted: TermCounts,
        statistics: TermStatistics,
        k1: float,
        b: float,
    ) -> None:
        self._column = {term: column for column, term in enumerate(terms)}
        self._statistics = statistics
        self._counts = counted.counts
        super().__init__(counted.lengths, k1=k1, b=b)
        self._norm = k1 * (1.0 - b + b * counted.lengths / self.avgdl)
        self._norm[self._norm == 0.0] = 1.0  # an empty document holds no term to be weighed

    def _initialize(self, corpus: NDArray[np.float64]) -> dict[str, int]:
        self.corpus_size = len(corpus)
        self.avgdl = self._statistics.average_terms or 1.0
        self.doc_len = corpus
        return {}

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        self.idf = {
            term: self._statistics.inverse_document_frequency(term) for term in self._column
        }

    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """Return the score of each document, shape (documents,)."""
        scores = np.zeros(self.corpus_size)
        # Term by term: equal documents score alike wherever they stand, to the last digit.
        for term in query:
            counts = self._counts[:, self._column[term]]
            scores += self.idf[term] * (counts * (self.k1 + 1.0) / (counts + self._norm))
        return scores

    def saturated(self) -> NDArray[np.float64]:
        """Return the saturated frequency of each term, shape (documents, terms)."""
        shares: NDArray[np.float64] = self._counts / (self._counts + self._norm[:, None])
        return shares
