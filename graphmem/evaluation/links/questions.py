"""Links between a question and what answers it: by graphmem's recall, and by references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from graphmem.algorithms.source_links import answer_likelihoods
from graphmem.evaluation.links.cases import LinkCase, LinkQuestion, ends_of
from graphmem.evaluation.links.curve import JudgedLinks
from graphmem.evaluation.links.protocol import LexicalProtocol
from graphmem.memory import Memory

RECALL = "recall"
"""graphmem's own recall with a calibrated cut, see ``algorithms.source_links``."""

MISSION = "reference-mission-protocol"
"""The protocol such links were published in, see ``links.protocol``."""

RANKED_COSINE = "reference-cosine"
"""Raw cosine of question and note; of a source that of its best note."""

LIMIT = 10
"""Only so many of the best ends can be linked with a question, whatever their score."""


def judge_questions(case: LinkCase, memory: Memory) -> dict[str, JudgedLinks]:
    """Score every question of a case against every end, in each way."""
    ends = ends_of(case)
    gold, group, scores = [], [], _no_scores()
    protocol = LexicalProtocol(_texts(case))
    for number, question in enumerate(case.questions):
        gold.append([end in question.gold for end in ends])
        group.append([number] * len(ends))
        found = {
            RECALL: _by_recall(memory, case, question),
            MISSION: protocol.scores(question.text),
            RANKED_COSINE: _by_cosine(memory, case, question),
        }
        for name, row in found.items():
            scores[name].append(_first(row, ends))
    flat_gold, flat_group = np.concatenate(gold), np.concatenate(group)
    return {
        name: JudgedLinks(np.concatenate(rows), flat_gold, flat_group, len(case.questions))
        for name, rows in scores.items()
    }


def _no_scores() -> dict[str, list[NDArray[np.float64]]]:
    return {RECALL: [], MISSION: [], RANKED_COSINE: []}


def _first(scores: Mapping[str, float], ends: Sequence[str]) -> NDArray[np.float64]:
    """Return a score for every end, ``-inf`` beyond the best ten (ties by id)."""
    best = sorted(scores, key=lambda end: (-scores[end], end))[:LIMIT]
    kept = {end: scores[end] for end in best}
    return np.array([kept.get(end, -np.inf) for end in ends])


def _by_recall(memory: Memory, case: LinkCase, question: LinkQuestion) -> dict[str, float]:
    by: Literal["note", "source"] = "note" if case.level == "note" else "source"
    result = memory.recall(question.text, limit=LIMIT, by=by, at=question.asked_at, track=False)
    ranked = (
        [(note.note.id, note.score) for note in result.notes]
        if by == "note"
        else [(source.source_id, source.score) for source in result.sources]
    )
    likely = answer_likelihoods([score for _, score in ranked])
    return {end: value for (end, _), value in zip(ranked, likely.tolist(), strict=True)}


def _by_cosine(memory: Memory, case: LinkCase, question: LinkQuestion) -> dict[str, float]:
    best: dict[str, float] = {}
    owner = {str(note.id): note.source for note in case.notes}
    for near in memory.candidates(question.text, limit=len(case.notes)):
        source = owner[near.note_id]
        end = near.note_id if case.level == "note" or source is None else source.id
        best[end] = max(best.get(end, -1.0), near.cosine)
    return best


def _texts(case: LinkCase) -> dict[str, str]:
    """Return the whole text of each end."""
    texts: dict[str, list[str]] = {}
    for note in case.notes:
        end = str(note.id) if case.level == "note" or note.source is None else note.source.id
        texts.setdefault(end, []).append(note.content)
    return {end: " ".join(parts) for end, parts in texts.items()}
