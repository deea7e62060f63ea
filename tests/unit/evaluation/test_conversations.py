"""The readers of LoCoMo and LongMemEval, on small files of the same shape."""

import json
import lzma
from datetime import UTC, datetime

import pytest

from graphmem.errors import TransferError
from graphmem.evaluation.datasets import opaque
from graphmem.evaluation.locomo import dialogue_ids, read_locomo
from graphmem.evaluation.longmemeval import read_longmemeval

CONVERSATION = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_2_date_time": "12:09 am on 13 September, 2023",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "The kiln arrived."}],
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a blue bowl"},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Lovely."},
        ],
        "session_3_date_time": "1:00 pm on 1 October, 2023",
    },
    "qa": [
        {"question": "What did Ada make?", "evidence": ["D1:1; D:2:1"], "category": 1},
        {"question": "When?", "evidence": ["D", "D9:9", "D1:2"], "category": 2},
        {"question": "Who sold the kiln?", "evidence": ["D2:1"], "category": 5},
        {"question": "Why?", "evidence": [], "category": 3},
    ],
}

HAYSTACK = {
    "question_id": "q1",
    "question_type": "multi-session",
    "question": "How many bowls?",
    "question_date": "2023/06/01 (Thu) 10:00",
    "answer_session_ids": ["answer_1"],
    "haystack_session_ids": ["noise", "answer_1", "answer_1"],
    "haystack_dates": [f"2023/05/0{day} (Mon) 09:30" for day in (1, 2, 3)],
    "haystack_sessions": [
        [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "\u200b \n"}],
        [
            {"role": "user", "content": "Two bowls.", "has_answer": True},
            {"role": "assistant", "content": "Nice.", "has_answer": False},
        ],
        [{"role": "user", "content": "Two bowls.", "has_answer": True}],
    ],
}  # fmt: skip


def write(path, value):
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.fixture
def locomo(tmp_path):
    return write(tmp_path / "locomo.json", [CONVERSATION])


def only(cases):
    (case,) = cases
    return case


def test_a_turn_is_text_and_caption_with_its_speaker_session_and_place(locomo):
    turns = only(read_locomo(locomo)).turns
    assert [turn.content for turn in turns] == [
        "Look! [a blue bowl]", "Lovely.", "The kiln arrived."
    ]  # fmt: skip
    assert [turn.author for turn in turns] == ["Ada", "Ben", "Ben"]
    assert [turn.position for turn in turns] == [1, 2, 1]
    assert turns[0].source_id == turns[1].source_id != turns[2].source_id
    assert turns[1].created_at == datetime(2023, 5, 8, 13, 56, 2, tzinfo=UTC)
    assert turns[2].created_at == datetime(2023, 9, 13, 0, 9, 1, tzinfo=UTC)


def test_questions_are_asked_at_the_last_session_that_has_turns(locomo):
    asked = {question.asked_at for question in only(read_locomo(locomo)).questions}
    assert asked == {datetime(2023, 9, 13, 0, 9, tzinfo=UTC)}


def test_malformed_evidence_is_read_and_unknown_turns_are_left_out(locomo):
    case = only(read_locomo(locomo))
    first, second, *_ = case.questions
    assert first.gold_notes == {case.turns[0].id, case.turns[2].id}
    assert first.gold_sources == {case.turns[0].source_id, case.turns[2].source_id}
    assert second.gold_notes == {case.turns[1].id}


def test_an_adversarial_question_has_no_gold_and_no_answer(locomo):
    questions = only(read_locomo(locomo)).questions
    assert [question.answerable for question in questions] == [True, True, False, True]
    assert questions[2].category == "adversarial"
    assert not questions[2].gold_notes
    assert not questions[3].gold_notes


def test_corrections_replace_the_evidence_of_the_question_they_name(locomo, tmp_path):
    corrections = write(
        tmp_path / "corrections.json",
        [{"sample_id": "conv-1", "qa_index": 1, "evidence_after": ["D2:1"]}],
    )
    case = only(read_locomo(locomo, corrections))
    assert case.questions[1].gold_notes == {case.turns[2].id}
    assert case.questions[0].gold_notes == {case.turns[0].id, case.turns[2].id}


def test_compressed_files_are_read(tmp_path):
    path = tmp_path / "locomo.json.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        json.dump([CONVERSATION], file)
    assert len(only(read_locomo(path)).turns) == 3


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "{}",
        '[{"sample_id": "x"}]',
        '[{"sample_id": 1, "conversation": {}, "qa": []}]',
    ],
)
def test_what_is_no_locomo_file_is_named(tmp_path, content):
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TransferError, match=r"other\.json"):
        list(read_locomo(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(TransferError, match=r"absent\.jsonl"):
        list(read_longmemeval(tmp_path / "absent.jsonl"))


def test_references_keep_their_order_and_come_once():
    assert dialogue_ids(["D3:1,D1:12", "D3:1"]) == ((3, 1), (1, 12))


@pytest.mark.parametrize("form", ["list", "lines", "blank lines"])
def test_longmemeval_comes_as_a_list_or_as_lines(tmp_path, form):
    path = tmp_path / "longmemeval.json"
    text = json.dumps(HAYSTACK)
    path.write_text(
        {"list": f"[{text}]", "lines": text, "blank lines": f"\n{text}\n\n"}[form], encoding="utf-8"
    )
    assert only(read_longmemeval(path)).id == "q1"


def test_a_haystack_is_turns_of_sessions_without_blank_ones(tmp_path):
    case = only(read_longmemeval(write(tmp_path / "l.json", [HAYSTACK])))
    assert [turn.role for turn in case.turns] == ["user", "user", "assistant", "user"]
    assert case.turns[2].created_at == datetime(2023, 5, 2, 9, 30, 1, tzinfo=UTC)
    assert case.questions[0].asked_at == datetime(2023, 6, 1, 10, tzinfo=UTC)


def test_of_a_repeated_session_the_first_is_gold(tmp_path):
    case = only(read_longmemeval(write(tmp_path / "l.json", [HAYSTACK])))
    assert case.questions[0].gold_sources == {case.turns[1].source_id}
    assert case.questions[0].gold_notes == {case.turns[1].id}
    assert len({turn.source_id for turn in case.turns}) == 3


def test_no_identifier_shows_what_it_was_made_from(tmp_path):
    case = only(read_longmemeval(write(tmp_path / "l.json", [HAYSTACK])))
    shown = " ".join(turn.id + turn.source_id for turn in case.turns)
    assert "answer" not in shown
    assert "noise" not in shown


def test_an_abstention_question_has_no_gold(tmp_path):
    path = write(tmp_path / "l.json", [HAYSTACK | {"question_id": "q1_abs"}])
    question = only(read_longmemeval(path)).questions[0]
    assert not question.answerable
    assert not question.gold_sources
    assert not question.gold_notes


def test_only_the_questions_asked_for_are_read_and_a_missing_one_is_named(tmp_path):
    path = write(tmp_path / "l.json", [HAYSTACK, HAYSTACK | {"question_id": "q2"}])
    assert [case.id for case in read_longmemeval(path, frozenset({"q2"}))] == ["q2"]
    with pytest.raises(TransferError, match="q9"):
        list(read_longmemeval(path, frozenset({"q2", "q9"})))


def test_sessions_without_dates_are_refused(tmp_path):
    path = write(tmp_path / "l.json", [HAYSTACK | {"haystack_dates": []}])
    with pytest.raises(TransferError, match="LongMemEval"):
        list(read_longmemeval(path))


def test_digests_do_not_run_parts_together():
    assert opaque("a", "bc") != opaque("ab", "c")
