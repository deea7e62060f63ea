"""Recalls that go through the vector index: as exact as scoring every note."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from contract.builders import link, make_note
from neo4j_server.console import Console, console
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

from graphmem.model import (
    CandidateQuery,
    CandidateSet,
    ModelIdentity,
    NoteFilter,
    NoteRecord,
    Scope,
    Vector,
)
from graphmem.stores.neo4j import candidates as neo4j_candidates
from graphmem.stores.neo4j.store import Neo4jStore

DIMENSION = 48
MODEL = ModelIdentity("stub-48", DIMENSION)
LARGE, SMALL = Scope("large"), Scope("small")
NOTES, FEW = 1500, 40


@dataclass(frozen=True)
class Filled:
    store: Neo4jStore
    ask: Console
    filters_in_index: bool


def direction(seed: int) -> Vector:
    vector = np.random.default_rng(seed).standard_normal(DIMENSION)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def record(scope: Scope, number: int) -> NoteRecord:
    note = make_note(
        f"n{number:04}",
        scope.namespace,
        source=f"s{number // 30}",
        position=number % 30,
        author="Ada" if number % 50 == 0 else "Eve",
    )
    return NoteRecord(note, ("seat", f"w{number % 97}"), direction(number))


@pytest.fixture(scope="module", params=["neo4j_address", "neo4j_2026_address"])
def filled(request: pytest.FixtureRequest) -> Iterator[Filled]:
    address: Address = request.getfixturevalue(request.param)
    erase_everything(address)
    store = Neo4jStore(address.uri, auth=address.auth, database=address.database)
    for scope, count in ((LARGE, NOTES), (SMALL, FEW)):
        links = [link(f"n{i - 1:04}", f"n{i:04}", 0.8) for i in range(1, count, 3)]
        store.load(scope, [record(scope, i) for i in range(count)], links, [], MODEL)
    with console(address) as ask:
        yield Filled(store, ask, filters_in_index=request.param == "neo4j_2026_address")
    store.close()


def exactly(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, scope: Scope, query: CandidateQuery
) -> CandidateSet:
    """The same recall without the index."""
    with monkeypatch.context() as patch:
        patch.setattr(neo4j_candidates, "SCAN_LIMIT", 10**9)
        return filled.store.candidates(scope, query)


def assert_same(one: CandidateSet, other: CandidateSet) -> None:
    assert [c.note.id for c in one.candidates] == [c.note.id for c in other.candidates]
    assert one == other


QUESTIONS = [
    CandidateQuery(vector=direction(10_000 + i), terms=("seat", f"w{i}"), vector_seeds=20)
    for i in range(8)
]


@pytest.mark.parametrize("question", QUESTIONS, ids=range(8))
def test_the_index_gives_what_scoring_every_note_gives(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, question: CandidateQuery
) -> None:
    found = filled.store.candidates(LARGE, question)
    assert sum(c.vector_rank is not None for c in found.candidates) == 20
    assert_same(found, exactly(filled, monkeypatch, LARGE, question))


@pytest.mark.parametrize(
    ("scope", "where"),
    [
        (SMALL, NoteFilter()),
        (Scope("large", authors=frozenset({"Ada"})), NoteFilter()),
        (Scope("large", sources=frozenset({"s7"})), NoteFilter()),
        (LARGE, NoteFilter(authors=frozenset({"Ada"}))),
        (LARGE, NoteFilter(sources=frozenset({f"s{i}" for i in range(0, 50, 2)}))),
    ],
    ids=["small namespace", "one author allowed", "one source allowed", "author", "half"],
)
def test_others_do_not_starve_a_recall(
    filled: Filled, monkeypatch: pytest.MonkeyPatch, scope: Scope, where: NoteFilter
) -> None:
    for question in QUESTIONS[:3]:
        asked = CandidateQuery(vector=question.vector, terms=question.terms, where=where)
        found = filled.store.candidates(scope, asked)
        seeds = sum(c.vector_rank is not None for c in found.candidates)
        assert seeds == min(100, found.note_count)
        assert_same(found, exactly(filled, monkeypatch, scope, asked))


def test_the_index_filters_by_namespace_where_the_server_can(filled: Filled) -> None:
    shown = filled.ask("SHOW VECTOR INDEXES YIELD name, properties RETURN name, properties")
    expected = ["embedding", "namespace"] if filled.filters_in_index else ["embedding"]
    assert shown == [{"name": "vectors_embedding", "properties": expected}]
