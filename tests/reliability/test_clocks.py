"""A clock that jumps back and forth, and times of every kind of zone."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from reliability.operations import (
    MAIN,
    MODELS,
    NAMESPACES,
    START,
    Clock,
    choose,
    damage,
    difference,
    perform,
    state_of,
)
from reliability.sites import Site
from reliability.tally import Tally

from graphmem import LinkKind, Memory, NoteInput, Source, open_memory

QUESTION = "Which ferry is late on Monday?"


class JumpingClock(Clock):
    """At each minute it shows some time within six years, the same for all who ask."""

    def __call__(self) -> datetime:
        return START + timedelta(seconds=random.Random(self.minute).randint(-(10**8), 10**8))


def live_through(memory: Memory, twin: Memory, clock: Clock, steps: range, tally: Tally) -> None:
    """Do the same on both; an operation of one store must not depend on the clock's order."""
    chance = random.Random(steps.start)
    for number in steps:
        clock.minute = number
        operation = choose(chance, twin, number)
        if operation.name in ("reindex", "drop"):
            continue
        expected = perform(twin, operation, lambda done: None)
        told = perform(memory, operation, lambda done: None)
        tally.operations += 1
        if operation.name != "recall":
            tally.holds(told == expected, f"{operation} told {told}, the other {expected}")


def examine(memory: Memory, twin: Memory, tally: Tally) -> None:
    stored, expected = state_of(memory), state_of(twin)
    for name in NAMESPACES:
        if stored[name] != expected[name]:
            tally.holds(False, f"{name}: {difference(stored[name], expected[name])}")
        scoped = memory.scoped(name)
        for note in scoped.notes(archived=True):
            # An erasure takes the events that the erased notes triggered with it.
            events = [event.revision for event in scoped.history(note.id)]
            ordered = events == sorted(set(events)) and max(events, default=0) <= note.revision
            tally.holds(ordered, f"{note.id} at revision {note.revision} has events of {events}")
        tally.holds(not damage(scoped), f"check of {name}: {damage(scoped)}")


def count_recalls(memory: Memory, clock: Clock, rounds: int, tally: Tally) -> None:
    """Counters add up, the last access is the latest one, and no score leaves its range."""
    times: Counter[str] = Counter({note.id: note.recall_count for note in memory.notes()})
    latest = {note.id: note.last_accessed_at for note in memory.notes()}
    for number in range(rounds):
        clock.minute = 10_000 + number
        found = memory.recall(QUESTION, limit=5)
        for ranked in found.notes:
            times[ranked.note.id] += 1
            latest[ranked.note.id] = max(latest[ranked.note.id], clock())
            inside = all(0.0 <= value <= 1.0 for value in ranked.contributions.values())
            tally.holds(inside, f"{ranked.note.id}: {dict(ranked.contributions)}")
        tally.operations += 1
    for note in memory.notes():
        tally.holds(note.recall_count == times[note.id], f"{note.id}: {note.recall_count} recalls")
        tally.holds(note.last_accessed_at == latest[note.id], f"{note.id}: last access")
    memory.maintain(at=START - timedelta(days=3650))
    weights = [link.weight for note in memory.notes() for link in memory.links(note.id)]
    tally.holds(all(0.0 <= weight <= 1.0 for weight in weights), "a weight left its range")


def test_a_clock_that_jumps_back_breaks_no_order(
    site: Site, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, clock = tally(f"jumping clock, {site.kind}"), JumpingClock()
    steps = amount(8, 150) if site.auth else amount(40, 400)
    with ExitStack() as stack:
        twin = stack.enter_context(
            open_memory(":memory:", embedder=MODELS[0], namespace=MAIN, clock=clock)
        )
        for part in range(2):  # what one process wrote, another goes on with
            with site.open(MODELS[0], clock=clock) as memory:
                steps_now = range(1 + part * steps, 1 + (part + 1) * steps)
                live_through(memory, twin, clock, steps_now, count)
                examine(memory, twin, count)
        with site.open(MODELS[0], clock=clock) as memory:
            count_recalls(memory, clock, amount(5, 50), count)


def test_a_source_is_in_order_of_its_positions_whatever_the_clock_says(site: Site) -> None:
    clock = JumpingClock()
    with site.open(MODELS[0], clock=clock) as memory:
        for position in (3, 1, 2):
            clock.minute = position
            memory.add(
                f"Turn {position} of it", id=f"t{position}", source=Source("s", position=position)
            )
        links = memory.neighbourhood("t2").links
        chain = [link.pair for link in links if link.kind is LinkKind.FOLLOWS]
    assert chain == [("t2", "t1"), ("t3", "t2")]


BERLIN, KIRITIMATI = ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Kiritimati")
MOMENTS = {
    "first of the hour that comes twice": (
        datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN),
        datetime(2025, 10, 26, 0, 30, tzinfo=UTC),
    ),
    "second of it": (
        datetime(2025, 10, 26, 2, 30, tzinfo=BERLIN, fold=1),
        datetime(2025, 10, 26, 1, 30, tzinfo=UTC),
    ),
    "in the hour that is left out": (
        datetime(2025, 3, 30, 2, 30, tzinfo=BERLIN),
        datetime(2025, 3, 30, 1, 30, tzinfo=UTC),
    ),
    "a day ahead": (
        datetime(2025, 1, 1, 0, 30, 0, 1, tzinfo=KIRITIMATI),
        datetime(2024, 12, 31, 10, 30, 0, 1, tzinfo=UTC),
    ),
    "an offset with seconds": (
        datetime(1890, 1, 1, 12, tzinfo=timezone(timedelta(minutes=53, seconds=28))),
        datetime(1890, 1, 1, 11, 6, 32, tzinfo=UTC),
    ),
}


def test_zones_folds_and_gaps_name_one_moment(site: Site) -> None:
    with site.open(MODELS[0]) as memory:
        memory.add_many(
            NoteInput(f"It was {name} {uuid.uuid4()}", id=name, created_at=given)
            for name, (given, _) in MOMENTS.items()
        )
        for name, (given, moment) in MOMENTS.items():
            assert memory.get(name).created_at == moment
            assert memory.get(name).created_at.utcoffset() == timedelta(0)
            from_then_on = {note.id for note in memory.notes(since=given)}
            assert from_then_on == {n for n, (_, other) in MOMENTS.items() if other >= moment}
            until_then = {note.id for note in memory.notes(until=given)}
            assert until_then == MOMENTS.keys() - from_then_on
