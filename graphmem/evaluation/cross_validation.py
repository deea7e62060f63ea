"""Fitting the weights of a policy, and measuring them on questions they have not seen.

Folds are by conversation (LoCoMo) and by question (LongMemEval): what is measured on a fold
was fitted on the others, of every data set.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.blending import blend_salience
from graphmem.algorithms.sources import pool_by_source
from graphmem.evaluation.listwise import (
    Array,
    NoteLists,
    Objective,
    SourceLists,
    balanced,
    minimise,
    scaled,
)
from graphmem.evaluation.metrics import Interval, bootstrap_interval
from graphmem.evaluation.samples import Sample, columns
from graphmem.policy import DEFAULT_POLICY

Weights: TypeAlias = Mapping[str, float]
Samples: TypeAlias = Sequence[Sample]
Measured: TypeAlias = Mapping[str, Array]
"""By measure, one value a question."""

FOLDS = 5

NOTE_SIGNALS = tuple(DEFAULT_POLICY.relevance.weights)
SOURCE_SIGNALS = tuple(DEFAULT_POLICY.relevance.source_weights or ())
"""The signals that have a weight in the default policy, for notes and for sources."""


@dataclass(frozen=True, slots=True)
class Ranker:
    """What is ranked: how its weights are fitted and what they find.

    Attributes
    ----------
    level
        ``note`` or ``source``.
    signals
        The signals with a weight.
    objective
        From data sets and signals to the loss to lower.
    measure
        From a question and weights to its measures.
    """

    level: str
    signals: tuple[str, ...]
    objective: Callable[[Sequence[Samples], Sequence[str]], Objective]
    measure: Callable[[Sample, Weights], Mapping[str, float]]

    def fit(self, datasets: Sequence[Samples], without: str | None = None) -> Weights:
        """Return weights fitted on the data sets, each counting the same."""
        names = [name for name in self.signals if name != without]
        fitted = scaled(minimise(self.objective(datasets, names), np.zeros(len(names))))
        return dict(zip(names, fitted.tolist(), strict=True))

    def find(self, samples: Samples, weights: Weights) -> Measured:
        """Return what weights find on questions they need not have seen."""
        return _joined([self.measure(sample, weights) for sample in samples])

    def cross_validate(
        self, training: Sequence[Samples], tested: Samples, without: str | None = None
    ) -> Measured:
        """Return what is found on each fold of `tested` by weights fitted on the others.

        `training` may hold `tested` and other data sets; questions of the fold are left out
        of all of them.
        """
        found: dict[int, Mapping[str, float]] = {}
        for fold in range(FOLDS):
            held_out = [index for index, at in enumerate(folds(tested)) if at == fold]
            kept = [_outside(samples, fold) for samples in training]
            weights = self.fit(kept, without)
            found |= {index: self.measure(tested[index], weights) for index in held_out}
        return _joined([found[index] for index in range(len(tested))])


def _joined(found: Sequence[Mapping[str, float]]) -> Measured:
    return {name: np.array([each[name] for each in found]) for name in found[0]}


def _outside(samples: Samples, fold: int) -> Samples:
    return [sample for sample, at in zip(samples, folds(samples), strict=True) if at != fold]


def folds(samples: Samples) -> list[int]:
    """Return the fold of each question: those of one case share it."""
    number = {case: index for index, case in enumerate(sorted({s.case for s in samples}))}
    return [number[sample.case] % FOLDS for sample in samples]


def _note_objective(datasets: Sequence[Samples], names: Sequence[str]) -> Objective:
    return balanced(
        [NoteLists.of([(columns(s, names), s.gold) for s in samples]) for samples in datasets]
    )


def _source_objective(datasets: Sequence[Samples], names: Sequence[str]) -> Objective:
    return balanced(
        [
            SourceLists.of([(columns(s, names), s.source, s.gold_source) for s in samples])
            for samples in datasets
        ]
    )


def note_measures(sample: Sample, weights: Weights) -> Mapping[str, float]:
    """Return recall of the gold notes as the default policy ranks with these weights."""
    relevance = columns(sample, tuple(weights)) @ np.array(tuple(weights.values()))
    nothing = np.zeros(len(relevance))
    normalised = blend_salience(nothing, nothing, relevance).signals["relevance"]
    scores = sample.relevance * normalised + sample.salience
    hits = sample.gold[np.argsort(-scores, kind="stable")]
    return _recall(hits, sample.gold_notes, (10,))


def source_measures(sample: Sample, weights: Weights) -> Mapping[str, float]:
    """Return recall of the gold sources as the default policy ranks with these weights."""
    scores = columns(sample, tuple(weights)) @ np.array(tuple(weights.values()))
    pool = pool_by_source(scores, sample.source, len(sample.gold_source))
    totals = scores[pool.best] + DEFAULT_POLICY.relevance.source_breadth * pool.breadth
    hits = sample.gold_source[np.argsort(-totals, kind="stable")]
    return _recall(hits, sample.gold_sources, (5, 10))


def _recall(hits: NDArray[np.bool_], gold: int, cuts: Sequence[int]) -> dict[str, float]:
    found = {cut: int(hits[:cut].sum()) for cut in cuts}
    return {
        name: value
        for cut in cuts
        for name, value in (
            (f"evidence@{cut}", found[cut] / gold),
            (f"all@{cut}", float(found[cut] == gold)),
        )
    }


NOTES = Ranker("note", NOTE_SIGNALS, _note_objective, note_measures)
SOURCES = Ranker("source", SOURCE_SIGNALS, _source_objective, source_measures)


def intervals(measured: Measured) -> Mapping[str, Interval]:
    """Return the mean of each measure over the questions with its bootstrap interval."""
    return {name: bootstrap_interval(values) for name, values in measured.items()}
