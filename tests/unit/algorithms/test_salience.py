from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, replace
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.blending import SalienceWeights
from graphmem.algorithms.salience import (
    MemorySignal,
    WeightedSignal,
    rank_salient_memories,
    rank_weighted_memories,
)
from graphmem.errors import InvalidInput, InvalidPolicy, InvalidQuery
from graphmem.policy import WeightedRanking

finite = st.floats(allow_nan=False, allow_infinity=False)
unit = st.floats(0, 1)


def memory_signals(values: st.SearchStrategy[float] = finite) -> st.SearchStrategy[MemorySignal]:
    return st.builds(
        MemorySignal,
        memory_id=st.text(min_size=1, max_size=4),
        hours_since_access=st.floats(0, 1e9),
        importance=values,
        relevance=values,
    )


memory_id = attrgetter("memory_id")
signal_sets = st.lists(memory_signals(), max_size=30, unique_by=memory_id)


def signal(memory_id: str, hours: float = 0, importance: float = 0.5, relevance: float = 0.5):
    return MemorySignal(memory_id, hours, importance, relevance)


def order(signals, **arguments) -> list[str]:
    return [memory.memory_id for memory in rank_salient_memories(signals, **arguments)]


class TestSalience:
    def test_the_newer_the_marked_and_the_more_relevant_each_win(self):
        assert order([signal("old", 100), signal("new", 1)]) == ["new", "old"]
        assert order([signal("plain"), signal("marked", importance=0.9)]) == ["marked", "plain"]
        assert order([signal("far"), signal("near", relevance=0.6)]) == ["near", "far"]

    def test_contributions_follow_the_formula(self):
        ranked = rank_salient_memories(
            [signal("a", 0, 0.2, 0.9), signal("b", 138.3, 0.8, 0.1), signal("c", 1e6, 0.5, 0.5)]
        )
        middle = next(memory for memory in ranked if memory.memory_id == "b")
        half = 0.995**138.3
        assert middle.signals["recency"] == pytest.approx(half / 1.0)
        assert middle.contributions == pytest.approx(
            {"recency": 0.15 * half, "importance": 0.15, "relevance": 0.0}
        )

    def test_one_more_candidate_changes_the_others(self):
        pair = [signal("a", relevance=0.6), signal("b", relevance=0.4)]
        before = {memory.memory_id: memory.score for memory in rank_salient_memories(pair)}
        ranked = rank_salient_memories([*pair, signal("c", relevance=1.0)])
        after = {memory.memory_id: memory.score for memory in ranked}
        assert after["a"] < before["a"]

    def test_importance_rescues_a_memory_from_beyond_the_cut(self):
        signals = [signal(f"n{i}", relevance=0.5 + i / 100) for i in range(5)]
        rescued = [*signals, signal("rule", importance=1.0, relevance=0.52)]
        assert order(rescued, limit=1, weights=SalienceWeights(0, 0.9, 0.1)) == ["rule"]
        assert order(rescued, limit=1, weights=SalienceWeights(0, 0.0, 1.0)) == ["n4"]

    def test_a_single_memory_and_a_constant_column_are_defined(self):
        (only,) = rank_salient_memories([signal("only", 3, -7, 0.2)])
        assert only.signals == {"recency": 1.0, "importance": 1.0, "relevance": 1.0}
        assert only.score == pytest.approx(1.0)

    def test_no_relevance_at_all_stays_zero(self):
        ranked = rank_salient_memories([signal("a", relevance=0.0), signal("b", relevance=0.0)])
        assert [memory.contributions["relevance"] for memory in ranked] == [0.0, 0.0]

    def test_ties_are_broken_by_id_also_at_the_cut(self):
        tied = [signal(name) for name in ("d", "b", "c", "a")]
        assert order(tied, limit=2) == ["a", "b"]

    def test_an_empty_set_gives_nothing(self):
        assert rank_salient_memories([]) == ()

    def test_an_iterator_is_read_once(self):
        assert order(signal(name) for name in "ba") == ["a", "b"]

    def test_without_decay_recency_is_constant(self):
        ranked = rank_salient_memories([signal("a", 5), signal("b", 9)], recency_decay=1.0)
        assert {memory.signals["recency"] for memory in ranked} == {1.0}

    def test_results_are_frozen(self):
        (memory,) = rank_salient_memories([signal("a")])
        with pytest.raises(FrozenInstanceError):
            memory.score = 2.0

    @given(signal_sets, st.integers(1, 40))
    def test_parts_sum_to_the_score_and_the_order_is_total(self, signals, limit):
        ranked = rank_salient_memories(signals, limit=limit)
        assert len(ranked) == min(limit, len(signals))
        for memory in ranked:
            assert math.isfinite(memory.score)
            assert sum(memory.contributions.values()) == memory.score
            assert all(0.0 <= value <= 1.0 for value in memory.signals.values())
        keys = [(-memory.score, memory.memory_id) for memory in ranked]
        assert keys == sorted(keys)

    @given(signal_sets, st.integers(1, 40), st.randoms())
    def test_a_limit_is_a_prefix_and_input_order_does_not_matter(self, signals, limit, random):
        whole = rank_salient_memories(signals, limit=10**9)
        shuffled = random.sample(signals, len(signals))
        assert rank_salient_memories(shuffled, limit=limit) == whole[:limit]

    @given(st.lists(memory_signals(unit), min_size=2, max_size=9, unique_by=memory_id), unit)
    def test_more_relevance_never_lowers_a_memory(self, signals, share):
        top = max(entry.relevance for entry in signals)
        first = signals[0]
        raised = replace(first, relevance=first.relevance + share * (top - first.relevance))
        before = order(signals, limit=100).index(first.memory_id)
        after = order([raised, *signals[1:]], limit=100).index(first.memory_id)
        # A minimum that moves rescales the others, but never above the one that rose.
        assert after <= before


class TestSalienceErrors:
    @pytest.mark.parametrize("limit", [0, -1, True, 2.5, "3", None])
    def test_limit(self, limit):
        with pytest.raises(InvalidQuery, match="limit"):
            rank_salient_memories([signal("a")], limit=limit)

    @pytest.mark.parametrize("decay", [0.0, -0.1, 1.0001, math.nan, math.inf])
    def test_decay(self, decay):
        with pytest.raises(InvalidPolicy, match="recency_decay"):
            rank_salient_memories([signal("a")], recency_decay=decay)

    @pytest.mark.parametrize(
        "weights", [(-0.1, 0.5, 0.5), (0, 0, 0), (math.nan, 1, 1), (1, math.inf, 1)]
    )
    def test_weights(self, weights):
        with pytest.raises(InvalidPolicy):
            SalienceWeights(*weights)

    @pytest.mark.parametrize("name", ["hours_since_access", "importance", "relevance"])
    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "3", None, 10**400])
    def test_a_signal_that_is_no_finite_number_is_named(self, name, value):
        with pytest.raises(InvalidInput, match=name):
            rank_salient_memories([signal("a"), replace(signal("b"), **{name: value})])

    def test_negative_hours(self):
        with pytest.raises(InvalidInput, match=r"hours_since_access.*'b'.*negative"):
            rank_salient_memories([signal("a"), signal("b", -0.5)])

    def test_empty_and_duplicate_ids(self):
        with pytest.raises(InvalidInput, match="empty"):
            rank_salient_memories([signal("")])
        with pytest.raises(InvalidInput, match="'a' is given twice"):
            rank_salient_memories([signal("a"), signal("b"), signal("a")])


def weighted(memory_id: str, hours: float = 0, importance: float = 0, vector=0.0, keyword=0.0):
    return WeightedSignal(memory_id, hours, importance, vector, keyword)


class TestWeighted:
    def test_the_four_contributions_follow_the_formula(self):
        ranking = WeightedRanking(alpha=0.7, beta=0.3, gamma=0.15, decay_weight=0.2, decay=0.5)
        (memory,) = rank_weighted_memories([weighted("a", 2, 0.8, -0.5, 0.4)], ranking=ranking)
        assert memory.contributions == pytest.approx(
            {"vector": -0.35, "keyword": 0.12, "importance": 0.12, "decay": 0.05}
        )
        assert memory.score == pytest.approx(-0.06)

    def test_a_score_does_not_depend_on_the_other_candidates(self):
        (alone,) = rank_weighted_memories([weighted("a", vector=0.4)])
        crowd = rank_weighted_memories([weighted("a", vector=0.4), weighted("b", vector=0.9)])
        assert alone in crowd

    def test_gamma_zero_takes_importance_out(self):
        pair = [weighted("a"), weighted("marked", importance=1.0)]
        assert rank_weighted_memories(pair)[0].memory_id == "marked"
        plain = rank_weighted_memories(pair, ranking=WeightedRanking(gamma=0))
        assert plain[0].memory_id == "a"

    def test_the_newer_of_two_equals_comes_first_and_importance_acts_before_the_cut(self):
        assert rank_weighted_memories([weighted("a", 5), weighted("b", 1)])[0].memory_id == "b"
        rescued = [weighted("a", vector=0.51), weighted("b", vector=0.5, importance=0.9)]
        assert rank_weighted_memories(rescued, limit=1)[0].memory_id == "b"

    @given(
        st.lists(
            st.builds(
                WeightedSignal,
                st.text(min_size=1, max_size=3),
                st.floats(0, 1e7),
                unit,
                st.floats(-1, 1),
                unit,
            ),
            max_size=20,
            unique_by=memory_id,
        )
    )
    def test_parts_sum_and_no_keyword_stays_zero(self, signals):
        ranked = rank_weighted_memories(signals, limit=100)
        keywords = {entry.memory_id: entry.keyword_match for entry in signals}
        for memory in ranked:
            assert sum(memory.contributions.values()) == pytest.approx(memory.score, abs=1e-12)
            assert memory.contributions["keyword"] == 0.3 * keywords[memory.memory_id]
        assert [m.score for m in ranked] == sorted((m.score for m in ranked), reverse=True)

    def test_errors(self):
        assert rank_weighted_memories([]) == ()
        with pytest.raises(InvalidInput, match=r"hours_since_written.*negative"):
            rank_weighted_memories([weighted("a", -1)])
        with pytest.raises(InvalidInput, match="keyword_match"):
            rank_weighted_memories([weighted("a", keyword=math.nan)])
        with pytest.raises(InvalidQuery, match="limit"):
            rank_weighted_memories([weighted("a")], limit=0)
        nothing = WeightedRanking(alpha=0, beta=0, gamma=0, decay_weight=0)
        with pytest.raises(InvalidPolicy, match="zero"):
            rank_weighted_memories([weighted("a")], ranking=nothing)
