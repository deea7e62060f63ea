r"""Listwise fitting of linear rankers, in plain numpy.

A question is a list of candidates with their signals :math:`x_i`. With weights
:math:`\theta` the probability of a candidate is the softmax of :math:`\theta \cdot x_i`; the
loss of a question is the cross-entropy with an even spread over its gold (ListNet, Cao et
al., 2007). Sources are softmaxes over the pooled scores of their candidates,
:math:`\ln \sum_i e^{T \theta \cdot x_i} / T`, a soft maximum.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.intp]

SHARPNESS = 3.0
"""T of the soft maximum over a source's candidates."""

RIDGE = 1e-3
"""Weight of the squared length of the weights beside the mean loss."""

_STEPS = 60
_ENOUGH = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Slope:
    """Mean loss at some weights, its gradient (k,) and a positive curvature (k, k)."""

    loss: float
    gradient: Array
    curvature: Array

    def plus(self, other: Slope, share: float) -> Slope:
        """Return this plus `share` times the other."""
        return Slope(
            self.loss + share * other.loss,
            self.gradient + share * other.gradient,
            self.curvature + share * other.curvature,
        )


Objective: TypeAlias = Callable[[Array], Slope]


@dataclass(frozen=True, slots=True, eq=False)
class NoteLists:
    """The candidates of several questions, one after the other.

    Attributes
    ----------
    signals
        Shape (candidates, k).
    target
        Share of each candidate in the gold of its question, shape (candidates,); sums to 1
        for each question.
    question
        Number of the question of each candidate, from 0, rising.
    """

    signals: Array
    target: Array
    question: Numbers

    @classmethod
    def of(cls, lists: Sequence[tuple[Array, NDArray[np.bool_]]]) -> Self:
        """Join (signals, gold) of questions; those without gold among them are left out."""
        held = [(signals, gold) for signals, gold in lists if gold.any()]
        return cls(
            np.concatenate([signals for signals, _ in held]),
            np.concatenate([gold / gold.sum() for _, gold in held]),
            np.repeat(np.arange(len(held)), [len(gold) for _, gold in held]),
        )

    def slope(self, weights: Array) -> Slope:
        """Return the mean loss over the questions at these weights."""
        return _softmax_slope(self.signals @ weights, self.signals, self.target, self.question)


@dataclass(frozen=True, slots=True, eq=False)
class SourceLists:
    """As :class:`NoteLists`, with candidates pooled into the sources of their question.

    Attributes
    ----------
    signals
        Shape (candidates, k).
    source
        Number of the source of each candidate, from 0 over all questions.
    target, question
        Of each source, as in :class:`NoteLists`.
    """

    signals: Array
    source: Numbers
    target: Array
    question: Numbers

    @classmethod
    def of(cls, lists: Sequence[tuple[Array, Numbers, NDArray[np.bool_]]]) -> Self:
        """Join (signals, source of each, gold of each source) of questions."""
        held = [entry for entry in lists if entry[2].any()]
        starts = np.cumsum([0, *(len(gold) for _, _, gold in held)])
        return cls(
            np.concatenate([signals for signals, _, _ in held]),
            np.concatenate([s + at for (_, s, _), at in zip(held, starts, strict=False)]),
            np.concatenate([gold / gold.sum() for _, _, gold in held]),
            np.repeat(np.arange(len(held)), [len(gold) for _, _, gold in held]),
        )

    def slope(self, weights: Array) -> Slope:
        """Return the mean loss over the questions at these weights.

        The curvature takes the share of each candidate in its source as given, which keeps
        it positive.
        """
        raised = SHARPNESS * (self.signals @ weights)
        count = len(self.target)
        best = np.full(count, -np.inf)
        np.maximum.at(best, self.source, raised)
        parts = np.exp(raised - best[self.source])
        total = _sums(self.source, parts, count)
        share = parts / total[self.source]
        pooled = np.stack(
            [_sums(self.source, share * column, count) for column in self.signals.T], axis=1
        )
        scores = (np.log(total) + best) / SHARPNESS
        return _softmax_slope(scores, pooled, self.target, self.question)


def _sums(group: Numbers, values: Array, count: int) -> Array:
    """Return the sum of the values of each group, shape (count,)."""
    sums = np.zeros(count)
    sums += np.bincount(group, values, count)
    return sums


def _softmax_slope(scores: Array, signals: Array, target: Array, question: Numbers) -> Slope:
    count = int(question[-1]) + 1
    best = np.full(count, -np.inf)
    np.maximum.at(best, question, scores)
    shifted = scores - best[question]
    total = _sums(question, np.exp(shifted), count)
    logs = shifted - np.log(total)[question]
    chance = np.exp(logs)
    means = np.stack([_sums(question, chance * column, count) for column in signals.T], 1)
    spread = (signals * chance[:, None]).T @ signals - means.T @ means
    return Slope(
        float(-(target @ logs)) / count, (chance - target) @ signals / count, spread / count
    )


def balanced(parts: Sequence[NoteLists | SourceLists]) -> Objective:
    """Return the mean of the parts' losses plus the ridge: each data set counts the same."""

    def slope(weights: Array) -> Slope:
        ridge = RIDGE * np.eye(len(weights))
        total = Slope(RIDGE * float(weights @ weights) / 2, RIDGE * weights, ridge)
        for part in parts:
            total = total.plus(part.slope(weights), 1 / len(parts))
        return total

    return slope


def minimise(objective: Objective, start: Array) -> Array:
    """Descend by Newton steps, halved while they do not lower the loss.

    >>> def bowl(weights):
    ...     return Slope(float(((weights - 3) ** 2).sum()), 2 * (weights - 3), 2 * np.eye(2))
    >>> minimise(bowl, np.zeros(2)).tolist()
    [3.0, 3.0]
    """
    weights, here = start, objective(start)
    for _ in range(_STEPS):
        step = np.linalg.solve(here.curvature, here.gradient)
        fall = float(step @ here.gradient)
        if fall < _ENOUGH:
            break
        size = 1.0
        while (there := objective(weights - size * step)).loss > here.loss - 1e-4 * size * fall:
            size /= 2
            if size < _ENOUGH:
                return weights
        weights, here = weights - size * step, there
    return weights


def scaled(weights: Array) -> Array:
    """Return weights whose magnitudes sum to 1; a ranking does not depend on their scale.

    Weights that are all 0, because no signal told gold from the rest, stay so.

    >>> scaled(np.array([3.0, -1.0])).tolist()
    [0.75, -0.25]
    """
    total = np.abs(weights).sum()
    result: Array = weights / total if total > 0 else weights
    return result
