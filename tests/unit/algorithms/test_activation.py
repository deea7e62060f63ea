from __future__ import annotations

import math

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.activation import personalised_pagerank, spread_activation
from graphmem.errors import InvalidInput, InvalidPolicy
from graphmem.model import related

names = st.sampled_from("abcdefgh")
weights = st.floats(0.01, 1.0)
graphs = st.dictionaries(
    st.tuples(names, names).filter(lambda pair: pair[0] < pair[1]), weights, max_size=15
).map(lambda edges: [related(a, b, weight, None) for (a, b), weight in edges.items()])
seed_sets = st.dictionaries(names, st.floats(0.1, 1.0), min_size=1, max_size=4)


class TestSpreading:
    def test_each_hop_keeps_a_share_until_too_little_is_left(self):
        chain = [related(a, b, 1.0, None) for a, b in ("ab", "bc", "cd", "de")]
        active = spread_activation({"a": 1.0}, chain)
        assert active == pytest.approx({"a": 1.0, "b": 0.85, "c": 0.7225, "d": 0.614125})
        assert "d" not in spread_activation({"a": 0.15}, chain)

    def test_ways_that_meet_add_up_to_one_at_most(self):
        links = [related("a", "x", 0.5, None), related("b", "x", 0.5, None)]
        assert spread_activation({"a": 0.4, "b": 0.4}, links)["x"] == pytest.approx(0.34)
        strong = [related("a", "x", 1.0, None), related("b", "x", 1.0, None)]
        assert spread_activation({"a": 1.0, "b": 1.0}, strong)["x"] == 1.0

    def test_nothing_echoes_back_to_the_seed(self):
        star = [related("a", f"leaf{i}", 1.0, None) for i in range(9)]
        assert spread_activation({"a": 0.5}, star)["a"] == 0.5

    def test_the_number_of_active_nodes_is_bounded_ties_by_id(self):
        star = [related("hub", f"leaf{i:02}", 0.9, None) for i in range(80)]
        active = spread_activation({"hub": 1.0}, star)
        assert list(active) == ["hub", *(f"leaf{i:02}" for i in range(49))]
        assert list(spread_activation({"hub": 1.0}, star, limit=2)) == ["hub", "leaf00"]

    def test_weak_seeds_and_no_hops(self):
        links = [related("a", "b", 1.0, None)]
        assert spread_activation({"a": 0.05}, links) == {}
        assert spread_activation({"a": 1.0}, links, hops=0) == {"a": 1.0}
        assert spread_activation({}, links) == {}

    @given(graphs, seed_sets, st.randoms())
    def test_bounded_ordered_and_independent_of_the_order_of_links(self, links, seeds, random):
        active = spread_activation(seeds, links)
        shuffled = random.sample(links, len(links))
        assert list(spread_activation(seeds, shuffled).items()) == list(active.items())
        assert all(0.1 <= value <= 1.0 for value in active.values())
        keys = [(-value, note_id) for note_id, value in active.items()]
        assert keys == sorted(keys)
        assert {note_id: active[note_id] for note_id in seeds} == seeds

    @pytest.mark.parametrize(
        "arguments",
        [{"decay": 1.1}, {"threshold": -0.1}, {"hops": -1}, {"limit": -1}, {"decay": math.nan}],
    )
    def test_bounds_are_checked(self, arguments):
        with pytest.raises(InvalidPolicy):
            spread_activation({"a": 1.0}, [], **arguments)
        with pytest.raises(InvalidInput, match="'a'"):
            spread_activation({"a": 1.5}, [])


class TestPagerank:
    @given(graphs, seed_sets, st.floats(0, 0.95))
    def test_is_the_fixed_point_of_the_walk(self, links, seeds, damping):
        ranks = personalised_pagerank(seeds, links, damping=damping)
        assert sum(ranks.values()) == pytest.approx(1.0)
        graph = nx.Graph()
        graph.add_nodes_from(ranks)
        graph.add_weighted_edges_from((*link.pair, link.weight) for link in links)
        order = sorted(ranks)
        matrix = nx.to_numpy_array(graph, nodelist=order)
        restart = np.array([seeds.get(note_id, 0.0) for note_id in order])
        restart = restart / restart.sum()
        strength = matrix.sum(axis=1, keepdims=True)
        walk = np.where(strength > 0, matrix / np.where(strength > 0, strength, 1), restart)
        exact = np.linalg.solve(
            np.eye(len(order)) - damping * walk.T, (1 - damping) * restart
        )  # fmt: skip
        assert [ranks[note_id] for note_id in order] == pytest.approx(exact, abs=1e-8)

    def test_a_seed_alone_keeps_everything(self):
        assert personalised_pagerank({"a": 3.0}, []) == {"a": 1.0}

    @pytest.mark.parametrize("seeds", [{}, {"a": 0.0}, {"a": -1.0}, {"a": math.inf}])
    def test_impossible_seeds_are_refused(self, seeds):
        with pytest.raises(InvalidInput, match="seeds"):
            personalised_pagerank(seeds, [])

    @pytest.mark.parametrize("arguments", [{"damping": 1.0}, {"tolerance": 0.0}])
    def test_bounds_are_checked(self, arguments):
        with pytest.raises(InvalidPolicy):
            personalised_pagerank({"a": 1.0}, [], **arguments)
