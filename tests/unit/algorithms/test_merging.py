from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from note_samples import START, sample_note

from graphmem.algorithms.evolution import evolve_neighbourhood
from graphmem.algorithms.merging import (
    UNION_RULE,
    UnionProposer,
    is_informative,
    merge_is_safe,
    propose_union,
)
from graphmem.model import Given, Note

words = st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), max_size=20, unique=True)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Order 4711 has arrived", "Order 4712 has arrived"),
        ("Order 4711 has arrived", "The order has arrived"),
        ("Ticket tb-17a is open", "Ticket tb-17b is open"),
        ("The room costs 1,000 a week", "The room costs 1,500 a week"),
        ("We met on 2024-05-01 in Rome", "We met on 2024-05-02 in Rome"),
        ("The meeting is on Monday", "The meeting is on tuesday"),
        ("She has two dogs at home", "She has three dogs at home"),
        ("Ada likes green tea", "Ben likes green tea"),
        ("I met Ada for lunch", "I met Ben for lunch"),
        ("I met Ada for lunch", "I met Ada and Ben for lunch"),
        ("She eats meat", "She does not eat meat"),
        ("She eats meat", "She doesn\u2019t eat meat"),
        ("Sie isst Fleisch", "Sie isst kein Fleisch"),
        ("他吃肉", "他不吃肉"),
        ("田中は猫が好き", "鈴木は猫が好き"),
        ("משה אוהב תה", "דוד אוהב תה"),
        ("Он ест мясо", "Он не ест мясо"),
    ],
)
def test_texts_that_differ_in_a_fact_must_not_merge(a: str, b: str) -> None:
    assert not merge_is_safe(a, b)
    assert not merge_is_safe(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ada prefers an aisle seat", "Ada likes an aisle seat"),
        ("On flights Ada prefers an aisle seat", "Ada prefers an aisle seat on flights"),
        ("ada likes green tea", "Ada likes green tea"),
        ("Ada's tea is green", "The tea of Ada is green"),
        ("It cost 1,000 euros", "It cost 1000 euros"),
        ("She doesn't eat meat", "She never eats meat"),
        ("猫が好き", "とても猫が好き"),
        ("Honestly she likes green tea", "she likes green tea"),
    ],
)
def test_the_same_said_otherwise_may_merge(a: str, b: str) -> None:
    assert merge_is_safe(a, b)
    assert merge_is_safe(b, a)


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_guard_is_symmetric_and_lets_copies_through(a: str, b: str) -> None:
    assert merge_is_safe(a, a)
    assert merge_is_safe(a, b) == merge_is_safe(b, a)


@pytest.mark.parametrize("text", ["ok, thanks", "Haha yes, great!", "so it is", "👍", "", "Rome?"])
def test_small_talk_says_too_little(text: str) -> None:
    assert not is_informative(text)


def pair(trigger: tuple[str, ...], target: tuple[str, ...]) -> tuple[Note, Note]:
    return sample_note("t", keywords=trigger), sample_note("a", keywords=target)


def test_keywords_and_tags_are_united_and_a_missing_context_filled() -> None:
    trigger = sample_note("t", keywords=("seat", "aisle"), tags=("travel",), context="A trip.")
    target = sample_note("a", keywords=("Aisle",), tags=("berlin",), revision=4)
    made = propose_union(trigger, target)
    assert made is not None
    assert (made.target_id, made.expected_revision, made.proposer) == ("a", 4, UNION_RULE)
    assert made.keywords == ("Aisle", "seat")
    assert made.tags == ("berlin", "travel")
    assert made.context == "A trip."
    assert made.links == ()


def test_of_two_spellings_the_first_is_carried() -> None:
    made = propose_union(*pair(("Seat", "seat"), ()))
    assert made is not None
    assert made.keywords == ("Seat",)


def test_words_most_frequent_in_the_neighbourhood_come_first() -> None:
    trigger, target = pair(("x", "y", "z"), ("a",))
    others = [sample_note(str(i), keywords=("z", "y")) for i in range(2)]
    others.append(sample_note("more", keywords=("z",)))
    made = propose_union(trigger, target, neighbourhood=others, max_keywords=3)
    assert made is not None
    assert made.keywords == ("a", "z", "y")


def test_a_context_is_kept_also_when_left_empty_on_purpose() -> None:
    trigger = sample_note("t", context="new")
    assert propose_union(trigger, sample_note("a", context="old")) is None
    assert propose_union(trigger, sample_note("a", given=Given(context=""))) is None


def test_notes_the_guard_holds_apart_get_no_proposal() -> None:
    trigger = sample_note("t", "Order 4711 has arrived in Berlin", keywords=("x",))
    assert propose_union(trigger, sample_note("a", "Order 4712 has arrived in Berlin")) is None


@given(words, words, st.integers(1, 12))
def test_a_union_is_bounded_keeps_all_and_is_its_own_fixed_point(
    offered: list[str], own: list[str], bound: int
) -> None:
    trigger, target = pair(tuple(offered), tuple(own))
    made = propose_union(trigger, target, max_keywords=bound)
    united = target.keywords if made is None else made.keywords
    assert united[: len(own)] == tuple(own)
    assert set(united) <= {*offered, *own}
    assert len(united) == max(len(own), min(bound, len({*offered, *own})))
    again = propose_union(trigger, replace(target, keywords=united), max_keywords=bound)
    assert again is None


def arrive(notes: dict[str, Note], trigger: Note) -> int:
    """Let a note arrive with all others as neighbours; return how many evolved."""
    targets = tuple(notes.values())
    scores = dict.fromkeys(notes, 0.99)
    proposals = UnionProposer().propose(trigger, targets, scores)
    made = evolve_neighbourhood(trigger, targets, proposals, scores, now=START)
    notes.update({note.id: note for note in made.notes})
    notes[trigger.id] = trigger
    return len(made.events)


@pytest.mark.parametrize("content", ["ok, thanks", "Ada booked an aisle seat to Berlin"])
def test_a_hundred_copies_make_no_storm(content: str) -> None:
    notes: dict[str, Note] = {}
    copy = sample_note("", content, keywords=("word",), tags=("tag",), context=content)
    events = sum(arrive(notes, replace(copy, id=f"n{i:03}")) for i in range(100))
    assert events == 0


def test_copies_with_ever_new_words_stop_changing_each_other() -> None:
    notes: dict[str, Note] = {}
    for i in range(60):
        arrive(notes, sample_note(f"n{i:02}", keywords=(f"w{i}",), tags=(f"t{i}",)))
    assert all(len(note.keywords) <= 16 and len(note.tags) <= 12 for note in notes.values())
    with_room = sum(len(note.keywords) < 16 for note in notes.values())
    assert arrive(notes, sample_note("late", keywords=("w",))) == with_room < 20
    assert max(note.revision for note in notes.values()) <= 16


def test_small_talk_never_evolves() -> None:
    notes: dict[str, Note] = {}
    events = sum(
        arrive(notes, sample_note(f"n{i}", "ok, thanks", keywords=(f"w{i}",))) for i in range(20)
    )
    assert events == 0
