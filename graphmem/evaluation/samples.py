"""Every candidate of every question with its signals: what weights are fitted on.

Collected through the public interface: a recall with a policy that weighs every signal and
cuts nothing tells the signals of each candidate, and where the gold is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.signals import SIGNALS
from graphmem.errors import InvalidPolicy
from graphmem.evaluation.datasets import Case, Question
from graphmem.evaluation.retrieval import Setting, filled
from graphmem.memory import Memory
from graphmem.model import RankedNote
from graphmem.policy import CandidatePolicy, RelevancePolicy, SalienceRanking, resolve_policy

NAMES: tuple[str, ...] = tuple(SIGNALS)
"""The signals, in the order of a sample's columns."""

EXPANSIONS: Mapping[str, CandidatePolicy] = {
    "RELATED": CandidatePolicy(hops=0),
    "FOLLOWS": CandidatePolicy(window=0),
    "same source": CandidatePolicy(source_notes=0),
    "vector seeds": CandidatePolicy(vector_seeds=0),
    "lexical seeds": CandidatePolicy(lexical_seeds=0),
    "every expansion": CandidatePolicy(hops=0, window=0, source_notes=0),
}
"""By what is left out, the candidates without it."""

_EVERYTHING = 10**6
_PROBED = dict.fromkeys(NAMES, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One question with n candidates, in order of id.

    Attributes
    ----------
    case, id
        Conversation or haystack, and question.
    signals
        Shape (n, signals), columns as in :data:`NAMES`.
    salience
        What recency and importance add to the score, shape (n,).
    relevance
        Weight of normalised relevance in the score.
    gold
        Which candidates hold the answer, shape (n,).
    gold_notes
        How many notes hold the answer, candidates or not; at least 1.
    source
        Number of each candidate's source, shape (n,), from 0.
    gold_source
        Which sources hold the answer, shape (sources,).
    gold_sources
        How many sources hold the answer, candidates or not.
    without
        By expansion left out, the shares of the gold notes among the first ten.
    """

    case: str
    id: str
    signals: NDArray[np.float64]
    salience: NDArray[np.float64]
    relevance: float
    gold: NDArray[np.bool_]
    gold_notes: int
    source: NDArray[np.intp]
    gold_source: NDArray[np.bool_]
    gold_sources: int
    without: Mapping[str, float]


def collect(
    cases: Iterable[Case],
    setting: Setting,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Sample]:
    """Yield a sample for each question that has gold notes and sources."""
    with setting.open() as memory:
        for case in cases:
            asked = [q for q in case.questions if q.gold_notes and q.gold_sources]
            if not asked:
                continue
            with filled(memory, case) as own:
                for question in asked:
                    yield _sample(own, case, question, setting)
            if progress is not None:
                progress(case.id)


def _sample(memory: Memory, case: Case, question: Question, setting: Setting) -> Sample:
    policy = resolve_policy(setting.policy)
    probe = policy.model_copy(update={"relevance": RelevancePolicy(weights=_PROBED)})
    recalled = memory.recall(
        question.text, limit=_EVERYTHING, at=question.asked_at, track=False, policy=probe
    )
    notes = sorted(recalled.notes, key=lambda ranked: ranked.note.id)
    ranking = policy.ranking
    if not isinstance(ranking, SalienceRanking):
        raise InvalidPolicy(f"policy {policy.name!r}: only a salience ranking fuses relevance")
    names: dict[str, int] = {}
    source = [names.setdefault(_source(ranked), len(names)) for ranked in notes]
    return Sample(
        case=case.id,
        id=question.id,
        signals=np.array([[ranked.signals[name] for name in NAMES] for ranked in notes]),
        salience=np.array(
            [r.contributions["recency"] + r.contributions["importance"] for r in notes]
        ),
        relevance=ranking.relevance,
        gold=np.array([ranked.note.id in question.gold_notes for ranked in notes]),
        gold_notes=len(question.gold_notes),
        source=np.array(source, dtype=np.intp),
        gold_source=np.array([name in question.gold_sources for name in names]),
        gold_sources=len(question.gold_sources),
        without=_without(memory, question, setting),
    )


def _source(ranked: RankedNote) -> str:
    return "" if ranked.note.source is None else ranked.note.source.id


def _without(memory: Memory, question: Question, setting: Setting) -> dict[str, float]:
    policy = resolve_policy(setting.policy)
    found: dict[str, float] = {}
    for name, candidates in EXPANSIONS.items():
        cut = policy.model_copy(update={"candidates": candidates})
        recalled = memory.recall(
            question.text, limit=10, at=question.asked_at, track=False, policy=cut
        )
        ids = {ranked.note.id for ranked in recalled.notes}
        found[name] = len(ids & question.gold_notes) / len(question.gold_notes)
    return found


def columns(sample: Sample, names: Sequence[str]) -> NDArray[np.float64]:
    """Return the named signals of a sample, shape (n, len(names))."""
    return sample.signals[:, [NAMES.index(name) for name in names]]
