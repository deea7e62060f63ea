"""The evaluations through the public interface, on conversations small enough to reason about."""

import json

import pytest

from graphmem.errors import InvalidInput
from graphmem.evaluation.references import BM25, RECIPE
from graphmem.evaluation.report import QuestionResult
from graphmem.evaluation.retrieval import Setting, evaluate_locomo, evaluate_longmemeval
from graphmem.evaluation.summary import summarise
from graphmem.opening import open_memory

TURNS = [
    "I glazed the teapot in cobalt.",
    "The marathon is on Sunday.",
    "Our dentist moved to Harbour Street.",
    "I adopted a greyhound called Pixel.",
]

CONVERSATION = {
    "sample_id": "conv-1",
    "conversation": {
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": f"D1:{n}", "text": text} for n, text in enumerate(TURNS, 1)
        ],
    },
    "qa": [
        {"question": "What colour did Ada glaze the teapot?", "evidence": ["D1:1"], "category": 4},
        {"question": "Where is the dentist now?", "evidence": ["D1:3"], "category": 1},
        {"question": "Who stole the submarine?", "evidence": ["D1:2"], "category": 5},
        {"question": "Why?", "evidence": [], "category": 3},
    ],
}


def haystack(question_id):
    return {
        "question_id": question_id,
        "question_type": "multi-session",
        "question": "What did I glaze, and which dog did I adopt?",
        "question_date": "2023/06/01 (Thu) 10:00",
        "answer_session_ids": ["answer_0", "answer_3"],
        "haystack_session_ids": ["answer_0", "s1", "s2", "answer_3"],
        "haystack_dates": [f"2023/05/0{day} (Mon) 09:30" for day in (1, 2, 3, 4)],
        "haystack_sessions": [
            [{"role": "user", "content": text, "has_answer": index in (0, 3)}]
            for index, text in enumerate(TURNS)
        ],
    }


@pytest.fixture
def setting(tmp_path):
    return Setting(embedder="hashing-64", cache=tmp_path / "cache.sqlite")


@pytest.fixture
def locomo(tmp_path):
    path = tmp_path / "locomo.json"
    path.write_text(json.dumps([CONVERSATION]), "utf-8")
    return path


@pytest.fixture
def longmemeval(tmp_path):
    path = tmp_path / "longmemeval.jsonl"
    path.write_text("\n".join(json.dumps(haystack(i)) for i in ("q1", "q2", "q3_abs")), "utf-8")
    return path


def test_locomo_counts_questions_with_gold_for_recall_and_all_for_answerability(locomo, setting):
    report = evaluate_locomo(locomo, setting=setting)
    assert (report.questions, report.with_gold, report.unanswerable) == (4, 2, 1)
    assert [result.id for result in report.results] == [f"conv-1/{n}" for n in range(4)]
    assert {category.name: category.questions for category in report.rankers[0].categories} == {
        "multi-hop": 1,
        "single-hop": 1,
    }
    assert [ranker.name for ranker in report.rankers] == [report.policy, BM25, RECIPE]
    assert report.answerability_auroc is not None


def test_gold_turns_are_found_by_their_words(locomo, setting):
    report = evaluate_locomo(locomo, setting=setting)
    assert report.results[0].ranks[BM25] == (1,)
    assert report.recall[5].complete == 1.0


def test_a_policy_is_measured_by_its_name(locomo, tmp_path):
    setting = Setting(policy="mission", embedder="hashing-64", cache=tmp_path / "c.sqlite")
    report = evaluate_locomo(locomo, setting=setting)
    assert report.policy == "mission"
    assert report.to_json()["policy"] == "mission"


@pytest.mark.parametrize("level", ["source", "note"])
def test_longmemeval_ranks_sessions_or_turns(longmemeval, setting, level):
    report = evaluate_longmemeval(longmemeval, level=level, setting=setting)
    assert (report.questions, report.with_gold, report.unanswerable) == (3, 2, 1)
    assert {result.gold for result in report.results} == {2, 0}
    assert report.recall[5].complete == 1.0


def test_one_question_can_be_asked_alone(longmemeval, setting):
    report = evaluate_longmemeval(longmemeval, questions=["q2"], setting=setting)
    assert [result.id for result in report.results] == ["q2"]
    assert report.answerability_auroc is None


def test_an_unknown_level_is_refused(longmemeval, setting):
    with pytest.raises(InvalidInput, match="level"):
        evaluate_longmemeval(longmemeval, level="page", setting=setting)


def test_two_runs_differ_in_seconds_only(longmemeval, setting):
    first, second = (evaluate_longmemeval(longmemeval, setting=setting).to_json() for _ in range(2))
    assert first.pop("seconds") > 0
    assert second.pop("seconds") > 0
    assert json.dumps(first) == json.dumps(second)


def test_an_evaluation_leaves_nothing_behind_in_a_store_with_notes(locomo, tmp_path):
    url = str(tmp_path / "mine.graphmem")
    with open_memory(url, embedder="hashing-64") as memory:
        memory.add("A note of mine", id="mine")
        before = memory.get("mine")
    setting = Setting(url=url, embedder="hashing-64", cache=tmp_path / "c.sqlite")
    evaluate_locomo(locomo, setting=setting)
    with open_memory(url, embedder="hashing-64") as memory:
        assert memory.namespaces() == ("default",)
        assert memory.get("mine") == before


def test_progress_names_the_case_and_counts_questions(longmemeval, setting):
    seen = []
    evaluate_longmemeval(longmemeval, setting=setting, progress=lambda *now: seen.append(now))
    assert seen == [("q1", 1), ("q2", 2), ("q3_abs", 3)]


def result(number, mine, theirs, gold=2):
    ranks = {"mine": mine, BM25: theirs, RECIPE: theirs}
    return QuestionResult(str(number), "kind", gold, True, 0.9, ranks)


def test_recall_and_comparison_follow_from_the_ranks():
    report = summarise(
        [result(1, (1, 6), (1, 2)), result(2, (2, 12), (3, None)), result(3, (), (), gold=0)],
        dataset="made",
        level="note",
        policy="mine",
        model="none",
        seconds=1.0,
    )
    assert (report.questions, report.with_gold) == (3, 2)
    assert report.recall[1].any == 0.5
    assert report.recall[5].evidence == 0.5
    assert (report.recall[5].complete, report.recall[10].complete) == (0.0, 0.5)
    assert (report.recall[10].evidence, report.recall[20].complete) == (0.75, 1.0)
    assert report.incomplete == ("1", "2")
    (difference,) = (
        found.difference
        for found in report.comparisons
        if (found.reference, found.measure, found.k) == (BM25, "complete", 5)
    )
    assert (difference.mean, difference.low, difference.high) == (-0.5, -1.0, 0.0)


def test_a_report_without_gold_has_no_recall_but_is_json():
    report = summarise(
        [result(1, (), (), gold=0)],
        dataset="made", level="note", policy="mine", model="none", seconds=1.0,
    )  # fmt: skip
    made = json.loads(json.dumps(report.to_json()))
    assert made["overall"] == {"questions": 0, "recall": {}}
    assert made["per_question"][0]["rankers"]["mine"]["all@5"] is None


def test_ranks_that_were_not_returned_are_shown_as_beyond():
    made = result(1, (4, None), (4, 38))
    shown = made.to_json()["rankers"]
    assert shown["mine"]["gold_ranks"] == [4, ">20"]
    assert shown[BM25]["gold_ranks"] == [4, 38]
    assert shown["mine"]["gold_ranks@10"] == shown[BM25]["gold_ranks@10"] == [4, ">10"]
    assert made.diagnosis("mine").shown == ("4", ">20")
    assert made.diagnosis(BM25).shown == ("4", ">10 (38)")
    assert (shown["mine"]["any@5"], shown["mine"]["all@5"]) == (1.0, 0.0)
