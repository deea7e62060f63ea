"""Ranking sources from their ranked notes, each with the notes that speak for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from graphmem.algorithms.relevance import Ranked, Ranking

BEST_NOTE = 0.8
"""Weight of the score of a source's best note."""

BEST_VECTOR = 0.2
"""Weight of the best cosine among a source's candidates."""

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
    """Rank the sources of a candidate set, best first, ties by id.

    ``score = 0.8 * best note's score + 0.2 * best cosine``: the cosine is raw, so that two
    sources with equally good notes are told apart by how near anything in them comes.
    """
    rows, names = ranking.board.sources
    cosine = np.zeros(len(names) + 1)
    np.maximum.at(cosine, rows, ranking.board.vector)
    notes: dict[str, list[Ranked]] = {name: [] for name in names}
    for ranked in ranking.ranked:
        if ranked.candidate.note.source is not None:
            notes[ranked.candidate.note.source.id].append(ranked)
    ranks = [
        _source_rank(name, notes[name], float(best))
        for name, best in zip(names, cosine, strict=False)
    ]
    return tuple(sorted(ranks, key=lambda rank: (-rank.score, rank.source_id)))


def _source_rank(source_id: str, notes: list[Ranked], cosine: float) -> SourceRank:
    parts = {"best note": BEST_NOTE * notes[0].score, "vector": BEST_VECTOR * cosine}
    return SourceRank(source_id, sum(parts.values()), parts, tuple(notes[:SPEAKING]))
