from __future__ import annotations

import pytest
from candidate_sets import Said, table

from graphmem.algorithms.relevance import rank_candidates
from graphmem.algorithms.sources import SPEAKING, rank_sources
from graphmem.policy import DEFAULT_POLICY, MISSION_POLICY, POLICIES, RelevancePolicy

SAID = [
    Said("I bought a red kayak", 0.6, "a", 0),
    Said("Lovely!", 0.2, "a", 1),
    Said("Which kayak?", 0.7, "b", 0),
    Said("The vase is blue", 0.1, "b", 1),
    Said("A red kayak", 0.9),
    *[Said(f"kayak number {n}", 0.3, "c", n) for n in range(5)],
]
ASKED = "Who bought a red kayak?"


def ranked_sources(policy):
    return rank_sources(rank_candidates(table(ASKED, *SAID), policy))


@pytest.mark.parametrize("policy", POLICIES.values(), ids=list(POLICIES))
def test_every_source_has_parts_that_sum_to_its_score_and_its_best_notes(policy):
    ranking = rank_candidates(table(ASKED, *SAID), policy)
    sources = rank_sources(ranking).first(10)
    assert {source.source_id for source in sources} == {"a", "b", "c"}
    assert [s.score for s in sources] == sorted((s.score for s in sources), reverse=True)
    notes = [ranked.candidate.note for ranked in ranking.best(20)]
    for source in sources:
        assert sum(source.contributions.values()) == pytest.approx(source.score, abs=1e-12)
        own = [note.id for note in notes if note.source and note.source.id == source.source_id]
        speaking = [ranked.candidate.note.id for ranked in source.ranked]
        assert speaking == own[:SPEAKING]


def test_a_source_counts_by_its_best_note_under_weights_of_its_own():
    relevance = RelevancePolicy(weights={"lexical": 1.0}, source_weights={"vector": 0.5})
    policy = DEFAULT_POLICY.model_copy(update={"relevance": relevance})
    sources = ranked_sources(policy).first(10)
    assert [(s.source_id, s.contributions) for s in sources] == [
        ("b", {"vector": 0.35, "breadth": 0.0}), ("a", {"vector": 0.3, "breadth": 0.0}),
        ("c", {"vector": 0.15, "breadth": 0.0}),
    ]  # fmt: skip


def test_a_second_good_note_counts_as_far_as_it_is_above_the_median():
    cosines = [("one", 0.6), ("two", 0.6), ("two", 0.5), ("one", 0.1), ("far", 0.2), ("alone", 0.7)]
    said = [Said(f"x{n}", cosine, name) for n, (name, cosine) in enumerate(cosines)]
    relevance = RelevancePolicy(
        weights={"vector": 1.0}, source_weights={"vector": 1.0}, source_breadth=0.5
    )
    policy = DEFAULT_POLICY.model_copy(update={"relevance": relevance})
    ranking = rank_sources(rank_candidates(table("q", *said), policy))
    found = {s.source_id: s.contributions["breadth"] for s in ranking.first(9)}
    # The median of all six cosines is .55, and below it a second note adds nothing.
    assert found == {"two": 0.0, "one": 0.0, "far": 0.0, "alone": 0.0}
    lower = [*said, Said("y", 0.0), Said("z", 0.0), Said("w", 0.0)]
    ranking = rank_sources(rank_candidates(table("q", *lower), policy))
    found = {s.source_id: s.contributions["breadth"] for s in ranking.first(9)}
    assert found == pytest.approx({"two": 0.15, "one": 0.0, "far": 0.0, "alone": 0.0})
    assert [s.source_id for s in ranking.first(9)] == ["two", "alone", "one", "far"]


def test_without_weights_of_its_own_a_source_is_as_good_as_its_best_note():
    for source in ranked_sources(MISSION_POLICY).first(10):
        assert source.score == source.ranked[0].score
        assert source.contributions == source.ranked[0].contributions


def test_sources_of_chosen_notes_come_best_first_and_once():
    ranking = rank_candidates(table(ASKED, *SAID), DEFAULT_POLICY)
    sources = rank_sources(ranking)
    held = sources.holding(ranking.best(len(SAID)))
    assert [s.source_id for s in held] == [s.source_id for s in sources.first(10)]
    chosen = [r for r in ranking.best(20) if r.candidate.note.id in ("n04", "n05")]
    assert [s.source_id for s in sources.holding(chosen)] == ["c"]
    assert sources.holding([]) == ()


def test_equal_sources_are_ordered_by_id():
    said = [Said("kayak", 0.5, name) for name in ("q", "p", "r")]
    ranking = rank_candidates(table("kayak", *said), DEFAULT_POLICY)
    assert [s.source_id for s in rank_sources(ranking).first(2)] == ["p", "q"]


def test_without_sources_none_is_ranked():
    for said in ([], [Said("kayak", 0.5)]):
        ranking = rank_candidates(table("kayak", *said), DEFAULT_POLICY)
        assert rank_sources(ranking).first(10) == ()
