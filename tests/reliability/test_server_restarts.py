"""A Neo4j server killed in the middle of a load: nothing half, and repeating makes it whole."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from neo4j_server.server import NoServerError
from reliability.crashing_server import CrashingServer
from reliability.operations import Clock, damage, difference, sentence
from reliability.tally import Tally

from graphmem import GraphmemError, Memory, NoteInput, NoteRecord, Source, open_memory

MODEL = "hashing-64"
BATCH, NOTES = 10, 60


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest) -> Iterator[CrashingServer]:
    if not request.config.getoption("--full", default=False):
        pytest.skip("killing a server takes a minute: pytest tests/reliability --full")
    try:
        with CrashingServer() as running:
            yield running
    except NoServerError as problem:
        pytest.skip(f"no server to kill: {problem}")


def inputs() -> list[NoteInput]:
    """Notes of which many link and evolve each other."""
    chance = random.Random(6)
    return [
        NoteInput(
            sentence(chance),
            id=f"n{number:04}",
            source=Source("s", position=number),
            tags=[chance.choice(["red", "blue"])],
        )
        for number in range(NOTES)
    ]


def opened(server: CrashingServer, namespace: str) -> Memory:
    return open_memory(
        server.address.uri,
        auth=server.address.auth,
        namespace=namespace,
        embedder=MODEL,
        clock=Clock(),
    )


def graph_of(memory: Memory) -> list[object]:
    """Everything but the namespace."""
    return [
        (replace(item.note, namespace=""), item.terms) if isinstance(item, NoteRecord) else item
        for item in memory.dump(vectors=False)
    ]


def load_through_a_crash(server: CrashingServer, memory: Memory, after: int, tally: Tally) -> str:
    """Load, kill the server after so many notes, start it again; return what was told."""
    reached, done = threading.Event(), [0]
    told: list[str] = []

    def progress(count: int, total: int | None) -> None:
        done[0] = count
        if count >= after:
            reached.set()

    def load() -> None:
        try:
            memory.add_many(inputs(), batch_size=BATCH, progress=progress)
            told.append("finished")
        except GraphmemError as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            tally.holds(f"{done[0]} inputs" in notes, f"not told what is stored: {error!r} {notes}")
            told.append(f"{type(error).__name__}: {error}")
        except Exception as error:  # anything else is what is looked for
            tally.holds(False, f"{type(error).__name__} reached the caller: {error}")
            told.append("failed")
        finally:
            reached.set()

    loading = threading.Thread(target=load)
    loading.start()
    reached.wait()
    server.kill()
    server.start()
    loading.join()
    with opened(server, memory.namespace) as again:
        stored = again.stats().notes
        tally.holds(
            stored in (done[0], done[0] + BATCH),
            f"{stored} notes are stored, {done[0]} were acknowledged; told: {told[0]}",
        )
        tally.holds(not damage(again), f"after the crash: {damage(again)}")
    return told[0]


@pytest.mark.neo4j
def test_a_load_through_a_crash_can_be_repeated(
    server: CrashingServer, tally: Callable[[str], Tally]
) -> None:
    count = tally("server killed, Neo4j")
    with opened(server, "undisturbed") as memory:
        memory.add_many(inputs(), batch_size=BATCH)
        expected = graph_of(memory)
    outcomes = []
    for number in range(8):
        after = BATCH * (1 + number * 3 % 5)
        with opened(server, f"crashed-{number}") as memory:
            outcomes.append(load_through_a_crash(server, memory, after, count))
            count.faults += 1
            count.operations += 2
            memory.add_many(inputs(), batch_size=BATCH)
            found = graph_of(memory)
            count.holds(
                found == expected,
                f"repeating it made another graph: {difference(found, expected)}",
            )
            count.holds(not damage(memory), f"check: {damage(memory)}")
    finished = sum(outcome == "finished" for outcome in outcomes)
    count.remark(f"{finished} loads went on by themselves, {len(outcomes) - finished} were told")
