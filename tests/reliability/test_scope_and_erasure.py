"""Nothing crosses a namespace, and what was erased is found nowhere."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from cli_process import CommandLine
from contract.test_store_scope import LOOK_ALIKES
from neo4j import GraphDatabase
from reliability.hostile import PATHS, QUERY_LANGUAGES
from reliability.operations import MAIN, MODELS, Clock, Operation, choose, note, perform
from reliability.sites import Site
from reliability.tally import Tally

from graphmem import GraphmemError, Memory, NoteInput, NotFound, Source
from graphmem.stores.neo4j.store import Neo4jStore
from graphmem.transfer import export_path

NAMES = tuple(
    dict.fromkeys(name for name in (*LOOK_ALIKES, *PATHS, *QUERY_LANGUAGES) if len(name) < 200)
)
QUESTION = "When does the ferry of the marker leave?"
SECRET = "zqquetzalcoatlqz"
LOGIN = ("NEO4J_USERNAME", "NEO4J_PASSWORD")

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
    memory.add_many(
        NoteInput(f"The ferry of {marker} {text}", id=id_, source=Source("s"), tags=["sea"])
        for id_, text in (("a", "leaves at nine"), ("b", "leaves at ten"), ("c", "is full"))
    )
    memory.revise("b", content=f"The ferry of {marker} leaves at noon")


def namespaces_of(site: Site, amount: Callable[[int, int], int]) -> tuple[list[str], int]:
    """Return the names to fill, and how many of them are watched."""
    hostile = [name for name in NAMES if name == name.strip()]
    if site.kind == "embedded":
        return hostile + [f"n{number}" for number in range(amount(20, 10_000))], amount(40, 400)
    few = hostile[:: amount(12, 1)]
    return few + [f"n{number}" for number in range(amount(1, 400))], amount(4, 60)


def test_namespaces_with_adversarial_names_are_apart(
    site: Site, tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    count = tally(f"namespaces, {site.kind}")
    names, some = namespaces_of(site, amount)
    markers = {name: f"marker{number:05}" for number, name in enumerate(names)}
    watched = names[:some]
    with site.open(MODELS[0]) as memory:
        for name in names:
            fill(memory.scoped(name), markers[name])
        before = {name: answers(memory.scoped(name)) for name in watched}
        for name in watched:
            for read, answer in before[name].items():
                count.operations += 1
                foreign = answer.replace(markers[name], "")
                count.holds("marker0" not in foreign, f"{read} of {name!r} tells of another")
        grow(memory.scoped(watched[0]))
        for name in watched[1:]:
            count.operations += len(READS)
            same = answers(memory.scoped(name)) == before[name]
            count.holds(same, f"what is in {watched[0]!r} changed an answer of {name!r}")
        try:
            memory.scoped(watched[1]).get("elsewhere")
        except NotFound as error:
            count.holds("marker0" not in str(error), f"an error tells of notes: {error}")
        count.holds(set(names) <= set(memory.namespaces()), "a namespace is missing")
        memory.drop_namespace(watched[0])
        kept = answers(memory.scoped(watched[1])) == before[watched[1]]
        count.holds(kept, f"dropping {watched[0]!r} changed {watched[1]!r}")
    ask_by_command(site, CommandLine(tmp_path, url=site.url), watched[1 :: amount(9, 2)], count)


def grow(memory: Memory) -> None:
    """Do in one namespace whatever could be felt in another."""
    memory.add_many(
        NoteInput(f"The ferry of the marker leaves again, number {number}", tags=["sea"])
        for number in range(40)
    )
    memory.feedback("b", 1)
    memory.archive("c")
    memory.recall(QUESTION)
    memory.maintain()
    memory.erase(id="a")


def ask_by_command(site: Site, run: CommandLine, names: Sequence[str], count: Tally) -> None:
    """Recall on the command line, where a name is an argument."""
    secrets = {} if site.auth is None else dict(zip(LOGIN, site.auth, strict=True))
    env = {**secrets, "GRAPHMEM_EMBEDDER": MODELS[0]}
    for name in [name for name in names if name.isascii() and "\0" not in name]:
        told = run("recall", "--json", "--no-track", "--namespace", name, "--", QUESTION, env=env)
        count.operations += 1
        found = json.dumps(told.json) if told.code == 0 else told.err
        own = set(re.findall(r"marker0[0-9]{4}", found))
        count.holds(len(own) <= 1, f"recall -n {name!r} tells of {sorted(own)}")


def answers(memory: Memory) -> dict[str, str]:
    return {name: repr(read(memory)) for name, read in READS.items()}


def test_what_was_erased_is_nowhere(
    site: Site, tmp_path: Path, tally: Callable[[str], Tally], amount: Callable[[int, int], int]
) -> None:
    """A secret takes part in a random history, then its source is erased."""
    count = tally(f"erasures, {site.kind}")
    rounds, steps = (amount(3, 150), 50) if site.kind == "embedded" else (amount(1, 25), 25)
    for seed in range(rounds):
        place = site if site.auth else Site(str(folder_of(tmp_path / str(seed)) / "e.graphmem"))
        clock = Clock()
        with place.open(MODELS[0], clock) as memory:
            happened(memory, random.Random(seed), clock, steps, count)
            before = held_by(memory, place, tmp_path)
            try:
                receipt = memory.erase(source=SECRET)
            except NotFound:
                continue  # each of its notes was erased in the course of its history
            count.faults += 1
            count.holds(
                {"recall", "dump", "jsonl"} <= {*before} and len({*before}) > 4, f"found {before}"
            )
            count.holds(receipt.verified, f"seed {seed}: {receipt}")
            found = held_by(memory, place, tmp_path)
            count.holds(not found, f"seed {seed}: erased words are in {found}")
        left = on_disk(place)
        count.holds(not left, f"seed {seed}: after closing they are in {left}")


def folder_of(path: Path) -> Path:
    path.mkdir()
    return path


def happened(memory: Memory, chance: random.Random, clock: Clock, steps: int, count: Tally) -> None:
    """Let a random history happen in which the secret takes part."""
    for number in range(1, steps):
        clock.minute = number
        operation = choose(chance, memory, number)
        if number % 6 == 0:
            operation = secret(chance, number)
        if operation.name not in ("drop", "reindex", "erase_source"):
            perform(memory, operation, lambda done: None)
            count.operations += 1


def secret(chance: random.Random, number: int) -> Operation:
    """A note like the others, but for one word, in every field that takes words."""
    fields = note(chance, number)
    fields["content"] += f" {SECRET}"
    fields |= {"id": f"{SECRET}-{number}", "source": SECRET, "author": SECRET}
    fields |= {"tags": [SECRET, "red"], "metadata": {SECRET: [SECRET]}}
    return Operation("add", MAIN, number, fields)


def held_by(memory: Memory, site: Site, folder: Path) -> list[str]:
    """Say where the secret is found: answers, exports, what is stored, what memory keeps."""
    reads: dict[str, Callable[[], object]] = {
        "recall": lambda: memory.recall(f"what about {SECRET}", track=False).notes,
        "dump": lambda: list(memory.dump(vectors=False)),
        "histories": lambda: [memory.history(note.id) for note in memory.notes(archived=True)],
        "stats": memory.stats,
        "check": memory.check,
    }
    found = kept_in_memory(memory) + on_disk(site)
    found += [name for name, read in reads.items() if SECRET in repr(read())]
    for form in ("jsonl", "graphml", "cypher"):
        place = folder / f"export.{form}"
        try:
            export_path(memory, place, format=form)
        except GraphmemError:
            continue
        if SECRET.encode() in place.read_bytes():
            found.append(form)
        place.unlink()
    return found


def kept_in_memory(memory: Memory) -> list[str]:
    """Say which caches hold the secret; they have no door."""
    store = memory._parts.store  # type: ignore[attr-defined]
    if isinstance(store, Neo4jStore):
        kept = [each for copy in store._copies._copies.values() for each in copy._ids]
        return ["copies of vectors"] if SECRET in repr(kept) else []
    session = store._session
    words = {word for shard in session._shards.values() for word in shard.vocabulary.words}
    found = ["vocabulary"] if any(SECRET in word for word in words) else []
    return [*found, "cache of notes"] if SECRET in repr(session._bodies._kept) else found


def on_disk(site: Site) -> list[str]:
    """Say where the secret is stored: files, or properties and the full-text index."""
    if site.auth is None:
        return in_files(Path(site.url).parent)
    found = []
    with GraphDatabase.driver(site.url, auth=site.auth) as driver:
        for what, statement in ON_SERVER.items():
            rows, _, _ = driver.execute_query(statement, secret=SECRET)
            found += [f"{what} {row['what']}" for row in rows]
    return found


_HAS_SECRET = (
    "any(key IN keys(x) WHERE key CONTAINS $secret OR "
    "any(value IN x[key] + [] WHERE toStringOrNull(value) CONTAINS $secret))"
)
ON_SERVER = {
    "node": f"MATCH (x) WHERE {_HAS_SECRET} RETURN labels(x) + keys(x) AS what",
    "edge": f"MATCH ()-[x]->() WHERE {_HAS_SECRET} RETURN type(x) AS what",
    "full text": "CALL db.index.fulltext.queryNodes('note_terms', '*' + $secret + '*') "
    "YIELD node RETURN node.id AS what",
    "name": "CALL db.labels() YIELD label AS what WITH what WHERE what CONTAINS $secret "
    "RETURN what UNION CALL db.propertyKeys() YIELD propertyKey AS what WITH what "
    "WHERE what CONTAINS $secret RETURN what",
}


def in_files(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir() if SECRET.encode() in each.read_bytes()]
