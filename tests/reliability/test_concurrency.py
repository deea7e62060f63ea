"""Many at once on one memory: nothing lost, nothing twice, nothing stale, no deadlock."""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from neo4j import GraphDatabase
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from reliability.client import BOARD, HUB, Place, Told, prepare, take_part, work
from reliability.operations import damage
from reliability.tally import Tally
from reliability.writer import fork_server

from graphmem import Link, LinkKind, Memory, NoteRecord

CLIENTS = 8


def examine(memory: Memory, told: Told, tally: Tally) -> None:
    """Set what is stored against what all clients were told."""
    tally.operations += told.operations
    tally.violations += told.faults
    hub, board = memory.get(HUB), memory.get(BOARD)
    tally.holds(hub.feedback == told.feedback, f"feedback {hub.feedback}, told {told.feedback}")
    count = board.metadata["count"]
    tally.holds(count == told.counted, f"the board says {count}, told {told.counted}")
    records = [item for item in memory.dump() if isinstance(item, NoteRecord)]
    notes = {record.note.id: record.note for record in records}
    tally.holds(len(records) == len(notes), "a note is there twice")
    tally.holds(set(told.kept) <= notes.keys(), f"lost: {set(told.kept) - notes.keys()}")
    tally.holds(notes.keys().isdisjoint(told.erased), "an erased note is there")
    texts = Counter(note.content for note in notes.values())
    tally.holds(max(texts.values()) == 1, f"the same text twice: {texts.most_common(1)}")
    links = [item for item in memory.dump() if isinstance(item, Link)]
    pairs = Counter(link.pair for link in links if link.kind is LinkKind.RELATED)
    tally.holds(all(times == 1 for times in pairs.values()), "a pair is linked twice")
    tally.holds(pairs.keys() == {tuple(sorted(pair)) for pair in pairs}, "a pair in both orders")
    for note in notes.values():
        uses = told.recalled[note.id]
        tally.holds(
            note.recall_count == uses, f"{note.id} recalled {note.recall_count} times, told {uses}"
        )
        follow_history(memory, note.id, tally)
    tally.holds(not damage(memory), f"check: {damage(memory)}")


def follow_history(memory: Memory, note_id: str, tally: Tally) -> None:
    """Every revision has its event, and each starts where the one before it ended."""
    note, events = memory.get(note_id), memory.history(note_id)
    revisions = [event.revision for event in events]
    tally.holds(
        revisions == list(range(2, note.revision + 1)),
        f"{note_id} at revision {note.revision} has events of {revisions}",
    )
    states = [event.before for event in events[1:]] + [note.state]
    tally.holds(
        all(event.after == state for event, state in zip(events, states, strict=False)),
        f"a change of {note_id} got lost between its events",
    )


def crowd(place: Place, folder: Path, rounds: int) -> Told:
    """Let clients work in processes of their own; return what they were told."""
    processes = [
        fork_server().Process(target=take_part, args=(place, f"c{n}", rounds, str(folder)))
        for n in range(CLIENTS)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * CLIENTS
    return Told.together(folder)


def threads(memory: Memory, rounds: int) -> Told:
    """Let clients work in threads on one open memory."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        results = list(pool.map(lambda n: work(memory, f"t{n}", rounds), range(CLIENTS)))
    total = Told()
    for told in results:
        for name, value in told.__dict__.items():
            setattr(total, name, getattr(total, name) + value)
    return total


def measured(tally: Tally, told: Told, started: float) -> None:
    seconds = time.monotonic() - started
    tally.remark(f"{told.operations / seconds:.0f} operations/s, {told.conflicts} conflicts")


def test_threads_on_one_file(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, place = tally("8 threads, embedded"), Place(str(tmp_path / "t.graphmem"), "crowd")
    with place.open() as memory:
        prepare(memory)
        started = time.monotonic()
        told = threads(memory, amount(15, 400))
        measured(count, told, started)
        examine(memory, told, count)
    with place.open() as memory:
        examine(memory, told, count)


def test_processes_on_one_file(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, place = tally("8 processes, embedded"), Place(str(tmp_path / "p.graphmem"), "crowd")
    with place.open() as memory:
        prepare(memory)
        started = time.monotonic()
        told = crowd(place, tmp_path, amount(15, 300))
        measured(count, told, started)
        examine(memory, told, count)


@pytest.mark.neo4j
def test_processes_on_one_server(
    tmp_path: Path,
    neo4j_address: Address,
    tally: Callable[[str], Tally],
    amount: Callable[[int, int], int],
) -> None:
    erase_everything(neo4j_address)
    count = tally("8 processes, Neo4j")
    place = Place(neo4j_address.uri, f"crowd-{uuid.uuid4()}", neo4j_address.auth)
    with place.open() as memory:
        prepare(memory)
        started = time.monotonic()
        told = crowd(place, tmp_path, amount(10, 150))
        measured(count, told, started)
        examine(memory, told, count)
    with GraphDatabase.driver(neo4j_address.uri, auth=neo4j_address.auth) as driver:
        for what, statement in DUPLICATES.items():
            rows, _, _ = driver.execute_query(statement, namespace=place.namespace)
            count.holds(not rows, f"{what} twice: {rows}")


DUPLICATES = {
    "a note": "MATCH (n:Note {namespace: $namespace}) WITH n.id AS id, count(*) AS times "
    "WHERE times > 1 RETURN id",
    "a pair": "MATCH (a:Note {namespace: $namespace})-[r:RELATED]-(b) WHERE a.id < b.id "
    "WITH a.id AS a, b.id AS b, count(*) AS times WHERE times > 1 RETURN a, b",
    "an event": "MATCH (e:EvolutionEvent {namespace: $namespace}) WITH e.id AS id, "
    "count(*) AS times WHERE times > 1 RETURN id",
}
