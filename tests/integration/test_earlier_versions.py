"""Stores of every earlier version open, lose nothing, and work on; newer ones are refused."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from earlier_versions import (
    FILES,
    GRAPHS,
    MODEL,
    Vectors,
    graph_of,
    holdings,
    holdings_of_file,
    holdings_of_graph,
    plant,
    vectors,
    vectors_of_graph,
    version_of,
)
from neo4j_server.console import Console, console
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address
from reliability.operations import damage

from graphmem import Memory, NotFound, open_memory
from graphmem.errors import UnsupportedSchema
from graphmem.stores.embedded.schema import VERSION
from graphmem.stores.embedded.store import NetworkXStore
from graphmem.stores.neo4j.schema import SCHEMA_VERSION


def test_there_is_a_fixture_of_every_version() -> None:
    # Made by tests/fixtures/make_stores.py; no release wrote version 1 of the graph.
    assert [version_of(each) for each in FILES] == list(range(1, VERSION + 1))
    assert [version_of(each) for each in GRAPHS] == list(range(2, SCHEMA_VERSION + 1))


def go_on(memory: Memory) -> None:
    """Do what one does with a memory of one's own."""
    memory.add("Ada prefers aisle seats on the night train to Lyon", id="new")
    memory.revise("n0", content="Ada prefers window seats on the train to Lyon")
    assert "new" in {each.note.id for each in memory.recall("Which seats does Ada prefer?").notes}
    memory.erase(id="n1")
    with pytest.raises(NotFound):
        memory.get("n1")
    memory.reindex("hashing-48")
    assert memory.check().problems == ()
    assert memory.scoped("other").check().problems == ()


# --- files ------------------------------------------------------------------------------


@pytest.mark.parametrize("old", FILES, ids=lambda old: str(old.stem))
def test_a_file_of_any_version_opens_twice_and_loses_nothing(tmp_path: Path, old: Path) -> None:
    path, expected = tmp_path / "old.graphmem", holdings_of_file(old)
    shutil.copy(old, path)
    states = []
    for _ in range(2):
        with open_memory(path, embedder=MODEL) as memory:
            assert holdings(memory) == expected
            assert damage(memory) == []
            assert memory.stats().schema_version == VERSION
            states.append([str(item) for item in memory.dump()])
    assert states[0] == states[1]
    kept = tmp_path / f"{path.name}.version-{version_of(old)}"
    if version_of(old) == VERSION:
        assert not kept.exists()
    else:
        assert holdings_of_file(kept) == expected
        with closing(sqlite3.connect(kept)) as copy:
            assert copy.execute("PRAGMA user_version").fetchone() == (version_of(old),)
            assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(list(tmp_path.iterdir())) == (1 if version_of(old) == VERSION else 2)


@pytest.mark.parametrize("old", FILES[1:], ids=lambda old: str(old.stem))
def test_a_migrated_file_is_worked_on(tmp_path: Path, old: Path) -> None:
    shutil.copy(old, tmp_path / "old.graphmem")
    with open_memory(tmp_path / "old.graphmem", embedder=MODEL) as memory:
        go_on(memory)


def test_another_old_file_at_the_same_place_is_copied_too(tmp_path: Path) -> None:
    path, other = tmp_path / "old.graphmem", tmp_path / "other.sqlite"
    shutil.copy(FILES[0], path)
    shutil.copy(FILES[0], other)
    with closing(sqlite3.connect(other)) as changed, changed:
        changed.execute("UPDATE note SET content = 'something else' WHERE id = 'n1'")
    for each in (FILES[0], other, FILES[0]):
        shutil.copy(each, path)
        NetworkXStore.open(path).close()
    first, second = tmp_path / f"{path.name}.version-1", tmp_path / f"{path.name}.version-1.2"
    assert holdings_of_file(first) == holdings_of_file(FILES[0])
    assert holdings_of_file(second) == holdings_of_file(other)
    assert len(list(tmp_path.glob("*.version-*"))) == 2


def bytes_of(path: Path) -> list[bytes]:
    """The file and its write-ahead log, where it has one."""
    log = path.with_name(f"{path.name}-wal")
    return [each.read_bytes() for each in (path, log) if each.exists()]


def test_a_newer_version_that_only_the_log_tells_of_is_refused(tmp_path: Path) -> None:
    """Its writer died: the version is in the write-ahead log and not in the file."""
    path, left = tmp_path / "newer.graphmem", tmp_path / "left.graphmem"
    NetworkXStore.open(path).close()
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
        for end in ("", "-wal"):
            shutil.copy(f"{path}{end}", f"{left}{end}")
    before = bytes_of(left)
    assert len(before) == 2
    with pytest.raises(UnsupportedSchema, match=f"version {VERSION + 1}"):
        NetworkXStore.open(left)
    assert bytes_of(left) == before


def test_a_file_migrated_by_a_newer_version_while_it_is_open_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "open.graphmem"
    memory = open_memory(path, embedder=MODEL)
    memory.add("The kettle is in the office", id="a")
    with closing(sqlite3.connect(path)) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    before = bytes_of(path)
    for refused in (lambda: memory.get("a"), lambda: memory.add("More"), memory.stats):
        with pytest.raises(UnsupportedSchema, match="upgrade graphmem"):
            refused()
    assert bytes_of(path) == before
    memory.close()


# --- graphs -----------------------------------------------------------------------------


@pytest.fixture
def ask(neo4j_address: Address) -> Iterator[Console]:
    with console(neo4j_address) as opened:
        yield opened
    erase_everything(neo4j_address)


def open_graph(address: Address) -> Memory:
    return open_memory(address.uri, auth=address.auth, embedder=MODEL)


EVERYTHING = (
    "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) RETURN labels(n) AS labels, properties(n) AS fields, "
    "type(r) AS kind, properties(r) AS of_edge, elementId(m) AS other ORDER BY elementId(n), other"
)
VECTORS_ON_NOTES = (
    "MATCH (n:Note) UNWIND keys(n) AS name WITH name "
    "WHERE name STARTS WITH 'embedding' OR name STARTS WITH 'sentences' RETURN name"
)
OPENERS = 4
INDEXES = "SHOW INDEXES YIELD id, name RETURN id, name ORDER BY id"


@pytest.mark.neo4j
@pytest.mark.parametrize("old", GRAPHS, ids=lambda old: str(old.stem))
def test_a_graph_of_any_version_opens_twice_and_loses_nothing(
    neo4j_address: Address, ask: Console, old: Path
) -> None:
    items = graph_of(old)
    plant(neo4j_address, items)
    states = []
    for _ in range(2):
        with open_graph(neo4j_address) as memory:
            assert holdings(memory) == holdings_of_graph(items)
            assert vectors(memory) == vectors_of_graph(items)
            assert memory.check().problems == ()
            assert memory.stats().schema_version == SCHEMA_VERSION
        states.append((ask(EVERYTHING), ask(INDEXES)))
        assert ask(VECTORS_ON_NOTES) == []
    assert states[0] == states[1]
    if old == GRAPHS[0]:
        with open_graph(neo4j_address) as memory:
            go_on(memory)


@pytest.mark.neo4j
def test_a_graph_opened_by_several_at_once_is_migrated_once(
    neo4j_address: Address, ask: Console
) -> None:
    items = graph_of(next(old for old in GRAPHS if old.stem == "neo4j_version_5"))
    plant(neo4j_address, items)

    def look(_: int) -> tuple[Vectors, tuple[str, ...]]:
        with open_graph(neo4j_address) as memory:
            return vectors(memory), memory.check().problems

    with ThreadPoolExecutor(OPENERS) as pool:
        assert list(pool.map(look, range(OPENERS))) == [(vectors_of_graph(items), ())] * OPENERS
    assert ask(VECTORS_ON_NOTES) == []
    assert ask("MATCH (v:NoteVectors) RETURN count(v) AS nodes") == [
        {"nodes": len(vectors_of_graph(items))}
    ]


@pytest.mark.neo4j
def test_what_an_earlier_version_wrote_after_a_migration_was_cut_short_is_kept(
    neo4j_address: Address, ask: Console
) -> None:
    items = graph_of(next(old for old in GRAPHS if old.stem == "neo4j_version_5"))
    plant(neo4j_address, items)
    ask("CREATE (:NoteVectors {namespace: 'default', id: 'n0', embedding: [1.0], staged: 'x'})")
    with open_graph(neo4j_address) as memory:
        assert vectors(memory) == vectors_of_graph(items)
        assert memory.check().problems == ()
    assert ask(VECTORS_ON_NOTES) == []


@pytest.mark.neo4j
def test_vectors_left_on_notes_by_an_earlier_version_still_open_are_found_and_moved(
    neo4j_address: Address, ask: Console
) -> None:
    items = graph_of(GRAPHS[-1])
    plant(neo4j_address, items)
    with open_graph(neo4j_address) as memory:
        ask(
            "MATCH (n:Note {namespace: 'default'}), (v:NoteVectors {namespace: 'default'}) "
            "WHERE v.id = n.id SET n.embedding = v.embedding, n.sentences = v.sentences DELETE v"
        )
        assert not memory.check().ok
        assert len(memory.check(repair=True).repaired) == 7
        assert memory.check().ok
        assert vectors(memory) == vectors_of_graph(items)
    assert ask(VECTORS_ON_NOTES) == []


@pytest.mark.neo4j
def test_a_newer_graph_is_refused_untouched(neo4j_address: Address, ask: Console) -> None:
    plant(neo4j_address, graph_of(GRAPHS[-1]))
    ask("MATCH (g:GraphMem) SET g.schema_version = $version", version=SCHEMA_VERSION + 1)
    before = ask(EVERYTHING), ask(INDEXES)
    with pytest.raises(UnsupportedSchema, match="upgrade graphmem"):
        open_graph(neo4j_address)
    assert (ask(EVERYTHING), ask(INDEXES)) == before


@pytest.mark.neo4j
def test_migrating_and_reindexing_leave_notes_of_others_alone(
    neo4j_address: Address, ask: Console
) -> None:
    plant(neo4j_address, graph_of(GRAPHS[0]))
    ask("MATCH (g:GraphMem) SET g.schema_version = 1")
    for label in ("Note", "NoteVectors"):
        ask(
            f"CREATE (:{label} "
            "{text: 'mine', embedding: [1.0, 2.0], embedding_alt: [3.0], staged: 'x'})"
        )
    mine = "MATCH (n) WHERE n.text = 'mine' RETURN labels(n) AS labels, properties(n) AS all"
    before = ask(mine)
    with open_graph(neo4j_address) as memory:
        for model in ("hashing-48", MODEL):
            memory.reindex(model)
    assert ask(mine) == before
    ask("MATCH (n) WHERE n.text = 'mine' DELETE n")
