from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from note_samples import START, sample_note

from graphmem.algorithms.evolution import Proposal, evolve_neighbourhood
from graphmem.algorithms.redaction import Redaction, redact
from graphmem.algorithms.undoing import undo_event
from graphmem.model import EventKind, EvolutionEvent, Given, Link, Note, event_id, related


class History:
    """Notes that evolve each other, recorded as a memory records them."""

    def __init__(self, *notes: Note) -> None:
        self.notes = {note.id: note for note in notes}
        self.events: list[EvolutionEvent] = []
        self.now = START

    def evolve(self, trigger: str, target: str, **changes: object) -> None:
        """Let `trigger` lend its keywords and tags, or propose `changes`."""
        source, note = self.notes[trigger], self.notes[target]
        self.now += timedelta(hours=1)
        united = Proposal(
            note.id,
            note.revision,
            tuple(dict.fromkeys((*note.keywords, *source.keywords))),
            tuple(dict.fromkeys((*note.tags, *source.tags))),
            note.context or source.context,
            "rule:test",
        )
        made = evolve_neighbourhood(
            source,
            [note],
            [replace(united, **changes)],  # type: ignore[arg-type]  # fields by name
            {note.id: 0.95},
            now=self.now,
        )
        self.events.extend(made.events)
        self.notes.update({note.id: note for note in made.notes})

    def revise(self, note_id: str, linked: tuple[Link, ...] = (), **changes: object) -> None:
        before = self.notes[note_id]
        after = replace(before, revision=before.revision + 1, **changes)  # type: ignore[arg-type]  # fields by name
        self.now += timedelta(hours=1)
        self.events.append(
            EvolutionEvent(
                event_id(note_id, after.revision),
                note_id,
                EventKind.REVISED,
                after.revision,
                self.now,
                "user",
                before.state,
                after.state,
                linked=linked,
            )
        )
        self.notes[note_id] = after

    def undo_last(self, note_id: str) -> None:
        own = [event for event in self.events if event.note_id == note_id]
        if own:
            made = undo_event(self.notes[note_id], own[-1], own, now=self.now)
            self.notes[note_id] = made.note
            self.events.append(made.event)

    def erase(self, *erased: str) -> Redaction:
        """Redact and carry it out."""
        made = redact(erased, tuple(self.notes.values()), self.events)
        for note_id in erased:
            del self.notes[note_id]
        changed = {event.id: event for event in made.events}
        self.events = [
            changed.get(event.id, event)
            for event in self.events
            if event.id not in made.dropped_events and event.note_id in self.notes
        ]
        self.notes.update({note.id: note for note in made.notes})
        return made


def own_words(*ids: str) -> History:
    """Return notes with one keyword of their own each, such as ``word-a``."""
    return History(*(sample_note(i, keywords=(f"word-{i}",)) for i in ids))


def test_words_of_the_erased_go_with_the_event_that_carried_them() -> None:
    history = History(
        sample_note("a", keywords=("secret",), tags=("hidden",), context="Secret."),
        sample_note("b", keywords=("own",)),
    )
    history.evolve("a", "b")
    assert history.erase("a") == Redaction(
        notes=(sample_note("b", keywords=("own",), revision=3),), dropped_events=("b@2",)
    )


def test_words_passed_on_go_too() -> None:
    history = own_words("a", "b", "c", "d")
    history.evolve("a", "b")
    history.evolve("b", "c")
    history.evolve("c", "d")
    made = history.erase("a")
    assert [note.keywords for note in made.notes] == [
        ("word-b",),
        ("word-c", "word-b"),
        ("word-d", "word-c", "word-b"),
    ]
    assert made.dropped_events == ("b@2",)
    assert [(event.id, event.after.keywords) for event in made.events] == [
        ("c@2", ("word-c", "word-b")),
        ("d@2", ("word-d", "word-c", "word-b")),
    ]


def test_two_notes_do_not_justify_an_erased_word_to_each_other() -> None:
    history = own_words("a", "b", "c")
    history.evolve("a", "b")
    history.evolve("b", "c")
    history.notes["b"] = replace(history.notes["b"], keywords=("word-b",))
    history.evolve("c", "b")
    history.erase("a")
    assert all("word-a" not in note.keywords for note in history.notes.values())


def test_a_word_another_survivor_lends_stays() -> None:
    history = History(
        sample_note("a", keywords=("shared",)),
        sample_note("b", keywords=("own",)),
        sample_note("c", keywords=("shared", "more")),
    )
    history.evolve("a", "b")
    history.evolve("c", "b")
    history.erase("a")
    assert history.notes["b"].keywords == ("own", "shared", "more")
    assert history.events[0].before.keywords == ("own",)


@pytest.mark.parametrize(
    "target",
    [
        sample_note("b", keywords=("shared", "own")),
        sample_note("b", "A text with the shared word in it"),
    ],
    ids=["had-it-before", "in-its-text"],
)
def test_a_word_of_the_note_itself_stays(target: Note) -> None:
    history = History(sample_note("a", keywords=("shared",)), target)
    history.evolve("a", "b")
    history.erase("a")
    assert "shared" in history.notes["b"].keywords


def test_a_word_its_user_gave_later_stays() -> None:
    history = own_words("a", "b")
    history.evolve("a", "b")
    history.revise("b", keywords=("word-a",), given=Given(keywords=("word-a",)))
    assert history.erase("a").notes == ()
    assert history.notes["b"].keywords == ("word-a",)
    assert history.events[0].before.keywords == ("word-b",)


def test_a_carried_word_does_not_survive_in_a_later_revision() -> None:
    history = own_words("a", "b")
    history.evolve("a", "b")
    history.revise("b", content="Another text about trains")
    history.erase("a")
    assert history.notes["b"].keywords == ("word-b",)
    assert [event.kind for event in history.events] == [EventKind.REVISED]
    assert history.events[0].after.content == "Another text about trains"


def test_what_an_erased_note_displaced_comes_back() -> None:
    history = History(
        sample_note("a"), sample_note("b", keywords=("x", "y"), context="Old."), sample_note("c")
    )
    history.evolve("a", "b", keywords=("z",), context="New.")
    history.evolve("c", "b", tags=("t",))
    history.erase("a")
    note = history.notes["b"]
    assert (note.keywords, note.tags, note.context) == (("x", "y"), ("t",), "Old.")


def test_a_context_a_survivor_wrote_stays_and_one_passed_on_goes() -> None:
    history = History(
        sample_note("a", context="Erased."), sample_note("b"), sample_note("c"), sample_note("d")
    )
    history.evolve("a", "b")
    history.evolve("b", "c")
    history.evolve("c", "d", context="Written anew.")
    history.erase("a")
    assert [history.notes[i].context for i in "bcd"] == ["", "", "Written anew."]


def test_undoing_and_redoing_an_erased_notes_change_leaves_nothing() -> None:
    history = own_words("a", "b")
    history.evolve("a", "b")
    history.undo_last("b")
    history.undo_last("b")
    assert "word-a" in history.notes["b"].keywords
    made = history.erase("a")
    assert history.notes["b"].keywords == ("word-b",)
    assert history.events == []
    assert made.dropped_events == ("b@2", "b@3", "b@4")


def test_links_to_the_erased_go_from_events() -> None:
    history = own_words("a", "b", "c")
    gone, kept = related("a", "b", 0.9, START), related("b", "c", 0.9, START)
    history.revise("b", content="New text", linked=(gone, kept))
    made = history.erase("a")
    assert made.notes == ()
    assert [event.linked for event in made.events] == [(kept,)]


def test_strangers_stay_as_they_are() -> None:
    history = own_words("a", "b", "c")
    history.evolve("b", "c")
    history.revise("b", content="Another text")
    assert history.erase("a") == Redaction()


IDS = "abcde"
pairs = st.tuples(st.sampled_from(IDS), st.sampled_from(IDS)).filter(lambda pair: len({*pair}) > 1)
steps = st.one_of(
    st.tuples(st.just("evolve"), pairs),
    st.tuples(st.just("undo"), st.sampled_from(IDS)),
    st.tuples(st.just("revise"), st.sampled_from(IDS)),
)


def play(script: list[tuple[str, str | tuple[str, str]]]) -> History:
    history = own_words(*IDS)
    for number, (kind, who) in enumerate(script):
        if kind == "evolve":
            history.evolve(*who)
        elif kind == "undo":
            history.undo_last(str(who))
        else:
            history.revise(str(who), content=f"Text number {number} is about trains")
    return history


@given(st.lists(steps, max_size=14), st.sets(st.sampled_from(IDS), min_size=1, max_size=3))
def test_no_trace_of_the_erased_is_left_and_nothing_else_is_lost(
    script: list[tuple[str, str | tuple[str, str]]], erased: set[str]
) -> None:
    history = play(script)
    made = history.erase(*sorted(erased))
    for trace in (*(f"word-{i}" for i in erased), *(f"trigger_id='{i}'" for i in erased)):
        assert trace not in repr((history.notes, history.events))
    for note in history.notes.values():
        assert f"word-{note.id}" in note.keywords
        own = [event for event in history.events if event.note_id == note.id]
        assert not own or own[-1].after == note.state
        assert all(a.after == b.before for a, b in pairwise(own))
    assert redact(erased, tuple(history.notes.values()), history.events) == Redaction()
    assert set(made.dropped_events).isdisjoint(event.id for event in made.events)


@given(st.lists(pairs, max_size=12), st.sampled_from(IDS))
def test_erasing_equals_never_having_been_there(script: list[tuple[str, str]], erased: str) -> None:
    def arrivals(order: list[tuple[str, str]]) -> History:
        # Each trigger lends the one word it arrived with, as an added note does.
        history = own_words(*IDS)
        for trigger, target in order:
            word = f"word-{trigger}"
            keywords = dict.fromkeys((*history.notes[target].keywords, word))
            history.evolve(trigger, target, keywords=tuple(keywords))
        return history

    history = arrivals(script)
    history.erase(erased)
    without = arrivals([pair for pair in script if erased not in pair])
    assert {i: note.keywords for i, note in history.notes.items()} == {
        i: note.keywords for i, note in without.notes.items() if i != erased
    }
