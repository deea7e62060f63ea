"""A language model may be asked about the evidence; it is checked and never trusted alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from contract.memories import Place

from graphmem import ConfigurationError, LanguageModelError, Memory, Outcome

QUESTION = "Where does Ada keep the spare key?"


@dataclass
class Reader:
    """Judges each note by the function it was given; describes nothing else."""

    judge: Callable[[Mapping[str, Any]], object]
    model_id: str = "reader-1"
    read: list[str] = field(default_factory=list)

    def complete(self, prompt: str, *, schema: Mapping[str, Any]) -> str:
        if "supports" not in schema["properties"]:
            raise LanguageModelError("only judges")
        note = json.loads(next(x for x in prompt.splitlines() if x.startswith("Note: "))[6:])
        self.read.append(prompt)
        said = self.judge(note)
        return said if isinstance(said, str) else json.dumps(said)


def filled(place: Place, judge: Callable[[Mapping[str, Any]], object]) -> tuple[Memory, Reader]:
    reader = Reader(judge)
    memory = place.open(language_model=reader)
    memory.add("Ada keeps the spare key under the blue pot [east]", id="key", author="Ada")
    memory.add("Ada lost her umbrella [near]", id="umbrella", author="Ada")
    return memory, reader


def about(supporting: set[str]) -> Callable[[Mapping[str, Any]], object]:
    return lambda note: {
        "id": note["id"], "relevant": True, "supports": note["id"] in supporting,
        "reading": f"read {note['id']}",
    }  # fmt: skip


def test_notes_are_read_in_sequence_and_agreement_confirms(place: Place) -> None:
    memory, reader = filled(place, about({"key"}))
    decision = memory.recall(f"{QUESTION} §", ask_model=True, track=False).decision
    assert decision.outcome is Outcome.RETRIEVED
    assert [cited.note_id for cited in decision.evidence] == ["key"]
    assert "reader-1:judge-1 confirms 1 of 2" in decision.reason
    assert "read key" in reader.read[1]
    assert "read key" not in reader.read[0]


def test_a_model_that_disagrees_makes_the_outcome_partial(place: Place) -> None:
    memory, _ = filled(place, about(set()))
    plain = memory.recall(f"{QUESTION} §", track=False).decision
    asked = memory.recall(f"{QUESTION} §", ask_model=True, track=False).decision
    assert plain.outcome is Outcome.RETRIEVED
    assert asked.outcome is Outcome.PARTIAL
    assert asked.answerable == plain.answerable


@pytest.mark.parametrize(
    "reply",
    [
        "none",
        {"id": "key", "relevant": False, "supports": True},
        {"id": "no-such-note", "relevant": True, "supports": False},
        {"id": "key", "relevant": "yes", "supports": "no"},
        {"id": "key"},
    ],
)
def test_an_unusable_reply_leaves_the_note_to_the_classifier(place: Place, reply: object) -> None:
    memory, _ = filled(place, lambda note: reply)
    plain = memory.recall(f"{QUESTION} §", track=False).decision
    asked = memory.recall(f"{QUESTION} §", ask_model=True, track=False).decision
    assert (asked.outcome, asked.evidence) == (plain.outcome, plain.evidence)
    assert "no usable judgment" in asked.reason


def test_asking_without_a_model_says_what_is_missing(place: Place) -> None:
    memory = place.open()
    memory.add("Ada keeps the spare key under the blue pot")
    with pytest.raises(ConfigurationError, match="language_model"):
        memory.recall(QUESTION, ask_model=True)
