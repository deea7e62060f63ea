"""What cannot be stored or asked is refused with its field named, and changes nothing."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from contract.memories import NOON, Place, add_all, hits, ids, notes_of, state

from graphmem import (
    InvalidInput,
    InvalidNote,
    InvalidQuery,
    Memory,
    NoteInput,
    Source,
)

BLANK = ["", "   ", "\n\t", "\u00a0", "\u200b", "\u2028", "\ufeff", None]
UNSTORABLE = ["nul \0 inside", "\0", "broken \udc8f tail", "\ud800"]


@pytest.mark.parametrize("text", [*BLANK, *UNSTORABLE, 7, b"bytes"])
def test_what_is_no_text_is_neither_added_nor_asked(memory: Memory, text: Any) -> None:
    add_all(memory, [NoteInput(f"note {i}", id=f"n{i}") for i in range(3)])
    before = state(memory)
    with pytest.raises(InvalidNote) as refused:
        memory.add(text)
    assert refused.value.field == "content"
    with pytest.raises(InvalidNote):
        memory.add(text, id="n0")
    with pytest.raises(InvalidQuery):
        memory.recall(text)
    with pytest.raises(InvalidQuery):
        memory.candidates(text)
    assert memory.add_many([NoteInput(text)]).rejected[0][0] == 0
    if text is not None:
        with pytest.raises(InvalidNote):
            memory.revise("n0", content=text)
    assert state(memory) == before


BAD_FIELDS: list[tuple[dict[str, Any], str]] = [
    ({"tags": [None]}, "tags"),
    ({"tags": [""]}, "tags"),
    ({"tags": ["\ud800"]}, "tags"),
    ({"tags": 7}, "tags"),
    ({"keywords": ["\0"]}, "keywords"),
    ({"author": " "}, "author"),
    ({"author": "\ud800"}, "author"),
    ({"role": ""}, "role"),
    ({"context": "\udc00"}, "context"),
    ({"source": Source("")}, "source"),
    ({"source": Source("\0")}, "source"),
    ({"source": Source("s", position=True)}, "source"),
    ({"source": Source("s", position=2**70)}, "source"),
    ({"source": Source("s", start=-1)}, "source"),
    ({"source": "chat"}, "source"),
    ({"importance": -0.1}, "importance"),
    ({"importance": 1.1}, "importance"),
    ({"importance": float("nan")}, "importance"),
    ({"importance": float("inf")}, "importance"),
    ({"importance": "high"}, "importance"),
    ({"importance": True}, "importance"),
    ({"created_at": datetime(2025, 7, 25, 2)}, "created_at"),
    ({"created_at": "2025-07-25T02:00:00Z"}, "created_at"),
    ({"created_at": date(2025, 7, 25)}, "created_at"),
    (
        {"created_at": datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))},
        "created_at",
    ),
    ({"metadata": {"day": date(2025, 1, 2)}}, "metadata"),
    ({"metadata": {"nan": float("nan")}}, "metadata"),
    ({"metadata": {"inf": float("-inf")}}, "metadata"),
    ({"metadata": {"": "x"}}, "metadata"),
    ({"metadata": {7: "x"}}, "metadata"),
    ({"metadata": {"deep": {"key": {1, 2}}}}, "metadata"),
    ({"metadata": {"key": "\ud800"}}, "metadata"),
    ({"metadata": {"\ud800": "value"}}, "metadata"),
    ({"metadata": {"list": ["fine", "\0"]}}, "metadata"),
    ({"metadata": [("a", 1)]}, "metadata"),
    ({"metadata": {"bytes": b"x"}}, "metadata"),
]


@pytest.mark.parametrize(("fields", "named"), BAD_FIELDS)
def test_a_field_that_cannot_be_stored_is_named(
    memory: Memory, fields: dict[str, Any], named: str
) -> None:
    memory.add("first", id="n")
    before = state(memory)
    with pytest.raises(InvalidNote) as refused:
        memory.add("a note", **fields)
    assert refused.value.field.split(".")[0] == named
    assert str(refused.value)
    ((index, reason),) = memory.add_many([NoteInput("a note", **fields)]).rejected
    assert index == 0
    assert named in reason
    assert state(memory) == before


@pytest.mark.parametrize("key", ["day", "nan", "", "deep"])
def test_the_metadata_key_is_named(memory: Memory, key: str) -> None:
    bad: dict[str, object] = {
        "day": date(2025, 1, 2),
        "nan": float("nan"),
        "": "x",
        "deep": {"k": {1, 2}},
    }
    with pytest.raises(InvalidNote) as refused:
        memory.add("a note", metadata={"fine": 1, key: bad[key]})
    assert repr(key) in str(refused.value)


def test_empty_and_false_are_not_missing(memory: Memory) -> None:
    metadata: dict[str, object] = {
        "none": None,
        "pages": [],
        "flag": False,
        "score": 0.0,
        "count": 0,
        "note": "",
        "big": 2**63,
        "tuple": (1, 2),
        "object": {},
    }
    memory.add("a note", id="n", metadata=metadata, keywords=(), importance=0.0)
    note = memory.get("n")
    assert repr(sorted(note.metadata.items())) == repr(
        sorted((metadata | {"tuple": [1, 2]}).items())
    )
    assert (note.keywords, note.importance) == ((), 0.0)


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("red", ("red",)),
        (("red", "red"), ("red",)),
        (["b", "a"], ("b", "a")),
        ({"b", "a"}, ("a", "b")),
        ((), ()),
        (lambda: iter(["x", "y"]), ("x", "y")),
    ],
)
def test_tags_given_in_any_form(memory: Memory, given: Any, stored: tuple[str, ...]) -> None:
    memory.add("a note", id="n", tags=given() if callable(given) else given)
    assert memory.get("n").tags == stored


# --- times -------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/Los_Angeles", "UTC"])
def test_an_instant_is_the_same_under_every_zone(
    place: Place, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        memory = place.open(clock=None)
        instant = datetime(2025, 7, 25, 2, tzinfo=UTC)
        memory.add("in UTC", id="a", created_at=instant)
        memory.add("in Tokyo", id="b", created_at=instant.astimezone(timezone(timedelta(hours=9))))
        started = datetime.now(UTC)
        memory.add("now", id="c")
        a, b, c = memory.get("a"), memory.get("b"), memory.get("c")
        assert a.created_at == b.created_at == instant
        assert {note.created_at.utcoffset() for note in (a, b, c)} == {timedelta(0)}
        assert started <= c.created_at <= datetime.now(UTC)
        assert [note.id for note in memory.notes(since=instant, until=instant)] == []
        assert [n.id for n in memory.notes(since=instant, until=instant + timedelta(1e-6))] == [
            "a",
            "b",
        ]
        with pytest.raises(InvalidNote, match="time zone"):
            memory.add("naive", created_at=datetime(2025, 7, 25, 2))
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_clock_without_zone_is_refused(place: Place) -> None:
    memory = place.open(clock=lambda: datetime(2025, 1, 1))
    from graphmem import ConfigurationError

    with pytest.raises(ConfigurationError):
        memory.add("a note")
    with pytest.raises(ConfigurationError):
        memory.recall("a note")
    assert notes_of(memory) == []


# --- few notes ---------------------------------------------------------------------------


def test_nothing_to_rank_is_no_error(memory: Memory) -> None:
    assert memory.recall("anything").notes == ()
    memory.add("a note", id="n")
    memory.erase(id="n")
    assert memory.recall("anything").notes == ()
    assert memory.add_many([]).added == 0
    assert memory.recall("anything").notes == ()
    memory.add("a later note", id="m")
    assert ids(memory.recall("anything")) == ["m"]


def test_scores_of_few_and_equal_notes(words_only: Memory) -> None:
    memory = words_only
    memory.add("blue kettle", id="only")
    result = memory.recall("blue kettle", track=False)
    assert hits(result) == ["only"]
    memory.add("blue kettle on shelf", id="shelf")
    memory.add("blue kettle on shelf two", id="shelf two")
    memory.add("grey lamp", id="lamp")
    for policy in ("graphmem-1", "mission", "weighted"):
        found = memory.recall("blue kettle", track=False, policy=policy)
        assert ids(found)[-1] == "lamp", policy
        assert all(np.isfinite(ranked.score) for ranked in found.notes)
        assert all(ranked.signals["lexical"] >= 0 for ranked in found.notes)
        assert [ranked.signals["lexical"] > 0 for ranked in found.notes] == [True] * 3 + [False]


def test_two_identical_notes_rank_by_id(words_only: Memory) -> None:
    memory = words_only
    memory.add("blue kettle", id="b", source=Source("x"))
    memory.add("blue kettle", id="a", source=Source("y"))
    result = memory.recall("blue kettle", track=False)
    assert ids(result) == ["a", "b"]
    assert result.notes[0].score == result.notes[1].score


@pytest.mark.parametrize("id_", ["", " ", " n ", 7, None, "x" * 10_000, "\ud800", "\0"])
def test_an_impossible_id_is_refused_everywhere(memory: Memory, id_: Any) -> None:
    memory.add("a note", id="n")
    before = state(memory)
    for call in (
        memory.get,
        memory.links,
        memory.history,
        memory.neighbourhood,
        memory.archive,
        memory.restore,
        memory.undo,
        memory.scoped,
        lambda value: memory.feedback(value, 1),
        lambda value: memory.revise(value, content="x"),
        lambda value: memory.erase(id=value),
    ):
        with pytest.raises(InvalidInput):
            call(id_)
    assert state(memory) == before


def test_clock_faces_do_not_sort(memory: Memory) -> None:
    """Results and filters go by the instant, whatever the offset says."""
    east, west = timezone(timedelta(hours=14)), timezone(timedelta(hours=-11))
    memory.add("later", id="later", created_at=(NOON + timedelta(hours=1)).astimezone(west))
    memory.add("earlier", id="earlier", created_at=NOON.astimezone(east))
    assert [note.id for note in memory.notes(until=NOON + timedelta(minutes=1))] == ["earlier"]
