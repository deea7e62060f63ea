"""Upkeep killed at any moment: the old vectors stay, or the new are whole; migrations are ended."""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from earlier_versions import (
    GRAPHS,
    graph_of,
    holdings,
    holdings_of_graph,
    plant,
    vectors,
    vectors_of_graph,
)
from earlier_versions import MODEL as OLD_MODEL
from neo4j_server.console import console
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from reliability.operations import (
    MAIN,
    MODELS,
    NAMESPACES,
    OTHER,
    Clock,
    damage,
    difference,
    sentence,
    state_of,
)
from reliability.sites import Site, change_model, open_until_killed
from reliability.tally import Tally
from reliability.writer import fork_server

from graphmem import EmbeddingMismatch, Memory, NoteInput, Source, open_memory

NOTES, ALIKE = 520, 40
"""Notes in a full run, more than a page of either store; so many of them are linked."""
STATEMENTS = 60
"""More than it takes to open a store and change its model."""
QUESTION = "Which ferry is late on Monday?"


@pytest.fixture
def undisturbed(amount: Callable[[int, int], int]) -> Iterator[Memory]:
    """A memory with notes in two namespaces that is never killed."""
    chance = random.Random(7)
    with open_memory(":memory:", embedder=MODELS[0], namespace=MAIN, clock=Clock()) as memory:
        for name, count in ((MAIN, amount(60, NOTES)), (OTHER, 40)):
            memory.scoped(name).add_many(
                NoteInput(
                    f"{sentence(chance)} {number}" if number < ALIKE else scattered(chance),
                    id=f"n{number:04}",
                    source=Source(f"s{number % 5}", position=number),
                )
                for number in range(count)
            )
        yield memory


def scattered(chance: random.Random) -> str:
    """Words that no other note has, so that it is linked with none."""
    return " ".join(f"{chance.getrandbits(32):x}" for _ in range(5))


@dataclass
class Changes:
    """Changes of the model of one store, killed, looked at and done again."""

    site: Site
    twin: Memory
    tally: Tally
    folder: Path
    model: str = MODELS[0]

    def fill(self) -> None:
        with self.site.open(self.model) as memory:
            for name in NAMESPACES:
                memory.scoped(name).load(self.twin.scoped(name).dump())

    def kill(self, number: int, pause: float, statements: int) -> None:
        """Begin a change, kill it, and see that it was whole or not at all; then repeat it."""
        new = MODELS[1 - MODELS.index(self.model)]
        before, unchanged = state_of(self.twin), found(self.twin)
        killed = self.begin(new, number, pause, statements)
        self.tally.operations += 2
        self.tally.faults += killed
        with self.site.open(self.model) as stored:
            try:
                seen = found(stored)
            except EmbeddingMismatch as error:
                told = "reindex" in str(error) and new in str(error)
                self.tally.holds(told, f"{number}: it is not told what to do: {error}")
                self.twin.reindex(new)
            else:
                self.tally.holds(seen == unchanged, f"{number}: recall by the old model: {seen}")
                self.same(stored, before, f"{number}: killed before the end")
                edit(stored, number)
                edit(self.twin, number)
            stored.reindex(new)
        self.twin.reindex(new)
        self.model = new
        with self.site.open(new) as stored:
            self.same(stored, state_of(self.twin), f"{number}: after doing it again")
            self.tally.holds(found(stored) == found(self.twin), f"{number}: recall afterwards")
            for name in (MAIN, OTHER):
                problems = damage(stored.scoped(name))
                self.tally.holds(not problems, f"{number}: check: {problems}")

    def begin(self, new: str, number: int, pause: float, statements: int) -> bool:
        """Return whether the change of the model was killed, and not done already."""
        opened = self.folder / f"{number}.opened"
        process = fork_server().Process(
            target=change_model, args=(self.site, self.model, new, statements, str(opened))
        )
        process.start()
        while process.is_alive() and not opened.exists():
            time.sleep(0.002)
        process.join(None if statements else pause)
        process.kill()
        process.join()
        assert process.exitcode in (0, -9)
        return process.exitcode == -9

    def same(self, stored: Memory, expected: dict[str, list[object]], when: str) -> None:
        for name, items in state_of(stored).items():
            if items != expected[name]:
                self.tally.holds(False, f"{when}: {name}: {difference(items, expected[name])}")


def edit(memory: Memory, number: int) -> None:
    """Change a text, so that a vector made of the one before would be told."""
    memory.revise(f"n{number % ALIKE:04}", content=f"Round {number} of the ferry is on Monday")


def found(memory: Memory) -> dict[str, float]:
    """Return what a recall finds; scores of stores agree to 1e-6."""
    ranked = memory.recall(QUESTION, track=False).notes
    return {each.note.id: round(each.score, 5) for each in ranked}


def moments(count: int, chance: random.Random, longest: float) -> Iterator[tuple[int, float, int]]:
    """Yield rounds with a pause to kill after, or with a statement to die before, in turn."""
    before = itertools.cycle(range(2, STATEMENTS))
    for number in range(count):
        if number % 2:
            yield number, 0.0, next(itertools.islice(before, chance.randrange(7), None))
        else:
            yield number, chance.uniform(0.0, longest), 0


def test_a_killed_change_of_the_model_in_a_file(
    tmp_path: Path,
    undisturbed: Memory,
    tally: Callable[[str], Tally],
    amount: Callable[[int, int], int],
) -> None:
    site = Site(str(tmp_path / "reindexed.graphmem"))
    changes = Changes(site, undisturbed, tally("reindex killed, embedded"), tmp_path)
    changes.fill()
    for number, pause, statements in moments(amount(4, 120), random.Random(1), 0.15):
        changes.kill(number, pause, statements)


@pytest.mark.neo4j
def test_a_killed_change_of_the_model_on_a_server(
    tmp_path: Path,
    undisturbed: Memory,
    neo4j_address: Address,
    tally: Callable[[str], Tally],
    amount: Callable[[int, int], int],
) -> None:
    erase_everything(neo4j_address)
    site = Site(neo4j_address.uri, neo4j_address.auth)
    changes = Changes(site, undisturbed, tally("reindex killed, Neo4j"), tmp_path)
    changes.fill()
    with ExitStack() as stack:
        ask = stack.enter_context(console(neo4j_address))
        stack.callback(erase_everything, neo4j_address)
        for number, pause, statements in moments(amount(2, 60), random.Random(2), 0.8):
            changes.kill(number, pause, statements)
            left = ask(LEFT_BEHIND)
            changes.tally.holds(left == CLEAN, f"{number}: left behind: {left}")


LEFT_BEHIND = """
SHOW INDEXES YIELD name WHERE name STARTS WITH 'vectors_embedding'
RETURN count(*) AS indexes
"""
CLEAN = [{"indexes": 1}]


@pytest.mark.neo4j
def test_a_killed_migration_of_a_graph_is_ended_by_the_next(
    neo4j_address: Address, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    with ExitStack() as stack:
        stack.callback(erase_everything, neo4j_address)
        for old in GRAPHS[: amount(1, len(GRAPHS))]:
            migrate_killed(neo4j_address, old, amount(6, 1), tally(f"opening killed, {old.stem}"))


def migrate_killed(address: Address, old: Path, step: int, count: Tally) -> None:
    """Kill at every `step`-th statement until one opening is not killed any more."""
    site, items = Site(address.uri, address.auth), graph_of(old)
    for statement in range(1, STATEMENTS, step):
        plant(address, items)
        process = fork_server().Process(target=open_until_killed, args=(site, OLD_MODEL, statement))
        process.start()
        process.join()
        with site.open(OLD_MODEL) as memory:
            same = holdings(memory) == holdings_of_graph(items)
            count.holds(same, f"killed before {statement}: {holdings(memory)}")
            found = vectors(memory)
            count.holds(found == vectors_of_graph(items), f"killed before {statement}: {found}")
            for name in memory.namespaces():
                problems = damage(memory.scoped(name))
                count.holds(not problems, f"{statement}: {problems}")
        count.operations += 2
        if process.exitcode == 0:
            return
        count.faults += 1
    raise AssertionError("every opening was killed: not all statements were tried")
