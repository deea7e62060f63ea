"""The fast paths give what the plain ones give: links note by note, recall by the obvious store."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeGuard

import numpy as np
import pytest
from reference_store import ReferenceStore

from graphmem import Link, NoteInput, NoteRecord, open_memory
from graphmem.algorithms.candidate_table import CandidateTable, Question
from graphmem.algorithms.relevance import rank_candidates
from graphmem.algorithms.text import tokens
from graphmem.demo import corpus, questions
from graphmem.evaluation.locomo import read_locomo
from graphmem.memory.recalling import candidate_query
from graphmem.model import CandidateSet, LinkKind, NoteFilter, Scope
from graphmem.policy import DEFAULT_POLICY, LinkPolicy
from graphmem.providers.hashing import HashingEmbedder
from graphmem.stores.embedded.store import NetworkXStore

DATA = Path(os.environ.get("GRAPHMEM_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
LOCOMO = DATA / "locomo" / "locomo_dev.json.xz"
SCOPE = Scope("default")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
EMBEDDER = HashingEmbedder()
POLICY = DEFAULT_POLICY.model_copy(update={"links": LinkPolicy(link_threshold=0.3, evolve=False)})
"""Hashed vectors are less alike than a model's; notes that evolve would change theirs."""


def _demo() -> tuple[list[NoteInput], list[str]]:
    return list(corpus()), [each.question for each in questions()]


def _conversation() -> tuple[list[NoteInput], list[str]]:
    if not LOCOMO.exists():
        pytest.skip("set GRAPHMEM_DATA to the evaluation data")
    case = next(iter(read_locomo(LOCOMO)))
    return [turn.note() for turn in case.turns], [q.text for q in case.questions][:40]


@pytest.fixture(scope="module", params=[_demo, _conversation], ids=["demo", "locomo"])
def loaded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    notes, asked = request.param()
    place = tmp_path_factory.mktemp("fast") / "notes.graphmem"
    with open_memory(place, embedder=EMBEDDER, policy=POLICY) as memory:
        memory.add_many(notes, batch_size=64)
    return place, asked


def _is_related(record: object) -> TypeGuard[Link]:
    return isinstance(record, Link) and record.kind is LinkKind.RELATED


def test_a_load_links_what_note_by_note_comparison_links(loaded: tuple[Path, list[str]]) -> None:
    place, _ = loaded
    with open_memory(place, embedder=EMBEDDER, policy=POLICY) as memory:
        order = {note.id for note in memory.notes()}
        records = {r.note.id: r for r in memory.dump() if isinstance(r, NoteRecord)}
        links = {r.pair: r.cosine for r in memory.dump() if _is_related(r)}
        added = _in_order_of_adding(place)
    assert added.keys() == order
    plain: dict[tuple[str, str], float] = {}
    earlier: list[str] = []
    vectors = {i: np.asarray(r.embedding, np.float64) for i, r in records.items()}
    for note_id in added:
        near = sorted((-float(vectors[other] @ vectors[note_id]), other) for other in earlier)
        for negated, other in near[: POLICY.links.limit]:
            if -negated >= POLICY.links.link_threshold:
                plain[min(note_id, other), max(note_id, other)] = -negated
        earlier.append(note_id)
    assert links.keys() == plain.keys()
    assert len(links) > 20
    for pair, cosine in links.items():
        assert cosine == pytest.approx(plain[pair], abs=1e-6)


def _in_order_of_adding(place: Path) -> dict[str, int]:
    connection = sqlite3.connect(place)
    rows = dict(connection.execute("SELECT id, key FROM note ORDER BY key").fetchall())
    connection.close()
    return rows


def test_a_recall_ranks_what_the_obvious_store_ranks(loaded: tuple[Path, list[str]]) -> None:
    place, asked = loaded
    obvious, fast = ReferenceStore(), NetworkXStore(place)
    notes = list(fast.records(SCOPE))
    obvious.load(SCOPE, notes, list(fast.all_links(SCOPE)), (), fast.model())
    for text in asked:
        (vector,) = EMBEDDER.encode([text], role="query")
        query = candidate_query(vector, tokens(text), NoteFilter(), POLICY.candidates)
        found = _top(text, fast.candidates(SCOPE, query))
        assert found == _top(text, obvious.candidates(SCOPE, query)), text
        assert found
    fast.close()


def _top(text: str, found: CandidateSet) -> list[tuple[str, float]]:
    table = CandidateTable(Question(text=text, terms=tokens(text), at=NOW), found)
    best = rank_candidates(table, POLICY).best(10)
    return [(ranked.candidate.note.id, round(ranked.score, 6)) for ranked in best]
