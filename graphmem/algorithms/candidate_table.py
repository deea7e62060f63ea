"""One question and its candidates as a table of columns, shared by all signals.

Rows are the candidates in order of id, so that a stable sort breaks ties by id. Columns are
made when first asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.lexical import TermMatch, TermStatistics, count_terms, match_counts
from graphmem.algorithms.text import tokens
from graphmem.model import Candidate, CandidateSet, LinkKind, Note

Column: TypeAlias = NDArray[np.float64]
"""One value a candidate, shape (n,)."""

Rows: TypeAlias = NDArray[np.int64]
"""One row number a candidate, shape (n,); -1 for none."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the text, its terms, and the moment of asking."""

    text: str
    terms: tuple[str, ...]
    at: datetime


class CandidateTable:
    """One question over one candidate set, with what several signals share.

    Parameters
    ----------
    question
        What is asked.
    found
        The candidates, n of them in order of id, and the links among them.
    """

    def __init__(self, question: Question, found: CandidateSet) -> None:
        self.question = question
        self.found = found

    def __len__(self) -> int:
        return len(self.found.candidates)

    @property
    def candidates(self) -> Sequence[Candidate]:
        """The candidates in their order."""
        return self.found.candidates

    @cached_property
    def notes(self) -> Sequence[Note]:
        """The notes of the candidates."""
        return [candidate.note for candidate in self.candidates]

    @cached_property
    def vector(self) -> Column:
        """Cosine with the question, below 0 cut off."""
        cosines = [0.0 if c.cosine is None else c.cosine for c in self.candidates]
        column: Column = np.clip(np.asarray(cosines, dtype=np.float64), 0.0, 1.0)
        return column

    @cached_property
    def closest(self) -> Column:
        """Cosine with the note or with its closest sentence, the higher one; below 0 cut off."""
        best = [c.sentence_cosine for c in self.candidates]
        cosines = np.array([0.0 if each is None else each for each in best], dtype=np.float64)
        column: Column = np.clip(np.maximum(cosines, self.vector), 0.0, 1.0)
        return column

    @cached_property
    def match(self) -> TermMatch:
        """How the candidates match each term of the question."""
        terms = tuple(dict.fromkeys(self.question.terms))
        counted = self.found.term_counts
        if counted is None:
            counted = count_terms(terms, [candidate.terms for candidate in self.candidates])
        return match_counts(terms, counted, TermStatistics.of(self.found))

    @cached_property
    def lexical(self) -> Column:
        """BM25 as a share of the best candidate's; 0 stays 0."""
        return share_of_best(self.match.bm25)

    @cached_property
    def before(self) -> Rows:
        """Row of the note before each candidate in its source, -1 where it is no candidate."""
        return self._follows[0]

    @cached_property
    def after(self) -> Rows:
        """Row of the note after each candidate in its source, -1 where it is no candidate."""
        return self._follows[1]

    @cached_property
    def second_before(self) -> Rows:
        """Row two steps before; -1 unless both notes on the way are candidates."""
        return onward(self.before, self.before)

    @cached_property
    def second_after(self) -> Rows:
        """Row two steps after; -1 unless both notes on the way are candidates."""
        return onward(self.after, self.after)

    @cached_property
    def _follows(self) -> tuple[Rows, Rows]:
        row_of = {note.id: row for row, note in enumerate(self.notes)}
        before, after = np.full((2, len(row_of)), -1, dtype=np.int64)
        pairs = [
            (row_of[link.from_id], row_of[link.to_id])
            for link in self.found.links
            if link.kind is LinkKind.FOLLOWS
        ]
        if pairs:
            later, earlier = np.array(pairs, dtype=np.int64).T
            before[later], after[earlier] = earlier, later
        return before, after

    @cached_property
    def superseding(self) -> Sequence[tuple[int, int]]:
        """Rows (newer, older) of the notes that supersede another, the oldest first."""
        links = [link for link in self.found.links if link.kind is LinkKind.SUPERSEDES]
        if not links:
            return ()
        row_of = {note.id: row for row, note in enumerate(self.notes)}
        pairs = [(row_of[link.from_id], row_of[link.to_id]) for link in links]
        return sorted(pairs, key=lambda pair: self.notes[pair[1]].created_at)

    @cached_property
    def sources(self) -> tuple[Rows, tuple[str, ...]]:
        """Number of each candidate's source, -1 without one, and the ids of the sources."""
        numbers: dict[str, int] = {}
        rows = [
            -1 if note.source is None else numbers.setdefault(note.source.id, len(numbers))
            for note in self.notes
        ]
        return np.array(rows, dtype=np.int64), tuple(numbers)

    @cached_property
    def named(self) -> frozenset[str]:
        """Authors among the candidates whose name the question holds."""
        asked = set(self.question.terms)
        authors = {note.author for note in self.notes if note.author is not None}
        return frozenset(author for author in authors if not asked.isdisjoint(tokens(author)))


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


def onward(rows: Rows, step: Rows) -> Rows:
    """Return where `step` leads from `rows`; -1 where either leads nowhere.

    >>> onward(np.array([1, 2, -1]), np.array([1, 2, -1])).tolist()
    [2, -1, -1]
    """
    return np.where(rows < 0, -1, step[rows])
