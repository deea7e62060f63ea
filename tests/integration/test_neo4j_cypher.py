"""Every file of cypher/ runs on real servers, and the frequent ones by an index."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from contract.builders import EAST, MODEL, link, make_event, make_note, new, unit
from neo4j_server.console import Console, console
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

from graphmem.model import (
    CandidateQuery,
    Disagreement,
    DisagreementKind,
    Scope,
    WritePlan,
    supersedes,
)
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.candidates import candidate_parameters
from graphmem.stores.neo4j.rows import as_sent, event_row, link_row, note_properties
from graphmem.stores.neo4j.schema import SCHEMA_VERSION
from graphmem.stores.neo4j.store import Neo4jStore

ROOT = Path(__file__).parents[2] / "cypher"
QUERIES = sorted(path.stem for path in (ROOT / "queries").glob("*.cypher"))
NOT_IN_A_TRANSACTION = {
    "create_filtered_vector_index_embedding",
    "create_filtered_vector_index_embedding_alt",
    "await_indexes",
    "clear_embeddings",
    "create_vector_index_embedding",
    "create_vector_index_embedding_alt",
    "drop_vector_index_embedding",
    "drop_vector_index_embedding_alt",
    "indexes",
}
WHOLE_STORE = {"clear_embeddings", "lock_store", "namespaces"}
"""They are asked of every namespace and may walk a label."""

NAMESPACE = "cypher"
SCOPE = Scope(NAMESPACE)
NOTE = make_note("n1", NAMESPACE, source="s", position=1, author="Ada", tags=("red",))
OTHER = make_note("n2", NAMESPACE, source="s", position=2, author="Eve")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
REASON = Disagreement(DisagreementKind.DATE, "9:15", "11:30")

PARAMETERS: dict[str, Any] = {
    **candidate_parameters(SCOPE, CandidateQuery(vector=EAST, terms=("seat", "aisle")), None),
    "after": "",
    "archive_mark": "a-",
    "archive_owner": "a-1",
    "at": NOW,
    "cleared": {"embedding_alt": None, "staged": None},
    "current_mark": "c-",
    "current_owner": "c-1",
    "dimension": 8,
    "erasures": 0,
    "fetch": 10,
    "id": "n1",
    "ids": ["n1", "n2"],
    "limit": 5,
    "model_id": "stub-8",
    "notes": 0,
    "page": 10,
    "pairs": ['["n1","n2"]'],
    "reached": ["n1"],
    "room": 10,
    "rows": [],
    "schema_version": SCHEMA_VERSION,
    "seconds": 60,
    "slot": "embedding_alt",
    "source_id": "s",
    "terms": 0,
    "token": "t",
    "vectors": [EAST.tolist()],
    "writes": 0,
}
OF_ITS_OWN: dict[str, dict[str, Any]] = {
    "assign_sources": {"rows": [{"id": "n1", "source_id": "other"}]},
    "chain": {"pairs": [{"later": "n2", "earlier": "n1"}]},
    "create_links": {
        "ids": ["n1", "n2"],
        "rows": [as_sent(link_row(link("n1", "n2"))) | {"ends": [0, 1], "pair": "not there yet"}],
    },
    "drop_empty_sources": {"ids": ["s"]},
    "drop_events": {"ids": ["n1@2"]},
    "event_by_id": {"id": "n1@2"},
    "stage_embeddings": {"rows": [{"id": "n1", "revision": 1, "properties": {}}]},
    "upsert_events": {"rows": [as_sent(event_row(make_event(NOTE, 2, trigger="n2")))]},
    "upsert_links": {"rows": [as_sent(link_row(link("n1", "n2")))]},
    "weigh_links": {"weights": [{"pair": '["n1","n2"]', "weight": 0.8}]},
    "upsert_superseding": {
        "rows": [as_sent(link_row(supersedes("n2", "n1", 0.8, NOW, REASON)))],
    },
    "upsert_notes": {
        "rows": [
            as_sent(
                {
                    "id": "n1",
                    "first": as_sent({"properties": {}}),
                    "properties": note_properties(NOTE, ("seat",)),
                    "vectors": {"embedding": unit(3).tolist()},
                }
            ),
        ]
    },
}


@dataclass(frozen=True)
class Prepared:
    ask: Console
    store: Neo4jStore
    searches: bool


@pytest.fixture(scope="module", params=["neo4j_address", "neo4j_2026_address"])
def prepared(request: pytest.FixtureRequest) -> Iterator[Prepared]:
    address: Address = request.getfixturevalue(request.param)
    erase_everything(address)
    store = Neo4jStore(address.uri, auth=address.auth, database=address.database)
    plan = WritePlan(
        notes=(new(NOTE, unit(1), ("seat",)), new(OTHER, unit(2), ("seat", "aisle"))),
        links=(link("n1", "n2"),),
        events=(make_event(NOTE, 2, trigger="n2"),),
        model=MODEL,
    )
    store.write(SCOPE, lambda reader: plan)
    with console(address) as ask:
        yield Prepared(ask, store, searches=request.param == "neo4j_2026_address")
    store.close()


def parameters_of(name: str) -> dict[str, Any]:
    return PARAMETERS | OF_ITS_OWN.get(name, {})


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_runs(prepared: Prepared, name: str) -> None:
    if name.startswith("create_filtered") and not prepared.searches:
        pytest.skip("Neo4j 5.26 has no filtered vector index: see the lane of 2026.x")
    if name in NOT_IN_A_TRANSACTION:
        prepared.ask(cypher.query(name), **parameters_of(name))
        prepared.store.check(SCOPE, repair=True)  # an index may have gone
    else:
        prepared.ask.rolled_back(cypher.query(name), **parameters_of(name))


@pytest.mark.parametrize("slot", ["embedding", "embedding_alt"])
def test_a_search_runs_where_the_server_can(prepared: Prepared, slot: str) -> None:
    if not prepared.searches:
        pytest.skip("Neo4j 5.26 has no SEARCH clause: see the lane of 2026.x")
    prepared.ask(cypher.query(f"drop_vector_index_{slot}"))
    prepared.ask(cypher.query(f"create_filtered_vector_index_{slot}"), dimension=8)
    prepared.ask(cypher.query("await_indexes"), seconds=60)
    clause = (ROOT / "search" / f"{slot}.cypher").read_text(encoding="utf-8")
    found = prepared.ask(clause, **parameters_of("candidates"))
    assert len(found) == (2 if slot == "embedding" else 0)
    whole = prepared.ask(cypher.candidates_by_search(slot), **parameters_of("candidates"))
    assert len(whole[0]["found"]) == 2


def test_candidates_without_a_filter_run(prepared: Prepared) -> None:
    statement = cypher.candidates(unfiltered=True)
    (row,) = prepared.ask(statement, **parameters_of("candidates"))
    assert [note_id for note_id, *_ in row["found"]] == ["n1", "n2"]


BENCH: dict[str, dict[str, Any]] = {
    "insert": {"rows": [{"namespace": "bare", "id": "b1", "terms": ["seat"]}]},
    "recall": {
        "slot": "embedding", "k": 5, "vector": EAST.tolist(), "terms": "seat", "expand": 2,
        "fanout": 2,
    },
    "clear": {"namespace": "bare", "page": 10},
    "linked": {},
}  # fmt: skip
HITS = "MATCH (node:Note) WITH node, 1.0 AS score ORDER BY node.id "
"""Stands for the search of a retriever, which ``linked`` is appended to."""


@pytest.mark.parametrize("name", BENCH)
def test_what_graphmem_is_compared_with_runs(prepared: Prepared, name: str) -> None:
    assert BENCH.keys() == {path.stem for path in (ROOT / "bench").glob("*.cypher")}
    prepared.ask(cypher.query("await_indexes"), seconds=60)
    before = HITS if name == "linked" else ""
    rows = prepared.ask.rolled_back(before + cypher.bench(name), **BENCH[name])
    if name == "linked":
        assert {row["id"] for row in rows} >= {"n1", "n2"}
    if name == "recall":
        assert {"n1", "n2"} <= {found["note"]["id"] for found in rows[0]["found"]}


@pytest.mark.parametrize("name", sorted(set(QUERIES) - NOT_IN_A_TRANSACTION - WHOLE_STORE))
def test_a_query_reaches_notes_by_an_index(prepared: Prepared, name: str) -> None:
    operators = prepared.ask.profile(cypher.query(name), **parameters_of(name))
    scans = {
        "AllNodesScan", "NodeByLabelScan", "DirectedRelationshipTypeScan",
        "UndirectedRelationshipTypeScan",
    }  # fmt: skip
    assert not operators & scans


@pytest.mark.parametrize("statement", cypher.schema())
def test_the_schema_runs_again(prepared: Prepared, statement: str) -> None:
    assert prepared.ask(statement) == []


@pytest.mark.parametrize("version", range(len(cypher.migrations())))
def test_a_migration_runs_again(prepared: Prepared, version: int) -> None:
    before = prepared.ask("MATCH (n) RETURN properties(n) AS p ORDER BY elementId(n)")
    for statement in cypher.migrations()[version].statements:
        assert prepared.ask(statement) == []
    assert prepared.ask("MATCH (n) RETURN properties(n) AS p ORDER BY elementId(n)") == before
