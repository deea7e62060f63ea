from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.importance import (
    ImportanceRules,
    heat,
    importance_score,
    link_weight_decayed,
    link_weight_reinforced,
    ranked_importance,
    retention,
)
from graphmem.errors import InvalidInput, InvalidPolicy

unit = st.floats(0, 1)
counts = st.integers(0, 10**6)


def formula(content: str, marker: float, role: float) -> float:
    x = len(content) / 300
    return 0.50 * marker + 0.30 * (x / (1 + x)) + 0.20 * role


@pytest.mark.parametrize(
    ("role", "weight"), [("user", 0.7), ("assistant", 0.4), ("system", 0.5), ("", 0.5)]
)
def test_without_marker_the_score_is_density_and_role(role: str, weight: float) -> None:
    content = "The train left at noon"
    assert importance_score(content, role=role) == formula(content, 0, weight)


@pytest.mark.parametrize(
    "content",
    [
        "remember: the key is under the mat",
        "  IMPORTANT: pay rent",
        "Hello\nnever forget: the date",
        "\tKey point: less",
        "x" * 498 + "\ncritical: still counts",
    ],
)
def test_a_marker_at_a_line_start_counts_in_full(content: str) -> None:
    assert importance_score(content) == formula(content, 1, 0.7)


@pytest.mark.parametrize(
    "content",
    [
        "he said important: no",
        "important as it is",
        "x" * 500 + "\ncritical: too late",
    ],
)
def test_a_marker_elsewhere_does_not_count(content: str) -> None:
    assert importance_score(content) == formula(content, 0, 0.7)


@pytest.mark.parametrize(
    "content",
    ["Ada prefers tea", "I'm ALLERGIC TO nuts", "we always meet at ten", "I can\u2019t stand rain"],
)
def test_preferences_and_standing_instructions_count_half(content: str) -> None:
    assert importance_score(content) == formula(content, 0.5, 0.7)


def test_phrases_are_whole_words() -> None:
    content = "the hallways of alwaysland"
    assert importance_score(content) == formula(content, 0, 0.7)


def test_rules_are_configurable() -> None:
    rules = ImportanceRules(
        markers=("重要:",), standing_phrases=("bevorzugt",), standing_strength=0.25
    )
    assert importance_score("重要: 水", rules=rules) == formula("重要: 水", 1, 0.7)
    german = "Ada bevorzugt Tee"
    assert importance_score(german, rules=rules) == formula(german, 0.25, 0.7)
    assert importance_score("always: x", rules=rules) == formula("always: x", 0, 0.7)
    bare = ImportanceRules(markers=(), standing_phrases=())
    assert importance_score("always", rules=bare) == formula("always", 0, 0.7)


@pytest.mark.parametrize(
    "values",
    [
        {"standing_strength": 1.5},
        {"standing_strength": math.nan},
        {"role_weights": {"user": -0.1}},
        {"markers": (" ",)},
        {"standing_phrases": ("",)},
    ],
)
def test_rules_out_of_range_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(InvalidPolicy):
        ImportanceRules(**values)  # type: ignore[arg-type]  # wrong on purpose


@given(st.text(max_size=400), st.sampled_from(["user", "assistant", "tool"]), st.integers(-50, 50))
def test_importance_stays_in_range_and_feedback_moves_it(
    content: str, role: str, feedback: int
) -> None:
    score = importance_score(content, role=role, feedback=feedback)
    neutral = importance_score(content, role=role)
    assert 0 <= score <= 1
    assert (score > neutral, score < neutral) == (feedback > 0, feedback < 0)


@given(unit, unit, counts, counts, st.integers(-99, 99), st.integers(-99, 99))
def test_ranked_importance_is_monotone_and_bounded(
    a: float, b: float, n: int, m: int, f: int, g: int
) -> None:
    low = ranked_importance(min(a, b), min(n, m), min(f, g))
    high = ranked_importance(max(a, b), max(n, m), max(f, g))
    assert 0 <= low <= high + 1e-12 <= 1 + 1e-12


def test_what_was_recalled_ranks_above_what_was_not() -> None:
    assert ranked_importance(0.5, 1) > ranked_importance(0.5, 0) == 0.5


@pytest.mark.parametrize(("importance", "count"), [(1.1, 0), (-0.1, 0), (math.nan, 0), (0.5, -1)])
def test_ranked_importance_refuses_bad_values(importance: float, count: int) -> None:
    with pytest.raises(InvalidInput):
        ranked_importance(importance, count)


@given(unit, counts, unit)
def test_reinforcement_never_weakens_nor_exceeds_one(w: float, n: int, r: float) -> None:
    assert w <= link_weight_reinforced(w, n, r) <= 1


@given(unit, st.floats(0, 1000), st.floats(0, 1000))
def test_decay_composes_over_time(weight: float, first: float, second: float) -> None:
    stepwise = link_weight_decayed(link_weight_decayed(weight, first), second)
    assert math.isclose(stepwise, link_weight_decayed(weight, first + second), abs_tol=1e-12)


def test_heat_is_the_formula() -> None:
    expected = 2 * math.log1p(4) + 3 * math.log1p(2) + 5 * math.exp(-6 / 12)
    assert heat(4, 2, 6, alpha=2, beta=3, gamma=5, mu=12) == pytest.approx(expected)


@given(st.floats(0, 1e9), counts)
def test_retention_falls_with_time_and_rises_with_use(seconds: float, count: int) -> None:
    kept = retention(seconds, count)
    assert 0 <= kept <= 1
    assert retention(seconds + 1000, count) <= kept <= retention(seconds, count + 1)


@pytest.mark.parametrize("bad", [-1.0, math.nan, math.inf])
def test_bad_numbers_are_refused(bad: float) -> None:
    for call in (
        lambda: link_weight_reinforced(bad, 1),
        lambda: link_weight_reinforced(0.5, 1, relevance=bad),
        lambda: link_weight_decayed(0.5, bad),
        lambda: heat(1, 1, bad),
        lambda: heat(1, 1, 1, mu=-bad if bad == math.inf else bad),
        lambda: retention(bad, 0),
        lambda: retention(1, 0, stability=-1),
    ):
        with pytest.raises(InvalidInput):
            call()
