"""Relevance: named signals of each candidate, fused by a policy's weights, then ranked.

Every ranking ends in :func:`~graphmem.algorithms.salience.rank_salient_memories` (or in
the ``weighted`` policy); what is fused here enters it as ``relevance``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.importance import ranked_importance
from graphmem.algorithms.lexical import TermStatistics, lexical_relevance
from graphmem.algorithms.salience import (
    MemorySignal,
    SalienceWeights,
    SalientMemory,
    WeightedSignal,
    rank_salient_memories,
    rank_weighted_memories,
)
from graphmem.errors import InvalidPolicy
from graphmem.model import Candidate, CandidateSet
from graphmem.policy import Policy, SalienceRanking, WeightedRanking

Column: TypeAlias = NDArray[np.float64]
"""One value a candidate, shape (n,)."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the text, its terms, and the moment of asking."""

    text: str
    terms: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, eq=False)
class Signals:
    """Named columns over the candidates of one set, in their order."""

    columns: Mapping[str, Column]

    def of(self, index: int) -> dict[str, float]:
        """Return every signal of one candidate."""
        return {name: float(column[index]) for name, column in self.columns.items()}


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """One candidate with its score, the parts that sum to it, and the raw signals."""

    candidate: Candidate
    score: float
    contributions: Mapping[str, float]
    signals: Mapping[str, float]


def _vector(question: Question, found: CandidateSet) -> Column:
    cosines = [0.0 if c.cosine is None else c.cosine for c in found.candidates]
    return np.clip(np.asarray(cosines, dtype=np.float64), 0.0, 1.0)


def _lexical(question: Question, found: CandidateSet) -> Column:
    scores = lexical_relevance(
        question.terms, [c.terms for c in found.candidates], TermStatistics.of(found)
    )
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else scores


SIGNALS: Mapping[str, Callable[[Question, CandidateSet], Column]] = {
    "vector": _vector,
    "lexical": _lexical,
}
"""Every signal a relevance policy can weigh, by name."""


def fuse(weights: Mapping[str, float], signals: Signals) -> Column:
    """Return the weighted sum of the named signals, shape (n,)."""
    total: Column = np.sum([w * signals.columns[name] for name, w in weights.items()], axis=0)
    return total


def measure(question: Question, found: CandidateSet, names: Mapping[str, float]) -> Signals:
    """Compute the named signals of every candidate.

    Raises
    ------
    InvalidPolicy
        A name is no signal; the message lists those that are.
    """
    for name in names:
        if name not in SIGNALS:
            raise InvalidPolicy(f"no signal {name!r}; known: {', '.join(sorted(SIGNALS))}")
    return Signals({name: SIGNALS[name](question, found) for name in names})


def rank_candidates(
    question: Question, found: CandidateSet, policy: Policy
) -> tuple[Ranked, ...]:  # fmt: skip
    """Rank the whole candidate set, best first, ties by id."""
    if not found.candidates:
        return ()
    signals = measure(question, found, policy.relevance.weights)
    ranking = policy.ranking
    if isinstance(ranking, WeightedRanking):
        salient = _weighted(question, found, signals, ranking)
    else:
        salient = _salience(question, found, signals, policy, ranking)
    place = {c.note.id: i for i, c in enumerate(found.candidates)}
    return tuple(
        Ranked(
            found.candidates[place[s.memory_id]],
            s.score,
            s.contributions,
            {**signals.of(place[s.memory_id]), **s.signals},
        )
        for s in salient
    )


def _salience(
    question: Question,
    found: CandidateSet,
    signals: Signals,
    policy: Policy,
    ranking: SalienceRanking,
) -> tuple[SalientMemory, ...]:
    relevance = fuse(policy.relevance.weights, signals)
    rows = [
        MemorySignal(
            c.note.id, hours(question.at, c.note.last_accessed_at), importance(c), float(r)
        )
        for c, r in zip(found.candidates, relevance, strict=True)
    ]
    return rank_salient_memories(
        rows,
        recency_decay=ranking.recency_decay,
        weights=SalienceWeights(ranking.recency, ranking.importance, ranking.relevance),
        limit=len(rows),
    )


def _weighted(
    question: Question, found: CandidateSet, signals: Signals, ranking: WeightedRanking
) -> tuple[SalientMemory, ...]:
    rows = [
        WeightedSignal(c.note.id, hours(question.at, c.note.created_at), importance(c), v, k)
        for c, v, k in zip(
            found.candidates,
            signals.columns["vector"].tolist(),
            signals.columns["lexical"].tolist(),
            strict=True,
        )
    ]
    return rank_weighted_memories(rows, ranking=ranking, limit=len(rows))


def hours(at: datetime, since: datetime) -> float:
    """Return the hours from `since` to `at`; a moment in the future counts as now."""
    return max(0.0, (at - since).total_seconds() / 3600.0)


def importance(candidate: Candidate) -> float:
    """Return a candidate's importance as ranked, in [0, 1]."""
    note = candidate.note
    return ranked_importance(note.importance, note.recall_count, note.feedback)


@dataclass(frozen=True, slots=True, eq=False)
class RankedPlace:
    """One source with its score, the parts that sum to it, and its notes, best first."""

    source_id: str
    score: float
    contributions: Mapping[str, float]
    ranked: tuple[Ranked, ...]


SPOKESMEN = 3
"""How many notes speak for a source."""


def rank_sources(ranking: Sequence[Ranked]) -> tuple[RankedPlace, ...]:
    """Rank sources from their ranked notes, best first, ties by id."""
    notes: dict[str, list[Ranked]] = {}
    for ranked in ranking:
        if ranked.candidate.note.source is not None:
            notes.setdefault(ranked.candidate.note.source.id, []).append(ranked)
    places = [
        RankedPlace(source_id, own[0].score, {"best": own[0].score}, tuple(own[:SPOKESMEN]))
        for source_id, own in notes.items()
    ]
    return tuple(sorted(places, key=lambda place: (-place.score, place.source_id)))
