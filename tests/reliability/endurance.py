"""A process under a mixed load, and what it measures of itself meanwhile."""

from __future__ import annotations

import gc
import json
import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from reliability.operations import START
from reliability.sites import Site

from graphmem import GraphmemError, Memory, Note, NoteInput, NoteRecord, NotFound, Source

MODEL = "hashing-384"
THREADS = 2
WORDS = [f"{start}{end}" for start in ("ka", "ro", "mi", "tu", "se") for end in range(400)]
PAGE = os.sysconf("SC_PAGESIZE")


@dataclass
class Sample:
    """What the process holds at one moment, in bytes and in open files."""

    second: float
    memory: int
    handles: int


@dataclass
class Account:
    """What was done, how long each recall took and when, and what went wrong."""

    operations: int = 0
    samples: list[Sample] = field(default_factory=list)
    recalls: list[tuple[float, float]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Account:
        found = json.loads(path.read_text())
        found["samples"] = [Sample(**each) for each in found["samples"]]
        return cls(**found)

    def p95(self, start: float, end: float) -> float:
        """Return the 95th percentile of the recalls begun between two moments, in seconds."""
        taken = sorted(took for began, took in self.recalls if start <= began < end)
        return taken[int(0.95 * len(taken))] if taken else float("nan")


def text(chance: random.Random, number: int) -> str:
    """Twelve words, rare ones and one that no other note has among them."""
    words = [WORDS[int(len(WORDS) * chance.random() ** 2)] for _ in range(11)]
    return f"{' '.join(words)} w{number}"


def load(memory: Memory, size: int) -> None:
    """Fill a memory quickly: without links, which writes make later."""
    chance = random.Random(size)
    for first in range(0, size, 5000):
        memory.load(_record(chance, number) for number in range(first, min(first + 5000, size)))


def _record(chance: random.Random, number: int) -> NoteRecord:
    moment = START + timedelta(seconds=number)
    note = Note(
        id=f"n{number}",
        namespace="main",
        content=text(chance, number),
        role="user",
        author=chance.choice(["Ada", "Ben"]),
        source=Source(f"s{number // 30}", position=number % 30),
        created_at=moment,
        keywords=(),
        tags=(WORDS[number % 50],),
        context="",
        importance=0.5,
        metadata={},
        last_accessed_at=moment,
    )
    return NoteRecord(note, (), None)


def endure(site: Site, size: int, seconds: float, result: str) -> None:
    """Put a full memory under a mixed load for so long; write the account to a file."""
    account = Account()
    with site.open(MODEL, lambda: datetime.now(UTC)) as memory:
        memory.recall(WORDS[0])
        for _ in memory.notes():  # what is kept of notes once read is kept from here on
            pass
        began = time.monotonic()
        threads = [
            threading.Thread(target=_work, args=(memory, size, name, began, seconds, account))
            for name in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        while time.monotonic() - began < seconds:
            account.samples.append(_sample(began))
            time.sleep(seconds / 60)
        for thread in threads:
            thread.join()
    account.write(Path(result))


def _sample(began: float) -> Sample:
    gc.collect()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
    return Sample(time.monotonic() - began, resident, len(list(Path("/proc/self/fd").iterdir())))


def _work(
    memory: Memory, size: int, name: int, began: float, seconds: float, account: Account
) -> None:
    """Do one thing after the other; as many notes come as go."""
    chance, numbers = random.Random(name), count(size + name, THREADS)
    own: list[str] = []
    actions = _actions(memory, chance, numbers, own, size)
    weights = [weight for weight, _ in actions]
    while (moment := time.monotonic()) - began < seconds:
        ((_, action),) = chance.choices(actions, weights)
        account.operations += 1
        try:
            action()
        except NotFound:
            pass  # the other thread erased it
        except GraphmemError as error:
            account.faults.append(f"{action.__name__}: {type(error).__name__}: {error}")
        if action.__name__ == "recall":
            account.recalls.append((moment - began, time.monotonic() - moment))


def _actions(
    memory: Memory, chance: random.Random, numbers: count[int], own: list[str], size: int
) -> list[tuple[int, Callable[[], object]]]:
    def some() -> str:
        return f"n{chance.randrange(size)}"

    def recall() -> None:
        memory.recall(" ".join(chance.sample(WORDS, 4)))

    def add() -> None:
        number = next(numbers)
        base = memory.get(some()).content if chance.random() < 0.5 else text(chance, number)
        own.append(f"n{number}")
        memory.add(f"{base} w{number}", id=own[-1], source=Source(f"t{number // 30}"))
        if len(own) > 50:
            memory.erase(id=own.pop(chance.randrange(len(own))))

    def add_many() -> None:
        batch = Source(f"batch{next(numbers)}")
        memory.add_many(NoteInput(text(chance, next(numbers)), source=batch) for _ in range(8))
        memory.erase(source=batch.id)

    def revise() -> None:
        memory.revise(some(), content=text(chance, next(numbers)))

    def look() -> None:
        found = some()
        memory.links(found)
        memory.neighbourhood(found)
        memory.history(found)

    def rate() -> None:
        memory.feedback(some(), chance.choice([1, -1]))

    def hide() -> None:
        found = some()
        memory.archive(found)
        memory.restore(found)

    return [(60, recall), (14, add), (2, add_many), (6, revise), (10, look), (6, rate), (2, hide)]
