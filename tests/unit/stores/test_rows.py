from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from contract.builders import T0, full_note, link, make_event, make_note
from hypothesis import given
from hypothesis import strategies as st

from graphmem.model import EvolutionEvent, Given
from graphmem.stores.embedded.rows import (
    event_of,
    event_row,
    from_micros,
    join_texts,
    link_of,
    link_row,
    note_of,
    note_row,
    split_texts,
    to_micros,
)

MOMENTS = st.datetimes(timezones=st.just(UTC))


@given(MOMENTS)
def test_a_moment_survives_as_an_integer(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


def test_a_moment_of_another_zone_is_the_same_instant_in_utc() -> None:
    there = datetime(2024, 2, 29, 23, 59, 59, 123456, timezone(timedelta(hours=5, minutes=30)))
    assert from_micros(to_micros(there)) == there
    assert from_micros(to_micros(there)).tzinfo is UTC


@given(st.lists(st.text(alphabet=st.sampled_from(["a", "\x1f", "\x1e", "é", ","]))))
def test_texts_survive_being_joined(texts: list[str]) -> None:
    assert split_texts(join_texts(texts)) == tuple(texts)


@pytest.mark.parametrize("texts", [(), ("",), ("", ""), ("\x1e",), ("[]",), ("a\x1fb", "c")])
def test_texts_that_look_like_the_notation_survive(texts: tuple[str, ...]) -> None:
    assert split_texts(join_texts(texts)) == texts


def test_a_note_with_every_field_survives() -> None:
    note = full_note("n1", "ns")
    assert note_of("ns", note_row(7, note, b"")) == note


def test_a_note_with_the_fewest_fields_survives() -> None:
    note = make_note("n1", "ns")
    assert note_of("ns", note_row(7, note, b"")) == note


@pytest.mark.parametrize(
    "given_fields",
    [Given(), Given(keywords=()), Given(context=""), Given(importance=0.0), Given(created_at=T0)],
)
def test_given_fields_that_are_empty_are_not_taken_for_missing(given_fields: Given) -> None:
    from dataclasses import replace

    note = replace(make_note("n1", "ns"), given=given_fields)
    assert note_of("ns", note_row(7, note, b"")) == note


def test_metadata_keeps_types_and_big_numbers() -> None:
    metadata = {"flag": False, "big": 2**63, "score": 0.0, "none": None, "text": "\u2028", "": []}
    note = make_note("n1", "ns", metadata=metadata)  # type: ignore[arg-type] # a JSON value
    back = note_of("ns", note_row(7, note, b"")).metadata
    assert back == metadata
    assert back["flag"] is False
    assert isinstance(back["score"], float)


def test_the_empty_metadata_of_a_stored_note_stays_empty() -> None:
    metadata = note_of("ns", note_row(7, make_note("n1", "ns"), b"")).metadata
    with pytest.raises(TypeError):
        metadata["x"] = 1  # type: ignore[index] # a Mapping cannot be assigned to
    assert metadata == {}


def test_a_link_survives() -> None:
    full = link("a", "b", 0.8, weight=0.3, retrievals=4, last_retrieved_at=T0)
    bare = link("a", "b", -0.5, created_at=None)
    for each in (full, bare):
        assert link_of("a", "b", link_row(1, 2, each)) == each


@pytest.mark.parametrize("trigger", [None, "n2"])
def test_an_event_survives(trigger: str | None) -> None:
    event: EvolutionEvent = make_event(full_note("n1", "ns"), 2, trigger=trigger)
    assert event_of(event_row(1, 7, event)) == event
