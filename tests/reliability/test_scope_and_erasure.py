"""Nothing crosses a namespace, and what was erased is found nowhere."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

from cli_process import CommandLine
from contract.test_store_scope import LOOK_ALIKES
from reliability.hostile import PATHS, QUERY_LANGUAGES
from reliability.operations import MAIN, MODELS, Clock, Operation, choose, note, perform
from reliability.tally import Tally

from graphmem import GraphmemError, Memory, NotFound, Source, open_memory
from graphmem.transfer import export_path

NAMES = tuple(
    dict.fromkeys(name for name in (*LOOK_ALIKES, *PATHS, *QUERY_LANGUAGES) if len(name) < 200)
)
QUESTION = "When does the ferry of the marker leave?"
SECRET = "zqquetzalcoatlqz"

READS: dict[str, Callable[[Memory], object]] = {
    "recall": lambda m: m.recall(QUESTION, track=False),
    "sources": lambda m: m.recall(QUESTION, by="source", track=False),
    "candidates": lambda m: m.candidates(QUESTION, limit=99),
    "notes": lambda m: list(m.notes(archived=True)),
    "tagged": lambda m: list(m.notes(tags=["sea"])),
    "get": lambda m: m.get("a"),
    "links": lambda m: m.links("a"),
    "neighbourhood": lambda m: m.neighbourhood("a", hops=3),
    "history": lambda m: m.history("b"),
    "stats": lambda m: m.stats(),
    "check": lambda m: m.check(),
    "dump": lambda m: list(m.dump(vectors=False)),
    "rebuild": lambda m: m.rebuild(plan=True),
}


def fill(memory: Memory, marker: str) -> None:
    for id_, text in (("a", "leaves at nine"), ("b", "leaves at ten"), ("c", "is full")):
        memory.add(f"The ferry of {marker} {text}", id=id_, source=Source("s"), tags=["sea"])
    memory.revise("b", content=f"The ferry of {marker} leaves at noon")


def test_namespaces_with_adversarial_names_are_apart(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count, path = tally("namespaces, embedded"), tmp_path / "scope.graphmem"
    extra = [f"n{number}" for number in range(amount(20, 10_000))]
    names = [name for name in NAMES if name == name.strip()] + extra
    markers = {name: f"marker{number:05}" for number, name in enumerate(names)}
    with open_memory(path, embedder=MODELS[0], clock=Clock()) as memory:
        for name in names:
            fill(memory.scoped(name), markers[name])
        watched = names[: amount(40, 400)]
        before = {name: answers(memory.scoped(name)) for name in watched}
        for name in watched:
            for read, answer in before[name].items():
                count.operations += 1
                foreign = answer.replace(markers[name], "")
                count.holds("marker0" not in foreign, f"{read} of {name!r} tells of another")
        grown = memory.scoped(watched[0])
        for number in range(40):
            grown.add(f"The ferry of the marker leaves again, number {number}", tags=["sea"])
        grown.erase(id="a")
        for name in watched[1:]:
            count.operations += len(READS)
            same = answers(memory.scoped(name)) == before[name]
            count.holds(same, f"what is in {watched[0]!r} changed an answer of {name!r}")
        try:
            memory.scoped(watched[1]).get("elsewhere")
        except NotFound as error:
            count.holds("marker0" not in str(error), f"an error tells of notes: {error}")
        count.holds(set(names) <= set(memory.namespaces()), "a namespace is missing")
    run = CommandLine(tmp_path, url=str(path))
    for name in [name for name in watched if name.isascii() and "\0" not in name][:: amount(9, 2)]:
        done = run("recall", "--json", "--no-track", "--namespace", name, "--", QUESTION)
        count.operations += 1
        found = json.dumps(done.json) if done.code == 0 else done.err
        count.holds("marker0" not in found.replace(markers[name], ""), f"recall -n {name!r}")


def answers(memory: Memory) -> dict[str, str]:
    return {name: repr(read(memory)) for name, read in READS.items()}


def test_what_was_erased_is_nowhere(
    tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    """A secret takes part in a random history, then its source is erased."""
    count = tally("erasures, embedded")
    for seed in range(amount(3, 150)):
        chance, clock = random.Random(seed), Clock()
        folder = tmp_path / str(seed)
        folder.mkdir()
        with open_memory(
            folder / "e.graphmem", embedder=MODELS[0], clock=clock, namespace=MAIN
        ) as memory:
            for number in range(1, 50):
                clock.minute = number
                operation = choose(chance, memory, number)
                if number % 6 == 0:
                    operation = secret(chance, number)
                if operation.name not in ("drop", "reindex", "erase_source"):
                    perform(memory, operation, lambda done: None)
                    count.operations += 1
            before = held_by(memory, folder)
            try:
                receipt = memory.erase(source=SECRET)
            except NotFound:
                continue  # each of its notes was erased in the course of its history
            count.faults += 1
            count.holds(before, "the secret was never there")
            count.holds(receipt.verified, f"seed {seed}: {receipt}")
            found = held_by(memory, folder)
            count.holds(not found, f"seed {seed}: erased words are in {found}")
        left = in_files(folder)
        count.holds(not left, f"seed {seed}: after closing they are in {left}")


def secret(chance: random.Random, number: int) -> Operation:
    """A note like the others, but for one word, in every field that takes words."""
    fields = note(chance, number)
    fields["content"] += f" {SECRET}"
    fields |= {"source": SECRET, "tags": [SECRET, "red"], "author": SECRET}
    return Operation("add", MAIN, number, fields)


def held_by(memory: Memory, folder: Path) -> list[str]:
    """Say where the secret is found: answers, exports, files, and what memory keeps."""
    found = in_files(folder)
    reads: dict[str, Callable[[], object]] = {
        "recall": lambda: memory.recall(f"what about {SECRET}", track=False).notes,
        "dump": lambda: list(memory.dump(vectors=False)),
        "stats": memory.stats,
        "check": memory.check,
    }
    found += [name for name, read in reads.items() if SECRET in repr(read())]
    for form in ("jsonl", "graphml", "cypher"):
        place = folder.parent / f"export.{form}"
        try:
            export_path(memory, place, format=form)
        except GraphmemError:
            continue
        if SECRET.encode() in place.read_bytes():
            found.append(form)
        place.unlink()
    session = memory._parts.store._session  # type: ignore[attr-defined] # caches have no door
    shards = list(session._shards.values())
    words = {word for shard in shards for word in shard.vocabulary.words}
    if any(SECRET in word for word in words):
        found.append("vocabulary")
    if SECRET in repr(session._bodies._kept):
        found.append("cache of notes")
    return found


def in_files(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if SECRET.encode() in each.read_bytes()]
