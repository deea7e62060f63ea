"""What the README says to someone with a Neo4j of their own is run on one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from neo4j import Driver, GraphDatabase
from neo4j_server.server import Address

from graphmem import Source, open_memory

pytestmark = pytest.mark.neo4j

README = Path(__file__).parents[2] / "README.md"
THEIRS = """
CREATE (ada:Person {name: 'Ada'}), (chat:Chat {name: 'planning'})
CREATE (a:Message {uuid: 'a', text: 'Shall we take the train?', number: 1,
                   sent: datetime('2024-05-01T10:00:00.25+02:00')})
CREATE (b:Message {uuid: 'b', text: 'Yes, "by night".', number: 2,
                   sent: datetime('2024-05-01T10:05:00Z')})
CREATE (c:Message {uuid: 'c', text: 'A note of nobody', sent: datetime('2024-05-02T00:00:00Z')})
CREATE (ada)-[:SENT]->(a), (ada)-[:SENT]->(b), (a)-[:IN]->(chat), (b)-[:IN]->(chat)
CREATE (b)-[:REPLIES_TO]->(a)
"""


def block(language: str) -> str:
    (found,) = re.findall(rf"^```{language}\n(.*?)^```", README.read_text(), re.S | re.M)
    return str(found)


@pytest.fixture
def theirs(neo4j_address: Address) -> Iterator[Driver]:
    """A graph that is not graphmem's."""
    with GraphDatabase.driver(neo4j_address.uri, auth=neo4j_address.auth) as driver:
        driver.execute_query(THEIRS)
        yield driver
        driver.execute_query("MATCH (n) WHERE n:Person OR n:Chat OR n:Message DETACH DELETE n")


def test_a_graph_of_ones_own_becomes_notes(
    theirs: Driver, neo4j_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDER", "hashing-64")
    given = {"url": neo4j_address.uri, "auth": neo4j_address.auth, "query": block("cypher")}
    exec(block("py"), given)  # noqa: S102  # our own README
    assert given["report"].added == 3  # type: ignore[attr-defined] # an ImportReport
    with open_memory(os.fspath(tmp_path / "notes.graphmem")) as memory:
        first = memory.get("a")
        assert (first.content, first.author) == ("Shall we take the train?", "Ada")
        assert first.created_at.isoformat() == "2024-05-01T08:00:00.250000+00:00"
        assert first.source == Source("planning", position=1)
        assert memory.get("c").source is None
        assert [link.pair for link in memory.links("a")] == [("a", "b")]
        assert memory.check().ok
