"""The values graphmem works with: frozen, comparable, free of I/O.

Times are aware and in UTC with microseconds. Embeddings are not part of a note: they are
derived from it and travel beside it (:class:`NoteWrite`, :class:`NoteRecord`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
"""One embedding, shape (dimension,), L2-normalised, or a block of shape (n, dimension)."""

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
"""What a metadata value may be."""

DEFAULT_IMPORTANCE = 0.5
"""Importance of a note written before the field existed."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a call may see: one namespace and, when given, only some sources and authors.

    Parameters
    ----------
    namespace
        The namespace; no call reads or writes outside it.
    sources, authors
        Allow-lists. ``None`` allows all. A note passes when its source is in `sources`
        and its author in `authors`; with a list given, a note without that field is
        outside.
    """

    namespace: str
    sources: frozenset[str] | None = None
    authors: frozenset[str] | None = None

    def allows(self, note: Note) -> bool:
        """Whether the note may be seen through this scope."""
        if note.namespace != self.namespace:
            return False
        if self.sources is not None and (note.source is None or note.source.id not in self.sources):
            return False
        return self.authors is None or note.author in self.authors


@dataclass(frozen=True, slots=True)
class Source:
    """Where a note comes from: a conversation, document or page, and the place within it.

    Parameters
    ----------
    id
        Identifier of the source.
    revision
        Version of the source the note was taken from.
    position
        Order within the source; notes with a position are chained by FOLLOWS.
    start, end
        Character offsets within the source.
    """

    id: str
    revision: str | None = None
    position: int | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class NoteInput:
    """A note as the caller gives it; validated when it is added, not when it is made.

    ``None`` means "not said": derived (keywords, tags, context, importance), set to the
    moment of writing (created_at), or left empty.
    """

    content: str
    id: str | None = None
    source: Source | None = None
    role: str = "user"
    author: str | None = None
    created_at: datetime | None = None
    keywords: Iterable[str] | str | None = None
    tags: Iterable[str] | str | None = None
    context: str | None = None
    importance: float | None = None
    metadata: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """The fields of a note its caller set explicitly; the rest was derived.

    Kept so that adding the same input again is recognised as unchanged, even after
    evolution has widened keywords and tags. `constructor` is the language model, with the
    version of its prompt, that made the rest; ``None`` when the rule did.
    """

    keywords: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    context: str | None = None
    importance: float | None = None
    created_at: datetime | None = None
    constructor: str | None = None


@dataclass(frozen=True, slots=True)
class NoteState:
    """The part of a note that revisions change and undo brings back."""

    content: str
    role: str
    author: str | None
    source: Source | None
    created_at: datetime
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    importance: float
    metadata: Mapping[str, Json]
    archived: bool = False
    given: Given = Given()


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is stored.

    Attributes
    ----------
    id, namespace
        Identity. An id is unique within its namespace.
    content
        The text exactly as it was added; evolution never rewrites it.
    role, author, source, created_at, metadata
        As given; `created_at` is when the note was written or said.
    keywords, tags, context
        Given or derived; evolution may widen keywords and tags and fill a context.
    importance
        Importance at write time, in [0, 1] (stored as ``importance_score``).
    feedback
        Sum of the user's +1 and -1 signals.
    recall_count, last_accessed_at
        How often and when a recall last returned the note; starts at 0 and `created_at`.
    revision
        Counts every change of the state, from 1; used for compare-and-swap.
    content_revision
        Counts changes of the content only, from 1; cited by evidence and receipts.
    archived
        Hidden from recall and linking until restored.
    given
        Which fields the caller set explicitly.
    """

    id: str
    namespace: str
    content: str
    role: str
    author: str | None
    source: Source | None
    created_at: datetime
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    importance: float
    metadata: Mapping[str, Json]
    last_accessed_at: datetime
    feedback: int = 0
    recall_count: int = 0
    revision: int = 1
    content_revision: int = 1
    archived: bool = False
    given: Given = Given()

    @property
    def state(self) -> NoteState:
        """The part that revisions change."""
        return NoteState(
            content=self.content,
            role=self.role,
            author=self.author,
            source=self.source,
            created_at=self.created_at,
            keywords=self.keywords,
            tags=self.tags,
            context=self.context,
            importance=self.importance,
            metadata=self.metadata,
            archived=self.archived,
            given=self.given,
        )


class LinkKind(StrEnum):
    """The kinds of edges between notes."""

    RELATED = "RELATED"
    FOLLOWS = "FOLLOWS"
    SUPERSEDES = "SUPERSEDES"


class DisagreementKind(StrEnum):
    """In what a newer note says otherwise than an older one."""

    NUMBER = "number"
    DATE = "date"
    NAME = "name"
    NEGATION = "negation"
    PREFERENCE = "preference"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Why a note supersedes another: the words that differ, as they are written.

    `before` stands in the older note, `after` in the newer one.
    """

    kind: DisagreementKind
    before: str
    after: str

    def __str__(self) -> str:
        """Render as a person reads it: ``date: 9:15 -> 11:30``."""
        return f"{self.kind}: {self.before} -> {self.after}"


@dataclass(frozen=True, slots=True)
class Link:
    """An edge between two notes of one namespace.

    RELATED is undirected and stored once with ``from_id < to_id``; FOLLOWS points from the
    later note to the one before it in the same source; SUPERSEDES points from a note to an
    older one it contradicts, and stands beside the RELATED link of the two.

    Attributes
    ----------
    weight
        Strength in [0, 1]: the similarity at first, later reinforced or decayed. 1 for
        FOLLOWS; a SUPERSEDES keeps the first.
    cosine
        Raw cosine the link was made with, never changed afterwards. 1 for FOLLOWS.
    created_at
        When the link was made; ``None`` for FOLLOWS, which is derived from positions.
    retrievals, last_retrieved_at
        How often and when the link lay on the path of a returned note.
    reason
        What a SUPERSEDES found; ``None`` for the others.
    """

    from_id: str
    to_id: str
    weight: float
    cosine: float
    kind: LinkKind = LinkKind.RELATED
    created_at: datetime | None = None
    retrievals: int = 0
    last_retrieved_at: datetime | None = None
    reason: Disagreement | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """Both ends in stored order."""
        return self.from_id, self.to_id

    def other(self, note_id: str) -> str:
        """Return the end that is not `note_id`."""
        return self.to_id if note_id == self.from_id else self.from_id


def related(a: str, b: str, cosine: float, created_at: datetime | None) -> Link:
    """Build a new RELATED link in stored order with weight = cosine clipped to [0, 1]."""
    low, high = (a, b) if a < b else (b, a)
    weight = min(max(cosine, 0.0), 1.0)
    return Link(low, high, weight=weight, cosine=cosine, created_at=created_at)


def supersedes(
    newer_id: str, older_id: str, cosine: float, created_at: datetime | None, reason: Disagreement
) -> Link:
    """Build the SUPERSEDES link from a note to the older one it contradicts."""
    return Link(
        newer_id,
        older_id,
        weight=min(max(cosine, 0.0), 1.0),
        cosine=cosine,
        kind=LinkKind.SUPERSEDES,
        created_at=created_at,
        reason=reason,
    )


class EventKind(StrEnum):
    """What changed a note after it was first added."""

    EVOLVED = "evolved"
    REVISED = "revised"
    ARCHIVED = "archived"
    RESTORED = "restored"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class EvolutionEvent:
    """One change of a note, with everything needed to explain and undo it.

    Attributes
    ----------
    id
        ``f"{note_id}@{revision}"``: unique, the same on every store.
    note_id, kind, revision, at
        Which note, what kind of change, the revision it made, and when.
    trigger_id, similarity
        The note whose arrival caused an evolution, and the raw cosine; else ``None``.
    proposer
        Who proposed the change: ``rule:union-1``, a model id with prompt version, or
        ``user``.
    before, after
        The state on both sides.
    linked, unlinked
        RELATED links this change made and removed, for undo.
    """

    id: str
    note_id: str
    kind: EventKind
    revision: int
    at: datetime
    proposer: str
    before: NoteState
    after: NoteState
    trigger_id: str | None = None
    similarity: float | None = None
    linked: tuple[Link, ...] = ()
    unlinked: tuple[Link, ...] = ()


def event_id(note_id: str, revision: int) -> str:
    """Return the id of the event that made `revision` of the note."""
    return f"{note_id}@{revision}"


# --- what a store is asked and answers -------------------------------------------------


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
    expand: int = 30
    hops: int = 1
    fanout: int = 8
    min_weight: float = 0.0
    window: int = 2
    source_notes: int = 8


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
    """

    note: Note
    terms: tuple[str, ...]
    cosine: float | None
    vector_rank: int | None = None
    lexical_rank: int | None = None


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
    """

    note: Note
    terms: tuple[str, ...]
    embedding: Vector | None
    expected_revision: int


@dataclass(frozen=True, slots=True, eq=False)
class NoteRecord:
    """A note with everything derived from it, as `dump` and `load` move it."""

    note: Note
    terms: tuple[str, ...]
    embedding: Vector | None


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


# --- what a caller gets back -----------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AddReceipt:
    """What one `add` did.

    `outcome` is ``added``, ``revised`` or ``unchanged``; `links` are the RELATED links it
    made; `evolved` the changes it caused in neighbours. `constructor` made its keywords,
    tags, context and importance: a rule, or a language model with the version of its prompt;
    empty when nothing was made. `fallback` says why the rule had to do for the model.
    `superseding` are the SUPERSEDES links it made: to older notes it contradicts, or from
    newer ones that contradict it.
    """

    note_id: str
    revision: int
    outcome: str
    links: tuple[Link, ...]
    evolved: tuple[EvolutionEvent, ...]
    importance: float
    constructor: str = ""
    fallback: str | None = None
    superseding: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class AddReport:
    """What one `add_many` did: counts, rejected inputs as (index, reason), seconds.

    `fallbacks` are the notes, as (index, reason), for which a rule had to do for the
    language model; they are stored like the others.
    """

    added: int
    revised: int
    unchanged: int
    rejected: tuple[tuple[int, str], ...]
    links: int
    evolved: int
    seconds: float
    fallbacks: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class EraseReceipt:
    """Proof of an erasure: what was removed, and what was looked for afterwards.

    Attributes
    ----------
    note_ids
        Erased notes.
    links, events
        How many of each went with them.
    redacted
        Neighbours from which carried-over words were taken.
    verified
        Whether a search of the whole store afterwards found none of the ids.
    """

    note_ids: tuple[str, ...]
    links: int
    events: int
    redacted: tuple[str, ...]
    verified: bool
    at: datetime


class StepKind(StrEnum):
    """How one step of a path enters the candidate set."""

    VECTOR = "vector"
    LEXICAL = "lexical"
    RELATED = "RELATED"
    FOLLOWS = "FOLLOWS"
    SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: a seed kind, or an edge from another candidate."""

    kind: StepKind
    from_id: str | None = None
    weight: float | None = None

    def __str__(self) -> str:
        """Render as a person reads it: ``RELATED 0.83 from n7``."""
        if self.kind in (StepKind.VECTOR, StepKind.LEXICAL):
            return f"seed {self.kind}"
        if self.kind is StepKind.RELATED:
            return f"RELATED {self.weight:.2f} from {self.from_id}"
        if self.kind is StepKind.FOLLOWS:
            return f"FOLLOWS from {self.from_id}"
        return f"source of {self.from_id}"


@dataclass(frozen=True, slots=True)
class RankedNote:
    """A recalled note.

    `contributions` sum to `score` (1e-9); `signals` are the raw values behind them; `path`
    tells how the note came into the candidate set. The score orders one result and is not
    comparable between questions. `supersedes` and `superseded_by` are the SUPERSEDES links
    to older and from newer candidates, with what they say otherwise; a newer note stands
    before the older one where their scores are comparable.
    """

    note: Note
    score: float
    contributions: Mapping[str, float]
    signals: Mapping[str, float]
    path: tuple[Step, ...]
    supersedes: tuple[Link, ...] = ()
    superseded_by: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class RankedSource:
    """A source ranked from its notes; `notes` are those that speak for it, best first."""

    source_id: str
    score: float
    contributions: Mapping[str, float]
    notes: tuple[RankedNote, ...]


class Outcome(StrEnum):
    """Whether memory holds the answer."""

    RETRIEVED = "retrieved"
    PARTIAL = "partial"
    PARAMETRIC = "parametric"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A note that was judged, with the probability that it supports an answer.

    `signals` are the raw values behind the probability, by name.
    """

    note_id: str
    revision: int
    supports: float
    signals: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class EvidenceDecision:
    """Whether memory answers the question.

    Attributes
    ----------
    outcome
        What follows for the caller.
    answerable
        Probability in [0, 1] that memory answers.
    evidence
        The notes that support an answer, the most certain first.
    reason
        What decided, in words.
    independent_sources
        How many sources stand behind the evidence once near duplicates are taken out: two
        notes that say the same in the same words corroborate nothing.
    judged
        Every note that was judged, best ranked first, cited or not.
    signals
        The raw values behind `answerable`, by name.
    """

    outcome: Outcome
    answerable: float
    evidence: tuple[Evidence, ...]
    reason: str
    independent_sources: int = 0
    judged: tuple[Evidence, ...] = ()
    signals: Mapping[str, float] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Considered:
    """How many notes a recall looked at, and how many it left out at each step."""

    seeds: int = 0
    expanded: int = 0
    candidates: int = 0
    cut: int = 0
    withheld: int = 0


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What `recall` returns; iterating gives the notes."""

    query: str
    notes: tuple[RankedNote, ...]
    sources: tuple[RankedSource, ...]
    decision: EvidenceDecision
    considered: Considered
    policy: str
    at: datetime
