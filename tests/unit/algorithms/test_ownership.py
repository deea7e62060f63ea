from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.algorithms.ownership import READ_LENGTH, ownership, self_reference


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I like my garden", 3 / 4),
        ("I\u2019m sure we'll win", 3 / 4),
        ("You're right, your plan works", 1 / 4),
        ("How was it?", 1 / 3),
        ("元気ですか\uff1f", 1 / 3),
        ("Mine, yours", 2 / 4),
        ("Iris visited Wembley", 1 / 2),
        ("", 1 / 2),
    ],
)
def test_first_person_for_second_person_and_questions_against(text, expected):
    assert self_reference(text) == pytest.approx(expected)


def test_only_the_beginning_is_read():
    assert self_reference("x " * READ_LENGTH + "I my me") == 0.5


people = st.sampled_from([["Ana", "Ben"], ["Ana", "Ben", "Cy"]])


@given(st.text(max_size=60), st.sampled_from(["Ana", "Ben", "Cy", None]), people)
def test_in_bounds_and_a_pair_shares_the_whole(text, author, group):
    shares = {person: ownership(text, author, person, group) for person in group}
    assert all(0.0 < share < 1.0 for share in shares.values())
    if len(group) == 2:
        assert sum(shares.values()) == pytest.approx(1.0)


def test_what_one_says_of_oneself_is_ones_own_and_you_is_the_other():
    group = ["Ana", "Ben", "Cy"]
    own = "I ran my marathon"
    assert ownership(own, "Ana", "Ana", group) > 0.5 > ownership(own, "Ana", "Ben", group)
    praise = "You ran your marathon, you did"
    assert ownership(praise, "Ana", "Ben", ["Ana", "Ben"]) > 0.5


def test_a_stranger_and_a_monologue_are_neutral():
    assert ownership("I ran", "assistant", "Ana", ["Ana", "Ben"]) == 0.5
    assert ownership("I ran", None, "Ana", ["Ana", "Ben"]) == 0.5
    assert ownership("I ran", "Ana", "Ana", ["Ana"]) == 0.5
