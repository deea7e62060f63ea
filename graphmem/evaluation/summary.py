"""From the results of single questions to a report."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

from graphmem.evaluation.metrics import auroc, bootstrap_interval
from graphmem.evaluation.references import BM25, RECIPE
from graphmem.evaluation.report import (
    CUTS,
    Category,
    Comparison,
    QuestionResult,
    RankerResult,
    Recall,
    RetrievalReport,
)

COMPARED = (5, 10)
"""The k at which the policy is compared with the references."""


def summarise(
    results: Sequence[QuestionResult],
    *,
    dataset: str,
    level: str,
    policy: str,
    model: str,
    seconds: float,
) -> RetrievalReport:
    """Return the report of an evaluation; questions without gold count for no recall."""
    counted = [result for result in results if result.gold]
    references = (BM25, RECIPE)
    return RetrievalReport(
        dataset=dataset,
        level=level,
        policy=policy,
        model=model,
        version=version("graphmem"),
        questions=len(results),
        with_gold=len(counted),
        unanswerable=sum(not result.answerable for result in results),
        answerability_auroc=_answerability(results),
        rankers=tuple(_ranker(name, counted) for name in (policy, *references)),
        comparisons=tuple(
            comparison
            for reference in references
            for k in COMPARED
            for comparison in _comparisons(policy, reference, k, counted)
        ),
        results=tuple(results),
        seconds=seconds,
    )


def _answerability(results: Sequence[QuestionResult]) -> float | None:
    labels = [result.answerable for result in results]
    if len(set(labels)) < 2:
        return None
    return auroc([result.answerable_score for result in results], labels)


def _ranker(name: str, results: Sequence[QuestionResult]) -> RankerResult:
    groups: dict[str, list[QuestionResult]] = {}
    for result in results:
        groups.setdefault(result.category, []).append(result)
    return RankerResult(
        name,
        _category("overall", name, results),
        tuple(_category(category, name, groups[category]) for category in sorted(groups)),
    )


def _category(category: str, ranker: str, results: Sequence[QuestionResult]) -> Category:
    recall = {k: _mean([result.recall(ranker, k) for result in results]) for k in CUTS}
    return Category(category, len(results), recall if results else {})


def _mean(recalls: Sequence[Recall]) -> Recall:
    count = max(1, len(recalls))
    return Recall(
        any=sum(recall.any for recall in recalls) / count,
        evidence=sum(recall.evidence for recall in recalls) / count,
        complete=sum(recall.complete for recall in recalls) / count,
    )


def _comparisons(
    policy: str, reference: str, k: int, results: Sequence[QuestionResult]
) -> list[Comparison]:
    if not results:
        return []
    pairs = [(result.recall(policy, k), result.recall(reference, k)) for result in results]
    differences = {
        "evidence": [mine.evidence - theirs.evidence for mine, theirs in pairs],
        "complete": [mine.complete - theirs.complete for mine, theirs in pairs],
    }
    return [
        Comparison(reference, measure, k, bootstrap_interval(values))
        for measure, values in differences.items()
    ]
