import unicodedata
from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest

from graphmem.demo import QuestionKind, corpus, questions
from graphmem.model import NoteInput

NOTES = corpus()
QUESTIONS = questions()
BY_ID = {note.id: note for note in NOTES}


def test_about_150_notes_with_unique_ids() -> None:
    assert 140 <= len(NOTES) <= 165
    assert len(BY_ID) == len(NOTES)
    assert None not in BY_ID


def test_every_note_has_an_author_a_source_and_an_aware_time() -> None:
    for note in NOTES:
        assert note.author in {"Zoë", "Daniel", "Haruka", "assistant"}
        assert (note.author == "assistant") == (note.role == "assistant")
        assert note.source is not None
        assert note.created_at is not None
        assert note.created_at.utcoffset() is not None


def test_notes_come_in_order_of_time_over_a_year_and_several_zones() -> None:
    times = [note.created_at for note in NOTES if note.created_at is not None]
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert timedelta(days=330) < times[-1] - times[0] < timedelta(days=380)
    assert len({time.utcoffset() for time in times}) >= 4


def test_three_people_have_a_comparable_share() -> None:
    share = Counter(note.author for note in NOTES)
    assert min(share[name] for name in ("Zoë", "Daniel", "Haruka")) >= 35


def test_positions_are_unique_within_a_source_and_follow_time() -> None:
    chains: dict[str, list[NoteInput]] = {}
    for note in NOTES:
        if note.source is not None and note.source.position is not None:
            chains.setdefault(note.source.id, []).append(note)
    assert len(chains) >= 10
    for chain in chains.values():
        positions = [note.source.position for note in chain if note.source is not None]
        assert positions == list(range(1, len(chain) + 1))


def test_no_text_occurs_twice_and_all_are_composed() -> None:
    texts = [note.content for note in NOTES]
    assert len(set(texts)) == len(texts)
    assert all(unicodedata.normalize("NFC", text) == text for text in texts)


@pytest.mark.parametrize(
    "text", ["Zoë", "Málaga", "jalapeño", "hōjicha", "€", "👍", "もなか", "ok, thanks", "always"]
)
def test_corpus_holds_what_breaks_careless_code(text: str) -> None:
    assert any(text in note.content or text == note.author for note in NOTES)


def test_look_alike_orders_differ_in_their_numbers_only() -> None:
    shapes = Counter(
        "".join("#" if char.isdigit() else char for char in note.content) for note in NOTES
    )
    assert shapes.most_common(1)[0][1] >= 3


def test_forty_questions_of_which_ten_have_no_answer() -> None:
    assert len(QUESTIONS) == 40
    assert len({question.id for question in QUESTIONS}) == 40
    assert len({question.question for question in QUESTIONS}) == 40
    assert sum(not question.answerable for question in QUESTIONS) == 10


def test_no_gold_means_unanswerable() -> None:
    for question in QUESTIONS:
        assert question.answerable == (question.kind is not QuestionKind.UNANSWERABLE)
        assert question.answer


def test_gold_notes_exist_and_were_written_before_the_question() -> None:
    for question in QUESTIONS:
        assert len(set(question.gold)) == len(question.gold)
        for note_id in question.gold:
            written = BY_ID[note_id].created_at
            assert written is not None
            assert written < question.at, question.id


def test_every_kind_of_question_is_asked() -> None:
    asked = Counter(question.kind for question in QUESTIONS)
    assert set(asked) == set(QuestionKind)
    assert asked[QuestionKind.LINKED] >= 3
    assert sum(len(question.gold) > 1 for question in QUESTIONS) >= 8
