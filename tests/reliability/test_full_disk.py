"""No room left, and copies made while others write: an error in words, and nothing lost."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from pathlib import Path

from reliability.client import MODEL, Place, prepare, take_part
from reliability.operations import damage
from reliability.tally import Tally
from reliability.writer import fork_server

from graphmem import GraphmemError, open_memory

ROOM = 300_000


def fill_up(path: str, result: str, room: int) -> None:
    """Add until no file may grow any more; tell what was acknowledged and what went wrong."""
    stored, errors, wrong = [], [], []

    def attempt(what: str, call: Callable[[], object]) -> bool:
        try:
            call()
        except GraphmemError as error:
            errors.append(f"{what}: {type(error).__name__}: {error}")
            return False
        except BaseException as error:  # this is what is looked for
            wrong.append(f"{what}: {type(error).__name__}: {error}")
            return False
        return True

    memory = open_memory(path, embedder=MODEL)
    memory.add("The first note, before there is no room", id="first")
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    for number in range(2000):
        text = f"Note {number} about {'a long story ' * 40}"
        if not attempt("add", lambda n=number, t=text: memory.add(t, id=f"n{n}")):
            break
        stored.append(f"n{number}")
    answered = attempt("recall", lambda: memory.recall("a long story"))
    time.sleep(1.2)  # now the counters of that recall are due
    answered &= attempt("recall again", lambda: memory.recall("a long story"))
    answered &= attempt("list", lambda: list(memory.notes()))
    attempt("erase", lambda: memory.erase(id="n0") and stored.remove("n0"))
    attempt("close", memory.close)
    told = {"stored": stored, "errors": errors, "wrong": wrong, "answered": answered}
    Path(result).write_text(json.dumps(told))


def test_a_full_disk_is_told_and_loses_nothing(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count = tally("disk full, embedded")
    for number in range(amount(2, 60)):
        path, result = tmp_path / f"{number}.graphmem", tmp_path / f"{number}.json"
        # Written before the limit holds for the process: the result needs no room of its own.
        result.write_text("")
        room = ROOM + number * 13_337
        process = fork_server().Process(target=fill_up, args=(str(path), str(result), room))
        process.start()
        process.join()
        told = json.loads(result.read_text())
        count.faults += 1
        count.operations += len(told["stored"]) + 5
        count.violations += told["wrong"]
        full = [each for each in told["errors"] if each.startswith("add")]
        count.holds(len(full) == 1 and "changed" in full[0], f"the error was {full}")
        count.holds(told["answered"], f"reads failed on a full disk: {told['errors']}")
        with open_memory(path, embedder=MODEL) as memory:
            found = {note.id for note in memory.notes()} - {"first"}
            lost, extra = set(told["stored"]) - found, found - set(told["stored"])
            count.holds(not lost and len(extra) <= 1, f"lost {lost}, not acknowledged {extra}")
            count.holds(not damage(memory), f"check: {damage(memory)}")
            memory.add("There is room again", id="again")


def test_a_backup_while_others_write_is_a_whole_store(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, place = tally("backups beside writers"), Place(str(tmp_path / "b.graphmem"), "crowd")
    with place.open() as memory:
        prepare(memory)
        writers = [
            fork_server().Process(
                target=take_part, args=(place, f"w{n}", amount(12, 200), str(tmp_path))
            )
            for n in range(3)
        ]
        for writer in writers:
            writer.start()
        copies: list[Path] = []
        while any(writer.is_alive() for writer in writers) or not copies:
            copies.append(tmp_path / f"copy-{len(copies)}.graphmem")
            memory.backup(copies[-1])
            time.sleep(0.2)
        for writer in writers:
            writer.join()
        final = memory.stats().notes
    sizes = []
    for copy in copies:
        with open_memory(copy, embedder=MODEL, namespace=place.namespace) as kept:
            count.operations += 1
            sizes.append(kept.stats().notes)
            count.holds(not damage(kept), f"{copy.name}: {damage(kept)}")
    count.holds(all(size >= 2 for size in sizes), f"a copy is empty: {sizes}")
    count.remark(f"{len(copies)} copies, the last of {sizes[-1]} of {final} notes")
