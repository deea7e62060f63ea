"""How well recall knows whether memory holds the answer: one report a data set."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from graphmem.algorithms.answerability import EVIDENCE_POLICY
from graphmem.evaluation.metrics import Interval
from graphmem.evaluation.probabilities import (
    ReliabilityBin,
    auroc_interval,
    average_precision_interval,
    expected_calibration_error,
    prior_weights,
    reliability,
)
from graphmem.evaluation.retrieval import Setting
from graphmem.evaluation.trials import (
    Progress,
    Split,
    Trial,
    locomo_trials,
    longmemeval_trials,
)
from graphmem.model import Json, Outcome

SINGLE_HOP = "single-hop"
"""LoCoMo's category 4, of the same kind as its questions without an answer."""


@dataclass(frozen=True, slots=True)
class SplitResult:
    """Answerable questions against one kind of unanswerable ones.

    Attributes
    ----------
    name
        What was compared.
    answerable, unanswerable
        Number of questions on both sides.
    auroc, average_precision
        Of the probability that memory answers, with 95 % intervals over questions.
    calibration_error
        Expected calibration error, both sides weighed as the policy's prior says.
    """

    name: str
    answerable: int
    unanswerable: int
    auroc: Interval
    average_precision: Interval
    calibration_error: float

    def to_json(self) -> Json:
        """Return the numbers by name."""
        return {
            "answerable": self.answerable,
            "unanswerable": self.unanswerable,
            "auroc": _interval(self.auroc),
            "average_precision": _interval(self.average_precision),
            "calibration_error": self.calibration_error,
        }


@dataclass(frozen=True, slots=True)
class AnswerabilityReport:
    """What the evidence decision reached on one data set.

    Attributes
    ----------
    dataset, policy, model, version
        What was asked, by which evidence policy and embedding model, of which graphmem.
    trials
        Number of questions asked.
    splits
        One row for each kind of unanswerable question.
    outcomes
        How often each outcome was decided, by kind of question.
    supports
        Average precision of the probability that a single note supports an answer, over
        all notes judged of questions with and without an answer; ``None`` without gold.
    calibration_error, bins
        Of answerable questions against all others, weighed at the policy's prior; and the
        reliability diagram behind it.
    seconds
        Wall time; all else is the same in every run.
    """

    dataset: str
    policy: str
    model: str
    version: str
    trials: int
    splits: tuple[SplitResult, ...]
    outcomes: Mapping[str, Mapping[str, int]]
    supports: Interval | None
    calibration_error: float
    bins: tuple[ReliabilityBin, ...]
    seconds: float

    def to_json(self) -> dict[str, Json]:
        """Return everything as JSON values."""
        outcomes: Json = {name: dict(counts) for name, counts in self.outcomes.items()}
        return {
            "dataset": self.dataset,
            "policy": self.policy,
            "model": self.model,
            "version": self.version,
            "trials": self.trials,
            "splits": {row.name: row.to_json() for row in self.splits},
            "outcomes": outcomes,
            "supports_average_precision": None if not self.supports else _interval(self.supports),
            "calibration_error": self.calibration_error,
            "reliability": [
                {
                    "low": part.low,
                    "high": part.high,
                    "weight": part.weight,
                    "predicted": part.predicted,
                    "observed": part.observed,
                }
                for part in self.bins
            ],
            "seconds": self.seconds,
        }


def evaluate_locomo_answerability(
    path: Path | str,
    *,
    corrections: Path | str | None = None,
    setting: Setting,
    progress: Progress | None = None,
) -> AnswerabilityReport:
    """Measure the evidence decision on LoCoMo; see ``locomo_trials`` for what is asked."""
    began = time.perf_counter()
    trials = locomo_trials(
        Path(path),
        corrections=None if corrections is None else Path(corrections),
        setting=setting,
        progress=progress,
    )
    return report(trials, "locomo", setting.model_id, time.perf_counter() - began)


def evaluate_longmemeval_answerability(
    path: Path | str, *, setting: Setting, progress: Progress | None = None
) -> AnswerabilityReport:
    """Measure the evidence decision on LongMemEval; see ``longmemeval_trials``."""
    began = time.perf_counter()
    trials = longmemeval_trials(Path(path), setting=setting, progress=progress)
    return report(trials, "longmemeval", setting.model_id, time.perf_counter() - began)


def report(
    trials: Sequence[Trial], dataset: str, model: str, seconds: float
) -> AnswerabilityReport:
    """Sum up trials."""
    scores = [trial.decision.answerable for trial in trials]
    labels = [trial.answerable for trial in trials]
    weights = prior_weights(labels, EVIDENCE_POLICY.prior)
    return AnswerabilityReport(
        dataset=dataset,
        policy=EVIDENCE_POLICY.name,
        model=model,
        version=version("graphmem"),
        trials=len(trials),
        splits=split_results(trials, scores),
        outcomes=_outcomes(trials),
        supports=supports_precision(trials),
        calibration_error=expected_calibration_error(scores, labels, weights),
        bins=reliability(scores, labels, weights),
        seconds=seconds,
    )


def split_results(trials: Sequence[Trial], scores: Sequence[float]) -> tuple[SplitResult, ...]:
    """Return one row for each kind of unanswerable trial, with these scores of the trials."""
    scored = list(zip(trials, scores, strict=True))
    answerable = [(trial, score) for trial, score in scored if trial.answerable]
    rows = []
    for split in Split:
        against = [score for trial, score in scored if trial.split is split]
        if split is Split.ANSWERABLE or not against:
            continue
        rows.append(_row(str(split), [score for _, score in answerable], against))
        single = [score for trial, score in answerable if trial.category == SINGLE_HOP]
        if split is Split.ADVERSARIAL and single:
            rows.append(_row(f"{split}, against {SINGLE_HOP} only", single, against))
    return tuple(rows)


def supports_precision(trials: Iterable[Trial]) -> Interval | None:
    """Return the average precision of single notes, or ``None`` when none holds an answer.

    Over the notes judged of questions as the data set asks them: answerable ones with gold
    evidence, and adversarial ones, of which no note supports an answer.
    """
    judged = [
        (note.supports, note.note_id in trial.gold)
        for trial in trials
        if trial.gold or trial.split is Split.ADVERSARIAL
        for note in trial.decision.judged
    ]
    if not any(gold for _, gold in judged):
        return None
    return average_precision_interval(
        [supports for supports, _ in judged], [gold for _, gold in judged]
    )


def _row(name: str, answerable: Sequence[float], against: Sequence[float]) -> SplitResult:
    scores = [*answerable, *against]
    labels = [True] * len(answerable) + [False] * len(against)
    weights = prior_weights(labels, EVIDENCE_POLICY.prior)
    return SplitResult(
        name=name,
        answerable=len(answerable),
        unanswerable=len(against),
        auroc=auroc_interval(scores, labels),
        average_precision=average_precision_interval(scores, labels),
        calibration_error=expected_calibration_error(scores, labels, weights),
    )


def _outcomes(trials: Sequence[Trial]) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for split in Split:
        counts = Counter(trial.decision.outcome for trial in trials if trial.split is split)
        if counts:
            table[str(split)] = {str(outcome): counts[outcome] for outcome in Outcome}
    return table


def _interval(interval: Interval) -> Json:
    return {"value": interval.mean, "low": interval.low, "high": interval.high}
