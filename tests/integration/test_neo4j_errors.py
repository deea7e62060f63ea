"""What goes wrong with a server, as errors of graphmem that never tell the password."""

from __future__ import annotations

import socket
from dataclasses import replace

import pytest
from conftest import OpenNeo4j
from contract.builders import MODEL, make_note, new, unit
from neo4j.exceptions import IncompleteCommit
from neo4j_server.server import Address

from graphmem.errors import (
    ClosedMemory,
    ConfigurationError,
    EmbeddingMismatch,
    GraphmemError,
    InvalidInput,
    StoreUnavailable,
)
from graphmem.model import CandidateQuery, Scope, Source, WritePlan
from graphmem.stores.neo4j.errors import translated
from graphmem.stores.neo4j.store import Neo4jStore

SCOPE = Scope("errors")
SECRET = "a-very-secret-word"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def messages(error: BaseException | None) -> str:
    text = ""
    while error is not None:
        text += f"{error!r} {error} "
        error = error.__cause__ or error.__context__
    return text


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_an_unreachable_server(scheme: str) -> None:
    place = f"{scheme}://127.0.0.1:{free_port()}"
    with pytest.raises(StoreUnavailable, match=place) as caught:
        Neo4jStore(place, auth=("neo4j", SECRET))
    assert SECRET not in messages(caught.value)


def test_a_commit_whose_answer_was_lost_is_not_said_to_have_changed_nothing() -> None:
    lost = IncompleteCommit("connection closed")
    with (
        pytest.raises(StoreUnavailable, match="whole or not at all") as told,
        translated("bolt://host"),
    ):
        raise lost
    assert "nothing was changed" not in str(told.value)


def test_a_wrong_password(neo4j_address: Address) -> None:
    with pytest.raises(StoreUnavailable, match="refused the user or password") as caught:
        Neo4jStore(neo4j_address.uri, auth=("neo4j", SECRET))
    assert SECRET not in messages(caught.value)


def test_an_unknown_database(neo4j_address: Address) -> None:
    with pytest.raises(ConfigurationError, match="nothere"):
        Neo4jStore(neo4j_address.uri, auth=neo4j_address.auth, database="nothere")


def test_a_password_in_the_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(ConfigurationError, match="auth") as caught:
        Neo4jStore(f"bolt://ada:{SECRET}@127.0.0.1:7687")
    assert SECRET not in messages(caught.value)


@pytest.mark.parametrize("uri", ["bolt://127.0.0.1:notaport", "ftp://127.0.0.1", "bolt://"])
def test_an_address_that_is_none(uri: str) -> None:
    with pytest.raises(GraphmemError):
        Neo4jStore(uri, auth=("neo4j", SECRET))


def test_nothing_printed_tells_the_password(
    open_neo4j_store: OpenNeo4j, neo4j_address: Address
) -> None:
    store = open_neo4j_store()
    for text in (repr(store), str(store), store.label, repr(neo4j_address)):
        assert neo4j_address.password not in text
    assert neo4j_address.uri in store.label


def test_a_routed_address_works_too(open_neo4j_store: OpenNeo4j, neo4j_address: Address) -> None:
    open_neo4j_store()
    routed = neo4j_address.uri.replace("bolt://", "neo4j://")
    store = Neo4jStore(routed, auth=neo4j_address.auth, database=neo4j_address.database)
    plan = WritePlan(notes=(new(make_note("n1", "errors"), unit(1), ("seat",)),), model=MODEL)
    store.write(SCOPE, lambda reader: plan)
    found = store.candidates(SCOPE, CandidateQuery(vector=unit(1), terms=("seat",)))
    assert [candidate.note.id for candidate in found.candidates] == ["n1"]
    store.close()


def test_a_closed_store(open_neo4j_store: OpenNeo4j) -> None:
    store = open_neo4j_store()
    store.close()
    store.close()
    with pytest.raises(ClosedMemory):
        store.get(SCOPE, ["n1"])
    with pytest.raises(ClosedMemory):
        store.write(SCOPE, lambda reader: WritePlan())


@pytest.mark.parametrize(
    "note",
    [
        make_note("n1", "errors", content="broken \udc8f tail"),
        replace(make_note("n1", "errors"), source=Source("s", position=2**70)),
    ],
)
def test_what_the_server_cannot_hold_is_refused(open_neo4j_store: OpenNeo4j, note: object) -> None:
    store = open_neo4j_store()
    plan = WritePlan(notes=(new(note, unit(1)),), model=MODEL)  # type: ignore[arg-type] # parametrized
    with pytest.raises(InvalidInput):
        store.write(SCOPE, lambda reader: plan)
    assert store.namespaces() == ()


def test_a_question_of_another_dimension(open_neo4j_store: OpenNeo4j) -> None:
    store = open_neo4j_store()
    plan = WritePlan(notes=(new(make_note("n1", "errors"), unit(1)),), model=MODEL)
    store.write(SCOPE, lambda reader: plan)
    with pytest.raises(EmbeddingMismatch, match="reindex"):
        store.candidates(SCOPE, CandidateQuery(vector=unit(1, 5), terms=()))
    with pytest.raises(EmbeddingMismatch, match="reindex"):
        store.nearest(SCOPE, unit(1, 5)[None], 3)
