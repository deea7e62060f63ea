"""Putting a newer note before the older one it supersedes."""

from __future__ import annotations

import numpy as np
import pytest

from graphmem.algorithms.newest_first import COMPARABLE, PART, newest_first
from graphmem.algorithms.salience import Blend

SCORES = np.array([0.9, 0.8, 0.5, 0.1])


def blend() -> Blend:
    return Blend(SCORES, {"relevance": SCORES}, {"relevance": SCORES})


def order(found: Blend) -> list[int]:
    return np.argsort(-found.scores, kind="stable").tolist()


def test_a_chain_is_lifted_whole_and_nothing_else_moves() -> None:
    found = newest_first(blend(), np.full(4, 0.6), [(2, 0), (3, 2)])
    assert order(found) == [3, 2, 0, 1]
    assert found.scores[[0, 1]].tolist() == SCORES[[0, 1]].tolist()
    np.testing.assert_allclose(sum(found.contributions.values()), found.scores, atol=1e-12)
    assert found.contributions[PART][[0, 1]].tolist() == [0.0, 0.0]
    assert SCORES.tolist() == [0.9, 0.8, 0.5, 0.1]


def test_equal_scores_are_no_tie_any_more() -> None:
    tied = Blend(np.array([0.5, 0.5]), {"relevance": np.array([0.5, 0.5])}, {})
    assert order(newest_first(tied, np.zeros(2), [(1, 0)])) == [1, 0]


@pytest.mark.parametrize(("cosine", "moved"), [(0.6 - COMPARABLE, True), (0.39, False)])
def test_only_comparable_notes_change_places(cosine: float, moved: bool) -> None:
    cosines = np.array([0.6, 0.6, cosine, 0.0])
    assert (order(newest_first(blend(), cosines, [(2, 0)]))[0] == 2) is moved


def test_a_newer_note_that_leads_already_stays_as_it_is() -> None:
    before = blend()
    assert newest_first(before, np.zeros(4), [(0, 1), (1, 2)]) is before
