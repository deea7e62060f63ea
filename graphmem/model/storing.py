"""What a store is asked, what it answers, and what one write changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.model.events import EvolutionEvent
from graphmem.model.links import Link
from graphmem.model.notes import Note, SentenceVectors, Vector


@dataclass(frozen=True, slots=True)
class ModelIdentity:
    """The embedding model a store was built with."""

    model_id: str
    dimension: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A note near a vector: raw cosine in [-1, 1]."""

    note_id: str
    cosine: float


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Which notes of the scope a read may count; all conditions must hold.

    `sources`, `authors` and `tags` hold when the note has one of the values. `since` is
    inclusive and `until` exclusive on `created_at`; `as_of` keeps notes with
    ``created_at <= as_of``. Archived notes pass only with `archived`.
    """

    sources: frozenset[str] | None = None
    authors: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    archived: bool = False

    def admits(self, note: Note) -> bool:
        """Whether the note passes every condition."""
        if note.archived and not self.archived:
            return False
        if self.sources is not None and (note.source is None or note.source.id not in self.sources):
            return False
        if self.authors is not None and note.author not in self.authors:
            return False
        if self.tags is not None and self.tags.isdisjoint(note.tags):
            return False
        if self.since is not None and note.created_at < self.since:
            return False
        if self.until is not None and note.created_at >= self.until:
            return False
        return self.as_of is None or note.created_at <= self.as_of


@dataclass(frozen=True, slots=True)
class CandidateQuery:
    """What a recall asks of a store; see :meth:`graphmem.ports.NoteStore.candidates`."""

    vector: Vector
    terms: tuple[str, ...]
    where: NoteFilter = NoteFilter()
    vector_seeds: int = 100
    lexical_seeds: int = 100
    expand: int = 15
    hops: int = 1
    fanout: int = 8
    min_weight: float = 0.0
    window: int = 2
    source_notes: int = 4


class Candidate(NamedTuple):
    """One note a recall ranks. A named tuple: a recall makes a thousand of them.

    Attributes
    ----------
    note
        The note.
    terms
        Its indexed tokens, with repetition.
    cosine
        Raw cosine with the question; ``None`` when the note has no vector.
    vector_rank, lexical_rank
        0-based rank among the seeds of that kind; ``None`` when it was no such seed.
    sentence_cosine
        Highest cosine of the question with one of the note's sentences; ``None`` when its
        sentences have no vectors of their own.
    """

    note: Note
    terms: tuple[str, ...]
    cosine: float | None
    vector_rank: int | None = None
    lexical_rank: int | None = None
    sentence_cosine: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TermCounts:
    """How often each distinct term of a question occurs in each candidate.

    Attributes
    ----------
    counts
        Shape (candidates, distinct terms in order of the question).
    lengths
        Number of indexed terms of each candidate, with repetition, shape (candidates,).
    """

    counts: NDArray[np.float64]
    lengths: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CandidateSet:
    """The authorised, graph-expanded set a recall ranks.

    Attributes
    ----------
    candidates
        Ordered by note id.
    links
        Links whose two ends are candidates, each once, ordered by (kind, from_id, to_id):
        the RELATED ones the expansion could go along, all FOLLOWS and all SUPERSEDES.
    note_count
        Number of notes in scope and filter (N of the idf).
    average_terms
        Mean number of indexed tokens over those notes.
    document_frequency
        For each distinct query term, in how many of those notes it occurs, exact up to
        :data:`TERM_CAP` and capped there.
    term_counts
        What counting the query's terms in the candidates' terms gives, where the store has
        it at hand; ``None`` where it is still to be counted.
    """

    candidates: tuple[Candidate, ...]
    links: tuple[Link, ...]
    note_count: int
    average_terms: float
    document_frequency: Mapping[str, int]
    term_counts: TermCounts | None = field(default=None, compare=False)


TERM_CAP = 2000
"""A query term found in more notes than this carries too little to seed a recall."""


@dataclass(frozen=True, slots=True)
class NoteWrite:
    """A note to store with what is derived from it.

    Attributes
    ----------
    note
        The full new state.
    terms
        Indexed tokens with repetition.
    embedding
        Vector of shape (dimension,), or ``None`` to keep the stored one.
    expected_revision
        Revision the store must hold now (compare-and-swap); 0: the note must not exist.
    sentences
        Vectors of the note's sentences, none in an empty array, or ``None`` to keep the
        stored ones.
    """

    note: Note
    terms: tuple[str, ...]
    embedding: Vector | None
    expected_revision: int
    sentences: SentenceVectors | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NoteRecord:
    """A note with everything derived from it, as `dump` and `load` move it.

    `sentences` are the vectors of its sentences; ``None`` when it has none.
    """

    note: Note
    terms: tuple[str, ...]
    embedding: Vector | None
    sentences: SentenceVectors | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NoteVectors:
    """What an embedder made of n notes.

    Attributes
    ----------
    notes
        A vector each, shape (n, dimension).
    sentences
        The vectors of each note's sentences, n of them, or none at all when no note has any.
    """

    notes: Vector
    sentences: Sequence[SentenceVectors | None] = ()


@dataclass(frozen=True, slots=True)
class WritePlan:
    """Everything one write changes; a store applies it whole or not at all.

    Within one plan a note appears at most once in `notes`; a pair at most once of each kind
    in `links`, and never also in `unlinks` (of RELATED) or `unsuperseded` (of SUPERSEDES, from
    the newer note to the older).
    """

    notes: tuple[NoteWrite, ...] = ()
    links: tuple[Link, ...] = ()
    unlinks: tuple[tuple[str, str], ...] = ()
    events: tuple[EvolutionEvent, ...] = ()
    dropped_events: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    reweighted: tuple[Link, ...] = ()
    """Links of which only the weight is stored; their use is counted on meanwhile."""
    model: ModelIdentity | None = None
    unsuperseded: tuple[tuple[str, str], ...] = ()

    @property
    def empty(self) -> bool:
        """Whether applying it would change nothing."""
        return not (
            self.notes or self.links or self.reweighted
            or self.unlinks or self.events or self.dropped_events
            or self.erased or self.unsuperseded
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Use:
    """What one recall returned: counted by `record_use`."""

    note_ids: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """A note's surroundings: notes by id and the links among them."""

    notes: tuple[Note, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of one scope; `model` and `schema_version` belong to the whole store."""

    namespace: str
    notes: int
    archived: int
    related: int
    follows: int
    sources: int
    events: int
    recalls: int
    model: ModelIdentity | None
    schema_version: int
    store: str
    superseding: int = 0


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of an integrity check: what was looked at and each problem in words."""

    notes: int
    links: int
    events: int
    problems: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.problems
