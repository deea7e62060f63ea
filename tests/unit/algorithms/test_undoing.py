from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from note_samples import START, sample_note

from graphmem.algorithms.evolution import Proposal, evolve_neighbourhood
from graphmem.algorithms.undoing import undo_event
from graphmem.errors import Conflict, InvalidInput
from graphmem.model import EventKind, EvolutionEvent, Link, Note, related

NOW = START + timedelta(days=1)
TRIGGER = sample_note("t")
A, B = sample_note("a", keywords=("old",), revision=3), sample_note("b")


def evolved(note: Note, word: str, links: tuple[Link, ...] = ()) -> tuple[Note, EvolutionEvent]:
    keywords = (*note.keywords, word)
    proposal = Proposal(note.id, note.revision, keywords, ("tag",), "why", "rule:test", links)
    made = evolve_neighbourhood(TRIGGER, [note], [proposal], {note.id: 0.95}, now=NOW)
    return made.notes[0], made.events[0]


def test_undo_brings_the_earlier_state_back_as_a_new_revision() -> None:
    link = related("a", "t", 0.9, NOW)
    note, event = evolved(A, "w", links=(link,))
    used = replace(note, recall_count=5, feedback=1)
    undo = undo_event(used, event, [event], now=NOW + timedelta(hours=1))
    assert undo.note.state == A.state
    assert (undo.note.revision, undo.note.content_revision) == (5, 1)
    assert (undo.note.recall_count, undo.note.feedback) == (5, 1)
    assert (undo.event.id, undo.event.kind) == ("a@5", EventKind.UNDONE)
    assert (undo.event.before, undo.event.after) == (event.after, event.before)
    assert (undo.event.linked, undo.event.unlinked) == ((), (link,))


def test_undo_of_another_text_counts_a_content_revision() -> None:
    note = replace(A, content="other", revision=4, content_revision=2)
    event = EvolutionEvent("a@4", "a", EventKind.REVISED, 4, NOW, "user", A.state, note.state)
    assert undo_event(note, event, [event], now=NOW).note.content_revision == 3


def test_undo_names_the_links_to_bring_back() -> None:
    gone = related("a", "b", 0.8, NOW)
    note = replace(A, content="other", revision=4)
    event = EvolutionEvent(
        "a@4", "a", EventKind.REVISED, 4, NOW, "user", A.state, note.state, unlinked=(gone,)
    )
    undo = undo_event(note, event, [event], now=NOW)
    assert (undo.event.linked, undo.event.unlinked) == ((gone,), ())


def test_events_are_undone_from_the_last_backwards() -> None:
    one, first = evolved(A, "w")
    two, second = evolved(one, "x")
    with pytest.raises(Conflict, match=second.id):
        undo_event(two, first, [first, second], now=NOW)
    back = undo_event(two, second, [second, first], now=NOW)
    with pytest.raises(Conflict, match="undone already"):
        undo_event(back.note, second, [first, second, back.event], now=NOW)
    start = undo_event(back.note, first, [first, second, back.event], now=NOW)
    assert start.note.state == A.state
    assert start.note.revision == 7


def test_an_undoing_can_be_undone() -> None:
    one, first = evolved(A, "w")
    back = undo_event(one, first, [first], now=NOW)
    again = undo_event(back.note, back.event, [first, back.event], now=NOW)
    assert again.note.state == one.state


def test_undo_refuses_what_does_not_fit() -> None:
    note, event = evolved(A, "w")
    with pytest.raises(InvalidInput, match="'a'"):
        undo_event(B, event, [event], now=NOW)
    with pytest.raises(Conflict, match="left it"):
        undo_event(replace(note, context="moved on"), event, [event], now=NOW)
