"""Summaries know what they were made of, and what no longer holds is made again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from contract.memories import Clock, Place, state

from graphmem import (
    InvalidInput,
    LanguageModelError,
    Memory,
    NotAuthorised,
    NoteInput,
    NotFound,
    Source,
)
from graphmem.algorithms.provenance import Action
from graphmem.memory.summaries import RECEIPT_KEY
from graphmem.transfer.copying import copy_namespace

TOLD = {
    "flat": ["Ana looked at flats in Leeds", "The bright flat costs 900 a month", "She signed"],
    "race": ["Ben trains for a marathon", "The marathon is in October"],
    "cat": ["The cat sneezed"],
}


def told(memory: Memory, chosen: Mapping[str, list[str]] = TOLD) -> Memory:
    memory.add_many(
        NoteInput(text, id=f"{name}{n}", source=Source(name, position=n), tags=["all", name])
        for name, texts in chosen.items()
        for n, text in enumerate(texts)
    )
    return memory


def actions(memory: Memory) -> dict[str, str]:
    return {item.output_id: str(item.action) for item in memory.rebuild(plan=True).decisions}


def test_a_summary_is_a_note_with_a_receipt(memory: Memory) -> None:
    summary = told(memory).summarise(source="flat")
    assert summary.role == "summary"
    assert summary.source == Source("flat")
    assert "900" in summary.content
    receipt: Any = summary.metadata[RECEIPT_KEY]
    assert receipt["inputs"][:3] == [["flat0", 1], ["flat1", 1], ["flat2", 1]]
    assert receipt["producer"] == "extract-1"
    assert memory.get(summary.id) == summary
    assert memory.check().ok
    assert summary.id in [r.note.id for r in memory.recall("bright flat", track=False).notes]


def test_the_same_notes_give_the_same_summary_and_nothing_is_written(memory: Memory) -> None:
    first = told(memory).summarise(tag="all", sentences=3)
    before = state(memory)
    assert memory.summarise(tag="all", sentences=3) == first
    assert memory.rebuild().rebuilt == ()
    assert state(memory) == before
    assert memory.summarise(tag="all", sentences=1).id == first.id
    assert len(memory.summarise(tag="all", sentences=1).content.splitlines()) == 1


def test_a_summary_neither_links_nor_evolves_what_it_tells(memory: Memory) -> None:
    told(memory)
    before = memory.get("cat0")
    summary = memory.summarise(source="cat")
    assert summary.content == "The cat sneezed"
    assert memory.get("cat0") == before
    assert memory.links(summary.id) == ()


def test_an_edit_makes_what_depended_on_it_stale_and_nothing_else(memory: Memory) -> None:
    told(memory)
    ids = {name: memory.summarise(source=name).id for name in TOLD}
    memory.revise("race0", content="Ben gave up the marathon")
    assert actions(memory) == {
        ids["flat"]: "reuse", ids["race"]: "rebuild", ids["cat"]: "reuse",
    }  # fmt: skip
    problems = memory.check().problems
    assert len(problems) == 1
    assert ids["race"] in problems[0]
    assert "changed input: " in problems[0]
    seen: list[tuple[int, int | None]] = []
    report = memory.rebuild(progress=lambda done, total: seen.append((done, total)))
    assert (report.rebuilt, report.unchanged, seen) == ((ids["race"],), (), [(1, 1)])
    assert "gave up" in memory.get(ids["race"]).content
    assert memory.check().ok
    assert [event.proposer for event in memory.history(ids["race"])] == ["extract-1"]


def test_a_new_link_among_the_notes_counts_and_one_to_others_does_not(memory: Memory) -> None:
    summary = told(memory).summarise(source="flat")
    memory.connect([("flat0", "race0")])
    assert actions(memory) == {summary.id: "reuse"}
    memory.connect([("flat0", "flat2")])
    [stale] = memory.rebuild(plan=True).stale
    assert "links of" in stale.reason
    memory.rebuild()
    assert memory.check().ok


def test_added_archived_and_restored_notes_count(memory: Memory) -> None:
    told(memory)
    note_id = memory.summarise(source="cat").id
    memory.add("The cat is well again", id="cat1", source=Source("cat", position=1))
    assert memory.rebuild().rebuilt == (note_id,)
    memory.archive("cat1")
    assert memory.rebuild().rebuilt == (note_id,)
    assert memory.get(note_id).content == "The cat sneezed"
    memory.archive("cat0")
    [blocked] = memory.rebuild(plan=True).decisions
    assert blocked.action is Action.BLOCKED
    assert "missing input: cat0" in blocked.reason
    assert memory.rebuild().rebuilt == ()
    memory.restore("cat0")
    assert actions(memory) == {note_id: "reuse"}


def test_an_output_that_comes_out_the_same_keeps_its_content_revision(memory: Memory) -> None:
    told(memory)
    summary = memory.summarise(source="flat", sentences=1)
    changed = "flat2" if "signed" not in summary.content else "flat0"
    memory.revise(changed, content="Ok")
    report = memory.rebuild()
    assert (report.rebuilt, report.unchanged) == ((), (summary.id,))
    again = memory.get(summary.id)
    assert (again.content, again.content_revision) == (summary.content, 1)
    assert memory.check().ok


def test_an_altered_summary_is_found_and_made_again(memory: Memory) -> None:
    summary = told(memory).summarise(source="cat")
    memory.revise(summary.id, content="The dog barked")
    [problem] = memory.check().problems
    assert "changed output" in problem
    assert memory.rebuild().rebuilt == (summary.id,)
    assert memory.get(summary.id).content == "The cat sneezed"
    forged = json.loads(json.dumps(dict(summary.metadata)))
    forged[RECEIPT_KEY]["inputs"] = [["flat0", 1]]
    memory.revise(summary.id, metadata=forged)
    [problem] = memory.check().problems
    assert "altered" in problem
    assert memory.summarise(source="cat").content == "The cat sneezed"
    assert memory.check().ok


def test_erasing_takes_what_was_derived_only_from_it(memory: Memory) -> None:
    told(memory)
    ids = {name: memory.summarise(source=name).id for name in TOLD}
    everything = memory.summarise(tag="all", sentences=9)
    assert "cat sneezed" in everything.content
    receipt = memory.erase(id="cat0")
    assert set(receipt.note_ids) == {"cat0", ids["cat"]}
    assert receipt.redacted == (everything.id,)
    assert receipt.verified
    left = memory.get(everything.id)
    assert "cat" not in left.content
    assert "marathon" in left.content
    assert memory.history(everything.id) == ()
    assert "sneezed" not in repr(state(memory))
    assert memory.check().ok


def test_erasing_a_source_takes_its_summary_and_earlier_texts_of_others(memory: Memory) -> None:
    told(memory)
    own = memory.summarise(source="flat").id
    everything = memory.summarise(tag="all", sentences=9).id
    memory.revise("race0", content="Ben swims")
    memory.rebuild()
    receipt = memory.erase(source="flat")
    assert own in receipt.note_ids
    assert memory.history(everything) == ()
    for word in ("Leeds", "flat0"):  # a number may stand in a vector or a random namespace
        assert word not in repr(state(memory))


def test_a_summary_moves_with_its_receipt(memory: Memory, clock: Clock) -> None:
    told(memory)
    summary = memory.summarise(source="flat")
    other = memory.scoped(f"{memory.namespace}-copy")
    copy_namespace(memory, other)
    moved = other.get(summary.id)
    assert moved.metadata == summary.metadata
    assert other.check().ok
    other.drop_namespace(other.namespace)


def test_what_is_not_there_or_not_allowed_is_refused(place: Place) -> None:
    told(place.open())
    with pytest.raises(NotFound, match="nothing was summarised"):
        place.open().summarise(source="nowhere")
    with pytest.raises(InvalidInput, match="one of source"):
        place.open().summarise(source="flat", tag="all")
    narrow = place.open(authorise={"sources": ["flat"]})
    assert narrow.summarise(source="flat").source == Source("flat")
    with pytest.raises(NotAuthorised):
        narrow.summarise(source="race")
    with pytest.raises(NotAuthorised):
        narrow.summarise(tag="all")


@dataclass
class Summariser:
    """Gives one reply to every request for a summary."""

    reply: str
    model_id: str = "writer-1"
    asked: list[str] = field(default_factory=list)

    def complete(self, prompt: str, *, schema: Mapping[str, Any]) -> str:
        if "summary" not in schema["properties"]:
            raise LanguageModelError("only summarises")
        self.asked.append(prompt)
        return self.reply


def test_a_language_model_writes_and_another_one_is_another_specification(place: Place) -> None:
    extracted = told(place.open()).summarise(source="cat")
    writer = Summariser('{"summary": "A cat had a cold."}')
    memory = place.open(language_model=writer)
    [decision] = memory.rebuild(plan=True).decisions
    assert (decision.output_id, decision.reason) == (extracted.id, "changed specification")
    assert memory.rebuild().rebuilt == (extracted.id,)
    summary = memory.get(extracted.id)
    assert summary.content == "A cat had a cold."
    assert memory.summarise(source="cat") == summary
    assert len(writer.asked) == 1


@pytest.mark.parametrize("reply", ["none", '{"summary": " "}', '{"summary": 7}', '{"text": "x"}'])
def test_an_unusable_summary_is_extracted_and_the_receipt_says_so(place: Place, reply: str) -> None:
    memory = told(place.open(language_model=Summariser(reply)))
    summary = memory.summarise(source="cat")
    assert summary.content == "The cat sneezed"
    receipt: Any = summary.metadata[RECEIPT_KEY]
    assert receipt["producer"] == "extract-1"
    assert actions(memory) == {summary.id: "rebuild"}
