"""Edges between notes, and why one supersedes another."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


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
