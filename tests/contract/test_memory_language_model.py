"""A language model may propose metadata; what it says is checked, and no text depends on it."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from contract.memories import Clock, Place, ids, pairs_of, traces
from stub_embedder import StubEmbedder, at_cosine

from graphmem import LanguageModelError, Memory, NoteInput

CLINIC = "The clinic by the river has friendly nurses"


Said = str | Exception | Callable[[str], str]


@dataclass
class ScriptedModel:
    """Gives one reply to what evolution asks and one to what construction asks, or raises it."""

    evolution: Said = '{"changes": []}'
    construction: Said = "none"
    model_id: str = "scripted-1"
    prompts: list[str] = field(default_factory=list)
    described: list[str] = field(default_factory=list)

    def complete(self, prompt: str, *, schema: Mapping[str, Any]) -> str:
        evolves = "changes" in schema["properties"]
        (self.prompts if evolves else self.described).append(prompt)
        said = self.evolution if evolves else self.construction
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, str) else said(prompt)


def changes(*items: Mapping[str, object]) -> str:
    return json.dumps({"changes": items})


GOOD = changes({"id": "old", "context": "clinic", "tags": ["health"], "keywords": ["nurse"]})


def evolved_by(place: Place, reply: Said, clock: Clock | None = None) -> Memory:
    """A memory in which ``new`` arrived beside ``old`` while the model gave `reply`."""
    memory = place.open(language_model=ScriptedModel(reply), clock=clock or Clock())
    memory.add(f"{CLINIC} [east]", id="old", tags=["oldmarker"], keywords=["k"], context="c")
    memory.add(f"{CLINIC} [twin]", id="new", tags=["rulemarker"], keywords=["k"], context="c")
    return memory


READABLE = {
    "plain": GOOD,
    "fenced": f"```json\n{GOOD}\n```",
    "fenced without a name": f"```\n{GOOD}\n```",
    "prose around it": f"Sure! Here is the JSON:\n{GOOD}\nHope this helps.",
    "thoughts before it": f"<think>Tags {{maybe}}: health?</think>\n{GOOD}",
}


@pytest.mark.parametrize("form", READABLE)
def test_a_usable_reply_is_used(place: Place, form: str) -> None:
    memory = evolved_by(place, READABLE[form])
    note = memory.get("old")
    assert (note.tags, note.context, note.keywords) == (("health",), "clinic", ("nurse",))
    assert note.content == f"{CLINIC} [east]"
    (event,) = memory.history("old")
    assert event.proposer.startswith("scripted-1")
    assert (event.kind, event.trigger_id) == ("evolved", "new")


def test_every_read_shows_the_proposed_words_at_once(place: Place) -> None:
    memory = evolved_by(place, changes({"id": "old", "tags": ["newmarker"]}))
    for handle in (memory, place.open()):
        assert handle.get("old").tags == ("newmarker",)
        assert [note.id for note in handle.notes(tags="newmarker")] == ["old"]
        assert [note.id for note in handle.notes(tags="oldmarker")] == []
        found = handle.recall("newmarker", track=False)
        assert [r.note.id for r in found.notes if r.signals["lexical"] > 0] == ["old"]
        lost = handle.recall("oldmarker", track=False)
        assert [r.note.id for r in lost.notes if r.signals["lexical"] > 0] == []


UNUSABLE: dict[str, str | Exception] = {
    "empty": "",
    "prose": "I cannot help with that.",
    "cut off": GOOD[:-12],
    "a trailing comma": GOOD[:-1] + ",}",
    "a list": "[1, 2, 3]",
    "a number": "7",
    "null": "null",
    "other keys": '{"changes_": []}',
    "changes of another kind": '{"changes": "all of them"}',
    "nested without end": '{"changes": ' + "[" * 5000 + "]" * 5000 + "}",
    "the model's own error": LanguageModelError("no usable reply"),
    "any other error": TimeoutError("slow"),
}


@pytest.mark.parametrize("form", UNUSABLE)
def test_an_unusable_reply_falls_back_to_the_rule(
    place: Place, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="graphmem"):
        memory = evolved_by(place, UNUSABLE[form])
    assert caplog.records
    note = memory.get("old")
    assert note.content == f"{CLINIC} [east]"
    assert set(note.tags) == {"oldmarker", "rulemarker"}
    (event,) = memory.history("old")
    assert event.proposer.startswith("rule:")
    assert memory.get("new").content == f"{CLINIC} [twin]"


def test_notes_the_model_made_up_are_dropped(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    reply = changes(
        {"id": "0", "tags": ["x"]},
        {"id": "no-such-id", "tags": ["x"]},
        {"id": "new", "tags": ["x"]},
        {"id": "old", "tags": ["health"]},
        {"id": "old", "tags": ["second"]},
        {"id": 7, "tags": ["x"]},
        {"tags": ["x"]},
    )
    with caplog.at_level(logging.WARNING, logger="graphmem"):
        memory = evolved_by(place, reply)
    assert len(caplog.records) >= 4
    assert memory.get("old").tags == ("health",)
    assert memory.get("new").tags == ("rulemarker",)
    assert pairs_of(memory) == [("new", "old")]
    assert memory.stats().notes == 2
    assert memory.check().ok


def test_values_that_cannot_be_stored_are_dropped(place: Place) -> None:
    reply = changes(
        {"id": "old", "tags": ["", " ", "nul\0", "\ud800", "fine", "fine"], "context": "\0"}
    )
    note = evolved_by(place, reply).get("old")
    assert (note.tags, note.context, note.keywords) == (("fine",), "c", ("k",))


def test_only_near_identical_notes_are_shown_to_the_model(place: Place) -> None:
    model = ScriptedModel()
    memory = place.open(language_model=model)
    memory.add_many([])
    memory.add("a quite different flat [far]", id="flat")
    memory.add("a clinic further away [near]", id="clinic")
    assert model.prompts == []
    memory.add(f"{CLINIC} [east]", id="old")
    assert model.prompts == []
    memory.add(f"{CLINIC} [twin]", id="new")
    (prompt,) = model.prompts
    assert "friendly nurses" in prompt
    assert "different flat" not in prompt
    assert memory.history("old") == ()


HALVES = {"[left]": at_cosine(0.92, axis=1), "[right]": 2 * 0.92 * at_cosine(1.0)}
HALVES["[right]"] = HALVES["[right]"] - HALVES["[left]"]
"""Both near-identical with ``[east]``, too far from each other to be linked."""


def test_of_the_links_the_model_proposes_exactly_the_valid_ones_are_kept(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    proposed = ["0", "no-such-id", "left", "right", "right", 7, None]
    reply = changes({"id": "left", "connections": proposed})
    embedder = StubEmbedder({"[east]": at_cosine(1.0), **HALVES})
    memory = place.open(language_model=ScriptedModel(reply), embedder=embedder)
    memory.add(f"{CLINIC} [left]", id="left", tags="t", keywords="k", context="c")
    memory.add(f"{CLINIC} [right]", id="right", tags="t", keywords="k", context="c")
    assert pairs_of(memory) == []
    with caplog.at_level(logging.WARNING, logger="graphmem"):
        memory.add(f"{CLINIC} [east]", id="new", tags="t", keywords="k", context="c")
    assert sum("dropped a link" in record.message for record in caplog.records) == 6
    assert pairs_of(memory) == [("left", "new"), ("left", "right"), ("new", "right")]
    (link,) = (link for link in memory.links("left") if link.other("left") == "right")
    expected = float(np.dot(HALVES["[left]"], HALVES["[right]"]))
    assert (link.cosine, link.weight) == pytest.approx((expected, expected), abs=1e-5)
    (event,) = memory.history("left")
    assert [made.pair for made in event.linked] == [("left", "right")]
    assert "right" in ids(memory.recall("clinic", track=False))
    memory.undo(event.id)
    assert pairs_of(memory) == [("left", "new"), ("new", "right")]


def test_only_the_notes_that_are_meant_evolve(place: Place) -> None:
    model = ScriptedModel(changes({"id": "clinic", "context": "clinic", "tags": ["health"]}))
    memory = place.open(language_model=model)
    for number in range(5):
        memory.add(f"flat {number} has a balcony", id=f"flat{number}", tags="flat")
    memory.add(f"{CLINIC} [east]", id="clinic", tags="t", keywords="k", context="c")
    memory.add("the clinic opens at nine [near]", id="hours", tags="t", keywords="k", context="c")
    memory.add("the clinic has a garden [far]", id="garden", tags="t", keywords="k", context="c")
    before = {note.id: note for note in memory.notes()}
    memory.add(f"{CLINIC} [twin]", id="new", tags="t", keywords="k", context="c")
    after = {note.id: note for note in memory.notes()}
    assert {i for i in before if after[i] != before[i]} == {"clinic"}
    assert (after["clinic"].context, after["clinic"].tags) == ("clinic", ("health",))
    assert after["clinic"].content == before["clinic"].content
    assert ("clinic", "new") in pairs_of(memory)


def test_the_model_is_asked_while_others_can_write(place: Place) -> None:
    def writes(prompt: str) -> str:
        place.open().add("meanwhile [west]", id=f"meanwhile{len(model.prompts)}")
        return GOOD

    model = ScriptedModel(writes, writes)
    memory = place.open(language_model=model)
    memory.add(f"{CLINIC} [east]", id="old")
    memory.add(f"{CLINIC} [twin]", id="new")
    assert memory.get("old").tags == ("health",)
    assert memory.stats().notes == 4


def test_a_note_that_changed_while_the_model_thought_is_asked_about_anew(place: Place) -> None:
    def revises(prompt: str) -> str:
        place.open().revise("old", tags=["meanwhile"])
        return GOOD

    model = ScriptedModel(revises)
    memory = place.open(language_model=model)
    memory.add(f"{CLINIC} [east]", id="old", tags="t", keywords="k", context="c")
    memory.add(f"{CLINIC} [twin]", id="new", tags="t", keywords="k", context="c")
    assert ["meanwhile" in prompt for prompt in model.prompts] == [False, True]
    assert memory.history("old")[-1].before.tags == ("meanwhile",)
    assert memory.get("old").tags == ("health",)


def test_a_note_that_will_not_rest_is_left_to_the_rule(place: Place) -> None:
    def revises(prompt: str) -> str:
        place.open().revise("old", tags=[f"meanwhile{len(model.prompts)}"])
        return GOOD

    model = ScriptedModel(revises)
    memory = place.open(language_model=model)
    memory.add(f"{CLINIC} [east]", id="old", tags="t", keywords="k", context="c")
    memory.add(f"{CLINIC} [twin]", id="new", tags="t", keywords="k", context="c")
    assert len(model.prompts) == 2
    assert set(memory.get("old").tags) == {"meanwhile2", "t"}
    assert memory.history("old")[-1].proposer.startswith("rule:")


def test_a_batch_is_advised_as_one_by_one(place: Place) -> None:
    def adds_a_tag(prompt: str) -> str:
        _, _, targets = prompt.partition("Neighbours: ")
        shown, _ = json.JSONDecoder().raw_decode(targets)
        return changes(
            *({"id": n["id"], "tags": [*n["tags"], f"t{len(n['tags'])}"]} for n in shown)
        )

    texts = [f"{CLINIC} number {number} [east]" for number in range(4)]
    notes = [
        NoteInput(text, id=f"n{i}", tags="t", keywords="k", context="c")
        for i, text in enumerate(texts)
    ]
    at_once = place.open(language_model=ScriptedModel(adds_a_tag), clock=Clock())
    at_once.add_many(notes)
    model = ScriptedModel(adds_a_tag)
    one_by_one = Place(place.url, place.auth, namespace=place.namespace + " 2", opened=place.opened)
    single = one_by_one.open(language_model=model, clock=Clock())
    for note in notes:
        single.add_many([note])
    assert len(model.prompts) == 3
    assert at_once.get("n0").tags == ("t", "t1", "t2", "t3")
    for note in notes:
        ours, theirs = at_once.get(note.id), single.get(note.id)
        assert replace(ours, namespace="") == replace(theirs, namespace="")


def test_an_evolution_by_the_model_can_be_undone_and_erased(place: Place) -> None:
    memory = evolved_by(place, GOOD)
    before = memory.history("old")[0].before
    memory.undo("old@2")
    assert memory.get("old").state == before
    again = evolved_by(
        Place(place.url, place.auth, namespace=place.namespace + " 2", opened=place.opened), GOOD
    )
    assert "health" in again.get("old").tags
    again.erase(id="new")
    assert again.get("old").tags == ("oldmarker",)
    assert traces(again, "'new'") == []
    assert ids(again.recall("clinic", track=False)) == ["old"]
