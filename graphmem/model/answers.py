"""What a caller gets back: receipts, ranked notes, decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graphmem.model.events import EvolutionEvent
from graphmem.model.links import Link
from graphmem.model.notes import Note


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
