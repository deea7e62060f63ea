"""Taking out of surviving notes what evolution carried into them from erased ones.

The histories of the survivors are replayed as if the erased notes had never been. A
keyword, tag or context stands when the note's own beginning, its user, its own text or a
surviving note that had it rightly accounts for it; words that reached a note only from an
erased one go, over any number of notes in between, and out of the events as well.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from graphmem.algorithms.remembering import remembered
from graphmem.algorithms.text import tokens
from graphmem.model import EventKind, EvolutionEvent, Note, NoteState


@dataclass(frozen=True, slots=True)
class Redaction:
    """What an erasure changes in surviving notes.

    Attributes
    ----------
    notes
        Notes whose words change, with one revision more.
    events
        Events that stay with another content, under their old ids.
    dropped_events
        Ids of events that go: those an erased note triggered, and those that change
        nothing any more.
    """

    notes: tuple[Note, ...] = ()
    events: tuple[EvolutionEvent, ...] = ()
    dropped_events: tuple[str, ...] = ()


def redact(
    erased_ids: Collection[str], notes: Sequence[Note], events: Sequence[EvolutionEvent]
) -> Redaction:
    """Return what has to change in `notes` and `events` when `erased_ids` go.

    Parameters
    ----------
    erased_ids
        The notes to erase.
    notes
        Surviving notes the words may have reached: those in which an erased note
        triggered an event, those in which these triggered one, and so on; and those whose
        events name an erased note in their links. Erased notes among them are ignored.
    events
        All events of `notes`.

    Returns
    -------
    Redaction
        Notes ordered by id, events by (note id, revision). Every note's state still is
        what its last event left.
    """
    erased = frozenset(erased_ids)
    histories = _histories([note for note in notes if note.id not in erased], events)
    replays = _replays(histories, erased)
    changed = tuple(
        _with_words(history.note, replays[history.note.id].final)
        for history in histories
        if _Words.of(history.note.state) != replays[history.note.id].final
    )
    rewritten: list[EvolutionEvent] = []
    dropped: list[str] = []
    for history in histories:
        for event in history.events:
            clean = replays[history.note.id].events.get(event.id)
            if clean is None:
                dropped.append(event.id)
            elif clean != event:
                rewritten.append(clean)
    return Redaction(changed, tuple(rewritten), tuple(dropped))


@dataclass(frozen=True, slots=True)
class _History:
    """A note and its events in order of revision."""

    note: Note
    events: tuple[EvolutionEvent, ...]

    @property
    def states(self) -> tuple[NoteState, ...]:
        """Every state the note is known to have had, first to last."""
        if not self.events:
            return (self.note.state,)
        after = (event.after for event in self.events)
        return (self.events[0].before, *after, self.note.state)


@dataclass(frozen=True, slots=True)
class _Words:
    """The part of a state that evolution writes."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str

    @classmethod
    def of(cls, state: NoteState) -> _Words:
        return cls(state.keywords, state.tags, state.context)

    @property
    def all(self) -> frozenset[str]:
        """Every keyword, tag and the context, as compared between notes."""
        return frozenset(map(_key, (*self.keywords, *self.tags, self.context)))


@dataclass(frozen=True, slots=True)
class _Replay:
    """A note's history without the erased notes: events by id, the last words, all words."""

    events: Mapping[str, EvolutionEvent]
    final: _Words
    ever: frozenset[str]


def _histories(notes: Sequence[Note], events: Sequence[EvolutionEvent]) -> tuple[_History, ...]:
    by_note: dict[str, list[EvolutionEvent]] = {note.id: [] for note in notes}
    for event in sorted(events, key=lambda event: event.revision):
        if event.note_id in by_note:
            by_note[event.note_id].append(event)
    ordered = sorted(notes, key=lambda note: note.id)
    return tuple(_History(note, tuple(by_note[note.id])) for note in ordered)


_Sources = Mapping[str, frozenset[str]]
"""Words by the id of the note that has them."""


def _replays(histories: Sequence[_History], erased: frozenset[str]) -> Mapping[str, _Replay]:
    """Replay all histories until it is settled which note has which word rightly.

    The sets of rightful words start empty and only grow: two notes that hold a word only
    from each other never justify it.
    """
    stained: _Sources = {
        history.note.id: frozenset().union(*(_Words.of(state).all for state in history.states))
        for history in histories
    }
    rightful: _Sources = {history.note.id: frozenset() for history in histories}
    while True:
        replays = {
            history.note.id: _replay(history, erased, stained, rightful) for history in histories
        }
        settled = {i: rightful[i] | replay.ever for i, replay in replays.items()}
        if settled == rightful:
            return replays
        rightful = settled


def _replay(
    history: _History, erased: frozenset[str], stained: _Sources, rightful: _Sources
) -> _Replay:
    states = history.states
    words = _Words.of(states[0])
    ever = words.all
    events: dict[str, EvolutionEvent] = {}
    for event in history.events:
        if event.trigger_id in erased:
            continue
        carried = _carried(event, stained, rightful, ever)
        before, words = words, _moved(words, event.before, event.after, carried)
        ever |= words.all
        clean = _rewritten(event, before, words, erased)
        if clean == event or _changes_something(clean):
            events[event.id] = clean
    if history.events:
        words = _moved(words, history.events[-1].after, history.note.state, _Carried())
    return _Replay(events, words, ever | words.all)


@dataclass(frozen=True, slots=True)
class _Carried:
    """How far an event may bring in words: only `allowed`, or all but `refused`."""

    allowed: frozenset[str] | None = None
    refused: frozenset[str] = frozenset()
    offered: frozenset[str] = frozenset()

    def admits(self, word: str) -> bool:
        """Whether a word the event added may stand."""
        key = _key(word)
        return key not in self.refused and (self.allowed is None or key in self.allowed)

    def offers(self, word: str) -> bool:
        """Whether the event would have added a word that stood there already."""
        return _key(word) in self.offered


def _carried(
    event: EvolutionEvent, stained: _Sources, rightful: _Sources, ever: frozenset[str]
) -> _Carried:
    if event.kind is EventKind.UNDONE:
        # It brings an earlier state back, and no more than what was rightful in it.
        return _Carried(allowed=ever)
    trigger = event.trigger_id
    if trigger is None or trigger not in stained:
        return _Carried()
    return _Carried(refused=stained[trigger] - rightful[trigger], offered=rightful[trigger])


def _moved(words: _Words, before: NoteState, after: NoteState, carried: _Carried) -> _Words:
    """Apply the change from `before` to `after` to `words` instead of to `before`."""
    given = after.given
    context = words.context
    said = () if given.context is None else (given.context,)
    new = after.context != before.context and carried.admits(after.context)
    if new or _own(after.context, after, said):
        context = after.context
    return _Words(
        _merged(words.keywords, before.keywords, after, after.keywords, given.keywords, carried),
        _merged(words.tags, before.tags, after, after.tags, given.tags, carried),
        context,
    )


def _merged(
    words: tuple[str, ...],
    before: tuple[str, ...],
    state: NoteState,
    after: tuple[str, ...],
    given: tuple[str, ...] | None,
    carried: _Carried,
) -> tuple[str, ...]:
    """Return `after` without what came in unrightfully, then what only the erased displaced."""
    kept = [
        word
        for word in after
        if word in words
        or _own(word, state, given or ())
        or carried.offers(word)
        or (word not in before and carried.admits(word))
    ]
    displaced = [word for word in words if word not in before and word not in kept]
    return (*kept, *displaced)


def _own(word: str, state: NoteState, given: tuple[str, ...]) -> bool:
    """Whether a word is the note's own: given by its user, or standing in its text."""
    if word in given:
        return True
    parts = _token_set(word)
    return bool(parts) and parts <= _token_set(state.content)


@remembered(512)
def _token_set(text: str) -> frozenset[str]:
    return frozenset(tokens(text))


def _key(word: str) -> str:
    return word.casefold().strip()


def _rewritten(
    event: EvolutionEvent, before: _Words, after: _Words, erased: frozenset[str]
) -> EvolutionEvent:
    return replace(
        event,
        before=_in_state(event.before, before),
        after=_in_state(event.after, after),
        linked=tuple(link for link in event.linked if erased.isdisjoint(link.pair)),
        unlinked=tuple(link for link in event.unlinked if erased.isdisjoint(link.pair)),
    )


def _changes_something(event: EvolutionEvent) -> bool:
    return event.before != event.after or bool(event.linked) or bool(event.unlinked)


def _in_state(state: NoteState, words: _Words) -> NoteState:
    return replace(state, keywords=words.keywords, tags=words.tags, context=words.context)


def _with_words(note: Note, words: _Words) -> Note:
    return replace(
        note,
        keywords=words.keywords,
        tags=words.tags,
        context=words.context,
        revision=note.revision + 1,
    )
