from __future__ import annotations

import numpy as np
import pytest

from graphmem.errors import InvalidInput
from graphmem.evaluation.logistic_regression import fit_logistic


def test_known_coefficients_come_back():
    generator = np.random.default_rng(3)
    signals = generator.normal(size=(40_000, 2)) * [1.0, 10.0]
    odds = 0.5 + signals @ [2.0, -0.1]
    labels = generator.random(40_000) < 1 / (1 + np.exp(-odds))
    model = fit_logistic(["a", "b"], signals, labels, np.ones(40_000))
    assert model.intercept == pytest.approx(0.5, abs=0.05)
    assert model.weights == pytest.approx({"a": 2.0, "b": -0.1}, abs=0.06)


def test_weights_count_as_repeated_rows():
    rows, labels = [[0.0], [1.0], [1.0], [2.0]], [0, 1, 0, 1]
    weighted = fit_logistic(["x"], rows, labels, [1, 3, 1, 1])
    repeated = fit_logistic(["x"], [*rows, [1.0], [1.0]], [*labels, 1, 1], [1] * 6)
    assert weighted.weights["x"] == pytest.approx(repeated.weights["x"])
    assert weighted.intercept == pytest.approx(repeated.intercept)


def test_separable_and_constant_signals_stay_finite():
    model = fit_logistic(["x", "c"], [[0.0, 1.0], [1.0, 1.0]], [0, 1], [1, 1])
    assert np.isfinite([model.intercept, *model.weights.values()]).all()
    assert model.weights["c"] == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("rows", "labels"), [([[1.0]], [1]), ([[1.0], [2.0]], [1, 1]), ([[1.0, 2.0]], [0])]
)
def test_what_cannot_be_fitted_is_refused(rows, labels):
    with pytest.raises(InvalidInput):
        fit_logistic(["x"], rows, labels, [1] * len(labels))
