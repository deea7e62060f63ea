"""Bringing a note back to the state before one of its events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from graphmem.errors import Conflict, InvalidInput
from graphmem.model import EventKind, EvolutionEvent, Note, event_id


@dataclass(frozen=True, slots=True)
class Undo:
    """A note with its earlier state, and the event that says so.

    ``event.linked`` are the links to bring back, ``event.unlinked`` those to remove.
    """

    note: Note
    event: EvolutionEvent


def undo_event(
    note: Note,
    event: EvolutionEvent,
    events: Sequence[EvolutionEvent],
    *,
    now: datetime,
    proposer: str = "user",
) -> Undo:
    """Return the note with the state before `event`, as a new revision.

    Events are undone from the last backwards: an event and its undoing cancel, so after
    undoing the last event the one before it is free. The last undoing can itself be undone.

    Parameters
    ----------
    note
        The note as it is.
    event
        The event to undo.
    events
        All events of the note.
    now, proposer
        Time and author of the undoing.

    Raises
    ------
    InvalidInput
        The event belongs to another note.
    Conflict
        A later event stands (it is named), the event was undone already, or the note is
        not in the state the event left.
    """
    if event.note_id != note.id:
        raise InvalidInput(f"event {event.id!r} is of note {event.note_id!r}, not {note.id!r}")
    standing = _standing(events)
    later = [other.id for other in standing if other.revision > event.revision]
    if later:
        raise Conflict(
            f"event {event.id!r} cannot be undone under a later one; nothing was changed, "
            f"undo {later[-1]!r} first"
        )
    last = max(events, key=lambda other: other.revision, default=event)
    if event.id not in {last.id, *(other.id for other in standing)}:
        raise Conflict(f"event {event.id!r} was undone already; nothing was changed")
    if note.state != event.after:
        raise Conflict(
            f"note {note.id!r} is not as event {event.id!r} left it; nothing was changed"
        )
    return _undone(note, event, now, proposer)


def _standing(events: Sequence[EvolutionEvent]) -> list[EvolutionEvent]:
    """Return the events still in force: an undoing takes the event it reverses with it."""
    stack: list[EvolutionEvent] = []
    for event in sorted(events, key=lambda event: event.revision):
        top = stack[-1] if stack else None
        reverses = (
            event.kind is EventKind.UNDONE
            and top is not None
            and (top.before, top.after) == (event.after, event.before)
        )
        if reverses:
            stack.pop()
        else:
            stack.append(event)
    return stack


def _undone(note: Note, event: EvolutionEvent, now: datetime, proposer: str) -> Undo:
    earlier = event.before
    revision = note.revision + 1
    back = replace(
        note,
        content=earlier.content,
        role=earlier.role,
        author=earlier.author,
        source=earlier.source,
        created_at=earlier.created_at,
        keywords=earlier.keywords,
        tags=earlier.tags,
        context=earlier.context,
        importance=earlier.importance,
        metadata=earlier.metadata,
        archived=earlier.archived,
        given=earlier.given,
        revision=revision,
        content_revision=note.content_revision + (earlier.content != note.content),
    )
    undone = EvolutionEvent(
        id=event_id(note.id, revision),
        note_id=note.id,
        kind=EventKind.UNDONE,
        revision=revision,
        at=now,
        proposer=proposer,
        before=event.after,
        after=earlier,
        linked=event.unlinked,
        unlinked=event.linked,
    )
    return Undo(back, undone)
