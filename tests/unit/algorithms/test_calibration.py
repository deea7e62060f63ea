"""Proposed thresholds are those the pairs call for, and never out of order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.calibration import (
    calibrate_from_labelled_pairs,
    calibrate_from_random_pairs,
)
from graphmem.errors import InvalidInput
from graphmem.policy import LinkPolicy


def test_random_pairs_leave_their_share_below_the_link_threshold():
    cosines = np.random.default_rng(0).normal(0.5, 0.1, 10_000).clip(-1, 1)
    made = calibrate_from_random_pairs(cosines, unrelated_share=0.99)
    assert made.linked == pytest.approx(0.01, abs=2e-4)
    assert made.policy.link_threshold == pytest.approx(np.quantile(cosines, 0.99), abs=1e-5)
    assert made.method == "random-pairs"


def test_the_proportion_of_the_defaults_is_kept():
    cosines = np.append(np.zeros(9_000), np.full(1_000, 0.72))
    made = calibrate_from_random_pairs(cosines, unrelated_share=0.95)
    assert made.policy.link_threshold == pytest.approx(0.72, abs=2e-6)
    assert made.policy.evolution_threshold == pytest.approx(0.91, abs=2e-6)


def test_everything_but_the_thresholds_stays():
    given_policy = LinkPolicy(limit=3, evolve=False)
    made = calibrate_from_random_pairs(np.linspace(0, 1, 200), policy=given_policy).policy
    assert (made.limit, made.evolve) == (3, False)


def test_labelled_pairs_set_the_threshold_of_the_highest_f1():
    cosines = [0.95, 0.9, 0.6, 0.8, 0.5, 0.4]
    related = [True, True, True, False, False, False]
    made = calibrate_from_labelled_pairs(cosines, related)
    assert made.policy.link_threshold == 0.6
    assert made.f1 == pytest.approx(6 / 7)
    assert made.policy.evolution_threshold == 0.9
    assert (made.pairs, made.related) == (6, 3)


def test_where_nothing_is_precise_the_proportion_of_the_defaults_stands_in():
    made = calibrate_from_labelled_pairs([0.9, 0.8, 0.7], [False, True, True])
    assert made.policy.link_threshold == 0.7
    assert made.policy.evolution_threshold == pytest.approx(1 - 0.09 / 0.28 * 0.3, abs=2e-6)
    assert "no threshold is precise enough" in made.reason


@given(
    st.lists(st.tuples(st.floats(-1, 1), st.booleans()), min_size=2, max_size=40).filter(
        lambda pairs: len({label for _, label in pairs}) == 2
    )
)
def test_any_labels_give_valid_thresholds_that_link_the_pair_that_set_them(pairs):
    cosines, related = zip(*pairs, strict=True)
    policy = calibrate_from_labelled_pairs(cosines, related).policy
    assert 0 <= policy.link_threshold <= policy.evolution_threshold <= 1
    assert any(max(cosine, 0.0) >= policy.link_threshold for cosine in cosines)


@pytest.mark.parametrize(
    "call",
    [
        lambda: calibrate_from_random_pairs([0.5] * 99),
        lambda: calibrate_from_random_pairs([0.5] * 100, unrelated_share=1.0),
        lambda: calibrate_from_random_pairs([np.nan] * 100),
        lambda: calibrate_from_random_pairs([1.5] * 100),
        lambda: calibrate_from_labelled_pairs([0.5, 0.6], [True, True]),
        lambda: calibrate_from_labelled_pairs([0.5], [True, False]),
        lambda: calibrate_from_labelled_pairs([0.5, 0.6], [True, False], evolution_precision=0),
    ],
)
def test_what_says_too_little_is_refused(call):
    with pytest.raises(InvalidInput):
        call()
