"""Answerability measured on conversations small enough to reason about."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from graphmem.algorithms.answerability import EVIDENCE_POLICY
from graphmem.evaluation.answerability import (
    evaluate_locomo_answerability,
    evaluate_longmemeval_answerability,
)
from graphmem.evaluation.answerability_fitting import (
    carried_over_report,
    cross_validated,
    fit_policy,
    fitting_report,
    rejudged,
)
from graphmem.evaluation.retrieval import Setting
from graphmem.evaluation.trials import Split, locomo_trials, longmemeval_trials
from graphmem.model import Outcome

THINGS = ["teapot", "marathon", "greyhound", "kayak", "lantern", "orchard"]


def conversation(name, speakers, things):
    ana, ben = speakers
    return {
        "sample_id": name,
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": (ana, ben)[n % 2], "dia_id": f"D1:{n + 1}", "text": f"I love my {x}."}
                for n, x in enumerate(things)
            ],
        },
        "qa": [
            *(
                {"question": f"Does {(ana, ben)[n % 2]} love the {x}?", "category": 4,
                 "evidence": [f"D1:{n + 1}"]}
                for n, x in enumerate(things)
            ),
            {"question": f"Who sold the {things[0]}?", "category": 1, "evidence": ["D1:1"]},
            {"question": f"Does {ben} love the {things[0]}?", "category": 5, "evidence": []},
        ],
    }  # fmt: skip


def haystack(question_id, thing):
    return {
        "question_id": question_id,
        "question_type": "single-session-user",
        "question": f"Where did I buy the {thing}?",
        "question_date": "2023/06/01 (Thu) 10:00",
        "answer_session_ids": ["answer_0"],
        "haystack_session_ids": ["answer_0", "s1"],
        "haystack_dates": ["2023/05/01 (Mon) 09:30", "2023/05/02 (Tue) 09:30"],
        "haystack_sessions": [
            [{"role": "user", "content": f"I buy the {thing} in Ghent.", "has_answer": True}],
            [{"role": "user", "content": "It rains today."}],
        ],
    }


@pytest.fixture
def setting(tmp_path):
    return Setting(embedder="hashing-64", cache=tmp_path / "cache.sqlite")


@pytest.fixture
def locomo(tmp_path):
    path = tmp_path / "locomo.json"
    data = [
        conversation("one", ("Ana", "Ben"), THINGS[:4]),
        conversation("two", ("Cy", "Di"), THINGS[2:]),
    ]
    path.write_text(json.dumps(data), "utf-8")
    return path


@pytest.fixture
def longmemeval(tmp_path):
    path = tmp_path / "longmemeval.jsonl"
    cases = [haystack(f"q{n}", thing) for n, thing in enumerate(THINGS)]
    cases.append(haystack("q9_abs", "submarine"))
    path.write_text("\n".join(map(json.dumps, cases)), "utf-8")
    return path


def test_locomo_is_asked_what_it_can_and_cannot_answer(locomo, setting):
    trials = locomo_trials(locomo, setting=setting)
    own = [trial for trial in trials if trial.case == "one"]
    assert Counter(trial.split for trial in own) == {
        Split.ANSWERABLE: 5,
        Split.ADVERSARIAL: 1,
        Split.SWAPPED: 4,
        Split.DELETED: 5,
        Split.OTHER: 4,
        Split.RENAMED: 5,
    }
    assert all(bool(trial.gold) is trial.answerable for trial in trials)


def test_what_is_taken_away_is_neither_judged_nor_missed_afterwards(locomo, setting):
    trials = locomo_trials(locomo, setting=setting)
    gold = {trial.question: trial.gold for trial in trials if trial.answerable}
    deleted = [trial for trial in trials if trial.split is Split.DELETED]
    for trial in deleted:
        assert gold[trial.question].isdisjoint(n.note_id for n in trial.decision.judged)
    later = [trial for trial in trials if trial.answerable][-1]
    assert later.gold <= {note.note_id for note in later.decision.judged}


def test_a_swapped_name_is_told_from_the_right_one(locomo, setting):
    report = evaluate_locomo_answerability(locomo, setting=setting)
    rows = {row.name: row for row in report.splits}
    assert rows["name swapped"].auroc.mean > 0.9
    assert rows["adversarial, against single-hop only"].answerable == 8
    assert report.supports is not None
    assert sum(report.outcomes["answerable"].values()) == 10
    assert json.loads(json.dumps(report.to_json()))["splits"].keys() == rows.keys()


def test_longmemeval_is_asked_of_other_haystacks_and_without_evidence(longmemeval, setting):
    trials = longmemeval_trials(longmemeval, setting=setting)
    assert Counter(trial.split for trial in trials) == {
        Split.ANSWERABLE: 6,
        Split.ABSTENTION: 1,
        Split.REMOVED: 6,
        Split.HAYSTACK: 7,
    }
    report = evaluate_longmemeval_answerability(longmemeval, setting=setting)
    rows = {row.name: row for row in report.splits}
    assert rows["evidence sessions removed"].auroc.mean == 1.0


def test_another_policy_judges_the_same_signals(locomo, setting):
    trials = locomo_trials(locomo, setting=setting)
    assert [rejudged(trial, EVIDENCE_POLICY).decision.answerable for trial in trials] == [
        pytest.approx(trial.decision.answerable) for trial in trials
    ]
    same = [rejudged(trial, EVIDENCE_POLICY).decision.outcome for trial in trials]
    assert same == [trial.decision.outcome for trial in trials]
    assert set(same) > {Outcome.UNKNOWN}


def test_fitted_policies_separate_what_they_saw_and_what_they_did_not(locomo, longmemeval, setting):
    data = [
        locomo_trials(locomo, setting=setting),
        longmemeval_trials(longmemeval, setting=setting),
    ]
    policy = fit_policy(data)
    fitted = [rejudged(trial, policy) for trial in data[0]]
    right = [t.decision.answerable for t in fitted if t.answerable]
    swapped = [t.decision.answerable for t in fitted if t.split is Split.SWAPPED]
    assert sum(right) / len(right) > sum(swapped) / len(swapped) + 0.2
    held = cross_validated(data, lambda trial: trial.case)
    assert [len(trials) for trials in held] == [len(trials) for trials in data]
    text = fitting_report(*data, "hashing-64")
    assert "cross-validated" in text
    assert "advantage" in text
    assert "locomo alone" in carried_over_report(*data, "hashing-64")
