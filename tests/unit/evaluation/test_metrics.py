"""Measures against plain definitions and their edges."""

from itertools import product

import numpy as np
import pytest

from graphmem.errors import InvalidInput
from graphmem.evaluation.metrics import (
    any_recall,
    auroc,
    average_precision,
    bootstrap_interval,
    complete_recall,
    evidence_recall,
    gold_ranks,
)


def test_recall_at_k_counts_only_the_first_k():
    ranking, gold = ["x", "a", "y", "b"], {"a", "b"}
    assert [evidence_recall(ranking, gold, k) for k in (1, 2, 3, 4)] == [0.0, 0.5, 0.5, 1.0]
    assert [any_recall(ranking, gold, k) for k in (1, 2, 4)] == [0.0, 1.0, 1.0]
    assert [complete_recall(ranking, gold, k) for k in (2, 3, 4)] == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("measure", [any_recall, evidence_recall, complete_recall])
def test_a_question_without_gold_has_no_recall(measure):
    with pytest.raises(InvalidInput, match="gold"):
        measure(["a"], set(), 1)


def test_ranks_count_from_one_and_missing_gold_has_none():
    assert gold_ranks(["x", "b", "a"], {"a", "b", "z"}) == (2, 3, None)
    assert gold_ranks([], {"a"}) == (None,)


def test_auroc_is_the_share_of_ordered_pairs():
    generator = np.random.default_rng(7)
    scores = generator.integers(0, 6, 60) / 5
    labels = generator.random(60) < 0.4
    pairs = [
        (positive > negative) + 0.5 * (positive == negative)
        for positive, negative in product(scores[labels], scores[~labels])
    ]
    assert auroc(scores, labels) == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize("labels", [[True, True], [False, False]])
def test_auroc_needs_both_kinds(labels):
    with pytest.raises(InvalidInput, match="AUROC"):
        auroc([0.1, 0.2], labels)


def test_average_precision_does_not_depend_on_the_order_of_equal_scores():
    assert average_precision([0.5, 0.5, 0.1], [True, False, False]) == pytest.approx(0.5)
    assert average_precision([0.5, 0.5, 0.1], [False, True, False]) == pytest.approx(0.5)
    assert average_precision([0.9, 0.8], [True, True]) == 1.0


def test_scores_and_labels_must_have_one_length():
    with pytest.raises(InvalidInput, match="length"):
        average_precision([0.5], [True, False])


def test_an_interval_repeats_exactly_and_narrows_with_more_questions():
    values = np.tile([0.0, 1.0], 10)
    assert bootstrap_interval(values) == bootstrap_interval(values)
    few, many = bootstrap_interval(values), bootstrap_interval(np.tile(values, 20))
    assert few.low < many.low < 0.5 < many.high < few.high


def test_an_interval_needs_values():
    with pytest.raises(InvalidInput, match="bootstrap"):
        bootstrap_interval([])
