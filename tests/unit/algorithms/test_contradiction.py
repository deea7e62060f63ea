"""What one text of a person changes in an older one, and what only differs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from graphmem.algorithms.claims import MAX_TEXT_LENGTH, claims_of
from graphmem.algorithms.contradiction import find_disagreement, superseding
from graphmem.model import DisagreementKind, Note

NUMBER, DATE, NAME, NEGATION, PREFERENCE = (
    DisagreementKind.NUMBER,
    DisagreementKind.DATE,
    DisagreementKind.NAME,
    DisagreementKind.NEGATION,
    DisagreementKind.PREFERENCE,
)
T0 = datetime(2025, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("older", "newer", "kind", "before", "after"),
    [
        ("I live in Berlin", "I live in Paris now", NAME, "Berlin", "Paris"),
        ("I work for Siemens", "I work for Bosch now.", NAME, "Siemens", "Bosch"),
        ("The project is called Falcon", "The project is called Osprey", NAME, "Falcon", "Osprey"),
        (
            "The meeting is on Tuesday at 10:00",
            "The meeting is on Thursday at 10:00",
            DATE,
            "Tuesday",
            "Thursday",
        ),
        ("The standup is moved to 10:00", "The standup is moved to 11:00", DATE, "10:00", "11:00"),
        ("My flight leaves at 9:15 am", "My flight leaves at 11:30 am", DATE, "9:15", "11:30"),
        ("The deadline is 3 May", "Correction: the deadline is 10 May", NUMBER, "3", "10"),
        ("My budget is 500 euros", "My budget is 800 euros", NUMBER, "500", "800"),
        ("Rent is £900 a month", "Rent is £950 a month", NUMBER, "900", "950"),
        ("We have 3 cats", "We have four cats now", NUMBER, "3", "four"),
        ("I prefer an aisle seat", "I prefer a window seat", PREFERENCE, "aisle", "window"),
        ("My favorite color is blue", "My favourite color is green", PREFERENCE, "blue", "green"),
        ("Sencha is my favourite tea", "My favourite tea is Assam", PREFERENCE, "Sencha", "Assam"),
    ],
)
def test_another_value_in_the_same_words(
    older: str, newer: str, kind: DisagreementKind, before: str, after: str
) -> None:
    found = find_disagreement(newer, older)
    assert found is not None
    assert (found.kind, found.before, found.after) == (kind, before, after)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I am a vegetarian", "I'm not a vegetarian any more"),
        ("I drink coffee in the morning", "I no longer drink coffee in the morning"),
        ("I\u2019m allergic to nuts", "I\u2019m not allergic to nuts after all"),
        ("I have two dogs", "I don't have dogs any more"),
        ("No meat and no fish in the plan, please", "Small update: fish is fine for me now"),
    ],
)
def test_what_one_affirms_the_other_denies(older: str, newer: str) -> None:
    found = find_disagreement(newer, older)
    assert found is not None
    assert found.kind is NEGATION
    assert found.before in older
    assert found.after in newer


def test_a_favourite_may_be_told_after_the_fact() -> None:
    found = find_disagreement(
        "I've gone over to genmaicha. So that's my favourite tea now.",
        "My favourite tea is hojicha, the only one I can drink at night.",
    )
    assert found is not None
    assert (found.kind, found.before) == (PREFERENCE, "hojicha")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # near duplicates that agree
        ("My flight is at 9:15", "My flight is at 9:15 now"),
        (
            "The worktop is oak, total was £7,460",
            "It came to £7,460 altogether, the worktop is oak",
        ),
        ("On Monday my flight is at 9:15", "My flight is at 9:15 on Monday"),
        ("My favourite tea is sencha", "Sencha is my favourite tea"),
        # other people, other subjects
        ("Ada's flight is at 9:15", "Ben's flight is at 11:30"),
        ("My son is 5", "My daughter is 7"),
        ("The train to Leeds leaves at 9:15", "The train to York leaves at 10:20"),
        ("Room 12 is free", "Room 14 is free"),
        ("I have 3 cats", "I have 2 dogs"),
        ("My favourite book is Dune", "My favourite film is Alien"),
        ("I eat meat", "My brother doesn't eat meat any more"),
        ("I'm not sure about the plan", "I'm sure about the trip now"),
        ("The bag, which costs 900 euros", "The ring, which costs 80 euros"),
        # what happened happened, and happens again
        ("I ran 5 km today", "I ran 7 km today"),
        ("Order 48213 shipped from Uji: 12 tins", "Order 48312 shipped from Uji: 21 tins"),
        ("I have a job interview on Monday", "I have a job interview on Friday"),
        ("I have 2 meetings on Monday", "I have 3 meetings on Friday"),
        # both may hold
        ("I like tea", "I like coffee"),
        ("I am in Paris", "I am in Rome"),
        ("The meeting is at 10:00", "The meeting is on Tuesday"),
        ("The view is amazing", "The view is great"),
        ("One of my favourite books is Dune", "My favourite book is Emma"),
        # not claimed
        ("Is the meeting at 9:00?", "The meeting is at 10:00"),
        ("The meeting might be at 9:00", "The meeting is at 10:00"),
        ("It is not easy", "It is easy"),
        ("Mein Flug geht um 9:15", "Mein Flug geht um 11:30"),
        ("", "My flight is at 9:15"),
    ],
)
def test_what_only_differs_is_no_change(older: str, newer: str) -> None:
    assert find_disagreement(newer, older) is None
    assert find_disagreement(older, newer) is None


def test_a_text_that_still_says_the_old_changes_nothing() -> None:
    both = "The meeting is at 9:15. For Ben the meeting is at 11:30."
    assert find_disagreement(both, "The meeting is at 9:15") is None
    assert find_disagreement("The meeting is at 9:15. The meeting is at 11:30 now.",
                             "The meeting is at 9:15") is None  # fmt: skip


def test_material_claims_nothing() -> None:
    text = "My flight is at 9:15. "
    assert claims_of(text)
    assert claims_of(text + "x" * MAX_TEXT_LENGTH) == ()


def note(note_id: str, content: str, day: int, **fields: object) -> Note:
    at = T0 + timedelta(days=day)
    made = Note(
        id=note_id, namespace="n", content=content, role="user", author="Ada", source=None,
        created_at=at, keywords=(), tags=(), context="", importance=0.5, metadata={},
        last_accessed_at=at,
    )  # fmt: skip
    return replace(made, **fields)  # type: ignore[arg-type]  # fields of Note


def test_the_link_leads_from_the_newer_note_whichever_comes_first() -> None:
    older, newer = note("o", "I have 3 cats", 0), note("n", "I have 4 cats", 1)
    link = superseding(older, newer, -0.5, T0)
    assert link == superseding(newer, older, -0.5, T0)
    assert link is not None
    assert (link.pair, link.cosine, link.weight, link.created_at) == (("n", "o"), -0.5, 0.0, T0)
    assert str(link.reason) == "number: 3 -> 4"


@pytest.mark.parametrize(
    "fields", [{"author": "Ben"}, {"author": None}, {"role": "assistant"}, {"created_at": T0}]
)
def test_others_supersede_nothing(fields: dict[str, object]) -> None:
    newer = note("n", "I have 4 cats", 1, **fields)
    assert superseding(newer, note("o", "I have 3 cats", 0), 0.9, T0) is None


def test_assistants_claim_nothing_for_anyone() -> None:
    both = (note("n", "I have 4 cats", 1, role="assistant"),
            note("o", "I have 3 cats", 0, role="assistant"))  # fmt: skip
    assert superseding(*both, 0.9, T0) is None
