from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from candidate_sets import Said, table
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.answer_signals import measure_answer
from graphmem.algorithms.answerability import (
    EVIDENCE_POLICY,
    JUDGED_NOTES,
    LogisticModel,
    independent_sources,
    judge,
)
from graphmem.algorithms.candidate_table import CandidateTable, Question
from graphmem.algorithms.relevance import rank_candidates
from graphmem.algorithms.text import index_terms, tokens
from graphmem.errors import InvalidPolicy
from graphmem.model import Candidate, CandidateSet, Note, Outcome, related
from graphmem.policy import DEFAULT_POLICY

DAY = datetime(2025, 5, 7, tzinfo=UTC)

SAID = [
    ("Ana", "I adopted a puppy called Toby last week!"),
    ("Ben", "That is lovely. How is your puppy?"),
    ("Ben", "I ran my first marathon in Leeds."),
    ("Ana", "You must be proud of your marathon!"),
    ("Ana", "My garden needs rain."),
    ("Ben", "I baked bread on Sunday."),
]


def scope(said: list[tuple[str | None, str]], question: str, role: str = "user") -> CandidateSet:
    """A set of all notes; cosine stands in as the share of question tokens a note has."""
    terms = [index_terms(text, author=author) for author, text in said]
    asked = tokens(question)
    candidates = tuple(
        Candidate(
            Note(f"n{i}", "default", text, role, author, None, DAY, (), (), "", 0.5, {}, DAY,
                 content_revision=i + 1),
            own,
            cosine=len(set(asked) & set(tokens(text))) / max(1, len(set(asked))),
            vector_rank=i,
        )
        for i, ((author, text), own) in enumerate(zip(said, terms, strict=True))
    )  # fmt: skip
    frequency = {term: sum(term in own for own in terms) for term in asked}
    average = sum(map(len, terms)) / max(1, len(terms))
    return CandidateSet(candidates, (), len(said), average, frequency)


def decide(question: str, said=SAID, **arguments):
    asked = Question(question, tokens(question), DAY)
    found = scope(said, question, arguments.pop("role", "user"))
    return judge(ranked(asked, found), **arguments)


def ranked(asked, found):
    return rank_candidates(CandidateTable(asked, found), DEFAULT_POLICY)


def test_the_right_person_is_answered_and_the_wrong_one_refused():
    right = decide("What is the name of Ana's puppy called?")
    assert right.outcome is Outcome.RETRIEVED
    assert right.evidence[0].note_id == "n0"
    wrong = decide("Which marathon did Ana run first in Leeds?")
    assert wrong.outcome is Outcome.UNKNOWN
    assert wrong.evidence == ()
    assert "Ben's, the question asks about Ana" in wrong.reason
    assert decide("Which marathon did Ben run first in Leeds?").outcome is Outcome.RETRIEVED


def test_the_content_revision_is_cited():
    decision = decide("Which marathon did Ben run first in Leeds?")
    best = decision.evidence[0]
    assert (best.note_id, best.revision) == ("n2", 3)


def test_what_was_never_mentioned_is_named():
    decision = decide("Which submarine did the ambassador sell?")
    assert decision.outcome is Outcome.UNKNOWN
    assert "'submarine', 'ambassador', 'sell'" in decision.reason


def test_the_wrong_number_is_not_the_right_one():
    said = [("Ana", "Order 48231 was sent back"), ("Ben", "The kettle is blue")]
    right = decide("Why was order 48231 sent back?", said)
    wrong = decide("Why was order 48321 sent back?", said)
    assert right.outcome is Outcome.RETRIEVED
    assert wrong.outcome is Outcome.UNKNOWN
    assert "no note mentions '48321'" in wrong.reason


def test_more_evidence_can_be_asked_for():
    question = "Which marathon did Ben run first in Leeds?"
    found = decide(question)
    assert (found.outcome, len(found.judged)) == (Outcome.RETRIEVED, len(SAID))
    few = decide(question, required=len(found.evidence) + 1)
    assert few.outcome is Outcome.PARTIAL
    assert few.evidence == found.evidence
    assert f"{len(found.evidence) + 1} are needed" in few.reason


def test_near_duplicates_and_one_source_corroborate_nothing():
    def sources(*said):
        question = table("Leeds", *said)
        return independent_sources(rank_candidates(question, DEFAULT_POLICY).best(10))

    first = Said("Ben ran the marathon in Leeds", source="a", position=1)
    again = Said("Ben ran the marathon in Leeds!", source="b", position=1)
    other = Said("Leeds gave Ben a medal for his race", source="b", position=2)
    assert sources(first, again) == 1
    assert sources(first, other) == 2
    assert sources(again, other) == 1
    assert sources(Said("Leeds is rainy"), Said("I love Leeds market")) == 2
    assert decide("Which submarine did the ambassador sell?").independent_sources == 0


def test_an_answer_without_evidence_needs_leave():
    question = "Which submarine did the ambassador sell?"
    assert decide(question, allow_parametric=True).outcome is Outcome.PARAMETRIC
    assert decide(question, [], allow_parametric=True).outcome is Outcome.PARAMETRIC
    empty = decide(question, [])
    assert (empty.outcome, empty.answerable, empty.evidence) == (Outcome.UNKNOWN, 0.0, ())


def test_nobody_counts_as_named_without_authors_or_with_two_names():
    question = "Who ran the marathon, Ana or Ben?"
    assert measure(question).person is None
    assert measure("Who ran the marathon?").person is None
    assert measure("Did Ana run?", [(None, text) for _, text in SAID]).person is None
    assert measure("Did Ana run?", role="assistant").person is None
    assert measure("Did Ana run?").person == "Ana"


def measure(question, said=SAID, role="user"):
    asked = Question(question, tokens(question), DAY)
    return measure_answer(CandidateTable(asked, scope(said, question, role)))


def test_the_name_itself_is_not_what_is_asked():
    assert measure("Does Ana ski?").coverage == 0.0
    assert measure("Ana?").coverage > 0.9


def test_advantage_changes_its_sign_with_the_person():
    ours, theirs = measure("Which marathon did Ben run?"), measure("Which marathon did Ana run?")
    assert ours.advantage > 0 > theirs.advantage
    assert ours.advantage == pytest.approx(-theirs.advantage)
    assert measure("Which marathon?").advantage == 0.0


def test_links_are_no_evidence():
    question = "Which marathon did Ana run first in Leeds?"
    asked, found = Question(question, tokens(question), DAY), scope(SAID, question)
    linked = replace(found, links=(related("n0", "n2", 0.99, DAY),))
    assert judge(ranked(asked, linked)) == judge(ranked(asked, found))


def test_the_prior_shifts_and_the_thresholds_cut():
    question = "Which marathon did Ben run first in Leeds?"
    before = decide(question)
    doubtful = decide(question, policy=replace(EVIDENCE_POLICY, prior=0.1))
    assert doubtful.answerable < before.answerable
    odds = before.answerable / (1 - before.answerable) / 9
    assert doubtful.answerable == pytest.approx(odds / (1 + odds))
    partial = decide(question, policy=replace(EVIDENCE_POLICY, partial=0.5, retrieved=1.0))
    assert partial.outcome is Outcome.PARTIAL
    assert partial.evidence == before.evidence
    assert "not certain enough" in partial.reason


@pytest.mark.parametrize(
    "values", [{"prior": 0.0}, {"prior": 1.0}, {"partial": 0.7}, {"retrieved": 1.1}]
)
def test_a_policy_out_of_range_is_refused(values):
    with pytest.raises(InvalidPolicy):
        replace(EVIDENCE_POLICY, **values)


def test_log_odds_are_a_weighted_sum():
    assert LogisticModel(-1.0, {"a": 2.0, "b": -3.0}).log_odds({"a": 0.5, "b": 1.0, "c": 9}) == -3


sentences = st.lists(
    st.tuples(
        st.sampled_from(["Ana", "Ben", "Cy", None]),
        st.sampled_from(["I ran a marathon", "Your puppy?", "rain in Leeds", "猫が好き", "…"]),
    ),
    min_size=1,
    max_size=14,
)


@given(sentences, st.sampled_from(["Did Ana run a marathon?", "puppy", "猫", "?", "Cy and Ben"]))
def test_any_set_gives_a_consistent_decision(said, question):
    decision = decide(question, said)
    assert 0.0 <= decision.answerable <= 1.0
    assert len(decision.evidence) <= JUDGED_NOTES
    assert all(0.0 <= cited.supports <= 1.0 for cited in decision.evidence)
    assert (decision.outcome is Outcome.UNKNOWN) == (not decision.evidence)
    assert decision.reason
