from __future__ import annotations

import pytest

from graphmem.algorithms.second_opinion import Opinion, weigh_opinions
from graphmem.errors import InvalidInput
from graphmem.model import Evidence, EvidenceDecision, Outcome

JUDGED = (Evidence("a", 1, 0.7), Evidence("b", 2, 0.2), Evidence("c", 1, 0.1))
FOUND = EvidenceDecision(Outcome.RETRIEVED, 0.8, JUDGED[:2], "found", 2, JUDGED)
REFUSED = EvidenceDecision(Outcome.UNKNOWN, 0.2, (), "refused", 0, JUDGED)
YES, NO = Opinion(True, True), Opinion(True, False)


def weigh(decision, opinions, **options):
    return weigh_opinions(decision, opinions, judge="m", **options)


def cited(decision):
    return [(note.note_id, note.revision) for note in decision.evidence]


def test_agreement_keeps_what_was_confirmed():
    found = weigh(FOUND, {"a": NO, "b": YES, "c": NO})
    assert (found.outcome, cited(found)) == (Outcome.RETRIEVED, [("b", 2)])
    assert found.reason == "found; m confirms 1 of 3 notes"
    assert weigh(FOUND, {"a": NO, "b": YES, "c": NO}, required=2).outcome is Outcome.PARTIAL
    refused = weigh(REFUSED, {"a": NO})
    assert (refused.outcome, refused.evidence) == (Outcome.UNKNOWN, ())


def test_disagreement_is_partial_and_cites_both():
    denied = weigh(FOUND, dict.fromkeys("abc", NO))
    assert (denied.outcome, cited(denied)) == (Outcome.PARTIAL, [("a", 1), ("b", 2)])
    claimed = weigh(REFUSED, {"c": YES})
    assert (claimed.outcome, cited(claimed)) == (Outcome.PARTIAL, [("c", 1)])
    assert claimed.answerable == REFUSED.answerable


def test_what_the_judge_left_out_is_the_classifiers():
    assert cited(weigh(FOUND, {"a": NO})) == [("b", 2)]
    silent = weigh(FOUND, {})
    assert (silent.outcome, silent.evidence) == (FOUND.outcome, FOUND.evidence)
    assert "no usable judgment" in silent.reason


def test_opinions_must_make_sense():
    with pytest.raises(InvalidInput, match="was not judged"):
        weigh(FOUND, {"z": YES})
    with pytest.raises(InvalidInput, match="without being relevant"):
        weigh(FOUND, {"a": Opinion(False, True)})
