"""Changes of notes, with everything needed to explain and undo them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from graphmem.model.links import Link
from graphmem.model.notes import NoteState


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
