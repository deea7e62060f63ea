"""A language model may propose metadata; what it says is checked, and no text depends on it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
from contract.memories import Clock, Place, ids, pairs_of, traces

from graphmem import LanguageModelError, Memory

CLINIC = "The clinic by the river has friendly nurses"


@dataclass
class ScriptedModel:
    """Gives the same reply to every prompt, or raises it."""

    reply: str | Exception
    model_id: str = "scripted-1"
    prompts: list[str] = field(default_factory=list)

    def complete(self, prompt: str, *, schema: Mapping[str, object]) -> str:
        self.prompts.append(prompt)
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


def changes(*items: Mapping[str, object]) -> str:
    return json.dumps({"changes": items})


GOOD = changes({"id": "old", "context": "clinic", "tags": ["health"], "keywords": ["nurse"]})


def evolved_by(place: Place, reply: str | Exception, clock: Clock | None = None) -> Memory:
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
    model = ScriptedModel(changes())
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
