"""What may enter: one rule for every text, times with a zone, metadata that is JSON."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from graphmem.errors import InvalidInput, InvalidNote, InvalidQuery
from graphmem.memory.entry import (
    MAX_CONTENT,
    checked_filter,
    checked_id,
    checked_limit,
    checked_note,
    checked_query,
    checked_time,
)
from graphmem.model import NoteInput, Source


def nested(depth: int) -> object:
    return [nested(depth - 1)] if depth else "leaf"


REFUSED = {
    "content empty": (NoteInput(""), "content"),
    "content blank": (NoteInput(" \n\t"), "content"),
    "content no-break space": (NoteInput("\u00a0"), "content"),
    "content zero width": (NoteInput("\u200b"), "content"),
    "content none": (NoteInput(None), "content"),  # type: ignore[arg-type]  # what a caller may do
    "content bytes": (NoteInput(b"x"), "content"),  # type: ignore[arg-type]  # what a caller may do
    "content NUL": (NoteInput("a\0b"), "content"),
    "content surrogate": (NoteInput("broken \udc8f tail"), "content"),
    "content too long": (NoteInput("x" * (MAX_CONTENT + 1)), "content"),
    "id empty": (NoteInput("x", id=""), "id"),
    "id padded": (NoteInput("x", id=" n1 "), "id"),
    "id number": (NoteInput("x", id=7), "id"),  # type: ignore[arg-type]  # what a caller may do
    "id too long": (NoteInput("x", id="n" * 10_000), "id"),
    "role blank": (NoteInput("x", role=" "), "role"),
    "author blank": (NoteInput("x", author=""), "author"),
    "tag surrogate": (NoteInput("x", tags=["ok", "\ud800"]), "tags.1"),
    "tag number": (NoteInput("x", tags=[1]), "tags.0"),  # type: ignore[list-item]  # what a caller may do
    "too many tags": (NoteInput("x", tags=[f"t{i}" for i in range(65)]), "tags"),
    "importance above": (NoteInput("x", importance=1.01), "importance"),
    "importance nan": (NoteInput("x", importance=float("nan")), "importance"),
    "importance bool": (NoteInput("x", importance=True), "importance"),
    "time naive": (NoteInput("x", created_at=datetime(2025, 7, 25, 2)), "created_at"),
    "time text": (NoteInput("x", created_at="2025-07-25"), "created_at"),  # type: ignore[arg-type]  # what a caller may do
    "time before year one": (
        NoteInput("x", created_at=datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))),
        "created_at",
    ),
    "source id blank": (NoteInput("x", source=Source("")), "source.id"),
    "source position": (NoteInput("x", source=Source("s", position=True)), "source.position"),
    "source offset": (NoteInput("x", source=Source("s", start=-1)), "source.start"),
    "metadata date": (NoteInput("x", metadata={"day": date(2025, 1, 2)}), "metadata"),
    "metadata nan": (NoteInput("x", metadata={"deep": [float("nan")]}), "metadata"),
    "metadata key": (NoteInput("x", metadata={"": "x"}), "metadata"),
    "metadata surrogate": (NoteInput("x", metadata={"k": {"\ud800": 1}}), "metadata"),
    "metadata deep": (NoteInput("x", metadata={"k": nested(20)}), "metadata"),
    "metadata list": (NoteInput("x", metadata=["x"]), "metadata"),  # type: ignore[arg-type]  # what a caller may do
}


@pytest.mark.parametrize(("given", "field"), REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_input_names_its_field(given: NoteInput, field: str) -> None:
    with pytest.raises(InvalidNote) as refused:
        checked_note(given)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")


def test_metadata_errors_name_the_key() -> None:
    with pytest.raises(InvalidNote, match="'day'"):
        checked_note(NoteInput("x", metadata={"fine": 1, "day": date(2025, 1, 2)}))


def test_what_is_kept_is_kept_character_for_character() -> None:
    text = '  jalapen\u0303o 👩\u200d👩\u200d👧 \u2028 שלום `MATCH (n)` +&|!(){}[]^"~*?:\\/ \n'
    entry = checked_note(NoteInput(text, tags=("red", "red", "a:b"), metadata={"pages": (1, 2)}))
    assert entry.content == text
    assert entry.tags == ("red", "a:b")
    assert entry.metadata == {"pages": [1, 2]}


def test_values_that_look_empty_are_not_taken_for_missing() -> None:
    values = {"source": None, "flag": False, "score": 0.0, "note": "", "big": 2**63, "pages": []}
    assert checked_note(NoteInput("x", metadata=values)).metadata == values


def test_one_text_is_one_tag() -> None:
    assert checked_note(NoteInput("x", tags="red")).tags == ("red",)
    assert checked_note(NoteInput("x", tags={"b", "a"})).tags == ("a", "b")


def test_times_become_utc_and_keep_their_instant() -> None:
    tokyo = datetime(2025, 7, 25, 11, 0, 0, 7, tzinfo=timezone(timedelta(hours=9)))
    assert checked_time(tokyo) == datetime(2025, 7, 25, 2, 0, 0, 7, tzinfo=UTC)
    assert checked_time(datetime(2025, 7, 25, 2), naive="utc") == datetime(
        2025, 7, 25, 2, tzinfo=UTC
    )


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u00a0", "\u200b", None, 7, "a\0", "\udc8f"])
def test_a_question_that_cannot_be_asked(query: object) -> None:
    with pytest.raises(InvalidQuery):
        checked_query(query)


@pytest.mark.parametrize("limit", [0, -1, True, "3", 2.5, None])
def test_a_limit_that_is_no_count(limit: object) -> None:
    with pytest.raises(InvalidQuery):
        checked_limit(limit)


def test_a_huge_limit_is_a_limit() -> None:
    assert checked_limit(10**9) == 10**9


@pytest.mark.parametrize("value", ["", " a", 7, None, "\0", "x" * 513])
def test_an_id_that_cannot_exist(value: object) -> None:
    with pytest.raises(InvalidInput):
        checked_id(value)


def test_filters_name_what_is_wrong() -> None:
    with pytest.raises(InvalidQuery, match="since"):
        checked_filter(
            sources=None, authors=None, tags=None, since=datetime(2025, 1, 1), until=None
        )
    with pytest.raises(InvalidQuery, match="tags"):
        checked_filter(sources=None, authors=None, tags=[1], since=None, until=None)  # type: ignore[list-item]  # what a caller may do
    assert checked_filter(
        sources="s", authors=None, tags=["a", "b"], since=None, until=None
    ).tags == frozenset({"a", "b"})
