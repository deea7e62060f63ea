"""Folders and files that may only be read: an error in words, and nothing is changed."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from earlier_versions import FILES, MODEL
from reliability.tally import Tally
from reliability.writer import fork_server

from graphmem import GraphmemError, Memory, NoteInput, open_memory
from graphmem.transfer import export_path, import_path

NOBODY = 65534
WRITES: dict[str, Callable[[Memory], object]] = {
    "add": lambda m: m.add("The kettle is in the office"),
    "add_many": lambda m: m.add_many([NoteInput("The kettle is in the office")]),
    "revise": lambda m: m.revise("n0", content="Somebody prefers the aisle"),
    "feedback": lambda m: m.feedback("n0", 1),
    "archive": lambda m: m.archive("n0"),
    "erase": lambda m: m.erase(id="n0"),
    "drop": lambda m: m.drop_namespace("other"),
    "maintain": lambda m: m.maintain(),
    "reindex": lambda m: m.reindex("hashing-48"),
    "rebuild": lambda m: m.rebuild(),
    "repair": lambda m: m.check(repair=True),
}
PLACES: dict[str, tuple[int, int]] = {
    "folder": (0o555, 0o644),
    "file": (0o755, 0o444),
    "folder and file": (0o555, 0o444),
}


def attempt(told: dict[str, str], what: str, call: Callable[[], object]) -> None:
    try:
        call()
        told[what] = "done"
    except GraphmemError as error:
        told[what] = f"refused: {type(error).__name__}: {error}"
    except BaseException as error:  # this is what is looked for
        told[what] = f"wrong: {type(error).__name__}: {error}"


def open_what_may_be_read(folder: str, old: str, places: tuple[str, ...], result: str) -> None:
    """Try everything on files that this user may only read."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    told: dict[str, str] = {}
    for name in places:
        (of_folder, of_file), place = PLACES[name], Path(folder) / name
        place.mkdir()
        path, notes = place / "store.graphmem", place / "notes.jsonl"
        shutil.copyfile(old, path)
        notes.write_text('{"content": "The kettle is in the office"}\n')
        before = path.read_bytes()
        path.chmod(of_file)
        place.chmod(of_folder)
        for what, call in (WRITES | elsewhere(place)).items():
            attempt(told, f"{name}: {what}", lambda c=call, p=path: opened(p, c))
        place.chmod(0o755)
        left = [each.name for each in place.iterdir()]
        half = [each for each in left if ".part" in each or ".version" in each]
        if path.read_bytes() != before or half:
            told[f"{name}: afterwards"] = f"wrong: the file was changed, or {half} are there"
    Path(result).write_text(json.dumps(told))


def opened(path: Path, call: Callable[[Memory], object]) -> None:
    with open_memory(path, embedder=MODEL) as memory:
        call(memory)


def elsewhere(place: Path) -> dict[str, Callable[[Memory], object]]:
    """What writes other files into the folder, or reads from it."""
    return {
        "backup": lambda m: m.backup(place / "backup.graphmem"),
        "export": lambda m: export_path(m, place / "export.jsonl"),
        "markdown": lambda m: export_path(m, place / "export", format="markdown"),
        "import": lambda m: import_path(m, place / "notes.jsonl"),
        "recall": lambda m: m.recall("Which seats?"),
    }


def while_open(folder: str, result: str) -> None:
    """Go on with a memory whose folder may no longer be written."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    told: dict[str, str] = {}
    place = Path(folder) / "open"
    place.mkdir()
    with open_memory(place / "store.graphmem", embedder=MODEL) as memory:
        memory.add("Ada prefers aisle seats", id="n0")
        place.chmod(0o555)
        for what, call in (WRITES | elsewhere(place)).items():
            attempt(told, f"open: {what}", lambda c=call: c(memory))
        attempt(told, "open: check", lambda: memory.check())
    place.chmod(0o755)
    Path(result).write_text(json.dumps(told))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that another user may enter: those above a test's own may not be."""
    made = Path(tempfile.mkdtemp(prefix="graphmem-read-only-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)


@pytest.mark.parametrize("old", [FILES[0], FILES[-1]], ids=lambda old: str(old.stem))
def test_what_may_only_be_read_is_named_and_stays_as_it_was(
    folder: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int], old: Path
) -> None:
    places = ("file", "folder", "folder and file")[: amount(1 if old == FILES[0] else 2, 3)]
    count, copy = tally(f"read-only, {old.stem}"), folder / old.name
    shutil.copyfile(old, copy)
    told = told_by(open_what_may_be_read, folder, str(copy), places)
    judge(told, count)
    for what, outcome in told.items():
        if "store.graphmem" not in outcome and not outcome.startswith("done"):
            count.holds(str(folder) in outcome, f"{what}: no place is named: {outcome}")


def test_a_folder_that_may_no_longer_be_written_while_it_is_open(
    folder: Path, tally: Callable[[str], Tally]
) -> None:
    count = tally("read-only while open")
    judge(told_by(while_open, folder), count)


def told_by(target: Callable[..., None], folder: Path, *arguments: object) -> dict[str, str]:
    result = folder / "told.json"
    process = fork_server().Process(target=target, args=(str(folder), *arguments, str(result)))
    process.start()
    process.join()
    assert process.exitcode == 0
    found: dict[str, str] = json.loads(result.read_text())
    return found


def judge(told: dict[str, str], count: Tally) -> None:
    for what, outcome in told.items():
        count.operations += 1
        count.faults += outcome.startswith("refused")
        count.holds(not outcome.startswith("wrong"), f"{what}: {outcome}")
    assert count.faults, "nothing was refused: this user may write everywhere"
