"""Fit the evidence policy on development data, and say how it does on data held out.

    python -m graphmem.evaluation.answerability_fitting locomo.json longmemeval_s.json

Prints the coefficients, then every measure twice: as fitted, and cross-validated (a model
never sees the conversation it is measured on, nor the fifth of the haystacks). What ships as
``EVIDENCE_POLICY`` is this output to the rounding. With ``--carried-over`` the models are
fitted on LoCoMo alone and measured on LongMemEval.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import log
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.answerability import (
    EVIDENCE_POLICY,
    EvidencePolicy,
    LogisticModel,
    answer_probability,
    logistic,
    outcome_of,
)
from graphmem.evaluation.answerability import AnswerabilityReport, report
from graphmem.evaluation.logistic_regression import fit_logistic
from graphmem.evaluation.metrics import Interval
from graphmem.evaluation.retrieval import Setting
from graphmem.evaluation.trials import Split, Trial, locomo_trials, longmemeval_trials

NAMED = ("advantage", "strength", "lead", "nearest")
UNNAMED = ("strength", "nearest", "unknown")
NOTE = ("coverage", "ownership", "speaker", "log_rank", "answers")

FOLDS = 5
"""Into how many parts the haystacks are cut; conversations are held out one by one."""

_TRAINED_AGAINST = (
    Split.ADVERSARIAL, Split.SWAPPED, Split.OTHER, Split.RENAMED, Split.HAYSTACK, Split.REMOVED,
)  # fmt: skip

Trials: TypeAlias = Sequence[Trial]


def fit_policy(data: Sequence[Trials]) -> EvidencePolicy:
    """Return the policy fitted on some data sets, each of which counts the same.

    Within a data set answerable trials and each kind of unanswerable ones weigh the same,
    so that the probabilities are those of a prior of 0.5.
    """
    everything = [trial for trials in data for trial in trials]
    answers = replace(
        EVIDENCE_POLICY,
        named=_fit_answers(NAMED, data, named=True),
        unnamed=_fit_answers(UNNAMED, data, named=False),
    )
    return replace(answers, note=_fit_note(everything, answers))


def rejudged(trial: Trial, policy: EvidencePolicy) -> Trial:
    """Return the trial as another policy would have judged it, from the same signals."""
    decision = trial.decision
    if not decision.judged:
        return trial
    answerable = answer_probability(policy, decision.signals)
    judged = []
    for note in decision.judged:
        signals = {**note.signals, "answers": log(max(answerable, 1e-9))}
        supports = logistic(policy.note.log_odds(signals))
        judged.append(replace(note, supports=supports, signals=signals))
    outcome = outcome_of(policy, answerable)
    decision = replace(decision, outcome=outcome, answerable=answerable, judged=tuple(judged))
    return replace(trial, decision=decision)


def cross_validated(data: Sequence[Trials], fold_of: Callable[[Trial], str]) -> list[Trials]:
    """Return all trials, each judged by a policy that saw nothing of its fold."""
    folds = sorted({fold_of(trial) for trials in data for trial in trials})
    held: dict[str, EvidencePolicy] = {
        fold: fit_policy([[trial for trial in trials if fold_of(trial) != fold] for trials in data])
        for fold in folds
    }
    return [[rejudged(trial, held[fold_of(trial)]) for trial in trials] for trials in data]


def _fit_answers(names: Sequence[str], data: Sequence[Trials], *, named: bool) -> LogisticModel:
    rows: list[Trial] = []
    weights: list[NDArray[np.float64]] = []
    used = [[t for t in trials if bool(t.decision.signals.get("named")) is named
             and t.decision.judged] for trials in data]  # fmt: skip
    total = sum(trial.answerable for trials in used for trial in trials)
    for trials in used:
        kinds = [split for split in _TRAINED_AGAINST if any(t.split is split for t in trials)]
        answerable = [trial for trial in trials if trial.answerable]
        if not kinds or not answerable:
            continue
        groups = [(answerable, 1.0)]
        groups += [([t for t in trials if t.split is kind], 1.0 / len(kinds)) for kind in kinds]
        for group, share in groups:
            rows += group
            weights.append(np.full(len(group), share / len(group)))
    counted = np.concatenate(weights)
    counted *= 2 * total / counted.sum()
    signals = [[trial.decision.signals[name] for name in names] for trial in rows]
    return fit_logistic(names, signals, [trial.answerable for trial in rows], counted)


def _fit_note(trials: Trials, answers: EvidencePolicy) -> LogisticModel:
    signals, labels = [], []
    for trial in trials:
        if not trial.gold and trial.split is not Split.ADVERSARIAL:
            continue
        answerable = answer_probability(answers, trial.decision.signals)
        for note in trial.decision.judged:
            measured = {**note.signals, "answers": log(max(answerable, 1e-9))}
            signals.append([measured[name] for name in NOTE])
            labels.append(note.note_id in trial.gold)
    return fit_logistic(NOTE, signals, labels, np.ones(len(labels)))


def _fold_of(longmemeval: Trials) -> Callable[[Trial], str]:
    haystacks = {case: number for number, case in enumerate(sorted({t.case for t in longmemeval}))}

    def fold(trial: Trial) -> str:
        if trial.case in haystacks:
            return f"haystacks {haystacks[trial.case] % FOLDS}"
        return trial.case

    return fold


def rounded(policy: EvidencePolicy) -> EvidencePolicy:
    """Return the policy with its coefficients to two decimals, as it ships."""

    def cut(model: LogisticModel) -> LogisticModel:
        weights = {name: round(weight, 2) for name, weight in model.weights.items()}
        return LogisticModel(round(model.intercept, 2), weights)

    return replace(
        policy, named=cut(policy.named), unnamed=cut(policy.unnamed), note=cut(policy.note)
    )


def _lines(title: str, found: AnswerabilityReport) -> Iterable[str]:
    yield f"{found.dataset}, {title}: calibration error {found.calibration_error:.3f}"
    for row in found.splits:
        yield (
            f"  {row.name:40} AUROC {_shown(row.auroc)}  AP {_shown(row.average_precision)}"
            f"  ECE {row.calibration_error:.3f}  ({row.answerable} / {row.unanswerable})"
        )
    if found.supports is not None:
        yield f"  {'supports, per note':40} AP {_shown(found.supports)}"
    for name, counts in found.outcomes.items():
        yield f"  {name:40} " + "  ".join(f"{key} {count}" for key, count in counts.items())


def _shown(interval: Interval) -> str:
    return f"{interval.mean:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m graphmem.evaluation.answerability_fitting")
    parser.add_argument("locomo", type=Path)
    parser.add_argument("longmemeval", type=Path)
    parser.add_argument("--corrections", type=Path)
    parser.add_argument("--cache", type=Path, help="keeps embeddings for the next run")
    parser.add_argument(
        "--carried-over", action="store_true", help="fit on LoCoMo alone, measure on LongMemEval"
    )
    return parser


def fitting_report(locomo: Trials, longmemeval: Trials, model: str) -> str:
    """Return coefficients and figures, as fitted and cross-validated."""
    data = [locomo, longmemeval]
    policy = rounded(fit_policy(data))
    held = cross_validated(data, _fold_of(longmemeval))
    lines = [f"{part}: {getattr(policy, part)}" for part in ("named", "unnamed", "note")]
    for name, trials, unseen in zip(("locomo", "longmemeval"), data, held, strict=True):
        fitted = [rejudged(trial, policy) for trial in trials]
        lines += _lines("fitted", report(fitted, name, model, 0.0))
        lines += _lines("cross-validated", report(unseen, name, model, 0.0))
    return "\n".join(lines)


def carried_over_report(locomo: Trials, longmemeval: Trials, model: str) -> str:
    """Return what models fitted on LoCoMo alone reach on LongMemEval."""
    policy = fit_policy([locomo])
    carried = [rejudged(trial, policy) for trial in longmemeval]
    return "\n".join(_lines("fitted on locomo alone", report(carried, "longmemeval", model, 0.0)))


def main() -> None:
    """Read the arguments, ask every question, and print the report."""
    given = _arguments().parse_args()
    setting = Setting(cache=given.cache)
    locomo = locomo_trials(given.locomo, corrections=given.corrections, setting=setting)
    longmemeval = longmemeval_trials(given.longmemeval, setting=setting)
    reported = carried_over_report if given.carried_over else fitting_report
    print(reported(locomo, longmemeval, setting.model_id))  # noqa: T201  # a script's result


if __name__ == "__main__":
    main()
