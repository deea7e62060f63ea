from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphmem.algorithms.diversity import maximal_marginal_relevance, term_overlap
from graphmem.errors import InvalidInput, InvalidPolicy

relevances = st.lists(st.floats(0, 1), max_size=8).map(np.array)


@st.composite
def rankings(draw):
    relevance = draw(relevances)
    size = len(relevance)
    half = draw(arrays(np.float64, (size, size), elements=st.floats(0, 1)))
    return relevance, (half + half.T) / 2


@given(rankings(), st.floats(0, 1), st.integers(0, 10))
def test_chooses_each_item_once_and_the_best_by_the_formula(ranking, trade_off, limit):
    relevance, similarity = ranking
    chosen = maximal_marginal_relevance(relevance, similarity, trade_off=trade_off, limit=limit)
    assert len(set(chosen)) == len(chosen) == min(limit, len(relevance))
    for place, index in enumerate(chosen):
        before = chosen[:place]
        left = [i for i in range(len(relevance)) if i not in before]
        values = {
            i: trade_off * relevance[i]
            - (1 - trade_off) * max((similarity[j, i] for j in before), default=0.0)
            for i in left
        }
        assert index == min(i for i in left if values[i] == max(values.values()))


@given(rankings())
def test_a_trade_off_of_one_keeps_the_order_of_relevance(ranking):
    relevance, similarity = ranking
    expected = tuple(np.argsort(-relevance, kind="stable"))
    assert maximal_marginal_relevance(relevance, similarity, trade_off=1.0) == expected


def test_a_near_duplicate_gives_way():
    alike = np.array([[1, 0.99, 0], [0.99, 1, 0], [0, 0, 1]])
    assert maximal_marginal_relevance([0.9, 0.89, 0.6], alike) == (0, 2, 1)


@pytest.mark.parametrize(
    ("relevance", "similarity", "arguments", "error"),
    [
        ([0.5], np.eye(2), {}, InvalidInput),
        ([0.5, np.nan], np.eye(2), {}, InvalidInput),
        ([0.5, 0.5], np.full((2, 2), np.inf), {}, InvalidInput),
        ([0.5], np.eye(1), {"trade_off": 1.5}, InvalidPolicy),
        ([0.5], np.eye(1), {"limit": -1}, InvalidPolicy),
    ],
)
def test_impossible_input_is_refused(relevance, similarity, arguments, error):
    with pytest.raises(error):
        maximal_marginal_relevance(relevance, similarity, **arguments)


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), max_size=6))
def test_term_overlap_is_jaccard(documents):
    similarity = term_overlap(documents)
    assert similarity.shape == (len(documents), len(documents))
    for i, first in enumerate(map(set, documents)):
        for j, second in enumerate(map(set, documents)):
            united = first | second
            share = len(first & second) / len(united) if united else 0.0
            assert similarity[i, j] == pytest.approx(1.0 if i == j else share)
