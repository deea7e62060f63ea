"""What the tools of the MCP server answer: typed, and no longer than an agent needs."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from graphmem.model import (
    AddReceipt,
    EraseReceipt,
    EventKind,
    EvidenceDecision,
    EvolutionEvent,
    Link,
    LinkKind,
    Neighbourhood,
    Note,
    NoteState,
    Outcome,
    RankedNote,
    RecallResult,
    Source,
)


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True)


class SourceResult(_Result):
    """Where a note comes from."""

    id: str
    revision: str | None
    position: int | None

    @classmethod
    def of(cls, source: Source | None) -> SourceResult | None:
        """Return the form of a source; ``None`` for none."""
        if source is None:
            return None
        return cls(id=source.id, revision=source.revision, position=source.position)


class LinkResult(_Result):
    """An edge between two notes.

    FOLLOWS points to the earlier one of a source, SUPERSEDES to the older one it contradicts.
    """

    kind: LinkKind
    from_id: str
    to_id: str
    weight: float = Field(description="Strength in 0..1.")
    cosine: float = Field(description="Similarity when the link was made.")
    reason: str | None = Field(description="For SUPERSEDES: what the newer note says otherwise.")

    @classmethod
    def of(cls, link: Link) -> LinkResult:
        """Return the form of a link."""
        return cls(
            kind=link.kind,
            from_id=link.from_id,
            to_id=link.to_id,
            weight=link.weight,
            cosine=link.cosine,
            reason=None if link.reason is None else str(link.reason),
        )


class NoteResult(_Result):
    """A stored note."""

    id: str
    content: str
    author: str | None
    role: str
    source: SourceResult | None
    created_at: datetime
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    importance: float = Field(description="Importance when it was written, in 0..1.")
    metadata: dict[str, Any]
    feedback: int
    recall_count: int
    last_accessed_at: datetime
    revision: int
    content_revision: int
    archived: bool

    @classmethod
    def of(cls, note: Note) -> NoteResult:
        """Return the form of a note."""
        return cls(
            id=note.id,
            content=note.content,
            author=note.author,
            role=note.role,
            source=SourceResult.of(note.source),
            created_at=note.created_at,
            keywords=note.keywords,
            tags=note.tags,
            context=note.context,
            importance=note.importance,
            metadata=dict(note.metadata),
            feedback=note.feedback,
            recall_count=note.recall_count,
            last_accessed_at=note.last_accessed_at,
            revision=note.revision,
            content_revision=note.content_revision,
            archived=note.archived,
        )


class RememberResult(_Result):
    """What remembering a note did."""

    note_id: str
    revision: int
    outcome: str = Field(description="added, revised or unchanged.")
    importance: float
    links: tuple[LinkResult, ...] = Field(description="Links that were made.")
    evolved: tuple[str, ...] = Field(description="Ids of the events this caused in other notes.")

    @classmethod
    def of(cls, receipt: AddReceipt) -> RememberResult:
        """Return the form of a receipt."""
        return cls(
            note_id=receipt.note_id,
            revision=receipt.revision,
            outcome=receipt.outcome,
            importance=receipt.importance,
            links=tuple(LinkResult.of(link) for link in (*receipt.links, *receipt.superseding)),
            evolved=tuple(event.id for event in receipt.evolved),
        )


class RecalledNote(_Result):
    """A note that was found, and why."""

    id: str
    content: str
    author: str | None
    source: SourceResult | None
    created_at: datetime
    tags: tuple[str, ...]
    score: float = Field(description="Orders this result only.")
    contributions: dict[str, float] = Field(description="Parts that sum to the score.")
    path: tuple[str, ...] = Field(description="How the note came in, from seed to note.")
    superseded_by: tuple[LinkResult, ...] = Field(
        description="Newer notes found for this question that say otherwise; prefer them."
    )

    @classmethod
    def of(cls, ranked: RankedNote) -> RecalledNote:
        """Return the form of a ranked note."""
        note = ranked.note
        return cls(
            id=note.id,
            content=note.content,
            author=note.author,
            source=SourceResult.of(note.source),
            created_at=note.created_at,
            tags=note.tags,
            score=ranked.score,
            contributions=dict(ranked.contributions),
            path=tuple(map(str, ranked.path)),
            superseded_by=tuple(LinkResult.of(link) for link in ranked.superseded_by),
        )


class EvidenceResult(_Result):
    """A note the decision cites."""

    note_id: str
    content_revision: int
    supports: float = Field(description="Probability that the note supports an answer.")


class DecisionResult(_Result):
    """Whether memory holds the answer."""

    outcome: Outcome
    answerable: float = Field(description="Probability that memory answers the question.")
    reason: str
    evidence: tuple[EvidenceResult, ...] = Field(description="Notes that support an answer.")
    independent_sources: int = Field(
        description="Distinct sources of the evidence, near duplicates taken out."
    )

    @classmethod
    def of(cls, decision: EvidenceDecision) -> DecisionResult:
        """Return the form of a decision."""
        cited = (
            EvidenceResult(note_id=e.note_id, content_revision=e.revision, supports=e.supports)
            for e in decision.evidence
        )
        return cls(
            outcome=decision.outcome,
            answerable=decision.answerable,
            reason=decision.reason,
            evidence=tuple(cited),
            independent_sources=decision.independent_sources,
        )


class RecallToolResult(_Result):
    """What memory says about a question."""

    query: str
    decision: DecisionResult
    notes: tuple[RecalledNote, ...]
    considered: int = Field(description="How many candidate notes were ranked.")
    policy: str

    @classmethod
    def of(cls, result: RecallResult) -> RecallToolResult:
        """Return the form of a recall."""
        return cls(
            query=result.query,
            decision=DecisionResult.of(result.decision),
            notes=tuple(RecalledNote.of(ranked) for ranked in result.notes),
            considered=result.considered.candidates,
            policy=result.policy,
        )


class NeighbourResult(_Result):
    """A note of a neighbourhood, in brief."""

    id: str
    content: str
    author: str | None
    created_at: datetime


class LinksResult(_Result):
    """The graph around a note."""

    note_id: str
    notes: tuple[NeighbourResult, ...] = Field(description="Notes at the ends of the links.")
    links: tuple[LinkResult, ...] = Field(description="Strongest first.")
    omitted: int = Field(description="How many weaker links the limit left out.")

    @classmethod
    def of(
        cls, note_id: str, around: Neighbourhood, min_weight: float, limit: int
    ) -> LinksResult:  # fmt: skip
        """Return the links of at least `min_weight`, the strongest `limit` of them."""
        links = [link for link in around.links if link.weight >= min_weight]
        links.sort(key=lambda link: (-link.weight, link.kind.value, link.pair))
        kept = links[:limit]
        ends = {note_id, *(end for link in kept for end in link.pair)}
        notes = (
            NeighbourResult(
                id=note.id, content=note.content, author=note.author, created_at=note.created_at
            )
            for note in around.notes
            if note.id in ends
        )
        return cls(
            note_id=note_id,
            notes=tuple(notes),
            links=tuple(LinkResult.of(link) for link in kept),
            omitted=len(links) - len(kept),
        )


class FieldChange(_Result):
    """One field before and after a change."""

    field: str
    before: Any
    after: Any


class EventResult(_Result):
    """One change of a note."""

    id: str = Field(description="Give it to undo.")
    note_id: str
    kind: EventKind
    at: datetime
    revision: int
    proposer: str
    trigger_id: str | None = Field(description="Note whose arrival caused an evolution.")
    similarity: float | None
    changes: tuple[FieldChange, ...]

    @classmethod
    def of(cls, event: EvolutionEvent) -> EventResult:
        """Return the form of an event."""
        return cls(
            id=event.id,
            note_id=event.note_id,
            kind=event.kind,
            at=event.at,
            revision=event.revision,
            proposer=event.proposer,
            trigger_id=event.trigger_id,
            similarity=event.similarity,
            changes=_changes(event.before, event.after),
        )


_COMPARED = (
    *("content", "keywords", "tags", "context", "importance", "author", "role", "created_at"),
    *("metadata", "archived"),
)


def _changes(before: NoteState, after: NoteState) -> tuple[FieldChange, ...]:
    pairs = ((name, _plain(before, name), _plain(after, name)) for name in _COMPARED)
    return tuple(FieldChange(field=name, before=a, after=b) for name, a, b in pairs if a != b)


def _plain(state: NoteState, name: str) -> object:
    value = getattr(state, name)
    return dict(value) if isinstance(value, Mapping) else value


class HistoryResult(_Result):
    """Every change of a note since it was added, oldest first."""

    note_id: str
    events: tuple[EventResult, ...]


class ForgetResult(_Result):
    """Proof of an erasure."""

    note_ids: tuple[str, ...]
    links: int
    events: int
    redacted: tuple[str, ...] = Field(
        description="Notes from which words carried over from the erased ones were taken."
    )
    verified: bool = Field(description="Whether a search afterwards found none of them.")

    @classmethod
    def of(cls, receipt: EraseReceipt) -> ForgetResult:
        """Return the form of a receipt."""
        return cls(
            note_ids=receipt.note_ids,
            links=receipt.links,
            events=receipt.events,
            redacted=receipt.redacted,
            verified=receipt.verified,
        )
