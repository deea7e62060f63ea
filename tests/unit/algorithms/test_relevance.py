from __future__ import annotations

from datetime import timedelta

import pytest
from candidate_sets import DAY, Said, table

from graphmem.algorithms.blending import SalienceWeights
from graphmem.algorithms.relevance import DIVERSIFIED, hours_since, importance, rank_candidates
from graphmem.algorithms.salience import (
    MemorySignal,
    WeightedSignal,
    rank_salient_memories,
    rank_weighted_memories,
)
from graphmem.errors import InvalidPolicy
from graphmem.policy import (
    DEFAULT_POLICY,
    MISSION_POLICY,
    POLICIES,
    WEIGHTED_POLICY,
    RelevancePolicy,
)

SAID = [
    Said("I bought a red kayak", 0.6, "a", 0, at=DAY - timedelta(days=9)),
    Said("Lovely!", 0.2, "a", 1, fields={"recall_count": 3}),
    Said("The vase is blue", 0.1, "b", 0, fields={"feedback": 1}),
    Said("A red kayak, and a red paddle", 0.5, fields={"importance": 0.9}),
    Said("tea", None),
]
ASKED = "Who bought a red kayak?"


@pytest.mark.parametrize("policy", POLICIES.values(), ids=list(POLICIES))
def test_parts_sum_to_the_score_and_the_order_falls(policy):
    ranked = rank_candidates(table(ASKED, *SAID), policy).best(10)
    assert len(ranked) == len(SAID)
    assert [r.score for r in ranked] == sorted((r.score for r in ranked), reverse=True)
    for each in ranked:
        assert sum(each.contributions.values()) == pytest.approx(each.score, abs=1e-12)


def hours(moment):
    return float(hours_since([moment], DAY)[0])


@pytest.mark.parametrize("policy", [DEFAULT_POLICY, MISSION_POLICY])
def test_candidates_rank_as_the_public_function_ranks_them(policy):
    made = table(ASKED, *SAID)
    ranking = rank_candidates(made, policy)
    relevance = sum(w * ranking.columns[name] for name, w in policy.relevance.weights.items())
    ranks = policy.ranking
    expected = rank_salient_memories(
        [
            MemorySignal(note.id, hours(note.last_accessed_at), importance(note), float(value))
            for note, value in zip(made.notes, relevance, strict=True)
        ],
        recency_decay=ranks.recency_decay,
        weights=SalienceWeights(ranks.recency, ranks.importance, ranks.relevance),
    )
    ranked = ranking.best(20)
    assert [r.candidate.note.id for r in ranked] == [memory.memory_id for memory in expected]
    assert [r.contributions for r in ranked] == [memory.contributions for memory in expected]
    for each, memory in zip(ranked, expected, strict=True):
        assert each.signals.items() >= memory.signals.items()
        assert each.signals.keys() >= policy.relevance.weights.keys()


def test_the_weighted_policy_ranks_as_its_public_function():
    made = table(ASKED, *SAID)
    expected = rank_weighted_memories(
        WeightedSignal(note.id, hours(note.created_at), importance(note), cosine, match)
        for note, cosine, match in zip(made.notes, made.vector, made.lexical, strict=True)
    )
    ranked = rank_candidates(made, WEIGHTED_POLICY).best(20)
    assert [(r.candidate.note.id, r.score) for r in ranked] == [
        (memory.memory_id, memory.score) for memory in expected
    ]


def test_equal_candidates_are_ordered_by_id():
    ranked = rank_candidates(table("tea", *[Said("tea")] * 4), DEFAULT_POLICY).best(3)
    assert [r.candidate.note.id for r in ranked] == ["n00", "n01", "n02"]


def test_no_candidates_no_ranking():
    for policy in POLICIES.values():
        assert rank_candidates(table("tea"), policy).best(10) == ()


@pytest.mark.parametrize("field", ["weights", "source_weights"])
def test_a_signal_that_does_not_exist_is_refused(field):
    relevance = RelevancePolicy(**{"weights": {"vector": 1.0}, field: {"charm": 1.0}})
    policy = DEFAULT_POLICY.model_copy(update={"relevance": relevance})
    with pytest.raises(InvalidPolicy, match="charm"):
        rank_candidates(table("tea", Said("tea")), policy)


def test_diversity_takes_the_second_of_two_alike_later():
    said = [
        Said("I bought a red kayak", 0.9),
        Said("I bought a red kayak today", 0.8),
        Said("My kayak trip starts on the lake", 0.6),
    ]
    plain = rank_candidates(table(ASKED, *said), DEFAULT_POLICY)
    diverse = rank_candidates(
        table(ASKED, *said), DEFAULT_POLICY.model_copy(update={"diversity": 0.3})
    )
    assert plain.order.tolist() == [0, 1, 2]
    assert diverse.order.tolist() == [0, 2, 1]
    assert [r.score for r in diverse.best(3)] == [plain.best(3)[row].score for row in (0, 2, 1)]


def test_diversity_leaves_what_lies_beyond_the_head_in_place():
    said = [Said(f"red kayak number {n}", 0.9 - n / 100) for n in range(DIVERSIFIED + 5)]
    policy = DEFAULT_POLICY.model_copy(update={"diversity": 0.7})
    plain = rank_candidates(table(ASKED, *said), DEFAULT_POLICY).order.tolist()
    diverse = rank_candidates(table(ASKED, *said), policy).order.tolist()
    assert sorted(diverse[:DIVERSIFIED]) == sorted(plain[:DIVERSIFIED])
    assert diverse[DIVERSIFIED:] == plain[DIVERSIFIED:]
