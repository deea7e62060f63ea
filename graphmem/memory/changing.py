"""Changes of stored notes other than their text: feedback, archive, undo, erase, upkeep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from graphmem.algorithms.redaction import redact
from graphmem.algorithms.remembering import forget_texts
from graphmem.algorithms.undoing import undo_event
from graphmem.errors import InvalidInput, NotFound
from graphmem.memory.entry import checked_id
from graphmem.memory.setup import Setup, not_found
from graphmem.memory.summaries import Material, possible_summaries, summary_of, without
from graphmem.memory.workspace import Workspace
from graphmem.memory.writing import revision_event
from graphmem.model import (
    EraseReceipt,
    EventKind,
    EvolutionEvent,
    Note,
    NoteFilter,
    Scope,
    WritePlan,
)
from graphmem.ports import ScopeReader


def change_note(setup: Setup, note_id: object, change: Callable[[Workspace, Note], Note]) -> Note:
    """Apply `change` to one visible note in one write and return its new state."""
    checked = checked_id(note_id)
    result: Note | None = None

    def decide(reader: ScopeReader) -> WritePlan:
        nonlocal result
        work = setup.workspace(reader)
        note = work.note(checked)
        if note is None:
            raise not_found([checked], setup.scope)
        result = change(work, note)
        if result != note:
            work.put(result)
        return work.plan(None)

    setup.store.write(setup.scope, decide)
    assert result is not None  # noqa: S101  # decide either set it or raised
    return result


def give_feedback(setup: Setup, note_id: object, signal: object) -> Note:
    """Add +1 or -1 to the note's feedback."""
    if isinstance(signal, bool) or signal not in (1, -1):
        raise InvalidInput(f"feedback must be +1 or -1, not {signal!r}")
    step = 1 if signal == 1 else -1
    return change_note(setup, note_id, lambda _, note: replace(note, feedback=note.feedback + step))


def set_archived(setup: Setup, note_id: object, archived: bool) -> Note:
    """Hide a note from recall and linking, or bring it back; once is enough."""
    kind = EventKind.ARCHIVED if archived else EventKind.RESTORED

    def change(work: Workspace, note: Note) -> Note:
        if note.archived == archived:
            return note
        after = replace(note, archived=archived, revision=note.revision + 1)
        work.record(revision_event(note, after, setup.now(), kind=kind))
        return after

    return change_note(setup, note_id, change)


def undo(setup: Setup, event_id: object) -> EvolutionEvent:
    """Bring a note back to the state before an event, as a new revision.

    Links the event made are removed and those it removed come back where their other end
    still exists.

    Raises
    ------
    NotFound
        No such event in this scope.
    Conflict
        A later event of the same note stands; it is named.
    """
    checked = checked_id(event_id, "event id")
    found = setup.store.event(setup.scope, checked)
    if found is None:
        raise _no_event(setup, checked)
    result = found

    def change(work: Workspace, note: Note) -> Note:
        nonlocal result
        # Read again within the write: an erasure may have redacted or dropped it meanwhile.
        events = work.events_of(note.id)
        target = next((event for event in events if event.id == checked), None)
        if target is None:
            raise _no_event(setup, checked)
        undone = undo_event(note, target, events, now=setup.now())
        back = tuple(
            link for link in target.unlinked if work.note(link.other(note.id)) is not None
        )  # fmt: skip
        for link in target.linked:
            work.unlink(link)
        for link in back:
            work.link(link)
        result = replace(undone.event, linked=back, unlinked=target.linked)
        work.record(result)
        return undone.note

    change_note(setup, found.note_id, change)
    return result


def _no_event(setup: Setup, event_id: str) -> NotFound:
    return NotFound(f"no event {event_id!r} in namespace {setup.scope.namespace!r}")


def erase(
    setup: Setup, note_id: object | None, source: object | None, everything: bool
) -> EraseReceipt:
    """Remove notes with their links and events, and what evolution carried into others.

    Raises
    ------
    InvalidInput
        Not exactly one of the three ways to say what.
    NotFound
        Nothing of that id or source is there.
    """
    if not isinstance(everything, bool):
        raise InvalidInput("everything must be True or False")
    if sum((note_id is not None, source is not None, everything)) != 1:
        raise InvalidInput("say what to erase: one of id=..., source=... or everything=True")
    receipt: EraseReceipt | None = None

    def decide(reader: ScopeReader) -> WritePlan:
        nonlocal receipt
        ids = _to_erase(setup, reader, note_id, source, everything)
        work = setup.workspace(reader)
        derived = _derived_from(setup, reader, ids)
        gone = tuple(i for i, summary in derived.items() if summary is None and i not in ids)
        receipt = _erase_in(setup, reader, work, (*ids, *gone))
        rewritten = [summary for i, summary in derived.items() if summary and i not in ids]
        for summary in rewritten:
            _rewrite(work, summary)
        redacted = {*receipt.redacted, *(summary.id for summary in rewritten)}
        receipt = replace(receipt, redacted=tuple(sorted(redacted)))
        return work.plan(None)

    # What was carried into notes outside an allow-list has to go too.
    setup.store.write(Scope(setup.scope.namespace), decide)
    assert receipt is not None  # noqa: S101  # decide either set it or raised
    forget_texts()
    return replace(receipt, verified=_gone(setup, receipt.note_ids))


def _to_erase(
    setup: Setup,
    reader: ScopeReader,
    note_id: object | None,
    source: object | None,
    everything: bool,
) -> tuple[str, ...]:
    if everything:
        whole = NoteFilter(archived=True)
        return tuple(note.id for note in setup.store.notes(setup.scope, whole))
    if source is not None:
        source_id = checked_id(source, "source")
        ids = _visible(setup, reader, reader.of_source(source_id))
        if not ids:
            raise NotFound(f"no note of source {source_id!r}; nothing was erased")
        return ids
    checked = checked_id(note_id)
    ids = _visible(setup, reader, [checked])
    if not ids:
        raise not_found([checked], setup.scope)
    return ids


def _visible(setup: Setup, reader: ScopeReader, ids: Sequence[str]) -> tuple[str, ...]:
    notes = reader.notes(ids)
    return tuple(i for i in ids if i in notes and setup.scope.allows(notes[i]))


def _erase_in(
    setup: Setup, reader: ScopeReader, work: Workspace, ids: Sequence[str]
) -> EraseReceipt:
    events = {event.id: event for event in reader.events(ids)}
    links = reader.links(ids)
    touched, history = _carried(setup, reader, ids)
    redaction = redact(frozenset(ids), tuple(touched.values()), history)
    for note in redaction.notes:
        work.put(note)
    for event in redaction.events:
        work.record(event)
    for event_id in redaction.dropped_events:
        work.drop_event(event_id)
    for erased in ids:
        work.erase(erased)
    return EraseReceipt(
        note_ids=tuple(ids),
        links=len(links),
        events=len(events.keys() | set(redaction.dropped_events)),
        redacted=tuple(sorted(note.id for note in redaction.notes)),
        verified=False,
        at=setup.now(),
    )


def _derived_from(setup: Setup, reader: ScopeReader, ids: Sequence[str]) -> dict[str, Note | None]:
    """Return the summaries made of these notes as they are without them, ``None`` if gone."""
    erased = reader.notes(ids)
    tagged = {
        tag for event in reader.events(ids) for tag in (*event.before.tags, *event.after.tags)
    }
    found = reader.notes(possible_summaries(erased.values(), tagged, setup.scope.namespace))
    derived: dict[str, Note | None] = {}
    for note in found.values():
        try:
            summary = summary_of(note)
        except InvalidInput:
            derived[note.id] = None  # nobody can tell what is in it
            continue
        if summary is None or set(ids).isdisjoint(summary.note_inputs):
            continue
        left = [i for i in summary.note_inputs if i not in erased]
        material = Material.of(reader.notes(left).values(), reader.links(left))
        derived[note.id] = without(summary, set(ids), material, setup.now())
    return derived


def _rewrite(work: Workspace, summary: Note) -> None:
    """Replace a summary and its history: earlier texts told what was erased."""
    for event in work.events_of(summary.id):
        work.drop_event(event.id)
    work.put(summary)


def _carried(
    setup: Setup, reader: ScopeReader, ids: Sequence[str]
) -> tuple[dict[str, Note], tuple[EvolutionEvent, ...]]:
    """Return the notes whose words or history may hold something of `ids`, and their events."""
    reached: dict[str, Note] = dict(reader.notes(_mentioning(setup, frozenset(ids))))
    front = [*ids, *reached]
    while front:
        found = {event.note_id for event in reader.triggered(front)} - set(ids) - set(reached)
        notes = reader.notes(sorted(found))
        reached.update(notes)
        front = sorted(notes)
    return reached, reader.events(sorted(reached)) if reached else ()


def _mentioning(setup: Setup, ids: frozenset[str]) -> list[str]:
    """Return the notes outside `ids` with an event that made or removed a link to one of them."""
    events = setup.store.all_events(Scope(setup.scope.namespace))
    return sorted({
        event.note_id
        for event in events
        if event.note_id not in ids
        and any(not ids.isdisjoint(link.pair) for link in (*event.linked, *event.unlinked))
    })  # fmt: skip


def _gone(setup: Setup, ids: Sequence[str]) -> bool:
    """Whether none of the ids answers any more, by any way a reader has."""
    store, scope = setup.store, setup.scope
    if store.get(scope, ids) or _mentioning(setup, frozenset(ids)):
        return False
    return not any(
        store.events(scope, i) or store.links(scope, i) or store.neighbourhood(scope, i).notes
        for i in ids
    )
