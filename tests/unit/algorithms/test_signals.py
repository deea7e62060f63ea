from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from candidate_sets import DAY, Said, table
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.lexical import TermStatistics
from graphmem.algorithms.signals import LONG_NOTE, SIGNALS, measure
from graphmem.errors import InvalidPolicy


def signal(name: str, question: str, *said: Said) -> list[float]:
    return SIGNALS[name](table(question, *said)).tolist()


def chat(*said: tuple[str, float]) -> list[Said]:
    """One conversation of texts and their cosines."""
    return [Said(text, cosine, "chat", place) for place, (text, cosine) in enumerate(said)]


def test_the_cosine_is_cut_at_zero_and_nothing_without_a_vector():
    said = [Said("a", 0.4), Said("b", -0.4), Said("c", None)]
    assert signal("vector", "anything", *said) == [0.4, 0.0, 0.0]


def test_a_note_is_as_close_as_its_closest_sentence_or_itself():
    said = [
        Said("a", 0.4, sentence=0.7),
        Said("b", 0.4, sentence=0.3),
        Said("c", 0.4),
        Said("d", -0.5, sentence=0.2),
        Said("e", -0.5, sentence=-0.1),
    ]
    assert signal("closest", "anything", *said) == pytest.approx([0.7, 0.4, 0.4, 0.2, 0.0])


def test_words_count_as_a_share_of_the_best_match():
    best, other, none = signal("lexical", "red kayak", *map(Said, ["red kayak", "red", "vase"]))
    assert best == 1.0 > other > none == 0.0


def test_an_author_counts_when_the_question_names_it():
    said = [Said("x", author="Ada Lovelace"), Said("y", author="Ben"), Said("z")]
    assert signal("author", "What does Ada like?", *said) == [1.0, 0.0, 0.0]
    assert signal("author", "What does she like?", *said) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("question", "assistant"),
    [
        ("Which tea do I like?", 0.0),
        ("Which tea did you recommend?", 0.7),
        ("What was YOUR advice?", 0.7),
        ("Was it yours?", 0.7),
        ("Where is the youth hostel?", 0.0),
    ],
)
def test_what_an_assistant_said_counts_when_it_is_spoken_to(question, assistant):
    said = [Said("a", role="user"), Said("b", role="assistant"), Said("c", role="system")]
    assert signal("role", question, *said) == [1.0, assistant, 1.0]


def test_a_question_is_no_statement():
    said = map(
        Said, ["Green tea.", "Green tea?", "Green tea? \n", "\u7dd1\u8336\uff1f", "Why? So."]
    )
    assert signal("statement", "tea", *said) == [1.0, 0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("I bought a kayak. Any tips?", 1.0),
        ("By the way, I've just moved!", 1.0),
        ("I want to buy a kayak", 0.0),
        ("She bought a kayak", 0.0),
        ("", 0.0),
    ],
)
def test_what_somebody_did_is_told_in_the_first_person(content, told):
    said = [Said(content), Said(content, role="assistant")]
    assert signal("told", "q", *said) == [told, 0.0]


def test_the_rarest_word_held_counts_as_a_share_of_the_rarest_asked_for():
    said = [Said("red kayak"), Said("red"), Said("red"), Said("vase")]
    made = table("red kayak", *said)
    statistics = TermStatistics.of(made.found)
    red, kayak = (statistics.inverse_document_frequency(term) for term in ("red", "kayak"))
    assert SIGNALS["rarest"](made) == pytest.approx([1.0, red / kayak, red / kayak, 0.0])
    assert signal("rarest", "", *said) == [0.0] * 4


def test_counted_time_is_not_what_an_exchange_is_about():
    said = [Said("kayak"), Said("two weeks ago")]
    with_time = signal("exchange", "kayak two weeks ago", *said)
    assert with_time == signal("exchange", "kayak", *said)
    assert with_time[1] == 0.0
    assert signal("exchange", "two weeks ago", *said)[1] > 0.0


def test_density_grows_with_length_up_to_a_bound():
    short, full, beyond = signal(
        "density", "q", Said("ok"), Said("x" * LONG_NOTE), Said("x" * 5000)
    )
    assert short == pytest.approx(np.log(3) / np.log(1 + LONG_NOTE))
    assert full == beyond == 1.0


def test_time_is_the_fourth_root_of_how_well_a_note_fits_the_time_named():
    inside, late = DAY - timedelta(days=1), DAY + timedelta(days=2, hours=9)
    fits, apart = signal(
        "time", "What happened yesterday?", Said("a", at=inside), Said("b", at=late)
    )
    assert fits == 1.0
    assert apart == pytest.approx(2 ** (-3 / 4))
    assert signal("time", "What happened?", Said("a")) == [0.0]


def test_a_note_that_speaks_of_a_time_answers_when():
    said = [Said("She left on Monday"), Said("She left in a hurry")]
    assert signal("dated", "When did she leave?", *said) == [1.0, 0.0]
    assert signal("dated", "Why did she leave?", *said) == [0.0, 0.0]


def test_the_notes_beside_and_two_steps_away_lend_their_cosine():
    said = [*chat(("a", 0.9), ("b", 0.1), ("c", 0.2), ("d", 0.3)), Said("other", 0.8, "x", 0)]
    assert signal("beside", "q", *said) == [0.1, 0.9, 0.3, 0.2, 0.0]
    assert signal("beside_two", "q", *said) == [0.2, 0.3, 0.9, 0.1, 0.0]


def test_an_exchange_holds_what_its_notes_hold_together():
    said = chat(("kayak", 0), ("red", 0), ("vase", 0), ("tea", 0))
    made = table("red kayak", *said)
    statistics = TermStatistics.of(made.found)
    idf = [statistics.inverse_document_frequency(term) for term in ("red", "kayak")]
    alone = 1 / (1 + 1.2)
    red, kayak = np.array([[0.7, 1.0, 0.7, 0.5], [1.0, 0.7, 0.5, 0.0]]) * alone
    expected = (idf[0] * red + idf[1] * kayak) / sum(idf)
    assert SIGNALS["exchange"](made) == pytest.approx(expected)


def test_an_exchange_ends_with_its_source():
    said = [Said("kayak", 0, "a", 0), Said("tea", 0, "b", 0)]
    assert signal("exchange", "kayak", *said)[1] == 0.0


def test_a_source_lends_its_best_match_and_no_source_lends_nothing():
    said = [Said("red kayak", 0, "a"), Said("tea", 0, "a"), Said("red", 0), Said("vase", 0)]
    lexical = signal("lexical", "red kayak", *said)
    assert signal("source", "red kayak", *said) == [1.0, 1.0, lexical[2], 0.0]


def test_only_what_is_named_is_measured_and_an_unknown_name_is_refused():
    made = table("q", Said("a"))
    assert set(measure(made, {"vector", "role"})) == {"vector", "role"}
    with pytest.raises(InvalidPolicy, match=r"no signal 'charm'.*vector"):
        measure(made, {"vector", "charm"})


texts = st.sampled_from(["red kayak?", "Ada left on Monday", "", "kayak kayak", "tea", "\u732b"])
notes = st.builds(
    Said,
    content=texts,
    cosine=st.none() | st.floats(-1, 1),
    source=st.sampled_from([None, "a", "b"]),
    position=st.none() | st.integers(0, 3),
    author=st.sampled_from([None, "Ada", "Ben"]),
    role=st.sampled_from(["user", "assistant"]),
    at=st.sampled_from([DAY, DAY - timedelta(days=400), DAY + timedelta(days=1)]),
)
questions = st.sampled_from(["", "?", "When did Ada buy the red kayak yesterday?", "\u732b", "you"])


@given(questions, st.lists(notes, max_size=6))
def test_every_signal_is_defined_and_within_bounds_for_every_set(question, said):
    made = table(question, *said)
    for name, values in measure(made, SIGNALS.keys()).items():
        assert values.shape == (len(said),), name
        assert values.dtype == np.float64, name
        assert np.all((values >= 0) & (values <= 1)), name
