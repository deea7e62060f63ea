"""Bringing a database to this version's schema, and keeping its vector indexes.

The version stands on the one ``:GraphMem`` node, with the embedding model. Statements of
the schema run one after the other: parallel ones deadlock.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphmem.errors import StoreCorrupt, UnsupportedSchema
from graphmem.model import ModelIdentity
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.connection import Connection

SCHEMA_VERSION = 6
SLOTS = ("embedding", "embedding_alt")
"""The properties of ``:NoteVectors`` with embeddings: one in force, one for the next model."""
SENTENCES = {"embedding": "sentences", "embedding_alt": "sentences_alt"}
"""The properties that hold the vectors of a note's sentences, by the slot of its embedding."""
INDEX_WAIT_SECONDS = 600
FILTERED_INDEX_SINCE = (2026, 1)
"""The first server whose vector indexes hold other properties, searched by ``SEARCH``."""


@dataclass(frozen=True, slots=True)
class GraphState:
    """What the ``:GraphMem`` node says."""

    schema_version: int
    model: ModelIdentity | None
    slot: str


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The index of a slot; `filtered` when it can search one namespace only."""

    slot: str
    filtered: bool


def model_of(model_id: str | None, dimension: int | None) -> ModelIdentity | None:
    """Return the model of both properties, ``None`` when none was stored."""
    if model_id is None or dimension is None:
        return None
    return ModelIdentity(model_id, dimension)


def other_slot(slot: str) -> str:
    """Return the slot that is not in force."""
    return SLOTS[1 - SLOTS.index(slot)]


def vector_index_name(slot: str) -> str:
    """Return the name of the vector index over a slot."""
    return f"vectors_{slot}"


def graph_state(connection: Connection) -> GraphState:
    """Read the ``:GraphMem`` node."""
    rows = connection.read("graph")
    if not rows:
        raise StoreCorrupt(
            f"{connection.place}: the node (:GraphMem) is gone; open the memory again to restore it"
        )
    row = rows[0]
    return GraphState(
        row["schema_version"], model_of(row["model_id"], row["dimension"]), row["slot"]
    )


def prepare(connection: Connection) -> VectorIndex | None:
    """Create or migrate the schema; harmless when there is nothing to do.

    Returns the vector index, or ``None`` while the store has no model.

    Raises
    ------
    UnsupportedSchema
        The database was written by a newer graphmem.
    """
    known = connection.read("graph")
    if known and known[0]["schema_version"] > SCHEMA_VERSION:
        raise UnsupportedSchema(
            f"{connection.place} has schema version {known[0]['schema_version']}, this graphmem "
            f"knows versions up to {SCHEMA_VERSION}; nothing was changed: upgrade graphmem"
        )
    if not cypher.schema_names() <= _online(connection):
        for statement in cypher.schema():
            connection.define(statement)
        connection.define(cypher.query("await_indexes"), seconds=INDEX_WAIT_SECONDS)
    if not known:
        connection.define(cypher.query("begin_graph"), schema_version=SCHEMA_VERSION)
    _migrate(connection)
    return ensure_vector_index(connection)


def _online(connection: Connection) -> frozenset[str]:
    shown = connection.read("indexes")
    return frozenset(row["name"] for row in shown if row["state"] == "ONLINE")


def _migrate(connection: Connection) -> None:
    version = graph_state(connection).schema_version
    for migration in cypher.migrations():
        if migration.version > version:
            for statement in migration.statements:
                connection.define(statement)
            connection.define(cypher.query("set_schema_version"), schema_version=migration.version)


def ensure_vector_index(connection: Connection) -> VectorIndex | None:
    """Have the index of the model in force, of its dimension, ready to answer."""
    state = graph_state(connection)
    if state.model is None:
        return None
    return build_vector_index(connection, state.slot, state.model.dimension)


def build_vector_index(connection: Connection, slot: str, dimension: int) -> VectorIndex:
    """Create the slot's index when it is missing or of another dimension.

    One that cannot filter, from before the server could, is kept: building takes long.
    """
    for row in connection.read("indexes"):
        if row["name"] == vector_index_name(slot):
            if row["dimension"] == dimension and row["state"] == "ONLINE":
                return VectorIndex(slot, filtered=row["filtered"])
            if row["dimension"] != dimension:
                drop_vector_index(connection, slot)
    filtered = connection.version >= FILTERED_INDEX_SINCE
    name = "create_filtered_vector_index" if filtered else "create_vector_index"
    connection.define(cypher.query(f"{name}_{slot}"), dimension=dimension)
    connection.define(cypher.query("await_indexes"), seconds=INDEX_WAIT_SECONDS)
    return VectorIndex(slot, filtered=filtered)


def drop_vector_index(connection: Connection, slot: str) -> None:
    """Remove the slot's index, if there is one."""
    connection.define(cypher.query(f"drop_vector_index_{slot}"))
