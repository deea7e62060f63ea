"""recall: seeds, expansion, relevance, salience, evidence, record of use, in that order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from graphmem.algorithms.answerability import judge
from graphmem.algorithms.candidate_table import CandidateTable, Question
from graphmem.algorithms.paths import trace_paths
from graphmem.algorithms.relevance import Ranked, Ranking, rank_candidates
from graphmem.algorithms.sources import SourceRank, rank_sources
from graphmem.algorithms.text import tokens
from graphmem.errors import ConfigurationError
from graphmem.memory.judging import second_opinion
from graphmem.memory.setup import Setup
from graphmem.model import (
    CandidateQuery,
    CandidateSet,
    Considered,
    EvidenceDecision,
    Link,
    LinkKind,
    NoteFilter,
    RankedNote,
    RankedSource,
    RecallResult,
    Step,
    StepKind,
    Use,
    Vector,
)
from graphmem.policy import CandidatePolicy, Policy

Paths: TypeAlias = Mapping[str, tuple[Step, ...]]


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """A checked question with everything that shapes its answer."""

    query: str
    limit: int
    by_source: bool
    at: datetime
    where: NoteFilter
    policy: Policy
    allow_parametric: bool
    required_evidence: int
    ask_model: bool
    track: bool


def recall(setup: Setup, request: RecallRequest) -> RecallResult:
    """Answer one question; the ranking ends in ``rank_salient_memories``."""
    vector = setup.encoding.encode_one(request.query, role="query")
    question = Question(text=request.query, terms=tokens(request.query), at=request.at)
    asked = candidate_query(vector, question.terms, request.where, request.policy.candidates)
    found = setup.store.candidates(setup.scope, asked)
    ranking = rank_candidates(CandidateTable(question, found), request.policy)
    decision = _decided(setup, request, ranking)
    chosen, sources = _cut(ranking, request)
    paths = trace_paths(found, asked, _returned(chosen, sources))
    shown = Explained(paths, tuple(x for x in found.links if x.kind is LinkKind.SUPERSEDES))
    if request.track and chosen:
        setup.store.record_use(setup.scope, _use(chosen, paths, request.at))
    return RecallResult(
        query=request.query,
        notes=tuple(shown.note(ranked) for ranked in chosen),
        sources=tuple(shown.source(source) for source in sources),
        decision=decision,
        considered=_considered(found, len(chosen)),
        policy=request.policy.name,
        at=request.at,
    )


def _decided(setup: Setup, request: RecallRequest, ranking: Ranking) -> EvidenceDecision:
    """Decide by the classifier and, when asked to, by the language model as well."""
    decision = judge(
        ranking, allow_parametric=request.allow_parametric, required=request.required_evidence
    )
    if not request.ask_model:
        return decision
    if setup.language_model is None:
        raise ConfigurationError(
            "this memory has no language model to ask; open it with language_model=..., or "
            "recall without ask_model"
        )
    head = ranking.best(len(decision.judged))
    return second_opinion(
        setup.language_model,
        request.query,
        {ranked.candidate.note.id: ranked.candidate.note for ranked in head},
        decision,
        allow_parametric=request.allow_parametric,
        required=request.required_evidence,
    )


def candidate_query(
    vector: Vector, terms: tuple[str, ...], where: NoteFilter, policy: CandidatePolicy
) -> CandidateQuery:
    """Return what a policy asks of the store."""
    return CandidateQuery(
        vector=vector,
        terms=terms,
        where=where,
        vector_seeds=policy.vector_seeds,
        lexical_seeds=policy.lexical_seeds,
        expand=policy.expand,
        hops=policy.hops,
        fanout=policy.fanout,
        min_weight=policy.min_weight,
        window=policy.window,
        source_notes=policy.source_notes,
    )


def _cut(ranking: Ranking, request: RecallRequest) -> tuple[Sequence[Ranked], Sequence[SourceRank]]:
    """Cut the ranking at the limit: of sources with the notes that speak for them, or notes."""
    sources = rank_sources(ranking)
    if request.by_source:
        first = sources.first(request.limit)
        speaking = (ranked for source in first for ranked in source.ranked)
        return sorted(speaking, key=lambda r: (-r.score, r.candidate.note.id)), first
    chosen = ranking.best(request.limit)
    return chosen, sources.holding(chosen)


def _returned(chosen: Sequence[Ranked], sources: Sequence[SourceRank]) -> Iterator[str]:
    """Yield the ids of the notes an answer shows."""
    for ranked in (*chosen, *(each for source in sources for each in source.ranked)):
        yield ranked.candidate.note.id


@dataclass(frozen=True, slots=True)
class Explained:
    """What is told about the notes of an answer: their paths, and which of them are outdated."""

    paths: Paths
    superseding: tuple[Link, ...]

    def note(self, ranked: Ranked) -> RankedNote:
        """Return a note as the answer shows it."""
        note = ranked.candidate.note
        return RankedNote(
            note,
            ranked.score,
            ranked.contributions,
            ranked.signals,
            self.paths[note.id],
            supersedes=tuple(link for link in self.superseding if link.from_id == note.id),
            superseded_by=tuple(link for link in self.superseding if link.to_id == note.id),
        )

    def source(self, source: SourceRank) -> RankedSource:
        """Return a source with its notes as the answer shows them."""
        notes = tuple(self.note(ranked) for ranked in source.ranked)
        return RankedSource(source.source_id, source.score, source.contributions, notes)


def _use(chosen: Sequence[Ranked], paths: Paths, at: datetime) -> Use:
    """Return what to count: the returned notes, and the links their paths went along."""
    ids = [ranked.candidate.note.id for ranked in chosen]
    pairs: dict[tuple[str, str], None] = {}
    for note_id in ids:
        path = paths[note_id]
        ends = [step.from_id for step in path[1:]] + [note_id]
        for step, reached in zip(path, ends, strict=True):
            if step.kind is StepKind.RELATED and step.from_id is not None and reached is not None:
                pairs[min(step.from_id, reached), max(step.from_id, reached)] = None
    return Use(tuple(ids), tuple(pairs), at)


def _considered(found: CandidateSet, returned: int) -> Considered:
    seeds = sum(c.vector_rank is not None or c.lexical_rank is not None for c in found.candidates)
    total = len(found.candidates)
    return Considered(
        seeds=seeds, expanded=total - seeds, candidates=total, cut=total - returned
    )  # fmt: skip
