"""A language model may describe a note; no note depends on it."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from contract.memories import Clock, Place
from contract.test_memory_language_model import Said, ScriptedModel

from graphmem import AddReceipt, LanguageModelError, Memory, Note, NoteInput

TEXT = "Ada prefers aisle seats on flights over three hours"
RULE = "rule:construct-1"


def description(**fields: object) -> str:
    return json.dumps(
        {
            "keywords": ["aisle seats", "flights"],
            "tags": ["Travel"],
            "context": "A seat preference.",
            "importance": 4,
        }
        | fields
    )


def described(place: Place, said: Said, **given: Any) -> tuple[Note, AddReceipt]:
    memory = place.open(language_model=ScriptedModel(construction=said), clock=Clock())
    receipt = memory.add(TEXT, id="n", **given)
    return memory.get("n"), receipt


def by_rule(place: Place) -> Note:
    elsewhere = Place(place.url, place.auth, namespace=place.namespace + " r", opened=place.opened)
    memory = elsewhere.open(clock=Clock())
    assert memory.add(TEXT, id="n").constructor == RULE
    return memory.get("n")


def made_of(note: Note) -> Mapping[str, object]:
    return {name: getattr(note, name) for name in ("keywords", "tags", "context", "importance")}


WRAPPED = {
    "plain": "{}",
    "fenced": "```json\n{}\n```",
    "with prose": "Here you are: {}\nAnything else?",
    "with braces in the prose": "The note {{of Ada}} gives: {}",
    "after thoughts": '<think>{{"keywords": ["no"]}}</think>{}',
    "after thoughts without a beginning": 'maybe {{"tags": ["no"]}}</think>{}',
}


@pytest.mark.parametrize("form", WRAPPED)
def test_what_the_model_says_is_used(place: Place, form: str) -> None:
    note, receipt = described(place, WRAPPED[form].format(description()))
    assert made_of(note) == {
        "keywords": ("aisle seats", "flights"),
        "tags": ("travel",),
        "context": "A seat preference.",
        "importance": pytest.approx(1 / 3),
    }
    assert note.content == TEXT
    assert (receipt.constructor, receipt.fallback) == ("scripted-1:construct-1", None)
    assert receipt.importance == note.importance


UNUSABLE: dict[str, Said] = {
    "empty": "",
    "prose": "I cannot help with that.",
    "cut off": description()[:-20],
    "a trailing comma": description()[:-1] + ",}",
    "thoughts without an end": f"<think>{description()}",
    "a list": "[1]",
    "other keys": '{"summary": "seats"}',
    "nested without end": '{"keywords": ' + "[" * 5000 + "]" * 5000 + "}",
    "the model's own error": LanguageModelError("no usable reply"),
    "any other error": TimeoutError("slow"),
    "no text": lambda prompt: None,  # type: ignore[dict-item,return-value]  # a faulty model
}


@pytest.mark.parametrize("form", UNUSABLE)
def test_without_a_usable_reply_the_rules_make_the_note(
    place: Place, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="graphmem"):
        note, receipt = described(place, UNUSABLE[form])
    assert made_of(note) == made_of(by_rule(place))
    assert receipt.constructor == RULE
    assert receipt.fallback
    assert receipt.fallback in caplog.text


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({"importance": 11}, {"importance"}),
        ({"importance": "very"}, {"importance"}),
        ({"importance": None}, {"importance"}),
        ({"tags": {"a": 1}}, {"tags"}),
        ({"tags": ["", "nul\0"]}, {"tags"}),
        ({"keywords": [1, 2], "context": 7}, {"keywords", "context"}),
        ({"context": "\ud800"}, {"context"}),
        ({"context": " "}, {"context"}),
    ],
)
def test_what_is_missing_or_unusable_is_made_by_the_rules(
    place: Place, fields: dict[str, object], missing: set[str]
) -> None:
    note, receipt = described(place, description(**fields))
    ruled, said = made_of(by_rule(place)), json.loads(description())
    for name, value in made_of(note).items():
        if name in missing:
            assert value == ruled[name]
            assert name in (receipt.fallback or "")
        elif name == "keywords":
            assert list(value) == said[name]  # type: ignore[call-overload]  # a tuple of texts
    assert receipt.constructor == "scripted-1:construct-1"


def test_a_lone_text_is_one_tag(place: Place) -> None:
    note, _ = described(place, description(tags="travel", importance="10"))
    assert (note.tags, note.importance) == (("travel",), 1.0)


def test_what_the_caller_gives_goes_first(place: Place) -> None:
    note, receipt = described(place, description(importance=99), tags=["mine"], importance=0.25)
    assert (note.tags, note.importance, note.context) == (("mine",), 0.25, "A seat preference.")
    assert receipt.fallback is None


def test_a_note_with_everything_given_is_not_asked_about(place: Place) -> None:
    model = ScriptedModel(construction=description())
    memory = place.open(language_model=model)
    memory.add(TEXT, keywords=[], tags=[], context="c", importance=0.5)
    assert model.described == []


def test_only_new_texts_are_asked_about(place: Place) -> None:
    model = ScriptedModel(construction=description())
    memory = place.open(language_model=model)
    memory.add(TEXT, id="n")
    again = memory.add(TEXT, id="n")
    assert (again.outcome, again.constructor, len(model.described)) == ("unchanged", "", 1)
    assert memory.add(TEXT, id="n", role="assistant").outcome == "revised"
    assert len(model.described) == 1
    model.construction = description(context="Another.")
    changed = memory.add(TEXT + ", she says", id="n")
    assert (changed.outcome, changed.constructor) == ("revised", "scripted-1:construct-1")
    assert memory.get("n").context == "Another."
    assert len(model.described) == 2


def test_a_long_note_is_shown_in_part_and_kept_whole(place: Place) -> None:
    model = ScriptedModel(construction=description())
    memory = place.open(language_model=model)
    text = "word " * 20_000 + "end"
    memory.add(text, id="n")
    assert len(model.described[0]) < 10_000
    assert memory.get("n").content == text


def test_a_batch_reports_its_fallbacks_by_index(place: Place) -> None:
    def sometimes(prompt: str) -> str:
        return "no" if "bad" in prompt else description()

    memory: Memory = place.open(language_model=ScriptedModel(construction=sometimes))
    texts = ["good one", "bad one", "", "good two", "bad two"]
    report = memory.add_many([NoteInput(text) for text in texts], batch_size=2)
    assert report.added == 4
    assert [index for index, _ in report.rejected] == [2]
    assert [index for index, _ in report.fallbacks] == [1, 4]
    assert all("no JSON object" in reason for _, reason in report.fallbacks)
