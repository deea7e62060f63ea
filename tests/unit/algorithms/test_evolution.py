from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from note_samples import START, sample_note

from graphmem.algorithms.evolution import (
    Evolution,
    Proposal,
    ScoredNote,
    clip_similarity,
    evolve_neighbourhood,
    plan_note_evolution,
)
from graphmem.errors import Conflict, InvalidInput, InvalidPolicy
from graphmem.model import EventKind, EvolutionEvent, Note, related

NOW = START + timedelta(days=1)
ids = st.text("abcdef", min_size=1, max_size=3)
unit = st.floats(0, 1)


# --- planning


@given(st.dictionaries(ids, unit, max_size=8), unit, unit, st.integers(1, 10))
def test_a_plan_is_sorted_cut_and_split_by_the_thresholds(
    scores: dict[str, float], a: float, b: float, limit: int
) -> None:
    link, evolve = min(a, b), max(a, b)
    plan = plan_note_evolution(
        "new", scores, link_threshold=link, evolution_threshold=evolve, limit=limit
    )
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    assert plan.scored == tuple(ranked)
    assert plan.links == tuple(pair for pair in ranked[:limit] if pair[1] >= link)
    assert plan.evolutions == tuple(pair for pair in ranked[:limit] if pair[1] >= evolve)


def test_defaults_include_their_thresholds() -> None:
    plan = plan_note_evolution("n", {"a": 0.72, "b": 0.91, "c": 0.7199, "d": 0.9099})
    assert [pair.note_id for pair in plan.links] == ["b", "d", "a"]
    assert plan.evolutions == (ScoredNote("b", 0.91),)
    assert len(plan.scored) == 4


def test_the_limit_cuts_before_the_thresholds_and_ties_go_by_id() -> None:
    plan = plan_note_evolution("n", {f"c{i:02}": 0.95 for i in range(20, 0, -1)})
    assert [pair.note_id for pair in plan.links] == [f"c{i:02}" for i in range(1, 11)]


def test_numbers_of_numpy_are_similarities_too() -> None:
    plan = plan_note_evolution("n", {"a": np.float32(0.95)})  # type: ignore[dict-item]  # at run time
    assert plan.links[0].similarity == pytest.approx(0.95)


def test_no_candidates_give_an_empty_plan() -> None:
    plan = plan_note_evolution("n", {})
    assert (plan.links, plan.evolutions, plan.scored) == ((), (), ())


@pytest.mark.parametrize(
    "values",
    [
        {"link_threshold": -0.1},
        {"evolution_threshold": 1.1},
        {"link_threshold": 0.95},
        {"link_threshold": math.nan},
        {"limit": 0},
        {"limit": -1},
        {"limit": True},
        {"limit": 2.5},
        {"limit": None},
    ],
)
def test_a_bad_policy_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(InvalidPolicy):
        plan_note_evolution("n", {"a": 0.5}, **values)  # type: ignore[arg-type]  # wrong on purpose


@pytest.mark.parametrize(
    ("note_id", "scores"),
    [
        ("", {}),
        (" ", {}),
        ("n", {"": 0.5}),
        ("n", {7: 0.5}),
        ("n", {"n": 0.5}),
        ("n", {"a": 1.000001}),
        ("n", {"a": -0.1}),
        ("n", {"a": math.nan}),
        ("n", {"a": math.inf}),
        ("n", {"a": True}),
        ("n", {"a": "0.9"}),
        ("n", {"a": None}),
    ],
)
def test_bad_candidates_are_refused(note_id: str, scores: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        plan_note_evolution(note_id, scores)


@given(st.floats(-1.0005, 1.0005))
def test_clipping_gives_a_similarity(cosine: float) -> None:
    assert clip_similarity(cosine) == min(max(cosine, 0), 1)


@pytest.mark.parametrize("cosine", [1.5, -1.5, math.nan, math.inf])
def test_what_is_no_cosine_is_refused(cosine: float) -> None:
    with pytest.raises(InvalidInput):
        clip_similarity(cosine)


# --- application


def proposal(target: Note, **changes: object) -> Proposal:
    made = Proposal(target.id, target.revision, ("new",), ("tag",), "why", "rule:test")
    return replace(made, **changes)  # type: ignore[arg-type]  # fields by name


TRIGGER = sample_note("t")
A, B = sample_note("a", keywords=("old",), revision=3), sample_note("b")
SCORES = {"a": 0.95, "b": 0.92}


def evolve(*proposals: Proposal, **options: object) -> Evolution:
    return evolve_neighbourhood(
        TRIGGER, [A, B], proposals, SCORES, now=NOW, **options  # type: ignore[arg-type]  # by name
    )  # fmt: skip


def test_a_changed_note_gains_one_revision_and_one_event() -> None:
    evolution = evolve(proposal(A))
    after = replace(A, keywords=("new",), tags=("tag",), context="why", revision=4)
    assert evolution.notes == (after,)
    assert evolution.events == (
        EvolutionEvent(
            id="a@4",
            note_id="a",
            kind=EventKind.EVOLVED,
            revision=4,
            at=NOW,
            proposer="rule:test",
            before=A.state,
            after=after.state,
            trigger_id="t",
            similarity=0.95,
        ),
    )
    assert evolution.links == ()


def test_a_proposal_that_changes_nothing_leaves_no_trace() -> None:
    same = proposal(A, keywords=A.keywords, tags=A.tags, context=A.context)
    assert evolve(same) == Evolution()


def test_links_are_made_once_and_existing_ones_stay() -> None:
    link, known = related("a", "b", 0.8, NOW), related("a", "t", 0.95, NOW)
    same = proposal(A, keywords=A.keywords, tags=A.tags, context=A.context, links=(known, link))
    evolution = evolve(same, proposal(B, links=(link,)), linked={known.pair})
    assert evolution.links == (link,)
    assert [(event.note_id, event.linked) for event in evolution.events] == [
        ("a", (link,)),
        ("b", ()),
    ]


@pytest.mark.parametrize(
    ("error", "proposals"),
    [
        (InvalidInput, [proposal(sample_note("stranger"))]),
        (InvalidInput, [proposal(TRIGGER)]),
        (InvalidInput, [proposal(A), proposal(A)]),
        (Conflict, [proposal(A, expected_revision=2)]),
        (InvalidInput, [proposal(A, links=(related("a", "a", 1, NOW),))]),
        (InvalidInput, [proposal(A, links=(related("a", "0", 1, NOW),))]),
        (InvalidInput, [proposal(A, links=(related("b", "t", 1, NOW),))]),
    ],
    ids=["unknown", "trigger", "duplicate", "stale", "self-link", "outside", "not-its-own"],
)
def test_one_bad_proposal_rejects_all(error: type[Exception], proposals: list[Proposal]) -> None:
    with pytest.raises(error, match="nothing was changed"):
        evolve(proposal(B), *proposals)


def test_a_target_without_similarity_is_refused() -> None:
    with pytest.raises(InvalidInput, match="'b'"):
        evolve_neighbourhood(TRIGGER, [A, B], [proposal(B)], {"a": 0.95}, now=NOW)
