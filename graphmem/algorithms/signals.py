"""Signals of relevance: one named column over the candidates each, every one explainable.

A :class:`Board` holds one question and its candidate set and works out what several
signals share. A signal sees only the question, the candidates, the links among them and
the statistics of the scope; it lies in [0, 1] and is defined for every set.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.lexical import TermStatistics, lexical_relevance
from graphmem.algorithms.temporal import resolve_time_ranges, time_match
from graphmem.algorithms.text import tokens
from graphmem.model import Candidate, CandidateSet, LinkKind

Column: TypeAlias = NDArray[np.float64]
"""One value a candidate, shape (n,)."""

Rows: TypeAlias = NDArray[np.int64]
"""One row number a candidate, shape (n,); -1 for none."""

LONG_NOTE = 1000
"""Characters from which on a note counts as fully dense."""

_TIME_TERMS = frozenset(
    tokens(
        "yesterday today tonight tomorrow ago last next weekend week month year since january"
        " february march april may june july august september october november december monday"
        " tuesday wednesday thursday friday saturday sunday"
    )
)
_ASKS_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:date|day|month|year)|how long"
    r"|how many (?:days|weeks|months|years))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the text, its terms, and the moment of asking."""

    text: str
    terms: tuple[str, ...]
    at: datetime


class Board:
    """One question over one candidate set, with what the signals share.

    Parameters
    ----------
    question
        What is asked.
    found
        The candidates, n of them, and the links among them.
    """

    def __init__(self, question: Question, found: CandidateSet) -> None:
        self.question = question
        self.found = found
        self.statistics = TermStatistics.of(found)

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The candidates in their order."""
        return self.found.candidates

    @cached_property
    def vector(self) -> Column:
        """Cosine with the question, below 0 cut off."""
        cosines = [0.0 if c.cosine is None else c.cosine for c in self.candidates]
        column: Column = np.clip(np.asarray(cosines, dtype=np.float64), 0.0, 1.0)
        return column

    @cached_property
    def lexical(self) -> Column:
        """BM25 as a share of the best candidate's; 0 stays 0."""
        scores = lexical_relevance(
            self.question.terms, [c.terms for c in self.candidates], self.statistics
        )
        return share_of_best(scores)

    @cached_property
    def before(self) -> Rows:
        """Row of the note before each candidate in its source, -1 where it is no candidate."""
        return self._follows[0]

    @cached_property
    def after(self) -> Rows:
        """Row of the note after each candidate in its source, -1 where it is no candidate."""
        return self._follows[1]

    @cached_property
    def _follows(self) -> tuple[Rows, Rows]:
        place = {c.note.id: row for row, c in enumerate(self.candidates)}
        before, after = np.full((2, len(place)), -1, dtype=np.int64)
        for link in self.found.links:
            if link.kind is LinkKind.FOLLOWS:
                later, earlier = place[link.from_id], place[link.to_id]
                before[later], after[earlier] = earlier, later
        return before, after

    @cached_property
    def sources(self) -> tuple[Rows, tuple[str, ...]]:
        """Number of each candidate's source, -1 without one, and the ids of the sources."""
        numbers: dict[str, int] = {}
        rows = [
            -1 if c.note.source is None else numbers.setdefault(c.note.source.id, len(numbers))
            for c in self.candidates
        ]
        return np.array(rows, dtype=np.int64), tuple(numbers)

    @cached_property
    def named(self) -> frozenset[str]:
        """Authors among the candidates whose name the question holds."""
        asked = set(self.question.terms)
        authors = {c.note.author for c in self.candidates if c.note.author is not None}
        return frozenset(author for author in authors if asked.intersection(tokens(author)))


def share_of_best(values: Column) -> Column:
    """Return non-negative values as shares of the largest; all zeros stay zeros.

    >>> share_of_best(np.array([1.0, 4.0, 0.0])).tolist()
    [0.25, 1.0, 0.0]
    """
    best = values.max(initial=0.0)
    shares: Column = values / best if best > 0 else values
    return shares


def taken(values: Column, rows: Rows) -> Column:
    """Return the values at other rows, 0 where there is none (-1).

    >>> taken(np.array([0.2, 0.9]), np.array([1, -1])).tolist()
    [0.9, 0.0]
    """
    return np.where(rows < 0, 0.0, values[rows])


def _vector(board: Board) -> Column:
    return board.vector


def _lexical(board: Board) -> Column:
    return board.lexical


def _author(board: Board) -> Column:
    return np.array([c.note.author in board.named for c in board.candidates], dtype=np.float64)


def _role(board: Board) -> Column:
    return np.array([c.note.role != "assistant" for c in board.candidates], dtype=np.float64)


def _density(board: Board) -> Column:
    lengths = np.array([len(c.note.content) for c in board.candidates], dtype=np.float64)
    column: Column = np.minimum(1.0, np.log1p(lengths) / np.log1p(LONG_NOTE))
    return column


def _time(board: Board) -> Column:
    ranges = resolve_time_ranges(board.question.text, board.question.at)
    if not ranges:
        return np.zeros(len(board.candidates))
    return np.array([time_match(c.note.created_at, ranges) for c in board.candidates])


def _dated(board: Board) -> Column:
    if not _ASKS_WHEN.search(board.question.text):
        return np.zeros(len(board.candidates))
    dated = [not _TIME_TERMS.isdisjoint(c.terms) for c in board.candidates]
    return np.array(dated, dtype=np.float64)


def _beside(board: Board) -> Column:
    column: Column = np.maximum(
        taken(board.vector, board.before), taken(board.vector, board.after)
    )  # fmt: skip
    return column


def _source(board: Board) -> Column:
    rows, names = board.sources
    best = np.zeros(len(names) + 1)
    np.maximum.at(best, rows, board.lexical)
    return np.where(rows < 0, board.lexical, best[rows])


SIGNALS: Mapping[str, Callable[[Board], Column]] = {
    "vector": _vector,
    "lexical": _lexical,
    "author": _author,
    "role": _role,
    "density": _density,
    "time": _time,
    "dated": _dated,
    "beside": _beside,
    "source": _source,
}
"""Every signal a relevance policy can weigh:

``vector``
    cosine of question and note.
``lexical``
    BM25, as a share of the best candidate's.
``author``
    1 when the question names the note's author.
``role``
    0 for what an assistant said, 1 for everybody else.
``density``
    ln(1 + characters) / ln(1 + 1000), at most 1: short acknowledgements are rarely evidence.
``time``
    how well the note's time fits a time the question names.
``dated``
    1 when the question asks for a time and the note speaks of one (English).
``beside``
    the better cosine of the notes just before and after (FOLLOWS).
``source``
    the best lexical share within the note's source.
"""
