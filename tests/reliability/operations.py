"""Random operations on a memory that another memory can repeat exactly.

An operation is chosen from what a memory holds and names everything it needs, so that it
can be written to a log before it is done and be done again elsewhere.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from graphmem import GraphmemError, Link, Memory, NoteInput, NoteRecord, Source

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
MAIN, OTHER, READ = "main", "other", "read"
NAMESPACES = (MAIN, OTHER, READ)
MODELS = ("hashing-64", "hashing-96")
CROWDED = 200
"""From so many notes on, more are erased than added."""
SUBJECTS = ("ferry to Naxos", "kettle in the office", "aisle seat", "pump of line four", "choir")
VERBS = ("is late on", "was moved to", "has to be booked for", "failed again on", "is free on")
DAYS = ("Monday", "Tuesday", "Friday", "Sunday")
ENDS = ("", " now", " again", ", says the desk", " for the whole team")


class Clock:
    """A clock that both the memory and its twin are set by."""

    def __init__(self) -> None:
        self.minute = 0

    def __call__(self) -> datetime:
        return START + timedelta(minutes=self.minute)


class StoppedError(Exception):
    """Raised by a twin that repeats only the first steps of an operation."""


@dataclass(frozen=True)
class Operation:
    """What is done, where, when, and with what."""

    name: str
    namespace: str
    minute: int
    arguments: dict[str, Any]

    def after(self, steps: int) -> Operation:
        """Return what is left of a load after its first batches."""
        if self.name != "add_many" or not steps:
            return self
        size = self.arguments["batch_size"]
        rest = self.arguments["notes"][steps * size :]
        return replace(self, arguments={**self.arguments, "notes": rest})


def sentence(chance: random.Random) -> str:
    """One of a few hundred sentences, many of them nearly alike."""
    return (
        f"The {chance.choice(SUBJECTS)} {chance.choice(VERBS)} {chance.choice(DAYS)}"
        f"{chance.choice(ENDS)}"
    )


def note(chance: random.Random, number: int) -> dict[str, Any]:
    """Return the fields of a new note."""
    return {
        "content": sentence(chance),
        "id": f"n{number:06}",
        "source": f"s{number // 40 % 12}",
        "position": number % 40,
        "author": chance.choice(["Ada", "Ben", None]),
        "tags": chance.sample(["red", "blue", "green"], chance.randint(0, 2)),
    }


def choose(chance: random.Random, memory: Memory, number: int) -> Operation:
    """Choose the next operation from what the memory holds."""
    name = chance.choices(list(_CHOICES), [weight for weight, _ in _CHOICES.values()])[0]
    if memory.scoped(MAIN).stats().notes > CROWDED and name in ("add", "add_many"):
        name = "erase_source"
    namespace = OTHER if name == "drop" else READ if name == "recall" else MAIN
    if name in ("add", "add_many"):
        namespace = chance.choices(NAMESPACES, [8, 1, 2])[0]
    arguments = _CHOICES[name][1](chance, memory.scoped(namespace), number)
    if arguments is None:  # there is nothing to do it to
        return Operation("add", namespace, number, note(chance, number))
    return Operation(name, namespace, number, arguments)


Arguments = dict[str, Any] | None


def _some_id(chance: random.Random, memory: Memory) -> str | None:
    ids = [each.id for each in memory.notes(archived=True)]
    return chance.choice(ids) if ids else None


def _of_a_note(chance: random.Random, memory: Memory, number: int) -> Arguments:
    found = _some_id(chance, memory)
    return None if found is None else {"id": found}


def _many(chance: random.Random, memory: Memory, number: int) -> Arguments:
    count = chance.randint(4, 24)
    notes = [note(chance, number * 100 + index) for index in range(count)]
    return {"notes": notes, "batch_size": chance.choice([4, 8])}


def _revision(chance: random.Random, memory: Memory, number: int) -> Arguments:
    found = _some_id(chance, memory)
    if found is None:
        return None
    changed = {"content": sentence(chance)} if chance.random() < 0.7 else {"tags": ["grey"]}
    return {"id": found, **changed}


def _last_event(chance: random.Random, memory: Memory, number: int) -> Arguments:
    changed = [each.id for each in memory.notes(archived=True) if each.revision > 1]
    if not changed:
        return None
    events = memory.history(chance.choice(changed))
    return {"event_id": events[-1].id} if events else None


def _source(chance: random.Random, memory: Memory, number: int) -> Arguments:
    sources = sorted({each.source.id for each in memory.notes() if each.source is not None})
    return {"source": chance.choice(sources)} if sources else None


def _pairs(chance: random.Random, memory: Memory, number: int) -> Arguments:
    ids = [each.id for each in memory.notes()]
    return {"pairs": [chance.sample(ids, 2) for _ in range(3)]} if len(ids) > 1 else None


def _nothing(chance: random.Random, memory: Memory, number: int) -> Arguments:
    return {}


_CHOICES: dict[str, tuple[int, Callable[[random.Random, Memory, int], Arguments]]] = {
    "add": (30, lambda chance, memory, number: note(chance, number)),
    "add_many": (10, _many),
    "revise": (10, _revision),
    "undo": (10, _last_event),
    "erase": (6, _of_a_note),
    "erase_source": (2, _source),
    "archive": (4, _of_a_note),
    "restore": (4, _of_a_note),
    "feedback": (4, _of_a_note),
    "connect": (3, _pairs),
    "summarise": (3, _source),
    "rebuild": (2, _nothing),
    "maintain": (2, _nothing),
    "reindex": (1, lambda chance, memory, number: {"model": chance.choice(MODELS)}),
    "drop": (1, _nothing),
    "recall": (10, lambda chance, memory, number: {"query": sentence(chance)}),
}


def perform(memory: Memory, operation: Operation, told: Callable[[int], None]) -> list[str]:
    """Do it; return what a caller learns, or the kind of the error.

    `told` is called after each step that is stored on its own, with how many were done.
    """
    try:
        return _perform(memory.scoped(operation.namespace), operation, told)
    except GraphmemError as error:
        return [type(error).__name__]


def _perform(memory: Memory, operation: Operation, told: Callable[[int], None]) -> list[str]:
    given = operation.arguments
    match operation.name:
        case "add":
            receipt = memory.add(**_fields(given))
            return [receipt.note_id, receipt.outcome, *(event.id for event in receipt.evolved)]
        case "add_many":
            inputs = [NoteInput(**_fields(each)) for each in given["notes"]]
            batches = iter(range(1, len(inputs) + 1))
            memory.add_many(
                inputs,
                batch_size=given["batch_size"],
                progress=lambda done, total: told(next(batches)),
            )
            return []
        case "erase_source":
            return list(memory.erase(source=given["source"]).note_ids)
        case "rebuild":
            memory.rebuild(progress=lambda done, total: told(done))
            return []
        case "feedback":
            return [str(memory.feedback(given["id"], 1).feedback)]
        case "connect":
            return [repr(link.pair) for link in memory.connect(map(tuple, given["pairs"]))]
        case "maintain":
            return [str(memory.maintain().links_changed)]
        case "reindex":
            return [str(memory.reindex(given["model"]))]
        case "drop":
            return [str(memory.drop_namespace(operation.namespace))]
        case "recall":
            return [ranked.note.id for ranked in memory.recall(given["query"]).notes]
        case name:
            getattr(memory, name)(**given)
            return []


def _fields(given: dict[str, Any]) -> dict[str, Any]:
    source = Source(given["source"], position=given["position"])
    return {key: value for key, value in given.items() if key != "position"} | {"source": source}


def first_steps(steps: int) -> Callable[[int], None]:
    """Return a `told` that ends an operation after so many steps."""

    def told(done: int) -> None:
        if done >= steps:
            raise StoppedError

    return told


def state_of(memory: Memory) -> dict[str, list[object]]:
    """Return all that is stored, by namespace, without counters of use."""
    return {name: list(_items(memory.scoped(name))) for name in NAMESPACES}


def _items(memory: Memory) -> Iterator[object]:
    for item in memory.dump():
        if isinstance(item, NoteRecord):
            seen = replace(item.note, recall_count=0, last_accessed_at=item.note.created_at)
            vector = None if item.embedding is None else item.embedding.tobytes()
            yield seen, item.terms, vector
        elif isinstance(item, Link):
            yield replace(item, retrievals=0, last_retrieved_at=None)
        else:
            yield item


def damage(memory: Memory) -> list[str]:
    """Return what a check finds, but for what was derived and is merely out of date."""
    return [problem for problem in memory.check().problems if "rebuild()" not in problem]


def difference(left: Sequence[object], right: Sequence[object]) -> str:
    """Return the first item that is on one side only, in words; empty when there is none."""
    for side, ours, theirs in (("only stored", left, right), ("only expected", right, left)):
        for item in ours:
            if item not in theirs:
                return f"{side}: {item!r}"[:600]
    return "" if list(left) == list(right) else "the same items in another order"
