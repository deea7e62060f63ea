"""The favourites of Neo4j Browser run on both servers, find what they say, and only read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import note_graph
import pytest
from neo4j import GraphDatabase
from neo4j.graph import Node, Relationship
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

from graphmem.interfaces.browser_kit import Favourite, favourites
from graphmem.stores.neo4j import Neo4jStore

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
    database: str

    def run(self, favourite: Favourite) -> Found:
        result = self.driver.execute_query(
            favourite.text.strip().removesuffix(";"), database_=self.database
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
        yield Prepared(driver, address.database)
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
    assert re.search(r"^ *LIMIT \d+", FAVOURITES[name].text, re.MULTILINE)
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


def test_labels_and_strength_follow_what_is_written(prepared: Prepared) -> None:
    rows = prepared.driver.execute_query(
        "MATCH (n:Note {namespace: $namespace}) RETURN n.id AS id, labels(n) AS labels",
        namespace=NAMESPACE,
    ).records
    labels = {row["id"]: set(row["labels"]) - {"Note"} for row in rows}
    assert labels == {
        "a": {"Minor"}, "b": {"Minor"}, "c": set(), "d": set(), "e": {"Important"},
        "f": {"Important"}, "g": {"Important"},
    }  # fmt: skip
    rows = prepared.driver.execute_query(
        "MATCH (a {namespace: $namespace})-[r:RELATED]->(b) RETURN r.weight AS w, r.strength AS s",
        namespace=NAMESPACE,
    ).records
    assert {row["w"]: row["s"] for row in rows} == {
        0.97: "strong", 0.9: "strong", 0.86: "strong", 0.8: "medium", 0.79: "medium",
        0.74: "medium", 0.73: "medium",
    }  # fmt: skip
