"""Text of every kind: found by its words, kept as it was, never a query language."""

from __future__ import annotations

from typing import Any

import pytest
from contract.memories import Place, hits, ids, notes_of

from graphmem import (
    Memory,
    Source,
)

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
