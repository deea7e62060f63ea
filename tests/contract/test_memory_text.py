"""Text of every kind: found by its words, kept as it was, never a query language."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from contract.memories import NOON, Clock, Place, add_all, ids, notes_of, state
from stub_embedder import StubEmbedder

from graphmem import (
    InvalidInput,
    InvalidNote,
    InvalidQuery,
    Memory,
    NoteInput,
    RecallResult,
    Source,
)


@pytest.fixture
def words_only(place: Place, clock: Clock) -> Memory:
    """A memory in which every text has the same vector, so that only words decide."""
    return place.open(embedder=StubEmbedder({"": np.ones(8)}), clock=clock)


def hits(result: RecallResult) -> list[str]:
    """Ids of the notes that share a word with the question, best first."""
    return [ranked.note.id for ranked in result.notes if ranked.signals["lexical"] > 0]


# --- syntax of query languages -----------------------------------------------------------


def test_slashes_are_text(words_only: Memory) -> None:
    memory = words_only
    memory.add("Nightly A/B testing of the onboarding page starts Monday.", id="ab")
    memory.add("The kettle is blue.", id="kettle")
    assert hits(memory.recall("/b testing")) == ["ab"]
    assert hits(memory.recall("A/B")) == ["ab"]
    assert hits(memory.recall("/")) == []
    assert hits(memory.recall("/etc/hosts")) == []
    assert hits(memory.recall("and/or")) == []


RESERVED = {
    "tb": ["tb"],
    "tb-": ["tb"],
    "tb-relay": ["tb"],
    "C++": ["cpp"],
    "board:": ["tb"],
    "board?": ["tb"],
    "(parser)": ["cpp"],
    "par*er?": [],
    "board~2": ["tb"],
    "board^3": ["tb"],
    "[1 TO 5] board": ["tb"],
    "[1 TO 5]": [],
    "\\": [],
    "\\board": ["tb"],
    "&&": [],
    "board || parser": ["tb", "cpp"],
    "+board -parser": ["tb", "cpp"],
    "board AND NOT parser": ["tb", "cpp"],
    '"board"': ["tb"],
    '"board': ["tb"],
    "{board}": ["tb"],
    "board!": ["tb"],
    "content:board": ["tb"],
    "*:*": [],
    "' OR 1=1 --": [],
    "`board`": ["tb"],
    "$board": ["tb"],
    "MATCH (n) DETACH DELETE n": [],
}


@pytest.mark.parametrize("question", RESERVED)
def test_reserved_characters_are_text(words_only: Memory, question: str) -> None:
    memory = words_only
    memory.add("tb-relay board revision 4 passed burn-in.", id="tb")
    memory.add("We dropped C++ for the parser.", id="cpp")
    found = hits(memory.recall(question, track=False))
    assert sorted(found) == sorted(RESERVED[question])
    assert len(notes_of(memory)) == 2


@pytest.mark.parametrize(
    "name", ["City/State", "Person-Name", "two words", "123", "é", "`", "a:b", "$x", "'", '"', "{}"]
)
def test_names_with_punctuation_are_values(memory: Memory, name: str) -> None:
    given: dict[str, Any] = {
        "tags": [name],
        "author": name,
        "role": name,
        "source": Source(name),
        "metadata": {name: name, "a.b c": [name]},
    }
    memory.add("a note with a name", id="n", **given)
    memory.add("a note without", id="m", tags=["other"])
    note = memory.get("n")
    assert (note.tags, note.author, note.role, note.source) == ((name,), name, name, Source(name))
    assert dict(note.metadata) == {name: name, "a.b c": [name]}
    every: list[dict[str, Any]] = [{"tags": name}, {"authors": name}, {"sources": name}]
    for filters in every:
        assert [each.id for each in memory.notes(**filters)] == ["n"]
        assert ids(memory.recall("a note", track=False, **filters)) == ["n"]


# --- scripts and forms -------------------------------------------------------------------


def test_composed_and_decomposed_letters_meet(words_only: Memory) -> None:
    memory = words_only
    composed, decomposed = "Café Zürich opens at seven.", "jalapen\u0303o order is late"
    memory.add(composed, id="cafe")
    memory.add(decomposed, id="jalapeno")
    scores = []
    for question in ("Café Zürich", "Cafe\u0301 Zu\u0308rich", "cafe zurich", "Ｃａｆé Zürich"):
        result = memory.recall(question, track=False)
        assert hits(result) == ["cafe"], question
        scores.append(result.notes[0].signals["lexical"])
    assert scores == [scores[0]] * 4
    assert hits(memory.recall("jalapeño", track=False)) == ["jalapeno"]
    assert memory.get("cafe").content == composed
    assert memory.get("jalapeno").content == decomposed


def test_scripts_without_spaces_are_found(words_only: Memory) -> None:
    memory = words_only
    memory.add("多租户隔离在六月上线", id="chinese")
    memory.add("Invoice printer jams on Fridays", id="printer")
    memory.add("Lunch is at noon", id="lunch")
    memory.add("החשבונית נשלחה אתמול", id="hebrew")
    memory.add("ใบแจ้งหนี้ถูกส่งแล้ว", id="thai")
    for question, found in {
        "租户": ["chinese"],
        "多租户隔离": ["chinese"],
        "חשבונית": ["hebrew"],
        "ใบแจ้งหนี้": ["thai"],
        "東京タワー": [],
        "…": [],
        "?!": [],
    }.items():
        result = memory.recall(question, track=False)
        assert hits(result) == found, question
        assert ids(result)[: len(found)] == found


TEXTS = (
    "good \U0001f600 emoji \U0001f469\u200d\U0001f680 joined \U0001f1ef\U0001f1f5 flags",
    "first half\u2028second half",
    "a\u0085b",
    "a\u2029b",
    "a\x0b\x0c\x1cb",
    "a\r\nb",
    "a\rb\n",
    " spaces before and after ",
    "\ufeffwith a mark",
    "\u202eright to left\u202c שלום",
    "\x1b[31mred\x1b[0m",
    "tab\tand \\ backslash and \\u0041",
    "quote ' and \" and ` and $x and {y} and ${z}",
    "ﬁ ligature, K kelvin, ß sharp, İ dotted",
    "\U0010ffff last",
)


def test_text_is_kept_character_for_character(place: Place) -> None:
    memory = place.open()
    for i, text in enumerate(TEXTS):
        memory.add(text, id=f"n{i:02}", context=text, metadata={"text": text})
    memory.close()
    notes = list(place.open().notes())
    assert [note.content for note in notes] == list(TEXTS)
    assert [note.context for note in notes] == list(TEXTS)
    assert [note.metadata["text"] for note in notes] == list(TEXTS)


def test_a_very_long_note_is_kept_and_found(words_only: Memory) -> None:
    memory = words_only
    long = "the harbour log says nothing new. " * 6_000 + "zanzibar"
    assert len(long) > 200_000
    memory.add(long, id="long")
    memory.add("the kettle is blue", id="short")
    assert memory.get("long").content == long
    assert hits(memory.recall("zanzibar", track=False)) == ["long"]
    assert hits(memory.recall(long[:200_000], track=False)) == ["long"]


# --- blank and unstorable ----------------------------------------------------------------

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
