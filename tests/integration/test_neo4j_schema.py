"""Opening a database: new, again, older, newer, and with other people's nodes in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from conftest import OpenNeo4j
from contract.builders import MODEL, full_note, link, make_note, new, unit
from neo4j_server.console import Console, console
from neo4j_server.server import Address

from graphmem.errors import StoreCorrupt, UnsupportedSchema
from graphmem.model import DEFAULT_IMPORTANCE, CandidateQuery, NoteRecord, Scope, WritePlan
from graphmem.stores.neo4j.schema import SCHEMA_VERSION

SCOPE = Scope("schema")


@pytest.fixture
def ask(neo4j_address: Address) -> Iterator[Console]:
    with console(neo4j_address) as opened:
        yield opened


def test_indexes_are_as_the_store_relies_on(open_neo4j_store: OpenNeo4j, ask: Console) -> None:
    store = open_neo4j_store()
    store.load(SCOPE, [NoteRecord(make_note("n1", "schema"), (), unit(1))], [], [], MODEL)
    indexes = {
        row["name"]: row
        for row in ask(
            "SHOW INDEXES YIELD name, type, state, options RETURN name, type, state, options"
        )
    }
    vector = indexes["vectors_embedding"]["options"]["indexConfig"]
    assert vector["vector.dimensions"] == MODEL.dimension
    assert vector["vector.similarity_function"].lower() == "cosine"
    assert vector["vector.quantization.enabled"] is False
    words = indexes["note_terms"]["options"]["indexConfig"]
    assert words["fulltext.analyzer"] == "whitespace"
    assert all(row["state"] == "ONLINE" for row in indexes.values())


def test_opening_again_changes_nothing(open_neo4j_store: OpenNeo4j, ask: Console) -> None:
    open_neo4j_store()
    everything = "MATCH (n) RETURN labels(n) AS labels, properties(n) AS properties"
    schema = "SHOW INDEXES YIELD id, name RETURN id, name ORDER BY id"
    before = ask(everything), ask(schema)
    open_neo4j_store()
    assert (ask(everything), ask(schema)) == before


def test_a_graph_from_before_importance_and_recall_count_is_migrated(
    open_neo4j_store: OpenNeo4j, ask: Console
) -> None:
    written, plain = full_note("n1", "schema"), make_note("n2", "schema", source="s", position=1)
    first = open_neo4j_store()
    plan = WritePlan(
        notes=(new(written, unit(1), ("seat",)), new(plain, unit(2), ("seat",))),
        links=(link("n1", "n2"),),
        model=MODEL,
    )
    first.write(SCOPE, lambda reader: plan)
    first.close()
    # Version 1 wrote the same nodes without these two properties.
    ask("MATCH (n:Note) REMOVE n.importance_score, n.recall_count")
    ask("MATCH (g:GraphMem) SET g.schema_version = 1")

    for _ in range(2):  # migrating twice is harmless
        store = open_neo4j_store()
        expected = {
            note.id: replace(note, importance=DEFAULT_IMPORTANCE, recall_count=0)
            for note in (written, plain)
        }
        assert store.get(SCOPE, ["n1", "n2"]) == expected
        assert store.all_links(SCOPE).__next__() == link("n1", "n2")
        assert store.stats(SCOPE).schema_version == SCHEMA_VERSION
        assert store.check(SCOPE).ok
        question = CandidateQuery(vector=unit(1), terms=("seat",))
        assert len(store.candidates(SCOPE, question).candidates) == 2
        ask("MATCH (g:GraphMem) SET g.schema_version = 1")


def test_a_newer_graph_is_left_alone(open_neo4j_store: OpenNeo4j, ask: Console) -> None:
    open_neo4j_store()
    ask("MATCH (g:GraphMem) SET g.schema_version = $version", version=SCHEMA_VERSION + 1)
    with pytest.raises(UnsupportedSchema, match="upgrade graphmem"):
        open_neo4j_store()


def test_nodes_of_others_are_neither_seen_nor_touched(
    open_neo4j_store: OpenNeo4j, ask: Console
) -> None:
    ask("CREATE (:Note {id: 'n1', text: 'mine'})-[:RELATED]->(:Source {name: 'mine'})")
    store = open_neo4j_store()
    store.load(SCOPE, [NoteRecord(make_note("n1", "schema"), (), unit(1))], [], [], MODEL)
    assert store.stats(SCOPE).notes == 1
    assert store.namespaces() == ("schema",)
    store.drop_namespace("schema")
    theirs = ask("MATCH (n:Note)-[:RELATED]->(s:Source) RETURN n.text AS text, s.name AS name")
    assert theirs == [{"text": "mine", "name": "mine"}]


def test_a_store_whose_graph_was_emptied_says_so(open_neo4j_store: OpenNeo4j, ask: Console) -> None:
    store = open_neo4j_store()
    ask("MATCH (n:GraphMem) DETACH DELETE n")
    with pytest.raises(StoreCorrupt, match="open the memory again"):
        store.write(SCOPE, lambda reader: WritePlan())
    with pytest.raises(StoreCorrupt, match="open the memory again"):
        store.model()
