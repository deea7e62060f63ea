"""One of many that work on the same memory at once, and what it was told.

What a client was told is added up afterwards: every acknowledged change must be there.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from reliability.operations import DAYS, ENDS, SUBJECTS, VERBS

from graphmem import Conflict, GraphmemError, Memory, NotFound, Source, open_memory

HUB, BOARD = "hub", "board"
HUB_TEXT = "The ferry to Naxos, which all ask about, is late on Monday"
MODEL = "hashing-64"


@dataclass(frozen=True)
class Place:
    """Where a client works; picklable."""

    url: str
    namespace: str
    auth: tuple[str, str] | None = None

    def open(self) -> Memory:
        return open_memory(self.url, namespace=self.namespace, auth=self.auth, embedder=MODEL)


@dataclass
class Told:
    """What one client, or all of them, were told."""

    operations: int = 0
    conflicts: int = 0
    feedback: int = 0
    counted: int = 0
    kept: list[str] = field(default_factory=list)
    erased: list[str] = field(default_factory=list)
    recalled: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(self.__dict__))

    @classmethod
    def together(cls, folder: Path) -> Told:
        """Add up what all clients wrote into a folder."""
        total = cls()
        for path in sorted(folder.glob("*.json")):
            for name, value in json.loads(path.read_text()).items():
                found = getattr(total, name)
                if isinstance(found, Counter):
                    found.update(value)
                else:
                    setattr(total, name, found + value)
        return total


def prepare(memory: Memory) -> None:
    """Add what all clients change."""
    memory.add(HUB_TEXT, id=HUB)
    memory.add("Everybody adds one to the number on this board.", id=BOARD, metadata={"count": 0})


def take_part(place: Place, name: str, rounds: int, result: str) -> None:
    """Work in a process of one's own."""
    with place.open() as memory:
        told = work(memory, name, rounds)
    told.write(Path(result) / f"{name}.json")


def work(memory: Memory, name: str, rounds: int) -> Told:
    """Do `rounds` random operations that collide with those of the others."""
    told, chance = Told(), random.Random(name)
    actions: list[tuple[int, Callable[..., None]]] = [
        (6, _add_shared),
        (4, _add_own),
        (4, _rate),
        (3, _count_up),
        (2, _retag),
        (4, _recall),
        (2, _revise_and_undo),
        (1, _erase),
        (1, _maintain),
    ]
    for number in range(rounds):
        action = chance.choices([a for _, a in actions], [w for w, _ in actions])[0]
        told.operations += 1
        try:
            action(memory, told, chance, f"{name}-{number:04}")
        except GraphmemError as error:
            told.faults.append(f"{name} {action.__name__}: {type(error).__name__}: {error}")
    return told


def _add_shared(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    """Add what others add too, word for word or nearly: they link and evolve each other."""
    day, end = chance.choice(DAYS), chance.choice(ENDS)
    memory.add(f"The {SUBJECTS[0]} {VERBS[0]} {day}{end}", tags=[chance.choice(["red", "blue"])])


def _add_own(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    text = f"{name}: the {chance.choice(SUBJECTS)} {chance.choice(VERBS)} {chance.choice(DAYS)}"
    owner, _, number = name.rpartition("-")
    memory.add(text, id=name, source=Source(owner, position=int(number)))
    told.kept.append(name)
    _same(told, f"{name} after adding it", memory.get(name).content, text)
    mine = {note.id for note in memory.notes(sources=owner)}
    _same(told, f"the list after adding {name}", name in mine, True)


def _rate(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    after = memory.feedback(HUB, 1)
    told.feedback += 1
    _same(told, "own feedback", memory.get(HUB).feedback >= after.feedback, True)


def _count_up(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    """Read, add one, write if nobody else wrote: as often as it takes."""
    while True:
        board = memory.get(BOARD)
        count = {"count": int(str(board.metadata["count"])) + 1}
        try:
            memory.revise(BOARD, metadata=count, expected_revision=board.revision)
        except Conflict:
            told.conflicts += 1
        else:
            told.counted += 1
            return


def _retag(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    """Change one field, without saying which revision: the others' fields must stay."""
    memory.revise(BOARD, tags=[chance.choice(["green", "grey", "gold"])])


def _recall(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    found = memory.recall(f"Which {chance.choice(SUBJECTS)} {chance.choice(VERBS)}?", limit=3)
    told.recalled.update(ranked.note.id for ranked in found.notes)


def _revise_and_undo(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    if not told.kept:
        return
    own = chance.choice(told.kept)
    before = memory.get(own).content
    memory.revise(own, content=f"{own}: everything about it has changed by {name}")
    change = memory.history(own)[-1]
    try:
        memory.undo(change.id)
    except Conflict:  # somebody's note made it evolve in between
        told.conflicts += 1
        return
    _same(told, f"{own} after undoing", memory.get(own).content, before)


def _erase(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    if not told.kept:
        return
    own = told.kept.pop(chance.randrange(len(told.kept)))
    receipt = memory.erase(id=own)
    told.erased.append(own)
    _same(told, f"the erasure of {own}", receipt.verified, True)
    try:
        memory.get(own)
    except NotFound:
        return
    told.faults.append(f"{own} is still there after its erasure")


def _maintain(memory: Memory, told: Told, chance: random.Random, name: str) -> None:
    memory.maintain()


def _same(told: Told, what: str, found: object, expected: object) -> None:
    if found != expected:
        told.faults.append(f"{what}: {found!r} instead of {expected!r} at {time.time()}")
