"""A process that writes to an embedded file, for tests that run or kill several.

``python -m embedded_worker PATH NAME BATCHES`` writes batches of three linked notes, one
plan each, and prints a batch's number once the store has acknowledged it.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from itertools import count, islice

from contract.builders import MODEL, T0, change, link, make_event, make_note, new, unit

from graphmem.model import NoteWrite, Scope, WritePlan
from graphmem.ports import ScopeReader
from graphmem.stores.embedded.store import NetworkXStore

SCOPE = Scope("shared")
SIZE = 3


def ids_of(name: str, batch: int) -> list[str]:
    return [f"{name}-{batch:05}-{index}" for index in range(SIZE)]


def batch_plan(reader: ScopeReader, name: str, batch: int) -> WritePlan:
    """Notes linked in a ring, and a counter note that every writer changes."""
    notes = [
        make_note(id_, SCOPE.namespace, source=name, position=batch * SIZE + index)
        for index, id_ in enumerate(ids_of(name, batch))
    ]
    counter = reader.notes(["counter"]).get("counter")
    if counter is None:
        tally: NoteWrite = new(make_note("counter", SCOPE.namespace), unit(0), ["counter"])
        events = ()
    else:
        tally = change(counter, None, ["counter"], feedback=counter.feedback + 1)
        made = make_event(counter, counter.revision + 1)
        events = (replace(made, before=counter.state, after=tally.note.state, at=T0),)
    first, second, third = (note.id for note in notes)
    return WritePlan(
        notes=(*(new(note, unit(batch), ["word", note.id]) for note in notes), tally),
        links=(link(first, second), link(first, third), link(second, third)),
        events=events,
        model=MODEL,
    )


def main(path: str, name: str, batches: int) -> None:
    with_numbers = islice(count(), batches) if batches else count()
    store = NetworkXStore.open(path)
    for batch in with_numbers:
        store.write(SCOPE, lambda reader, batch=batch: batch_plan(reader, name, batch))
        sys.stdout.write(f"{batch}\n")
        sys.stdout.flush()
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
