"""A process that works on an embedded file until it is killed, and keeps a log of it.

Every operation is logged before it is begun, after each of its steps, and when it was
acknowledged. What was written to the log survives the process.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
from dataclasses import asdict, dataclass
from multiprocessing.context import ForkServerContext
from pathlib import Path

from reliability.operations import MODELS, Clock, Operation, choose, perform

from graphmem import open_memory
from graphmem.stores.embedded import journal

TESTS = str(Path(__file__).parents[1])


@dataclass(frozen=True)
class Job:
    """What a writer is to do: where, from which seed, and when to kill itself.

    `statements` is the number of the SQL statement before which it does; 0 leaves it to
    others.
    """

    path: str
    log: str
    model: str
    seed: int
    first: int
    statements: int = 0


def work(job: Job) -> None:
    """Do random operations, one after the other, until killed."""
    log = os.open(job.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def say(**fields: object) -> None:
        os.write(log, (json.dumps(fields) + "\n").encode())

    if job.statements:
        die_before(job.statements)
    clock = Clock()
    chance = random.Random(job.seed)
    with open_memory(job.path, embedder=job.model, clock=clock, namespace="main") as memory:
        number = job.first
        while True:
            number += 1
            clock.minute = number
            operation = choose(chance, memory, number)
            say(begin=asdict(operation))
            outcome = perform(memory, operation, lambda done: say(step=done))
            say(done=outcome)


def open_and_die(path: str, statements: int) -> None:
    """Open a file, which makes or migrates it, and die before that SQL statement."""
    die_before(statements)
    with open_memory(path, embedder=MODELS[0]) as memory:
        memory.stats()


def die_before(statements: int) -> None:
    """Kill this process before the so-manieth SQL statement of the next connection."""
    connect = journal._connect

    def connect_and_count(place: str, wait: float) -> sqlite3.Connection:
        left = iter(range(statements, -1, -1))

        def count(statement: str) -> None:
            if next(left) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        connection = connect(place, wait)
        connection.set_trace_callback(count)
        return connection

    journal._connect = connect_and_count


@dataclass
class Entry:
    """One operation of a log: how many steps were acknowledged, and its outcome, if it was."""

    operation: Operation
    steps: int = 0
    outcome: list[str] | None = None


def read_log(path: Path) -> list[Entry]:
    """Return what a writer began, in order; only the last may have no outcome."""
    entries: list[Entry] = []
    for line in path.read_text().splitlines() if path.exists() else ():
        said = json.loads(line)
        if "begin" in said:
            entries.append(Entry(Operation(**said["begin"])))
        elif "step" in said:
            entries[-1].steps = said["step"]
        else:
            entries[-1].outcome = said["done"]
    return entries


def fork_server() -> ForkServerContext:
    """Return what starts processes that have graphmem imported already."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The fork server imports what is to be preloaded before it is told where modules are.
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([TESTS, *filter(None, paths)]))
    context = ForkServerContext()
    context.set_forkserver_preload(["reliability.preloaded", "reliability.writer"])
    return context
