"""Readers and a writer at once, each in a process of its own, on one file or one server."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Barrier

from graphmem.evaluation.benchmark import Measurement
from graphmem.evaluation.benchmark_data import Planted, PlantedEmbedder, planted_notes
from graphmem.memory import Memory
from graphmem.opening import open_memory

READERS = 8
SECONDS = 6.0
NOTES = 2_000
SPARE = 20_000
"""Notes left for writers: more than any of them adds."""
_QUESTIONS = 50
_START_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Place:
    """The memory a crowd meets at: an address or file, and a namespace."""

    url: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Rates:
    """Calls a second: all readers together, and the writer."""

    recalls: float
    adds: float


Work = Callable[[Memory, Planted], Iterator[None]]


def measure_crowd(place: Place, store: str) -> Iterator[Measurement]:
    """Measure one reader alone, the writer alone, and all together, on a memory to be filled."""
    planted = _planted()
    with _opened(place, planted) as memory:
        memory.add_many(planted.notes[:NOTES])
    alone = Rates(_rates(place, readers=1, writers=0).recalls, _rates(place, 0, 1).adds)
    together = _rates(place, READERS, 1)
    crowd = f"{READERS} readers and a writer"
    yield Measurement(
        f"recalls a second, {crowd}",
        store,
        NOTES,
        "one reader alone; more is better",
        together.recalls,
        alone.recalls,
        unit="/s",
    )
    yield Measurement(
        f"adds a second, {crowd}",
        store,
        NOTES,
        "the writer alone; more is better",
        together.adds,
        alone.adds,
        unit="/s",
    )


def _planted() -> Planted:
    return planted_notes(NOTES + SPARE, _QUESTIONS)


def _opened(place: Place, planted: Planted) -> Memory:
    return open_memory(
        place.url,
        namespace=place.namespace,
        embedder=PlantedEmbedder(planted),
        language_model="none",
    )


def _rates(place: Place, readers: int, writers: int) -> Rates:
    """Run the crowd and count what it did within the same seconds."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(readers + writers)
    works = [_read] * readers + [_write] * writers
    ends: list[Connection] = []
    processes = []
    for work in works:
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_member, args=(place, work, start, theirs))
        process.start()
        theirs.close()
        ends.append(mine)
        processes.append(process)
    counts = [end.recv() for end in ends]
    for process in processes:
        process.join()
    return Rates(sum(counts[:readers]) / SECONDS, sum(counts[readers:]) / SECONDS)


def _member(place: Place, work: Work, start: Barrier, told: Connection) -> None:
    planted = _planted()
    with _opened(place, planted) as memory:
        for question in planted.questions:
            memory.recall(question, track=False)
        steps = work(memory, planted)
        start.wait(timeout=_START_SECONDS)
        until = time.perf_counter() + SECONDS
        done = 0
        while time.perf_counter() < until:
            next(steps)
            done += 1
        told.send(done)


def _read(memory: Memory, planted: Planted) -> Iterator[None]:
    while True:
        for question in planted.questions:
            memory.recall(question)
            yield


def _write(memory: Memory, planted: Planted) -> Iterator[None]:
    stored = memory.stats().notes
    for note in planted.notes[stored:]:
        memory.add_many([note])
        yield
