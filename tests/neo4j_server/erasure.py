"""Emptying a test server between tests: Community has one database, and it has one model."""

from __future__ import annotations

from neo4j import GraphDatabase

from neo4j_server.server import Address

LABELS = ("Note", "NoteVectors", "Source", "EvolutionEvent", "Namespace", "GraphMem")
VECTOR_INDEXES = ("vectors_embedding", "vectors_embedding_alt")


def erase_everything(address: Address) -> None:
    """Remove graphmem's nodes and vector indexes; the rest of its schema stays."""
    with (
        GraphDatabase.driver(address.uri, auth=address.auth, telemetry_disabled=True) as driver,
        driver.session(database=address.database) as session,
    ):
        for label in LABELS:
            session.run(
                f"MATCH (n:{label}) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF 2000 ROWS"  # type: ignore[arg-type] # the constants above
            ).consume()
        for name in VECTOR_INDEXES:
            session.run(f"DROP INDEX {name} IF EXISTS").consume()  # type: ignore[arg-type] # the constants above
