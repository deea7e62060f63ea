"""Raw signals of whether a candidate set answers a question, and of whom it speaks.

Nothing that is normalised within a result enters, nor the words of the question as such,
nor any RELATED link: similarity proposes notes, it does not corroborate them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.candidate_table import CandidateTable, Column, Rows
from graphmem.algorithms.ownership import self_reference
from graphmem.algorithms.text import tokens, words
from graphmem.model import Candidate

STRONGEST = 24
"""How many notes are read for whom they are about."""

SHARPNESS = 8.0
"""How sharply the strongest notes stand out in `advantage`."""

_FIRST_PERSON = re.compile(r"\b(?:i|im|ive|me|my|mine|myself|we|us|our|ours)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?<!\d)(?!(?:19|20)\d\d(?!\d))\d{3,}")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class AnswerSignals:
    """Raw signals of a whole candidate set, and the parts they came from.

    Attributes
    ----------
    person
        The one known person the question names, or ``None``.
    rival
        Who wrote the best match among the notes of others, when a person is named.
    rival_words
        Words of the question that this match holds, rarest first.
    advantage
        How much stronger the best matches are the person's own than anyone else's. With
        strength s (the share of the question held by the note and those beside it, plus
        the cosine) and ownership o of the 24 strongest notes, of the person rather than of
        one rival: ln(sum(exp(8 s o)) / sum(exp(8 s (1 - o)))) / 8, a soft difference of the
        best. The strongest rival decides: two others who say the same of themselves speak
        against the person no louder than one. Above 0 for the person, below for the
        others; 0 when nobody is named.
    strength
        Highest sum of coverage and cosine of one note that counts, in [0, 2]. The notes of
        the named person count; without one those of everybody, but those of an assistant
        only when the question is not about the asker alone ("my", never "you").
    lead
        Coverage of the person's best note minus that of the others' best, in [-1, 1].
    nearest
        Highest raw cosine of any note, below 0 cut off.
    unknown
        idf-weighted share of the question that no note in scope holds, in [0, 1].
    coverage
        Highest coverage of a note that counts: the idf-weighted share of the question it
        holds, in [0, 1]. The person's own name does not count as asked.
    unknown_words
        Words of the question that no note in scope has.
    people
        Everyone who wrote one of the candidates, but an assistant.
    of_notes
        Coverage by candidate, shape (n,).
    """

    person: str | None
    rival: str | None
    rival_words: tuple[str, ...]
    advantage: float
    strength: float
    lead: float
    nearest: float
    unknown: float
    coverage: float
    unknown_words: tuple[str, ...]
    people: tuple[str, ...]
    of_notes: Column

    @property
    def values(self) -> Mapping[str, float]:
        """The signals a model can weigh, by name; ``named`` tells which model applies."""
        return {
            "named": float(self.person is not None),
            "advantage": self.advantage,
            "strength": self.strength,
            "lead": self.lead,
            "nearest": self.nearest,
            "unknown": self.unknown,
            "coverage": self.coverage,
            "unknown_identifiers": float(len(self.unknown_identifiers)),
        }

    @property
    def unknown_identifiers(self) -> tuple[str, ...]:
        """Numbers and codes of the question that no note in scope has.

        Words with three or more digits in a row that are no year: an order, a ticket, a
        flight. Dates have none.
        """
        return tuple(word for word in self.unknown_words if _IDENTIFIER.search(word))


def measure_answer(table: CandidateTable) -> AnswerSignals:
    """Measure the raw signals of a candidate set, which may not be empty."""
    participants = [participant(candidate) for candidate in table.candidates]
    people = tuple(sorted({name for name in participants if name is not None}))
    person = _named_person(table.question.terms, people)
    weights = _weights(table, person)
    held = table.match.saturated > 0.0
    coverage, cosine = held @ weights, table.vector
    counted, others = _counted(table, participants, person)
    strength = coverage + cosine
    rival = int(np.where(others, strength, -inf).argmax()) if others.any() else None
    return AnswerSignals(
        person=person,
        rival=None if rival is None else participants[rival],
        rival_words=() if rival is None else _shared(table, held[rival] & (weights > 0.0)),
        advantage=_advantage(table, person, people, held @ weights + cosine, held, weights),
        strength=float(strength[counted].max(initial=0.0)),
        lead=float(coverage[counted].max(initial=0.0) - coverage[others].max(initial=0.0))
        if person
        else 0.0,
        nearest=float(cosine.max(initial=0.0)),
        unknown=float(weights[_unknown_terms(table)].sum()),
        coverage=float(coverage[counted].max(initial=0.0)),
        unknown_words=_unknown_words(table),
        people=people,
        of_notes=coverage,
    )


def participant(candidate: Candidate) -> str | None:
    """Return who takes part by this note; an assistant does not."""
    note = candidate.note
    return None if note.role == "assistant" else note.author


def _named_person(terms: Collection[str], people: Sequence[str]) -> str | None:
    """Return the one person whose first name the question holds, if it is one."""
    asked = frozenset(terms)
    named = [name for name in people if (parts := tokens(name)) and parts[0] in asked]
    return named[0] if len(named) == 1 else None


def _terms(table: CandidateTable) -> tuple[str, ...]:
    return tuple(dict.fromkeys(table.question.terms))


def _weights(table: CandidateTable, person: str | None) -> Column:
    """Return the share of the question each distinct term carries, shape (terms,).

    A question of nothing but the name asks for the name.
    """
    name = frozenset(tokens(person)) if person else frozenset[str]()
    asked = np.array([term not in name for term in _terms(table)], dtype=np.bool_)
    idf = table.match.idf
    weights = np.where(asked, idf, 0.0) if asked.any() else idf
    total = weights.sum()
    shares: Column = weights / total if total > 0.0 else weights
    return shares


def _counted(
    table: CandidateTable, participants: Sequence[str | None], person: str | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which notes may answer, and which are those of others than the person."""
    if person is not None:
        own = np.array([name == person for name in participants], dtype=np.bool_)
        return own, np.array([name not in (None, person) for name in participants], dtype=np.bool_)
    nobody = np.zeros(len(table), dtype=np.bool_)
    text = table.question.text.replace("\u2019", "'")
    if _FIRST_PERSON.search(text) and not _SECOND_PERSON.search(text):
        return np.array([note.role != "assistant" for note in table.notes], dtype=np.bool_), nobody
    return ~nobody, nobody


def _advantage(
    table: CandidateTable,
    person: str | None,
    people: Sequence[str],
    strength: Column,
    held: NDArray[np.bool_],
    weights: Column,
) -> float:
    rivals = [name for name in people if name != person]
    if person is None or not rivals:
        return 0.0
    rows = np.argsort(-strength, kind="stable")[:STRONGEST]
    notes = [table.notes[row] for row in rows.tolist()]
    exchange = held[rows]
    for beside in (table.before[rows], table.after[rows]):
        exchange |= _held_at(held, beside)
    strong = exchange @ weights + table.vector[rows]
    authors = [note.author for note in notes]
    said = np.array([self_reference(note.content) for note in notes])
    own = np.array([author == person for author in authors])
    theirs = np.array([[author == rival for author in authors] for rival in rivals])
    # Ownership within each pair: of whoever is neither, a note says as much of both.
    owned = np.where(own, said, np.where(theirs, 1.0 - said, 0.5))
    ours, rather = (np.exp(SHARPNESS * strong * part).sum(axis=1) for part in (owned, 1.0 - owned))
    return float(np.log(ours / rather).min() / SHARPNESS)


def _held_at(held: NDArray[np.bool_], rows: Rows) -> NDArray[np.bool_]:
    return held[rows] & (rows >= 0)[:, None]


def _unknown_terms(table: CandidateTable) -> NDArray[np.bool_]:
    frequency = table.found.document_frequency
    return np.array([frequency.get(term, 0) == 0 for term in _terms(table)], dtype=np.bool_)


def _unknown_words(table: CandidateTable) -> tuple[str, ...]:
    frequency = table.found.document_frequency
    unknown = (
        word
        for word in words(table.question.text)
        if (parts := tokens(word)) and all(frequency.get(term, 1) == 0 for term in parts)
    )
    return tuple(dict.fromkeys(unknown))


def _shared(table: CandidateTable, held: NDArray[np.bool_]) -> tuple[str, ...]:
    """Return the words of the question behind these terms, rarest first."""
    idf = dict(zip(_terms(table), table.match.idf.tolist(), strict=True))
    terms = {term for term, is_held in zip(idf, held.tolist(), strict=True) if is_held}
    by_word = {
        word: max(idf[term] for term in shared)
        for word in words(table.question.text)
        if (shared := terms.intersection(tokens(word)))
    }
    return tuple(sorted(by_word, key=lambda word: (-by_word[word], word)))
