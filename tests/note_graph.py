"""A small note graph with two groups, a bridge between them, a source, changes and recalls."""

from __future__ import annotations

from contract.builders import MODEL, later, link, make_event, make_note, new, unit

from graphmem.model import Disagreement, DisagreementKind, Scope, Use, WritePlan, supersedes
from graphmem.ports import NoteStore

TEXTS = {
    "a": "I always take an aisle seat on flights over three hours.",
    "b": "Window seats make me feel trapped, even on short flights.",
    "c": "Ben wants the window seat to Porto, he likes to see the mountains.",
    "d": "Ben walks in the mountains every September, this year in the Serra da Estrela.",
    "e": "The hut below Torre takes bookings from the first of May.",
    "f": "Book the hut early, it has only twelve beds.",
    "g": "The neighbour waters the plants.",
}
LINKS = (
    link("a", "b", 0.97), link("a", "c", 0.8), link("b", "c", 0.79), link("c", "d", 0.73),
    link("d", "e", 0.9), link("d", "f", 0.86), link("e", "f", 0.74),
)  # fmt: skip
CHANGE = supersedes("b", "a", 0.97, None, Disagreement(DisagreementKind.NEGATION, "aisle", "no"))
SOURCE = "talk"


def fill(store: NoteStore, namespace: str) -> None:
    """Two triangles, a-b-c and d-e-f, and a bridge c-d; g lies alone; a was changed twice."""
    scope = Scope(namespace)
    notes = [
        make_note(
            name, namespace, content=text, source=SOURCE, position=index, author="Ada",
            created_at=later(index), importance=index / 10,
        )
        for index, (name, text) in enumerate(TEXTS.items())
    ]  # fmt: skip
    plan = WritePlan(
        notes=tuple(new(note, unit(index), ("seat",)) for index, note in enumerate(notes)),
        links=(*LINKS, CHANGE),
        events=(make_event(notes[0], 2, trigger="b"), make_event(notes[0], 3)),
        model=MODEL,
    )
    store.write(scope, lambda reader: plan)
    store.record_use(scope, Use(("e",), (), later(50)))
    store.record_use(scope, Use(("a", "b"), (("a", "b"),), later(60)))
