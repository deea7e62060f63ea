from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.evidence import EvidenceNote, decide_from_evidence_notes
from graphmem.errors import InvalidInput
from graphmem.model import Evidence, Outcome

SUPPORTS = EvidenceNote("s", relevant=True, supports_answer=True, revision=3)
RELEVANT = EvidenceNote("r", relevant=True, supports_answer=False)
OTHER = EvidenceNote("o", relevant=False, supports_answer=False)


@st.composite
def judgments(draw):
    supports = draw(st.booleans())
    return EvidenceNote(
        draw(st.text(min_size=1, max_size=3)),
        relevant=supports or draw(st.booleans()),
        supports_answer=supports,
        revision=draw(st.integers(1, 9)),
        probability=draw(st.none() | st.floats(0, 1)),
    )


note_sets = st.lists(judgments(), max_size=8, unique_by=lambda note: note.document_id)


@pytest.mark.parametrize("allow_parametric", [False, True])
@pytest.mark.parametrize(
    ("notes", "outcome"),
    [
        ([OTHER, SUPPORTS, RELEVANT], Outcome.RETRIEVED),
        ([OTHER, RELEVANT], Outcome.UNKNOWN),
        ([OTHER], Outcome.UNKNOWN),
        ([], Outcome.UNKNOWN),
    ],
)
def test_only_support_answers(notes, outcome, allow_parametric):
    decision = decide_from_evidence_notes(iter(notes), allow_parametric=allow_parametric)
    if outcome is Outcome.UNKNOWN and allow_parametric:
        assert decision.outcome is Outcome.PARAMETRIC
        assert "general knowledge" in decision.reason
    else:
        assert decision.outcome is outcome


def test_support_is_cited_with_its_revision_most_certain_first():
    likely = EvidenceNote("a", relevant=True, supports_answer=True, probability=0.6)
    decision = decide_from_evidence_notes(
        [likely, RELEVANT, SUPPORTS, replace(likely, document_id="b")]
    )
    assert decision.evidence == (
        Evidence("s", 3, 1.0),
        Evidence("a", 1, 0.6),
        Evidence("b", 1, 0.6),
    )
    assert decision.answerable == 1.0
    assert decision.reason == "3 of 4 retrieved notes support an answer"


def test_too_few_pieces_of_evidence_are_partial():
    decision = decide_from_evidence_notes([SUPPORTS, RELEVANT], required=2, allow_parametric=True)
    assert decision.outcome is Outcome.PARTIAL
    assert [cited.note_id for cited in decision.evidence] == ["s"]
    assert "2 are needed" in decision.reason


@given(note_sets, st.booleans(), st.integers(1, 3))
def test_outcome_follows_from_the_number_of_supports_alone(notes, allow_parametric, required):
    decision = decide_from_evidence_notes(
        notes, allow_parametric=allow_parametric, required=required
    )
    supports = sum(note.supports_answer for note in notes)
    assert (decision.outcome is Outcome.RETRIEVED) == (supports >= required)
    assert (decision.outcome is Outcome.PARTIAL) == (0 < supports < required)
    assert (decision.outcome is Outcome.PARAMETRIC) == (supports == 0 and allow_parametric)
    assert len(decision.evidence) == supports
    assert 0.0 <= decision.answerable <= 1.0
    assert decision.reason


@pytest.mark.parametrize(
    ("notes", "match"),
    [
        ([replace(OTHER, document_id="")], "empty"),
        ([OTHER, RELEVANT, OTHER], "'o' is judged twice"),
        ([replace(SUPPORTS, relevant=False)], "without being relevant"),
        ([replace(SUPPORTS, revision=0)], "revision"),
        ([replace(SUPPORTS, probability=1.1)], "probability"),
        ([replace(SUPPORTS, probability=math.nan)], "probability"),
    ],
)
def test_inconsistent_judgments_are_refused(notes, match):
    with pytest.raises(InvalidInput, match=match):
        decide_from_evidence_notes(notes)


def test_at_least_one_piece_of_evidence_is_required():
    with pytest.raises(InvalidInput, match="required"):
        decide_from_evidence_notes([SUPPORTS], required=0)
