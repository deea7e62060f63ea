"""Precision and recall of scored links, by threshold, with bootstrap intervals by question.

A link is a pair (two notes, two sources, or a question and a source) that is there when its
score reaches a threshold. Counts are summed over all questions before a ratio is taken
(micro-average). Questions are the independent units: they are resampled, and held out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphmem.errors import InvalidInput
from graphmem.evaluation.metrics import Interval

Counts: TypeAlias = NDArray[np.int64]
"""Found, wrong and missed links of each group, shape (3, groups)."""

Resamples: TypeAlias = NDArray[np.int64]
"""How often each group is drawn in each resample, shape (groups, resamples)."""

LEVEL = 0.95
"""Share of the resamples inside an interval."""

RESAMPLES = 1000
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Quality:
    """Precision, recall and F1 at one threshold, each in [0, 1], with intervals.

    `threshold` is ``None`` when it was chosen anew for each held-out part.
    """

    threshold: float | None
    precision: Interval
    recall: Interval
    f1: Interval


class JudgedLinks:
    """Scored pairs of several groups, and which of them are right.

    Parameters
    ----------
    scores
        One score a pair, shape (n,), higher is more alike; ``-inf`` for a pair that is never
        linked.
    gold
        Whether the pair belongs together, shape (n,).
    groups
        Number of the question each pair belongs to, shape (n,), from 0.
    count
        Number of questions.

    Raises
    ------
    InvalidInput
        Lengths differ, a score is NaN, or a group is out of range.
    """

    def __init__(self, scores: ArrayLike, gold: ArrayLike, groups: ArrayLike, count: int) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        self.gold = np.asarray(gold, dtype=np.bool_)
        self.groups = np.asarray(groups, dtype=np.int64)
        self.count = count
        if not self.scores.shape == self.gold.shape == self.groups.shape:
            raise InvalidInput("scores, gold and groups differ in length")
        if np.isnan(self.scores).any():
            raise InvalidInput("a score is not a number")
        if len(self.groups) and not 0 <= self.groups.min() <= self.groups.max() < count:
            raise InvalidInput(f"a group lies outside 0..{count - 1}")

    def counts(self, threshold: float) -> Counts:
        """Return the found, wrong and missed links of each group at a threshold.

        >>> JudgedLinks([0.9, 0.8, 0.2], [True, False, True], [0, 0, 1], 2).counts(0.5).tolist()
        [[1, 0], [1, 0], [0, 1]]
        """
        linked = self.scores >= threshold
        kinds = (linked & self.gold, linked & ~self.gold, ~linked & self.gold)
        return np.stack([np.bincount(self.groups[kind], minlength=self.count) for kind in kinds])

    @cached_property
    def thresholds(self) -> NDArray[np.float64]:
        """The distinct finite scores of gold pairs, falling: only there recall changes."""
        found = np.unique(self.scores[self.gold])
        return found[np.isfinite(found)][::-1]

    @cached_property
    def _linked(self) -> tuple[Counts, Counts]:
        """Found and wrong links of each group at each threshold, shape (thresholds, groups)."""
        steps = self.thresholds
        # The first threshold, in falling order, that the score reaches.
        first = len(steps) - np.searchsorted(steps[::-1], self.scores, side="right")
        reached = first < len(steps)
        place = first * self.count + self.groups
        found, wrong = (
            np.bincount(place[reached & kind], minlength=len(steps) * self.count)
            .reshape(len(steps), self.count)
            .cumsum(axis=0)
            for kind in (self.gold, ~self.gold)
        )
        return found, wrong

    @cached_property
    def _wanted(self) -> NDArray[np.int64]:
        return np.bincount(self.groups[self.gold], minlength=self.count)

    def average_precisions(self, resamples: Resamples) -> NDArray[np.float64]:
        r"""Return the average precision of each resample, shape (resamples,).

        .. math:: AP = \sum_n (R_n - R_{n-1}) P_n

        over the distinct scores as thresholds, highest first; equal scores enter together.

        >>> links = JudgedLinks([0.9, 0.8, 0.7, 0.6], [True, False, True, False], [0] * 4, 1)
        >>> links.average_precisions(np.array([[1]])).round(4).tolist()
        [0.8333]
        """
        found, wrong = (counts @ resamples for counts in self._linked)
        precision = _ratio(found, found + wrong)
        recall = _ratio(found, self._wanted @ resamples)
        area: NDArray[np.float64] = np.sum(np.diff(recall, axis=0, prepend=0.0) * precision, axis=0)
        return area

    def best_threshold(self, groups: NDArray[np.bool_]) -> float:
        """Return the threshold of the highest F1 on some of the groups, shape (groups,).

        >>> links = JudgedLinks([0.9, 0.8, 0.2], [True, True, False], [0, 1, 1], 2)
        >>> links.best_threshold(np.array([True, True]))
        0.8
        """
        found, wrong = (counts[:, groups].sum(axis=1) for counts in self._linked)
        f1 = _ratio(2 * found, found + wrong + self._wanted[groups].sum())
        return float(self.thresholds[int(np.argmax(f1))]) if len(f1) else float("inf")

    def held_out_counts(self, *, folds: int = FOLDS, seed: int = 0) -> Counts:
        """Return the counts of each group at the threshold that suits the other groups best."""
        fold = np.random.default_rng(seed).permutation(self.count) % folds
        total = np.zeros((3, self.count), dtype=np.int64)
        for number in range(min(folds, self.count)):
            held = fold == number
            total[:, held] = self.counts(self.best_threshold(~held))[:, held]
        return total


def resamples_of(groups: int, *, count: int = RESAMPLES, seed: int = 0) -> Resamples:
    """Draw groups with replacement; the first column is the sample itself.

    >>> resamples_of(3, count=4).sum(axis=0).tolist()
    [3, 3, 3, 3, 3]
    """
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(groups, np.full(groups, 1 / groups), size=count)
    return np.vstack([np.ones((1, groups), dtype=np.int64), drawn]).T


def quality(counts: Counts, resamples: Resamples, threshold: float | None) -> Quality:
    """Return precision, recall and F1 of summed counts, with percentile intervals.

    >>> at = quality(np.array([[1], [1], [0]]), resamples_of(1), 0.5)
    >>> at.precision.mean, at.recall.mean, round(at.f1.mean, 4)
    (0.5, 1.0, 0.6667)
    """
    precision, recall, f1 = _ratios(counts, resamples)
    return Quality(threshold, interval(precision), interval(recall), interval(f1))


def f1_difference(mine: Counts, theirs: Counts, resamples: Resamples) -> Interval:
    """Return the paired difference of two F1 over the same groups, with its interval."""
    return interval(_ratios(mine, resamples)[2] - _ratios(theirs, resamples)[2])


def mean_quality(counts: Counts, threshold: float | None, resamples: Resamples) -> Quality:
    """Return mean precision and mean recall over groups with gold, and the F1 of the two.

    The macro-average in which the protocol of question-to-note links was published; a group
    without any link has precision 0.
    """
    kept = (counts[0] + counts[2]) > 0
    found, wrong, missed = counts[:, kept]
    draws = resamples[kept]
    total = np.maximum(draws.sum(axis=0), 1)
    precision = (_ratio(found, found + wrong) @ draws) / total
    recall = (_ratio(found, found + missed) @ draws) / total
    f1 = _ratio(2 * precision * recall, precision + recall)
    return Quality(threshold, interval(precision), interval(recall), interval(f1))


def interval(values: NDArray[np.float64], *, level: float = LEVEL) -> Interval:
    """Return the first value, of the sample itself, with the interval of the resamples."""
    rest = values[1:] if len(values) > 1 else values
    low, high = np.quantile(rest, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(values[0]), float(low), float(high))


def joined(parts: Sequence[JudgedLinks]) -> JudgedLinks:
    """Return the pairs of several parts as one, every group kept apart."""
    starts = np.cumsum([0, *(part.count for part in parts)])
    return JudgedLinks(
        np.concatenate([part.scores for part in parts]),
        np.concatenate([part.gold for part in parts]),
        np.concatenate([part.groups + start for part, start in zip(parts, starts, strict=False)]),
        int(starts[-1]),
    )


def _ratios(
    counts: Counts, resamples: Resamples
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    found, wrong, missed = counts @ resamples
    return (
        _ratio(found, found + wrong),
        _ratio(found, found + missed),
        _ratio(2 * found, 2 * found + wrong + missed),
    )


def _ratio(part: ArrayLike, whole: ArrayLike) -> NDArray[np.float64]:
    """Return part / whole, 0 where there is nothing."""
    over, under = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    )
    ratio: NDArray[np.float64] = np.divide(over, under, out=np.zeros(over.shape), where=under > 0)
    return ratio
