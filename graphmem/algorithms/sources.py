"""Ranking sources from their ranked notes, each with the notes that speak for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graphmem.algorithms.relevance import Ranked, Ranking

SPEAKING = 3
"""How many notes speak for a source."""


@dataclass(frozen=True, slots=True, eq=False)
class SourceRank:
    """One source with its score, the parts that sum to it, and its notes, best first."""

    source_id: str
    score: float
    contributions: Mapping[str, float]
    ranked: tuple[Ranked, ...]


def rank_sources(ranking: Ranking) -> tuple[SourceRank, ...]:
    """Rank the sources of a candidate set, best first, ties by id."""
    notes: dict[str, list[Ranked]] = {}
    for ranked in ranking.ranked:
        if ranked.candidate.note.source is not None:
            notes.setdefault(ranked.candidate.note.source.id, []).append(ranked)
    ranks = [
        SourceRank(source_id, own[0].score, {"best": own[0].score}, tuple(own[:SPEAKING]))
        for source_id, own in notes.items()
    ]
    return tuple(sorted(ranks, key=lambda rank: (-rank.score, rank.source_id)))
