"""Erasing, checking, mending and changing the model, seen in the graph itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from conftest import OpenNeo4j
from contract.builders import EAST, MODEL, change, link, make_event, make_note, new, unit
from neo4j_server.console import Console, console
from neo4j_server.server import Address

from graphmem.errors import Conflict, EmbeddingError
from graphmem.model import (
    CandidateQuery,
    ModelIdentity,
    Note,
    NoteRecord,
    NoteVectors,
    Scope,
    WritePlan,
)
from graphmem.stores.neo4j.store import Neo4jStore

SCOPE = Scope("upkeep")
NEW_MODEL = ModelIdentity("stub-5", 5)


@pytest.fixture
def ask(neo4j_address: Address) -> Iterator[Console]:
    with console(neo4j_address) as opened:
        yield opened


@pytest.fixture
def store(open_neo4j_store: OpenNeo4j) -> Neo4jStore:
    opened = open_neo4j_store()
    notes = [
        make_note(f"n{i}", "upkeep", source=f"s{i % 2}", position=i, author="Ada") for i in range(6)
    ]
    plan = WritePlan(
        notes=tuple(new(note, unit(i), ("seat", f"w{i}")) for i, note in enumerate(notes)),
        links=(link("n0", "n1"), link("n1", "n2"), link("n3", "n4")),
        events=(make_event(notes[1], 2, trigger="n2"), make_event(notes[2], 2, trigger="n1")),
        model=MODEL,
    )
    opened.write(SCOPE, lambda reader: plan)
    return opened


# --- erasing ---------------------------------------------------------------------------


def test_an_erased_note_is_nowhere_in_the_graph(store: Neo4jStore, ask: Console) -> None:
    secret = make_note("the-secret", "upkeep", source="secret-source", position=1, author="Eve")
    plan = WritePlan(
        notes=(new(secret, unit(77), ("secretword",)),),
        links=(link("n0", "the-secret"),),
        events=(make_event(secret, 2, trigger="n0"),),
    )
    store.write(SCOPE, lambda reader: plan)
    assert _mentions(ask, "secret") > 0
    store.write(SCOPE, lambda reader: WritePlan(erased=("the-secret",)))

    assert _mentions(ask, "secret") == 0
    words = "CALL db.index.fulltext.queryNodes('note_terms', 'secretword') YIELD node RETURN node"
    assert ask(words) == []
    near = (
        "CALL db.index.vector.queryNodes('vectors_embedding', 100, $v) YIELD node "
        "RETURN node.id AS id"
    )
    assert "the-secret" not in {row["id"] for row in ask(near, v=unit(77).tolist())}
    assert store.check(SCOPE).ok


def _mentions(ask: Console, word: str) -> int:
    """How many nodes and edges have the word in any property."""
    texts = """any(key IN keys(x) WHERE any(text IN
        CASE WHEN valueType(x[key]) STARTS WITH 'LIST<STRING' THEN x[key]
             WHEN valueType(x[key]) STARTS WITH 'STRING' THEN [x[key]]
             ELSE [] END
        WHERE text CONTAINS $word))"""
    nodes = ask(f"MATCH (x) WHERE {texts} RETURN count(*) AS n", word=word)[0]["n"]
    edges = ask(f"MATCH ()-[x]->() WHERE {texts} RETURN count(*) AS n", word=word)[0]["n"]
    found: int = nodes + edges
    return found


def test_a_dropped_namespace_leaves_nothing(store: Neo4jStore, ask: Console) -> None:
    kept = Scope("kept")
    store.load(kept, [NoteRecord(make_note("n0", "kept", source="s0"), (), EAST)], [], [], None)
    assert store.drop_namespace("upkeep") == 6
    assert _mentions(ask, "upkeep") == 0
    assert store.namespaces() == ("kept",)
    assert store.stats(kept).sources == 1
    assert store.drop_namespace("upkeep") == 0


# --- checking --------------------------------------------------------------------------

DAMAGE = {
    "counters": "MATCH (s:Namespace {name: 'upkeep'}) SET s.notes = 99",
    "sentences": "MATCH (v:NoteVectors {id: 'n1'}) SET v.sentences = [1, 2, 3]",
    "owner": "MATCH (n:Note {id: 'n1'}) SET n.terms = n.terms[..-1] + ['\ue000current-other']",
    "archived": "MATCH (n:Note {id: 'n1'}) SET n.archived = true",
    "source edge": "MATCH (:Note {id: 'n1'})-[f:FROM]->() DELETE f",
    "empty source": "CREATE (:Source {namespace: 'upkeep', id: 'nobody'})",
    "chain cut": "MATCH (:Note {id: 'n4'})-[f:FOLLOWS]->() DELETE f",
    "chain crossed": ("MATCH (a:Note {id: 'n1'}), (b:Note {id: 'n0'}) CREATE (a)-[:FOLLOWS]->(b)"),
    "link reversed": (
        "MATCH (a:Note {id: 'n5'}), (b:Note {id: 'n0'}) CREATE (a)-[:RELATED "
        "{namespace: 'upkeep', pair: 'x', weight: 1.0, cosine: 1.0, retrievals: 0}]->(b)"
    ),
    "event loose": "MATCH (e:EvolutionEvent {id: 'n1@2'})-[c:CHANGED]->() DELETE c",
    "vector cut": "MATCH (v:NoteVectors {id: 'n1'}) SET v.embedding = v.embedding[..3]",
    "vectors on the note": (
        "MATCH (n:Note {id: 'n1'}), (v:NoteVectors {id: 'n1'}) "
        "SET n.embedding = v.embedding DELETE v"
    ),
    "vectors left over": "CREATE (:NoteVectors {namespace: 'upkeep', id: 'gone'})",
    "vector index dropped": "DROP INDEX vectors_embedding",
    "word index dropped": "DROP INDEX note_terms",
    "constraint dropped": "DROP CONSTRAINT related_unique",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_found_and_mended(store: Neo4jStore, ask: Console, damage: str) -> None:
    assert store.check(SCOPE).ok
    ask(damage)
    found = store.check(SCOPE)
    assert found.problems
    assert store.check(SCOPE) == found  # looking changes nothing
    mended = store.check(SCOPE, repair=True)
    assert mended.ok
    assert mended.repaired == found.problems
    assert store.check(SCOPE).ok
    assert store.check(SCOPE).notes == 6


def test_a_missing_index_does_not_stop_a_recall(store: Neo4jStore, ask: Console) -> None:
    many = [NoteRecord(make_note(f"m{i}", "upkeep"), (), unit(i)) for i in range(1100)]
    store.load(SCOPE, many, [], [], None)
    question = CandidateQuery(vector=unit(5), terms=(), vector_seeds=3, expand=0)
    expected = store.candidates(SCOPE, question)
    ask("DROP INDEX vectors_embedding")
    assert store.candidates(SCOPE, question) == expected
    assert store.check(SCOPE).ok  # the call built it again


# --- another model ---------------------------------------------------------------------


def embed(notes: Sequence[Note]) -> NoteVectors:
    return NoteVectors(np.stack([unit(len(note.content) + int(note.id[1:]), 5) for note in notes]))


def test_a_new_model_is_in_force_everywhere_at_once(store: Neo4jStore, ask: Console) -> None:
    elsewhere = Scope("elsewhere")
    store.load(elsewhere, [NoteRecord(make_note("n9", "elsewhere"), (), EAST)], [], [], None)
    archived = [change(note, archived=True) for note in store.get(SCOPE, ["n3"]).values()]
    store.write(SCOPE, lambda reader: WritePlan(notes=tuple(archived)))
    store.replace_model(NEW_MODEL, embed)

    assert store.model() == NEW_MODEL
    for scope in (SCOPE, elsewhere):
        for record in store.records(scope):
            assert record.embedding is not None
            assert record.embedding.tobytes() == embed([record.note]).notes[0].tobytes()
        assert store.check(scope).ok
    target = embed([store.get(SCOPE, ["n1"])["n1"]]).notes[0]
    assert store.nearest(SCOPE, target[None], 1)[0][0].note_id == "n1"
    found = store.candidates(SCOPE, CandidateQuery(vector=target, terms=(), vector_seeds=1))
    assert [c.note.id for c in found.candidates if c.vector_rank == 0] == ["n1"]
    left = "MATCH (v:NoteVectors) WHERE v.embedding IS NOT NULL OR v.staged IS NOT NULL RETURN v.id"
    assert ask(left) == []
    store.replace_model(
        MODEL, lambda notes: NoteVectors(np.stack([EAST for _ in notes]))
    )  # and back
    assert store.check(SCOPE).ok


@pytest.mark.parametrize(
    "pages",
    [
        lambda notes: NoteVectors(np.zeros((len(notes), 7), dtype=np.float32)),
        lambda notes: NoteVectors(np.full((len(notes), 5), np.nan, dtype=np.float32)),
    ],
    ids=["another dimension", "not finite"],
)
def test_a_model_that_fails_changes_nothing(
    store: Neo4jStore, pages: Callable[[Sequence[Note]], NoteVectors]
) -> None:
    before = [
        (r.note, r.embedding.tobytes()) for r in store.records(SCOPE) if r.embedding is not None
    ]
    with pytest.raises(EmbeddingError):
        store.replace_model(NEW_MODEL, pages)
    assert store.model() == MODEL
    after = [
        (r.note, r.embedding.tobytes()) for r in store.records(SCOPE) if r.embedding is not None
    ]
    assert after == before
    assert store.check(SCOPE).ok


def test_a_note_changed_meanwhile_is_embedded_anew(
    store: Neo4jStore, second_store: Neo4jStore
) -> None:
    other = second_store
    once: list[bool] = []

    def pages(notes: Sequence[Note]) -> NoteVectors:
        vectors = embed(notes)
        if not once:
            once.append(True)
            stored = other.get(SCOPE, ["n1"])["n1"]
            changed = change(stored, unit(50), ("seat",), content="a longer text than before")
            fresh = new(make_note("n10", "upkeep"), unit(51), ("seat",))
            other.write(SCOPE, lambda reader: WritePlan(notes=(changed, fresh)))
        return vectors

    store.replace_model(NEW_MODEL, pages)
    for record in store.records(SCOPE):
        assert record.embedding is not None
        assert record.embedding.tobytes() == embed([record.note]).notes[0].tobytes()
    assert store.stats(SCOPE).notes == 7


@pytest.fixture
def second_store(store: Neo4jStore, neo4j_address: Address) -> Iterator[Neo4jStore]:
    """A second store on the graph that `store` filled."""
    again = Neo4jStore(neo4j_address.uri, auth=neo4j_address.auth, database=neo4j_address.database)
    yield again
    again.close()


def test_of_two_changes_of_model_the_later_wins(
    store: Neo4jStore, second_store: Neo4jStore
) -> None:
    later_model = ModelIdentity("later-5", 5)
    begun: list[bool] = []

    def pages(notes: Sequence[Note]) -> NoteVectors:
        if not begun:
            begun.append(True)
            second_store.replace_model(later_model, embed)
        return embed(notes)

    with pytest.raises(Conflict, match="another reindexing"):
        store.replace_model(NEW_MODEL, pages)
    assert store.model() == later_model
    assert all(record.embedding is not None for record in store.records(SCOPE))
    assert store.check(SCOPE).ok


def test_load_replaces_whole_records(store: Neo4jStore) -> None:
    note = replace(store.get(SCOPE, ["n1"])["n1"], recall_count=7, revision=5)
    store.load(SCOPE, [NoteRecord(note, ("other",), None)], [], [], None)
    record = next(record for record in store.records(SCOPE) if record.note.id == "n1")
    assert (record.note, record.terms, record.embedding) == (note, ("other",), None)
    assert "n1" not in {near.note_id for near in store.nearest(SCOPE, unit(1)[None], 10)[0]}
    assert store.check(SCOPE).ok
