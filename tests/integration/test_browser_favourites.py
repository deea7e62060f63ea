"""The favourites of Neo4j Browser run on both servers, find what they say, and only read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import note_graph
import pytest
from contract.builders import change, link
from neo4j import GraphDatabase
from neo4j.graph import Node, Relationship
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

from graphmem.interfaces.browser_kit import Favourite, favourites
from graphmem.model import Scope, WritePlan
from graphmem.ports import ScopeReader
from graphmem.stores.neo4j.store import Neo4jStore

NAMESPACE, OTHER = r"it's \ here", "elsewhere"
FAVOURITES = {
    favourite.file.removesuffix(".cypher"): favourite for favourite in favourites(NAMESPACE)
}


@dataclass(frozen=True)
class Found:
    """What a favourite returned: ids of notes, pairs of RELATED, other labels, plain values."""

    notes: set[str]
    pairs: set[tuple[str, str]]
    labels: set[str]
    namespaces: set[str]
    values: list[object]
    query_type: str


@dataclass(frozen=True)
class Prepared:
    driver: Any
    address: Address
    store: Neo4jStore

    def reopen(self) -> Neo4jStore:
        return Neo4jStore(self.address.uri, auth=self.address.auth, database=self.address.database)

    def run(self, favourite: Favourite) -> Found:
        result = self.driver.execute_query(
            favourite.text.strip().removesuffix(";"), database_=self.address.database
        )
        found = Found(set(), set(), set(), set(), [], result.summary.query_type)
        for record in result.records:
            for value in record.values():
                sort(value, found)
        return found


def sort(value: object, into: Found) -> None:
    if isinstance(value, list):
        for item in value:
            sort(item, into)
    elif isinstance(value, Node):
        into.namespaces.add(value["namespace"])
        into.labels.update(value.labels)
        if "Note" in value.labels:
            into.notes.add(value["id"])
    elif isinstance(value, Relationship):
        if value.type == "RELATED":
            into.pairs.add(tuple(node["id"] for node in value.nodes))  # type: ignore[arg-type] # two
    elif value is not None:
        into.values.append(value)


@pytest.fixture(scope="module", params=["neo4j_address", "neo4j_2026_address"])
def prepared(request: pytest.FixtureRequest) -> Iterator[Prepared]:
    address: Address = request.getfixturevalue(request.param)
    erase_everything(address)
    store = Neo4jStore(address.uri, auth=address.auth, database=address.database)
    for namespace in (NAMESPACE, OTHER):
        note_graph.fill(store, namespace)
    with GraphDatabase.driver(address.uri, auth=address.auth) as driver:
        yield Prepared(driver, address, store)
    store.close()


@pytest.mark.parametrize("name", FAVOURITES)
def test_a_favourite_finds_something_in_its_namespace_and_only_reads(
    prepared: Prepared, name: str
) -> None:
    found = prepared.run(FAVOURITES[name])
    assert found.query_type == "r"
    assert found.notes or found.values
    assert found.namespaces <= {NAMESPACE}


@pytest.mark.parametrize("name", FAVOURITES)
def test_a_favourite_is_bounded_and_names_no_embedding(name: str) -> None:
    assert re.search(r"\bLIMIT \d+", FAVOURITES[name].text)
    assert "embedding" not in FAVOURITES[name].text


@pytest.mark.parametrize(
    ("name", "notes", "pairs"),
    [
        ("bridges", set("abcdef"), {("c", "d")}),
        ("links_near_threshold", set("cdef"), {("c", "d"), ("e", "f")}),
        ("never_recalled", set("cdfg"), set()),
        ("last_recall", set("ab"), {("a", "b")}),
        ("why_linked", set("ab"), {("a", "b")}),
        ("history_of_a_note", set("ab"), set()),
        ("changes_of_mind", set("ab"), set()),
        ("one_source_in_order", set("abcdefg"), set()),
    ],
)
def test_a_favourite_finds_what_it_says(
    prepared: Prepared, name: str, notes: set[str], pairs: set[tuple[str, str]]
) -> None:
    found = prepared.run(FAVOURITES[name])
    assert found.notes == notes
    assert found.pairs >= pairs


def test_a_cluster_is_shown_from_its_centre(prepared: Prepared) -> None:
    result = prepared.driver.execute_query(FAVOURITES["clusters"].text.strip().removesuffix(";"))
    assert {record["centre"]["id"] for record in result.records} == {"c"}
    assert prepared.run(FAVOURITES["clusters"]).notes == set("abcdef")


def test_hubs_come_with_their_strongest_links(prepared: Prepared) -> None:
    result = prepared.driver.execute_query(FAVOURITES["hubs"].text.strip().removesuffix(";"))
    assert result.records[0]["hub"]["id"] == "c"
    assert len(prepared.run(FAVOURITES["hubs"]).pairs) == len(note_graph.LINKS)


LABELS = {
    "a": {"Minor"}, "b": {"Minor"}, "c": set(), "d": set(), "e": {"Important"},
    "f": {"Important"}, "g": {"Important"},
}  # fmt: skip
STRENGTH = {
    0.97: "strong", 0.9: "strong", 0.86: "strong", 0.8: "medium", 0.79: "medium",
    0.74: "medium", 0.73: "medium",
}  # fmt: skip


def labels(prepared: Prepared) -> dict[str, set[str]]:
    rows = prepared.driver.execute_query(
        "MATCH (n:Note {namespace: $namespace}) RETURN n.id AS id, labels(n) AS labels",
        namespace=NAMESPACE,
    ).records
    return {row["id"]: set(row["labels"]) - {"Note"} for row in rows}


def strength(prepared: Prepared) -> dict[float, str]:
    rows = prepared.driver.execute_query(
        "MATCH (a {namespace: $namespace})-[r:RELATED]->(b) RETURN r.weight AS w, r.strength AS s",
        namespace=NAMESPACE,
    ).records
    return {row["w"]: row["s"] for row in rows}


def test_labels_and_strength_are_written_with_notes_and_links(prepared: Prepared) -> None:
    assert labels(prepared) == LABELS
    assert strength(prepared) == STRENGTH


def test_labels_and_strength_follow_every_change(prepared: Prepared) -> None:
    scope, store = Scope(NAMESPACE), prepared.store
    kept = store.get(scope, ["a", "e"])
    fading = link("a", "b", 0.97, weight=0.6)

    def change_all(reader: ScopeReader) -> WritePlan:
        return WritePlan(
            notes=(change(kept["a"], importance=0.9), change(kept["e"], importance=0.1)),
            links=(fading,),
        )

    def change_back(reader: ScopeReader) -> WritePlan:
        now = store.get(scope, ["a", "e"])
        return WritePlan(
            notes=tuple(change(now[name], importance=kept[name].importance) for name in now),
            links=(link("a", "b", 0.97),),
        )

    store.write(scope, change_all)
    assert labels(prepared) == LABELS | {"a": {"Important"}, "e": {"Minor"}}
    assert strength(prepared)[0.6] == "weak"
    store.write(scope, change_back)
    assert labels(prepared) == LABELS
    assert strength(prepared) == STRENGTH


def test_a_graph_of_the_second_version_gets_labels_and_strength(prepared: Prepared) -> None:
    ask = prepared.driver.execute_query
    ask("MATCH (n:Note) REMOVE n:Important, n:Minor")
    ask("MATCH ()-[r:RELATED]->() REMOVE r.strength")
    ask("MATCH (g:GraphMem) SET g.schema_version = 2")
    prepared.reopen().close()
    assert labels(prepared) == LABELS
    assert strength(prepared) == STRENGTH
