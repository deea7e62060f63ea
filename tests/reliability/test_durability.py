"""A writer killed at any moment: all it was told is stored is there, and nothing is half there."""

from __future__ import annotations

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from earlier_versions import FILES
from reliability.operations import (
    MAIN,
    MODELS,
    NAMESPACES,
    READ,
    Clock,
    Operation,
    StoppedError,
    damage,
    difference,
    first_steps,
    perform,
    state_of,
)
from reliability.tally import Tally
from reliability.writer import Entry, Job, fork_server, open_and_die, read_log, work

from graphmem import Memory, open_memory

PATIENCE = 60.0


@dataclass
class Twin:
    """A memory that was never disturbed, kept in step with the file by its writers' logs."""

    tally: Tally
    memory: Memory
    clock: Clock
    model: str = MODELS[0]
    number: int = 0
    uses: Counter[str] = field(default_factory=Counter)

    def follow(self, entries: list[Entry], stored: Memory) -> None:
        """Repeat what was acknowledged; what was not may be stored up to one more step."""
        expected = "before the operation that was cut off"
        for entry in entries:
            if entry.outcome is not None:
                self._repeat(entry)
        if self._agrees(stored):
            return
        for entry in entries[-1:]:
            if entry.outcome is None and entry.operation.name == "rebuild":
                self._finish_rebuilding(entry.operation, stored)
            elif entry.outcome is None:
                if entry.steps:
                    self._do(entry.operation, first_steps(entry.steps))
                    if self._agrees(stored):
                        return
                self._do(entry.operation.after(entry.steps), first_steps(1))
                expected = f"before or after {entry.operation}, {entry.steps} steps acknowledged"
        if not self._agrees(stored):
            self.tally.holds(False, f"not as {expected}: {self._difference(stored)}")
            raise AssertionError(self.tally.violations[-1])

    def _finish_rebuilding(self, operation: Operation, stored: Memory) -> None:
        """Each part of a rebuild is stored on its own: repeating it goes on where it stopped."""
        expected = self._do(operation, lambda done: None)
        again = perform(stored, operation, lambda done: None)
        self.tally.holds(again == expected, f"the rebuild again told {again}, not {expected}")

    def _repeat(self, entry: Entry) -> None:
        self.number = entry.operation.minute
        if entry.operation.name == "recall":
            return
        outcome = self._do(entry.operation, lambda done: None)
        self.tally.holds(
            outcome == entry.outcome,
            f"{entry.operation} told {entry.outcome}, an undisturbed memory {outcome}",
        )

    def _do(self, operation: Operation, told: Callable[[int], None]) -> list[str]:
        self.number = self.clock.minute = operation.minute
        if operation.name == "recall":
            return []
        if operation.name == "reindex":
            self.model = operation.arguments["model"]
        try:
            return perform(self.memory, operation, told)
        except StoppedError:
            return []

    def _agrees(self, stored: Memory) -> bool:
        return state_of(stored) == state_of(self.memory)

    def _difference(self, stored: Memory) -> str:
        ours, theirs = state_of(stored), state_of(self.memory)
        return next(filter(None, (difference(ours[n], theirs[n]) for n in NAMESPACES)), "")

    def count_uses(self, entries: list[Entry], stored: Memory) -> None:
        """Counters of use: all recalls before the last acknowledged write, at most all."""
        certain, possible = self.uses.copy(), self.uses.copy()
        for entry in entries:
            if entry.operation.name == "recall":
                possible.update(entry.outcome or ())
            elif entry.outcome is not None and wrote(entry):
                certain = possible.copy()
        open_ended = any(e.outcome is None and e.operation.name == "recall" for e in entries)
        self.uses.clear()
        for note in stored.scoped(READ).notes():
            count = self.uses[note.id] = note.recall_count
            self.tally.holds(
                certain[note.id] <= count <= possible[note.id] + open_ended,
                f"{note.id} was recalled {certain[note.id]} to {possible[note.id]} times, "
                f"the file says {count}",
            )


def left_by(entries: list[Entry], model: str) -> str:
    """Return the model of a file after these operations on a file of that model."""
    changes = [e for e in entries if e.operation.name == "reindex" and e.outcome is not None]
    return changes[-1].operation.arguments["model"] if changes else model


WRITES = ("add", "add_many", "revise", "archive", "feedback", "erase", "erase_source")
"""What surely changes the file, as long as it tells no error."""


def wrote(entry: Entry) -> bool:
    """Whether the entry surely changed the file, so that pending counters went with it."""
    refused = len(entry.outcome or ()) == 1 and (entry.outcome or [""])[0][:1].isupper()
    if entry.operation.name in ("archive", "revise", "add_many") or refused:
        return False  # may find nothing to change
    return entry.operation.name in WRITES and "unchanged" not in (entry.outcome or ())


def run_and_kill(job: Job, pause: float) -> list[Entry]:
    """Let a writer work for a while from its first operation on, unless it kills itself."""
    process = fork_server().Process(target=work, args=(job,))
    process.start()
    log, deadline = Path(job.log), time.monotonic() + PATIENCE
    while process.is_alive() and not read_log(log) and time.monotonic() < deadline:
        time.sleep(0.002)
    process.join(PATIENCE if job.statements else pause)
    process.kill()
    process.join()
    assert process.exitcode == -9, f"the writer ended by itself: {process.exitcode}"
    return read_log(log)


def test_a_killed_writer_loses_nothing_and_leaves_nothing_half(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count = tally("writer killed, embedded")
    chance = random.Random(20261130)
    path, clock = tmp_path / "killed.graphmem", Clock()
    done: Counter[str] = Counter()
    with open_memory(":memory:", embedder=MODELS[0], clock=clock, namespace="main") as undisturbed:
        twin = Twin(count, undisturbed, clock)
        for round_ in range(amount(60, 1000)):
            inside = round_ % 2 == 0
            job = Job(
                path=str(path),
                log=str(tmp_path / f"{round_}.log"),
                model=twin.model,
                seed=chance.randrange(2**32),
                first=twin.number,
                statements=chance.randint(1, 1500) if inside else 0,
            )
            entries = run_and_kill(job, 0.0 if inside else chance.uniform(0.0, 0.3))
            count.faults += 1
            count.operations += len(entries)
            done.update(entry.operation.name for entry in entries)
            model = left_by(entries, twin.model)
            with open_memory(path, embedder=model, namespace="main", clock=clock) as stored:
                twin.follow(entries, stored)
                twin.count_uses(entries, stored)
                for name in NAMESPACES if round_ % 10 == 9 else (MAIN,):
                    found = damage(stored.scoped(name))
                    count.holds(not found, f"check of {name} after kill {round_}: {found}")
    count.remark(f"{len(done)} kinds of operations")


OPENING = 60
"""More SQL statements than it takes to make or migrate a file."""


@pytest.mark.parametrize("old", [None, *FILES])
def test_a_file_killed_while_it_was_made_or_migrated_is_made_whole_by_the_next(
    tmp_path: Path,
    tally: Callable[[str], Tally],
    amount: Callable[[int, int], int],
    old: Path | None,
) -> None:
    count = tally("opening killed, new file" if old is None else f"opening killed, {old.stem}")
    whole = tmp_path / "whole.graphmem"
    if old is not None:
        shutil.copy(old, whole)
    with open_memory(whole, embedder=MODELS[0]) as memory:
        expected = [str(item) for item in memory.dump()]
    for statement in range(1, OPENING, amount(4, 1)):
        path = tmp_path / f"{statement}.graphmem"
        if old is not None:
            shutil.copy(old, path)
        process = fork_server().Process(target=open_and_die, args=(str(path), statement))
        process.start()
        process.join()
        with open_memory(path, embedder=MODELS[0]) as memory:
            found = [str(item) for item in memory.dump()]
            count.holds(found == expected, f"killed before statement {statement}: {found}")
            count.holds(not damage(memory), f"{statement}: {damage(memory)}")
        count.operations += 2
        if process.exitcode == 0:
            break
        count.faults += 1
    assert process.exitcode == 0, "the last one was not killed: the whole opening was tried"
