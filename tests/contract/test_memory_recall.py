"""Recall: what comes in, in which order and why, what it counts, and what it must not see."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from contract.memories import (
    NOON,
    POLICIES,
    Clock,
    Place,
    add_all,
    by_id,
    ids,
    plain,
    state,
)

from graphmem import (
    InvalidPolicy,
    InvalidQuery,
    Memory,
    RecallResult,
    Source,
    WeightedRanking,
)
from graphmem.policy import DEFAULT_POLICY, WEIGHTED_POLICY, CandidatePolicy, Policy


def only_seeds(count: int = 1, **fields: Any) -> Policy:
    """The default policy with few vector seeds and no others."""
    return DEFAULT_POLICY.model_copy(
        update={
            "candidates": CandidatePolicy(vector_seeds=count, lexical_seeds=0, **fields),
        }
    )


# --- the result --------------------------------------------------------------------------


def small_world(memory: Memory) -> None:
    add_all(
        memory,
        [
            plain("seat", "Ada prefers aisle seats [east]", source=Source("s", position=1)),
            plain("train", "Ben takes the night train [near]", source=Source("s", position=2)),
            plain("lamp", "The lamp in the hall is broken [far]", source=Source("t", position=1)),
            plain("tea", "Cyd drinks green tea [west]"),
        ],
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_every_result_explains_itself(memory: Memory, clock: Clock, policy: str) -> None:
    small_world(memory)
    at = clock.forward(hours=1)
    result = memory.recall("aisle seats [east]", policy=policy)
    assert isinstance(result, RecallResult)
    assert (result.query, result.policy, result.at) == ("aisle seats [east]", policy, at)
    assert ids(result)[0] == "seat"
    assert len(ids(result)) == len(set(ids(result))) == 4
    scores = [ranked.score for ranked in result.notes]
    assert scores == sorted(scores, reverse=True)
    for ranked in result.notes:
        assert sum(ranked.contributions.values()) == pytest.approx(ranked.score, abs=1e-9)
        assert all(math.isfinite(value) for value in ranked.signals.values())
        assert ranked.path
        assert ranked.path[0].kind in ("vector", "lexical") or ranked.path[-1].from_id
    assert list(result) == list(result.notes) if hasattr(result, "__iter__") else True
    assert result.considered.candidates == 4
    assert 0.0 <= result.decision.answerable <= 1.0
    assert result.decision.reason


def test_limits_count_notes(memory: Memory) -> None:
    small_world(memory)
    assert len(memory.recall("seats", limit=1).notes) == 1
    assert len(memory.recall("seats", limit=10**9).notes) == 4
    assert memory.recall("seats", limit=1).considered.cut == 3
    assert (
        ids(memory.recall("seats", 2, track=False)) == ids(memory.recall("seats", track=False))[:2]
    )


@pytest.mark.parametrize("limit", [0, -1, True, "3", 2.5, None])
def test_a_limit_that_is_none_is_refused(memory: Memory, limit: object) -> None:
    small_world(memory)
    with pytest.raises(InvalidQuery):
        memory.recall("seats", limit=limit)  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(InvalidQuery):
        memory.candidates("seats", limit=limit)  # type: ignore[arg-type] # wrong on purpose
    assert {note.recall_count for note in memory.notes()} == {0}


def test_sources_are_ranked_too(memory: Memory) -> None:
    small_world(memory)
    result = memory.recall("aisle seats [east]", track=False)
    assert result.sources[0].source_id == "s"
    assert {source.source_id for source in result.sources} == {"s", "t"}
    first = memory.recall("aisle seats [east]", limit=1, by="source", track=False)
    assert [source.source_id for source in first.sources] == ["s"]
    assert first.sources[0].notes[0].note.id == "seat"
    assert sum(first.sources[0].contributions.values()) == pytest.approx(first.sources[0].score)
    assert {ranked.note.source.id for ranked in first.notes if ranked.note.source} == {"s"}
    with pytest.raises(InvalidQuery):
        memory.recall("seats", by="page")  # type: ignore[arg-type] # wrong on purpose


def test_the_same_question_gets_the_same_answer(memory: Memory) -> None:
    small_world(memory)
    assert memory.recall("seats", track=False) == memory.recall("seats", track=False)


def test_evidence_cites_notes_that_are_there(memory: Memory) -> None:
    small_world(memory)
    memory.revise("seat", content="Ada prefers window seats now [east]")
    decision = memory.recall("which seats does Ada prefer? [east]", track=False).decision
    assert decision.outcome in ("retrieved", "partial", "unknown")
    for evidence in decision.evidence:
        assert evidence.revision == memory.get(evidence.note_id).content_revision
        assert 0.0 <= evidence.supports <= 1.0


def test_nothing_stored_is_unknown(memory: Memory) -> None:
    result = memory.recall("anything")
    assert (result.notes, result.sources) == ((), ())
    assert result.decision.outcome == "unknown"
    assert result.decision.evidence == ()
    assert memory.recall("anything", allow_parametric=True).decision.outcome == "parametric"


def test_an_unknown_policy_is_refused_with_those_there_are(memory: Memory) -> None:
    small_world(memory)
    with pytest.raises(InvalidPolicy, match="graphmem-1"):
        memory.recall("seats", policy="no such policy")


# --- expansion ---------------------------------------------------------------------------


def test_a_note_behind_a_link_comes_in_by_it(memory: Memory) -> None:
    memory.add("first [cousin]", id="x", keywords=(), tags=())
    memory.add("second [east]", id="y", keywords=(), tags=())
    with_links = memory.recall("[east]", policy=only_seeds(), track=False)
    assert ids(with_links) == ["y", "x"]
    path = by_id(with_links)["x"].path
    assert [step.kind for step in path] == ["vector", "RELATED"]
    assert path[-1].from_id == "y"
    assert path[-1].weight == pytest.approx(0.75, abs=1e-6)
    assert str(path[-1]) == "RELATED 0.75 from y"
    assert str(path[0]) == "seed vector"
    alone = memory.recall("[east]", policy=only_seeds(hops=0), track=False)
    assert ids(alone) == ["y"]


def test_the_turn_before_and_after_come_in(memory: Memory) -> None:
    for i, name in enumerate(["west", "far", "east", "edge"]):
        memory.add(f"turn [{name}]", id=name, source=Source("chat", position=i))
    result = memory.recall("[east]", policy=only_seeds(window=1, source_notes=0), track=False)
    assert set(ids(result)) == {"east", "far", "edge"}
    path = by_id(result)["far"].path
    assert [step.kind for step in path] == ["vector", "FOLLOWS"]
    assert str(path[-1]) == "FOLLOWS from east"


def test_a_note_of_the_same_source_comes_in(memory: Memory) -> None:
    memory.add("page one [east]", id="one", source=Source("page"))
    memory.add("page two [west]", id="two", source=Source("page"))
    memory.add("elsewhere [west]", id="other", source=Source("other"))
    result = memory.recall("[east]", policy=only_seeds(), track=False)
    assert set(ids(result)) == {"one", "two"}
    path = by_id(result)["two"].path
    assert str(path[-1]) == "source of one"


def test_one_more_candidate_moves_the_others(memory: Memory) -> None:
    """Salience is relative to the set it ranks, so scores of two questions do not compare."""
    memory.add("Ada likes tea [east]", id="a", keywords=(), tags=(), importance=0.5)
    memory.add("Ada likes jam [edge]", id="b", keywords=(), tags=(), importance=0.5)
    before = by_id(memory.recall("[east]", track=False))
    memory.add("Ada likes rye [west]", id="c", keywords=(), tags=(), importance=0.0)
    after = by_id(memory.recall("[east]", track=False))
    assert after["b"].score != pytest.approx(before["b"].score)
    assert after["b"].signals["closest"] == pytest.approx(before["b"].signals["closest"])


# --- importance, use, recency ------------------------------------------------------------


def twins(memory: Memory, **second: Any) -> None:
    """Two notes with the same words and vector; the second differs as said and wins no tie."""
    shared: dict[str, Any] = {"keywords": (), "tags": (), "importance": 0.5, "created_at": NOON}
    memory.add("the ferry leaves at nine [east]", id="a", **shared)
    memory.add("the ferry leaves at nine [east]", id="b", **(shared | second))
    memory.add("the kettle is blue [far]", id="c", **shared)


def ask(memory: Memory, policy: Policy | str | None = None, **options: Any) -> list[str]:
    return ids(memory.recall("ferry at nine [east]", track=False, policy=policy, **options))


WITHOUT_IMPORTANCE = WEIGHTED_POLICY.model_copy(
    update={"name": "gamma 0", "ranking": WeightedRanking(gamma=0.0)}
)


@pytest.mark.parametrize("policy", ["graphmem-1", "weighted"])
def test_what_was_recalled_often_comes_first(memory: Memory, policy: str) -> None:
    twins(memory)
    assert ask(memory, policy)[:2] == ["a", "b"]
    for _ in range(5):
        memory.recall("ferry", sources=None, at=NOON, limit=3, policy=only_seeds(3))
    twice = memory.get("a").recall_count
    for _ in range(5):
        memory.feedback("b", 1)
    assert memory.get("b").recall_count == twice
    assert ask(memory, policy)[:2] == ["b", "a"]


@pytest.mark.parametrize("policy", ["graphmem-1", "weighted"])
def test_recalls_alone_raise_a_note(place: Place, clock: Clock, policy: str) -> None:
    memory = place.open(clock=clock)
    twins(memory, source=Source("s"))
    for _ in range(6):
        assert ids(memory.recall("ferry", sources="s", at=NOON)) == ["b"]
    assert memory.get("b").recall_count == 6
    assert memory.get("b").last_accessed_at == memory.get("a").last_accessed_at
    assert ask(memory, policy)[:2] == ["b", "a"]
    assert ask(memory, WITHOUT_IMPORTANCE)[:2] == ["a", "b"]


@pytest.mark.parametrize("policy", ["graphmem-1", "weighted"])
def test_a_marked_note_comes_first(memory: Memory, policy: str) -> None:
    shared: dict[str, Any] = {"keywords": (), "tags": (), "created_at": NOON, "context": "c"}
    memory.add("the ferry leaves at nine o'clock sharp [east]", id="a", **shared)
    memory.add("Remember: the ferry leaves at nine sharp [east]", id="b", **shared)
    assert memory.get("b").importance > memory.get("a").importance
    assert ask(memory, policy)[0] == "b"
    memory.add("please note that the ferry leaves at nine [east]", id="c", importance=1.0, **shared)
    assert ask(memory, policy)[0] == "c"
    twin_scores = by_id(memory.recall("[east]", policy=WITHOUT_IMPORTANCE, track=False))
    assert twin_scores["a"].contributions["importance"] == 0.0


@pytest.mark.parametrize("policy", POLICIES)
def test_the_newer_note_comes_first(memory: Memory, policy: str) -> None:
    twins(memory, created_at=NOON + timedelta(days=3))
    assert ask(memory, policy, at=NOON + timedelta(days=4))[:2] == ["b", "a"]


def test_importance_rescues_a_note_from_beyond_the_cut(memory: Memory) -> None:
    """It counts before the cut, so it brings in what reordering alone would have lost."""
    shared: dict[str, Any] = {"keywords": (), "tags": (), "created_at": NOON}
    for i in range(5):
        memory.add(f"the ferry leaves on day {i} soon §", id=f"n{i}", importance=0.0, **shared)
    memory.add("the ferry leaves on day 9 [twin]", id="rescued", importance=1.0, **shared)
    memory.add("the kettle is blue [west]", id="kettle", importance=0.0, **shared)
    for policy, rescued in (("graphmem-1", True), ("weighted", True), (WITHOUT_IMPORTANCE, False)):
        found = ids(memory.recall("ferry §", limit=3, track=False, policy=policy))
        assert ("rescued" in found) == rescued, policy


def test_a_downvoted_note_falls(memory: Memory) -> None:
    twins(memory)
    for _ in range(3):
        memory.feedback("a", -1)
    assert ask(memory)[:2] == ["b", "a"]


def test_the_moment_of_asking_filters_nothing(memory: Memory) -> None:
    twins(memory, created_at=NOON + timedelta(days=3))
    result = memory.recall("ferry [east]", at=NOON - timedelta(days=30), track=False)
    assert set(ids(result)) == {"a", "b", "c"}
    assert result.at == NOON - timedelta(days=30)
    assert set(ids(memory.recall("ferry", as_of=NOON, track=False))) == {"a", "c"}


# --- use ---------------------------------------------------------------------------------


def test_what_is_returned_is_counted(memory: Memory, clock: Clock) -> None:
    small_world(memory)
    at = clock.forward(hours=2)
    returned = ids(memory.recall("aisle seats [east]", limit=2))
    for note in memory.notes():
        expected = (1, at) if note.id in returned else (0, NOON)
        assert (note.recall_count, note.last_accessed_at) == expected
    assert memory.stats().recalls == 2
    memory.recall("aisle seats [east]", limit=2, at=NOON - timedelta(days=9))
    assert memory.get(returned[0]).recall_count == 2
    assert memory.get(returned[0]).last_accessed_at == at


def test_a_link_on_the_path_is_counted(memory: Memory, clock: Clock) -> None:
    memory.add("first [cousin]", id="x", keywords=(), tags=())
    memory.add("second [east]", id="y", keywords=(), tags=())
    memory.recall("[east]", policy=only_seeds(2))
    assert memory.links("x")[0].retrievals == 0
    at = clock.forward(minutes=5)
    memory.recall("[east]", policy=only_seeds(1))
    (link,) = memory.links("x")
    assert (link.retrievals, link.last_retrieved_at) == (1, at)


def test_an_untracked_recall_leaves_no_trace(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    small_world(memory)
    before = state(memory)
    clock.forward(days=1)
    for policy in POLICIES:
        memory.recall("aisle seats [east]", track=False, policy=policy)
        memory.recall("aisle seats [east]", track=False, by="source", policy=policy)
    memory.candidates("aisle seats")
    assert state(memory) == before
    memory.close()
    assert state(place.open()) == before
