"""Files cut short, flipped or overwritten at every kind of page: a clear error or the truth."""

from __future__ import annotations

import random
import shutil
import sqlite3
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import pytest
from reliability.operations import Clock, Operation, choose, perform
from reliability.tally import Tally

from graphmem import GraphmemError, Memory, NoteRecord, NotFound, open_memory

MODEL = "hashing-64"
PAGE = 4096
QUESTIONS = ("When is the ferry to Naxos late?", "kettle", "the pump of line four")
Answers: TypeAlias = dict[str, object]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with notes, links, events, long texts and freed pages in several namespaces."""
    path, clock = tmp_path_factory.mktemp("damage") / "whole.graphmem", Clock()
    chance = random.Random(7)
    with open_memory(path, embedder=MODEL, clock=clock, namespace="main") as memory:
        for number in range(160):
            clock.minute = number
            operation = choose(chance, memory, number)
            if operation.name not in ("reindex", "drop"):
                perform(memory, operation, lambda done: None)
        memory.add("The timetable. " * 1500, id="long", metadata={"pages": list(range(2000))})
        perform(memory, Operation("erase_source", "main", 161, {"source": "s0"}), lambda _: None)
    return path


def pages_of(path: Path) -> list[tuple[str, int]]:
    """Return what every page is for, by its number from 1 on."""
    connection = sqlite3.connect(path)
    try:
        (count,) = connection.execute("PRAGMA page_count").fetchone()
        kinds = {
            page: f"{kind} page of {name}"
            for name, kind, page in connection.execute("SELECT name, pagetype, pageno FROM dbstat")
        }
    finally:
        connection.close()
    kinds[1] = "header and schema"
    return [(kinds.get(page, "free page"), page) for page in range(1, count + 1)]


def answers(memory: Memory) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every way to read, by name."""
    for namespace in ("main", "read"):
        scoped = memory.scoped(namespace)
        yield f"{namespace} notes", lambda m=scoped: list(m.notes(archived=True))
        yield f"{namespace} dump", lambda m=scoped: [_comparable(item) for item in m.dump()]
        yield f"{namespace} stats", lambda m=scoped: replace(m.stats(), store="")
        yield f"{namespace} check", lambda m=scoped: m.check()
        for question in QUESTIONS:
            yield (
                f"{namespace} recall {question}",
                lambda m=scoped, q=question: _ranked(m, q),
            )
        for id_ in ("long", "n000007"):
            for name in ("get", "links", "neighbourhood", "history"):
                yield f"{namespace} {name} {id_}", lambda m=scoped, n=name, i=id_: getattr(m, n)(i)
    yield "namespaces", memory.namespaces


def _comparable(item: object) -> object:
    if isinstance(item, NoteRecord):
        vector = None if item.embedding is None else item.embedding.tobytes()
        return item.note, item.terms, vector
    return item


def _ranked(memory: Memory, question: str) -> object:
    found = memory.recall(question, track=False)
    return [(ranked.note, ranked.score) for ranked in found.notes], found.decision


def told(call: Callable[[], object], tally: Tally, where: str) -> object:
    """Return the answer, or the error as a caller sees it; anything but ours is a violation."""
    tally.operations += 1
    try:
        return call()
    except NotFound as error:
        return str(error)  # an answer, which may be wrong
    except GraphmemError as error:
        return error
    except Exception:
        tally.holds(False, f"{where}: {traceback.format_exc(limit=-3)}")
        return None


def read_everything(path: Path, tally: Tally, where: str) -> Answers:
    """Open the file and ask it everything."""
    opened = told(
        lambda: open_memory(path, embedder=MODEL, namespace="main", clock=Clock()), tally, where
    )
    if not isinstance(opened, Memory):
        return {"open": opened}
    try:
        return {name: told(call, tally, f"{where}, {name}") for name, call in answers(opened)}
    finally:
        told(opened.close, tally, f"{where}, close")


def compare(found: Answers, truth: Answers, tally: Tally, where: str) -> str:
    """Every answer is the truth or an error; return what became of the damage."""
    wrong = [
        name
        for name, answer in found.items()
        if not isinstance(answer, GraphmemError) and answer != truth.get(name)
    ]
    reported = "main check" in wrong or "read check" in wrong
    if any(isinstance(answer, GraphmemError) for answer in found.values()):
        return "named by an error"
    return "found by a check" if reported else "of no consequence"


def flipped(path: Path, chance: random.Random, page: int) -> None:
    """Flip one bit of a page."""
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE + chance.randrange(PAGE))
        (byte,) = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte ^ 1 << chance.randrange(8)]))


def zeroed(path: Path, chance: random.Random, page: int) -> None:
    """Overwrite a page with zeros, as a lost write leaves it."""
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(bytes(PAGE))


def scrambled(path: Path, chance: random.Random, page: int) -> None:
    """Overwrite the second half of a page with noise, as a torn write leaves it."""
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE + PAGE // 2)
        file.write(chance.randbytes(PAGE // 2))


def misplaced(path: Path, chance: random.Random, page: int) -> None:
    """Overwrite a page with its neighbour, as a misdirected write leaves it."""
    data = path.read_bytes()
    other = page % (len(data) // PAGE)
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(data[other * PAGE : (other + 1) * PAGE])


@pytest.mark.parametrize("damage", [flipped, zeroed, scrambled, misplaced])
def test_a_damaged_page_gives_an_error_or_the_truth(
    tmp_path: Path,
    whole: Path,
    damage: Callable[[Path, random.Random, int], None],
    tally: Callable[[str], Tally],
    amount: Callable[[int, int], int],
) -> None:
    count = tally(f"page {damage.__name__}")
    chance, became = random.Random(damage.__name__), Counter[str]()
    truth = read_everything(whole, count, "undamaged")
    assert not any(isinstance(answer, Exception) for answer in truth.values())
    seen: Counter[str] = Counter()
    times = 3 if damage is flipped else 1
    for kind, page in pages_of(whole):
        for _ in range(amount(1, times)):
            if seen[kind] >= amount(1, 10_000):
                continue
            seen[kind] += 1
            path = tmp_path / f"{page}.graphmem"
            shutil.copy(whole, path)
            damage(path, chance, page)
            count.faults += 1
            where = f"{damage.__name__} page {page}, {kind}"
            became[compare(read_everything(path, count, where), truth, count, where)] += 1
            path.unlink()
    count.remark(", ".join(f"{times} {kind}" for kind, times in became.most_common()))


def repaired(path: Path, page: int, truth: Answers, tally: Tally, where: str) -> float:
    """Repair the file; return what share of its notes is there afterwards."""
    notes = {note.id: note for note in truth["main notes"]}  # type: ignore[attr-defined] # a list
    with open_memory(path, embedder=MODEL, namespace="main", clock=Clock()) as memory:
        report = told(lambda: memory.check(repair=True), tally, f"{where}, repair")
        if isinstance(report, GraphmemError):
            lost = "nothing of" in str(report) or "not a graphmem store" in str(report)
            # Without the first page, or the root of the notes, nothing leads to any note.
            rootless = page == 1 or "internal page of note" in where
            tally.holds(lost and rootless, f"{where}: {report}")
            return 0.0
        for namespace in ("main", "read"):
            scoped = memory.scoped(namespace)
            again = told(lambda m=scoped: m.check(), tally, f"{where}, check after repair")
            left = [p for p in getattr(again, "problems", [again]) if "rebuild()" not in str(p)]
            mended = not left or namespace == "read" or "memory and file" not in str(left)
            tally.holds(mended, f"{where}: after its repair {namespace} has {left}")
        kept = told(lambda: list(memory.notes(archived=True)), tally, f"{where}, notes")
        if not tally.holds(isinstance(kept, list), f"{where}: not readable after repair: {kept}"):
            return 0.0
        told(lambda: memory.add("After the repair.", id="after"), tally, f"{where}, add")
        changed = [note.id for note in kept if note.content != notes[note.id].content]
        tally.holds(not changed, f"{where}: the repair changed {changed}")
        return len(kept) / len(notes)


@pytest.mark.parametrize("damage", [zeroed, scrambled, misplaced])
def test_a_repair_saves_what_can_be_read(
    tmp_path: Path,
    whole: Path,
    damage: Callable[[Path, random.Random, int], None],
    tally: Callable[[str], Tally],
    amount: Callable[[int, int], int],
) -> None:
    count = tally(f"page {damage.__name__}, repaired")
    chance, shares = random.Random(damage.__name__), []
    truth = read_everything(whole, count, "undamaged")
    seen: Counter[str] = Counter()
    turn = (zeroed, scrambled, misplaced).index(damage)
    for kind, page in pages_of(whole):
        seen[kind] += 1
        # In a usual run the three share the kinds of pages among them.
        if seen[kind] > amount(1, 10_000) or (len(seen) + turn) % amount(3, 1):
            continue
        path = tmp_path / f"{page}.graphmem"
        shutil.copy(whole, path)
        damage(path, chance, page)
        count.faults += 1
        shares.append(repaired(path, page, truth, count, f"page {page}, {kind}"))
    count.remark(f"{sum(shares) / len(shares):.0%} of the notes saved")
