"""Readers and a writer at once, each in a process of its own, on one file or one server."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from threading import Barrier

from graphmem.evaluation.benchmark.data import Planted, PlantedEmbedder, planted_notes
from graphmem.evaluation.benchmark.measurement import Measurement
from graphmem.memory import Memory
from graphmem.opening import open_memory

READERS = 8
SECONDS = 6.0
"""How long each crowd is measured."""
NOTES = 2_000
MOST_ADDS = 1_000
"""Notes held ready for each second of writing: more than a writer adds."""
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


def measure_crowd(
    place: Place,
    store: str,
    *,
    notes: int = NOTES,
    readers: int = READERS,
    seconds: float = SECONDS,
) -> Iterator[Measurement]:
    """Measure one reader alone, the writer alone, and all together, on a memory to be filled."""
    crowd = Crowd(place, notes, seconds)
    planted = crowd.planted
    with crowd.open(planted) as memory:
        memory.add_many(planted.notes[:notes])
    reader, writer = crowd.rates(1, 0), crowd.rates(0, 1)
    together = crowd.rates(readers, 1)
    who = f"{readers} readers and a writer"
    yield Measurement(
        f"recalls a second, {who}",
        store,
        notes,
        "one reader alone; more is better",
        together.recalls,
        reader.recalls,
        unit="/s",
    )
    yield Measurement(
        f"adds a second, {who}",
        store,
        notes,
        "the writer alone; more is better",
        together.adds,
        writer.adds,
        unit="/s",
    )


@dataclass(frozen=True, slots=True)
class Crowd:
    """Where a crowd meets, at how many notes, and for how long."""

    place: Place
    notes: int
    seconds: float

    @property
    def planted(self) -> Planted:
        """The same notes in every process, those to be added by a writer last."""
        return planted_notes(self.notes + int(3 * MOST_ADDS * self.seconds), _QUESTIONS)

    def open(self, planted: Planted) -> Memory:
        """Open the memory the crowd meets at."""
        return open_memory(
            self.place.url,
            namespace=self.place.namespace,
            embedder=PlantedEmbedder(planted),
            language_model="none",
        )

    def rates(self, readers: int, writers: int) -> Rates:
        """Run readers and writers and count what they do within the same seconds."""
        context = multiprocessing.get_context("spawn")
        start = context.Barrier(readers + writers)
        works = [_read] * readers + [_write] * writers
        ends: list[Connection] = []
        processes = []
        for work in works:
            mine, theirs = context.Pipe(duplex=False)
            process = context.Process(target=_member, args=(self, work, start, theirs))
            process.start()
            theirs.close()
            ends.append(mine)
            processes.append(process)
        counts = [end.recv() for end in ends]
        for process in processes:
            process.join()
        recalls, adds = sum(counts[:readers]), sum(counts[readers:])
        return Rates(recalls / self.seconds, adds / self.seconds)


def _member(crowd: Crowd, work: Work, start: Barrier, told: Connection) -> None:
    planted = crowd.planted
    with crowd.open(planted) as memory:
        for question in planted.questions:
            memory.recall(question, track=False)
        steps = work(memory, planted)
        start.wait(timeout=_START_SECONDS)
        until = time.perf_counter() + crowd.seconds
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
