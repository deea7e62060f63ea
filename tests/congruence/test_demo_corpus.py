"""The same corpus gives the same graph, the same ten notes and the same scores on both stores.

Real texts, the real model, a real server. Tolerances are stated once, here.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import zip_longest

import pytest
from neo4j_server.erasure import erase_everything
from neo4j_server.server import Address

from graphmem import Memory, RecallResult, open_memory
from graphmem.demo import DemoQuestion, corpus, questions
from graphmem.transfer.jsonl import export_jsonl

SCORE = 1e-6
"""How far scores, weights and probabilities may differ."""


@pytest.fixture(scope="module")
def pair(neo4j_address: Address) -> Iterator[tuple[Memory, Memory]]:
    """The demo corpus on the embedded store and on Neo4j."""
    erase_everything(neo4j_address)
    auth = (neo4j_address.username, neo4j_address.password)
    with (
        open_memory(":memory:", namespace="congruence") as embedded,
        open_memory(neo4j_address.uri, namespace="congruence", auth=auth) as neo4j,
    ):
        embedded.add_many(corpus())
        neo4j.add_many(corpus())
        yield embedded, neo4j
    erase_everything(neo4j_address)


def ask(memory: Memory, question: DemoQuestion, policy: str | None = None) -> RecallResult:
    return memory.recall(question.question, at=question.at, track=False, policy=policy)


def exported(memory: Memory) -> bytes:
    out = BytesIO()
    export_jsonl(memory, out, vectors=True)
    return out.getvalue()


def assert_same(a: RecallResult, b: RecallResult) -> None:
    assert [r.note.id for r in a.notes] == [r.note.id for r in b.notes]
    assert [s.source_id for s in a.sources] == [s.source_id for s in b.sources]
    assert a.considered == b.considered
    for one, other in zip(a.notes, b.notes, strict=True):
        assert one.score == pytest.approx(other.score, abs=SCORE)
        assert one.contributions == pytest.approx(other.contributions, abs=SCORE)
        assert sum(one.contributions.values()) == pytest.approx(one.score, abs=1e-9)
        assert [(s.kind, s.from_id) for s in one.path] == [(s.kind, s.from_id) for s in other.path]
    assert a.decision.outcome == b.decision.outcome
    assert a.decision.answerable == pytest.approx(b.decision.answerable, abs=SCORE)
    assert a.decision.reason == b.decision.reason


@pytest.mark.parametrize("policy", [None, "mission", "weighted"])
def test_every_question_has_the_same_answer(
    pair: tuple[Memory, Memory], policy: str | None
) -> None:
    for question in questions():
        assert_same(ask(pair[0], question, policy), ask(pair[1], question, policy))


def test_the_graphs_are_the_same(pair: tuple[Memory, Memory]) -> None:
    embedded, neo4j = pair
    linked = 0
    for one, other in zip_longest(embedded.notes(), neo4j.notes()):
        assert (one.id, one.keywords, one.tags, one.context, one.revision) == (
            other.id,
            other.keywords,
            other.tags,
            other.context,
            other.revision,
        )
        links, twins = embedded.links(one.id), neo4j.links(one.id)
        assert [link.pair for link in links] == [link.pair for link in twins]
        for link, twin in zip(links, twins, strict=True):
            assert link.cosine == pytest.approx(twin.cosine, abs=SCORE)
            assert link.weight == pytest.approx(twin.weight, abs=SCORE)
        linked += len(links)
    assert linked > 0


def test_a_copy_there_and_back_exports_the_same_bytes(pair: tuple[Memory, Memory]) -> None:
    embedded, neo4j = pair
    there = neo4j.scoped("copied")
    there.load(embedded.dump())
    with open_memory(":memory:", namespace="congruence") as back:
        back.load(there.dump())
        expected = exported(embedded)
        assert expected.count(b"\n") > len(corpus())
        assert exported(back) == expected
    assert [r.note.id for r in there.recall("coffee", track=False).notes]
