"""Published figures on the development data, where it is at hand (``GRAPHMEM_DATA``)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from graphmem.evaluation.longmemeval import read_longmemeval
from graphmem.evaluation.metrics import gold_ranks
from graphmem.evaluation.references import BM25, RECIPE, ReferenceRankers
from graphmem.evaluation.retrieval import documents

DATA = Path(os.environ.get("GRAPHMEM_DATA", Path(__file__).parents[2] / ".." / "shared" / "data"))
LONGMEMEVAL = DATA / "longmemeval" / "longmemeval_s_dev.jsonl.xz"


@pytest.mark.skipif(not LONGMEMEVAL.exists(), reason="set GRAPHMEM_DATA to the evaluation data")
def test_plain_references_rank_two_known_questions_as_published():
    asked = frozenset({"e47becba", "6d550036"})
    found = {}
    for case in read_longmemeval(LONGMEMEVAL, asked):
        (question,) = case.questions
        rankings = ReferenceRankers(documents(case.turns, "source")).rank(
            question.text, question.asked_at
        )
        found[case.id] = {
            name: gold_ranks(ranking, question.gold_sources) for name, ranking in rankings.items()
        }
    assert found["e47becba"][BM25] == (2,)
    assert found["6d550036"][BM25] == (4, 8, 14, 38)
    recipe = found["6d550036"][RECIPE]
    assert recipe[:2] == (4, 8)
    assert all(rank > 10 for rank in recipe[2:])
