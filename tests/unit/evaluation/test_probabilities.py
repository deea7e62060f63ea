from __future__ import annotations

import numpy as np
import pytest

from graphmem.errors import InvalidInput
from graphmem.evaluation.probabilities import (
    auroc_interval,
    average_precision_interval,
    expected_calibration_error,
    prior_weights,
    reliability,
)


def test_a_calibrated_score_has_no_error_and_a_boastful_one_has():
    generator = np.random.default_rng(5)
    scores = generator.random(20_000)
    labels = generator.random(20_000) < scores
    assert expected_calibration_error(scores, labels) < 0.02
    assert expected_calibration_error(np.sqrt(scores), labels) > 0.1


def test_weights_read_a_data_set_at_another_prior():
    scores, labels = [0.5] * 4, [1, 0, 0, 0]
    assert expected_calibration_error(scores, labels) == pytest.approx(0.25)
    assert expected_calibration_error(scores, labels, prior_weights(labels, 0.5)) == 0.0


def test_the_borders_of_the_scale_have_a_bin():
    bins = reliability([0.0, 1.0], [0, 1])
    assert [(part.low, part.high) for part in bins] == [(0.0, 0.1), (0.9, 1.0)]
    assert sum(part.weight for part in bins) == pytest.approx(1.0)


def test_intervals_hold_their_value_and_come_again():
    generator = np.random.default_rng(1)
    labels = generator.random(80) < 0.4
    scores = labels * 0.5 + generator.random(80)
    for measure in (auroc_interval, average_precision_interval):
        found = measure(scores, labels)
        assert found.low < found.mean < found.high
        assert measure(scores, labels) == found


def test_a_prior_needs_both_labels():
    with pytest.raises(InvalidInput, match="at least one"):
        prior_weights([True, True], 0.5)
