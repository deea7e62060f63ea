"""Signals of relevance: one named column over the candidates each, every one explainable.

A signal sees only the question, the candidates, the links among them and the statistics of
the scope; it lies in [0, 1] and is defined for every set: one candidate, a question without
terms, notes without vector, source, author or position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set

import numpy as np

from graphmem.algorithms.candidate_table import CandidateTable, Column, taken
from graphmem.algorithms.temporal import resolve_time_ranges, time_matches
from graphmem.algorithms.text import tokens
from graphmem.errors import InvalidPolicy

LONG_NOTE = 1000
"""Characters from which on a note counts as fully dense."""

ADDRESSED = 0.7
"""What an assistant's turn counts as when the question speaks to it ("what did you advise")."""

EXCHANGE = (1.0, 0.7, 0.5)
"""What a match counts for in the note itself, the notes beside it, and those beside them."""

LENIENCE = 0.25
"""Power of the match with a time: its half-life is four times as long. People place what
happened loosely ("two weeks ago"), and the sessions they mean are often outside."""

_ADDRESSES = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)
_QUESTION_MARKS = ("?", "\uff1f")
_TIME_TERMS = frozenset(
    tokens(
        "yesterday today tonight tomorrow ago last next weekend week month year since january"
        " february march april may june july august september october november december monday"
        " tuesday wednesday thursday friday saturday sunday"
    )
)
_SPANS = frozenset(
    tokens(
        "ago since last next past couple few one two three four five six seven eight nine ten"
        " minute minutes hour hours day days weekend week weeks month months year years"
    )
)
"""Terms that count time or things ("two weeks ago"): the notes meant seldom repeat them."""

_TOLD = re.compile(
    # A literal first letter lets the search skip ahead: long notes are scanned at each recall.
    r"I(?:'ve| have| had| was)?(?: \w+ly| just| also| even)*"
    r" (?:\w+ed|got|bought|went|made|took|saw|met|had|did|was|found|spent|led|won|ran|began|gave"
    r"|came|left|felt|read|ate|drove|flew|wrote|told|said|heard|sold|lost|put|set|been|gone|kept"
    r"|built|taught|chose|paid|sent|brought|thought|knew|became)\b"
)

_ASKS_WHEN = re.compile(
    r"\b(?:when|what (?:date|day|month|year|time)|which (?:date|day|month|year)|how long"
    r"|how many (?:days|weeks|months|years))\b",
    re.IGNORECASE,
)


def _vector(table: CandidateTable) -> Column:
    return table.vector


def _closest(table: CandidateTable) -> Column:
    return table.closest


def _lexical(table: CandidateTable) -> Column:
    return table.lexical


def _author(table: CandidateTable) -> Column:
    named = table.named
    if not named:
        return np.zeros(len(table))
    return np.array([note.author in named for note in table.notes], dtype=np.float64)


def _role(table: CandidateTable) -> Column:
    spoken = ADDRESSED if _ADDRESSES.search(table.question.text) else 0.0
    return np.array([spoken if note.role == "assistant" else 1.0 for note in table.notes])


def _statement(table: CandidateTable) -> Column:
    asks = [note.content.rstrip().endswith(_QUESTION_MARKS) for note in table.notes]
    return 1.0 - np.array(asks, dtype=np.float64)


def _told(table: CandidateTable) -> Column:
    told = [
        note.role != "assistant" and _TOLD.search(note.content) is not None for note in table.notes
    ]
    return np.array(told, dtype=np.float64)


def _density(table: CandidateTable) -> Column:
    lengths = np.array([len(note.content) for note in table.notes], dtype=np.float64)
    column: Column = np.minimum(1.0, np.log1p(lengths) / np.log1p(LONG_NOTE))
    return column


def _time(table: CandidateTable) -> Column:
    ranges = resolve_time_ranges(table.question.text, table.question.at)
    if not ranges:
        return np.zeros(len(table))
    match = time_matches([note.created_at for note in table.notes], ranges)
    column: Column = match**LENIENCE
    return column


def _dated(table: CandidateTable) -> Column:
    if not _ASKS_WHEN.search(table.question.text):
        return np.zeros(len(table))
    dated = [not _TIME_TERMS.isdisjoint(c.terms) for c in table.candidates]
    return np.array(dated, dtype=np.float64)


def _beside(table: CandidateTable) -> Column:
    cosine = table.vector
    column: Column = np.maximum(taken(cosine, table.before), taken(cosine, table.after))
    return column


def _beside_two(table: CandidateTable) -> Column:
    cosine = table.vector
    column: Column = np.maximum(
        taken(cosine, table.second_before), taken(cosine, table.second_after)
    )
    return column


def _exchange(table: CandidateTable) -> Column:
    idf, saturated = _topical(table), table.match.saturated
    total = idf.sum()
    if total <= 0.0:
        return np.zeros(len(table))
    itself, beside, second = EXCHANGE
    best = itself * saturated
    for rows, share in (
        (table.before, beside),
        (table.after, beside),
        (table.second_before, second),
        (table.second_after, second),
    ):
        there = np.flatnonzero(rows >= 0)
        best[there] = np.maximum(best[there], share * saturated[rows[there]])
    column: Column = best @ idf / total
    return column


def _topical(table: CandidateTable) -> Column:
    """Return the idf of each distinct term, 0 for spans unless the question has nothing else."""
    idf = table.match.idf
    topical = np.array([t not in _SPANS for t in dict.fromkeys(table.question.terms)], np.float64)
    column: Column = idf * topical if topical.any() else idf
    return column


def _rarest(table: CandidateTable) -> Column:
    idf = table.match.idf
    rarest = idf.max(initial=0.0)
    if rarest <= 0.0:
        return np.zeros(len(table))
    column: Column = ((table.match.saturated > 0.0) * idf).max(axis=1) / rarest
    return column


def _source(table: CandidateTable) -> Column:
    rows, names = table.sources
    best = np.zeros(len(names) + 1)
    np.maximum.at(best, rows, table.lexical)
    return np.where(rows < 0, table.lexical, best[rows])


SIGNALS: Mapping[str, Callable[[CandidateTable], Column]] = {
    "vector": _vector,
    "closest": _closest,
    "lexical": _lexical,
    "author": _author,
    "role": _role,
    "statement": _statement,
    "told": _told,
    "density": _density,
    "time": _time,
    "dated": _dated,
    "beside": _beside,
    "beside_two": _beside_two,
    "exchange": _exchange,
    "rarest": _rarest,
    "source": _source,
}
"""Every signal a relevance policy can weigh:

``vector``
    cosine of question and note.
``closest``
    cosine of the question with the note or with its closest sentence, whichever is higher: a
    long message says several things, and its one vector lies between them.
``lexical``
    BM25, as a share of the best candidate's.
``author``
    1 when the question names the note's author.
``role``
    1 for everybody but an assistant; for an assistant's turn 0, or 0.7 when the question
    says you, your or yours.
``statement``
    0 for a note that ends with a question mark, else 1.
``told``
    1 when the note, not an assistant's, tells in the first person what was done ("I bought",
    English).
``density``
    ln(1 + characters) / ln(1 + 1000), at most 1: short acknowledgements are rarely evidence.
``time``
    fourth root of how well the note's time fits a time the question names.
``dated``
    1 when the question asks for a time and the note speaks of one (English).
``beside``
    the better cosine of the notes just before and after (FOLLOWS).
``beside_two``
    the better cosine of the notes two steps before and after.
``exchange``
    how much of the question the note and its exchange hold together: each term counts with
    the best of its saturated frequency in the note, .7 of that in the notes beside it and .5
    of that two steps away, weighted by idf, as a share of the question's idf. Terms that
    only count time ("two weeks ago") are left out.
``rarest``
    idf of the rarest term of the question that the note holds, as a share of the rarest's.
``source``
    the best lexical share within the note's source.
"""


def measure(table: CandidateTable, names: Set[str]) -> dict[str, Column]:
    """Compute the named signals.

    Raises
    ------
    InvalidPolicy
        A name is no signal; the message lists those that are.
    """
    if unknown := sorted(names - SIGNALS.keys()):
        raise InvalidPolicy(f"no signal {unknown[0]!r}; known: {', '.join(sorted(SIGNALS))}")
    return {name: signal(table) for name, signal in SIGNALS.items() if name in names}
