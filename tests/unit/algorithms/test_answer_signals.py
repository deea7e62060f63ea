from __future__ import annotations

import pytest
from candidate_sets import Said, table

from graphmem.algorithms.answer_signals import measure_answer

ANA = Said("I adopted a puppy called Toby", 0.6, author="Ana")
BEN = Said("I ran my first marathon in Leeds", 0.7, author="Ben")


def measure(question, *said):
    return measure_answer(table(question, *said))


def test_strength_is_of_one_note_of_the_person():
    found = measure("Which marathon did Ana run?", ANA, BEN)
    assert found.person == "Ana"
    assert found.strength == pytest.approx(0.6)
    assert found.nearest == pytest.approx(0.7)
    assert found.coverage == 0.0
    assert found.lead < 0 < measure("Which marathon did Ben run?", ANA, BEN).lead


def test_coverage_and_cosine_of_two_notes_do_not_add_up():
    near = Said("nothing in common", 0.9)
    worded = Said("marathon in Leeds", 0.1)
    found = measure("marathon Leeds", near, worded)
    assert found.strength == pytest.approx(1.1)
    assert measure("marathon Leeds", Said("marathon in Leeds", 0.9)).strength == pytest.approx(1.9)


def test_what_an_assistant_says_is_no_fact_about_the_asker():
    advice = Said("A marathon in Leeds is a fine idea", 0.8, role="assistant")
    mine = Said("I bought shoes", 0.2)
    assert measure("Which marathon did I run in Leeds?", advice, mine).strength < 0.3
    assert measure("Which marathon did you tell me of in Leeds?", advice, mine).strength > 1
    assert measure("Which marathon in Leeds is fine?", advice, mine).strength > 1
    assert measure("Which marathon did I run?", advice).strength == 0.0


def test_the_note_beside_completes_an_exchange():
    question = "Which marathon did Ben run in Leeds?"
    asked = Said("Did you run that marathon?", 0.5, source="s", position=1, author="Ana")
    said = Said("Yes, I was in Leeds", 0.5, source="s", position=2, author="Ben")
    together = measure(question, asked, said)
    apart = measure(question, asked, Said("Yes, I was in Leeds", 0.5, author="Ben"))
    assert together.advantage > apart.advantage


def test_two_rivals_who_say_the_same_weigh_no_more_than_one():
    question = "What is Ana allergic to?"
    own = Said("I am allergic to nuts", 0.4, author="Ana")
    ben = Said("I am allergic to shrimp", 0.5, author="Ben")
    carl = Said("I am allergic to dust", 0.5, author="Carl")
    silent = Said("The bus was late", 0.0, author="Carl")
    one, both = measure(question, own, ben, silent), measure(question, own, ben, carl)
    assert one.people == both.people == ("Ana", "Ben", "Carl")
    assert both.advantage < 0.05
    assert both.advantage == pytest.approx(one.advantage, abs=0.02)


def test_unknown_words_weigh_by_their_rarity():
    notes = [Said("the weather is fine")] * 3
    found = measure("Is the weather in Timbuktu fine?", *notes)
    assert found.unknown_words == ("Timbuktu",)
    assert 0.5 < found.unknown < 1.0
    assert measure("weather", *notes).unknown == 0.0


def test_the_rival_is_named_with_what_is_shared():
    found = measure("Which marathon did Ana run in Leeds?", ANA, BEN)
    assert found.rival == "Ben"
    assert set(found.rival_words) == {"marathon", "Leeds"}
    assert measure("Which marathon?", ANA, BEN).rival is None


def test_a_question_without_words_has_no_coverage():
    found = measure("?!", ANA)
    assert (found.coverage, found.unknown, found.unknown_words) == (0.0, 0.0, ())
    assert found.strength == pytest.approx(0.6)


def test_a_note_without_a_vector_counts_by_its_words():
    assert measure("marathon", Said("marathon", None)).strength == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("question", "unknown"),
    [
        ("Where is order 48321?", ("48321",)),
        ("Where is order 48231?", ()),
        ("Where is flight LH-1123 in 2023?", ("LH-1123",)),
        ("Where were the 12 boxes in 1999?", ()),
        ("What happened on October 1,2023, at 10:30, on 2023-05-07 and in pre-1920 days?", ()),
    ],
)
def test_a_number_or_code_nobody_mentioned_is_an_unknown_identifier(question, unknown):
    found = measure(question, Said("Order 48231 came back"), Said("a flight"))
    assert found.unknown_identifiers == unknown
    assert found.values["unknown_identifiers"] == len(unknown)
