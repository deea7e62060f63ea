"""Receipts of what is derived from ordinary notes, and finding and mending what is stale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest
from contract.memories import NOON, Place, add_all
from stub_embedder import at_cosine

from graphmem import (
    Action,
    Disagreement,
    DisagreementKind,
    InputRevision,
    Link,
    LinkKind,
    Memory,
    NoteInput,
    NoteRecord,
    NotFound,
)
from graphmem.model import EvolutionEvent, Scope


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """Two cats' counts that disagree, a note that evolved, one that was rewritten."""
    add_all(
        memory,
        [
            NoteInput("We have 3 cats. [east]", id="old", author="Ada", created_at=NOON),
            NoteInput("We have 4 cats. [near]", id="new", author="Ada",
                      created_at=NOON + timedelta(days=1)),
            NoteInput("Ada prefers aisle seats on flights [west]", id="a", tags=["travel"]),
            NoteInput("Ada prefers aisle seats on flights! [west]", id="b", tags=["bmark"]),
            NoteInput("first words [far]", id="r"),
        ],
    )  # fmt: skip
    memory.revise("r", content="the second words [far]")
    memory.summarise(tag="travel")
    assert [event.trigger_id for event in memory.history("a")] == ["b"]
    return memory


def tamper(
    memory: Memory, notes: Iterable[NoteRecord] = (), links: Iterable[Link] = (),
    events: Iterable[EvolutionEvent] = (),
) -> None:  # fmt: skip
    """Put records into the store as they are, past everything that keeps them right."""
    store = memory._parts.store  # what no user can do
    store.load(Scope(memory.namespace), list(notes), list(links), list(events), store.model())


def record(memory: Memory, note_id: str) -> NoteRecord:
    (found,) = (
        item for item in memory.dump() if isinstance(item, NoteRecord) and item.note.id == note_id
    )
    return found


def stale(memory: Memory, **options: bool) -> dict[str, str]:
    report = memory.rebuild(plan=True, **options)
    assert {item.action for item in report.stale} <= {Action.REBUILD}
    return {item.output_id: item.reason for item in report.stale}


def test_receipts_name_inputs_producer_and_settings(filled: Memory) -> None:
    metadata, terms, embedding, links = filled.receipts("a")
    (event,) = filled.history("a")
    assert metadata.output_id == "metadata of a"
    assert metadata.inputs == (InputRevision("a", 1), InputRevision(event.id, event.revision))
    assert metadata.producer == "rule:union-1"
    assert metadata.configuration == {"given": ["tags"], "constructor": "rule:construct-1"}
    for receipt in (terms, embedding):
        assert receipt.inputs == (
            InputRevision("a", 1), InputRevision("metadata of a", metadata.output_digest)
        )  # fmt: skip
    assert (terms.producer, embedding.producer) == ("terms-1", "stub-8")
    assert embedding.configuration == {
        "text": "embedding-text-1",
        "sentences": "sentences-1",
        "dimension": 8,
    }
    assert links.inputs == (InputRevision("a", 1), InputRevision("b", 1))
    assert links.configuration == {"link_threshold": 0.72, "limit": 10}
    for receipt in (metadata, terms, embedding, links):
        assert len(receipt.output_digest) == len(receipt.fingerprint) == 64
    with pytest.raises(NotFound):
        filled.receipts("nobody")


def test_a_receipt_changes_with_what_it_is_made_of_and_no_other(filled: Memory) -> None:
    before = {note_id: filled.receipts(note_id) for note_id in ("a", "r", "old")}
    filled.revise("r", content="the third words [far]")
    assert filled.receipts("a") == before["a"]
    assert filled.receipts("old") == before["old"]
    after = filled.receipts("r")
    assert [item.output_id for item in after] == [item.output_id for item in before["r"]]
    assert all(a.fingerprint != b.fingerprint for a, b in zip(after, before["r"], strict=True))
    assert after[0].inputs == (InputRevision("r", 3),)
    assert len(filled.receipts("r")) == 3  # it has no links


def test_what_is_as_it_was_made_needs_nothing(filled: Memory) -> None:
    assert stale(filled, embeddings=True) == {}
    assert filled.check(embeddings=True).ok
    report = filled.rebuild(embeddings=True)
    assert (report.stale, report.renewed, report.rebuilt) == ((), (), ())


def test_terms_of_another_version_are_found_and_made_again(filled: Memory) -> None:
    whole = record(filled, "r")
    tamper(filled, [replace(whole, terms=("other", "terms"))])
    assert list(stale(filled)) == ["terms of r"]
    assert any("terms of r is out of date" in line for line in filled.check().problems)
    report = filled.rebuild()
    assert (report.renewed, [item.output_id for item in report.stale]) == (("r",), ["terms of r"])
    assert record(filled, "r").terms == whole.terms
    assert filled.get("r") == whole.note
    assert filled.check().ok


@pytest.mark.parametrize("note_id", ["new", "r", "a"])
def test_metadata_nobody_made_are_found_and_made_again(filled: Memory, note_id: str) -> None:
    whole = record(filled, note_id)
    tamper(filled, [replace(whole, note=replace(whole.note, keywords=("forged",)))])
    assert set(stale(filled)) == {f"metadata of {note_id}", f"terms of {note_id}"}
    filled.rebuild()
    mended = filled.get(note_id)
    assert (mended.keywords, mended.revision) == (whole.note.keywords, whole.note.revision + 1)
    assert filled.history(note_id)[-1].proposer == "rule:construct-1"
    assert record(filled, note_id).terms == whole.terms
    assert filled.check(embeddings=True).ok


def test_an_embedding_of_another_text_is_found_when_asked_for(filled: Memory) -> None:
    whole = record(filled, "r")
    tamper(filled, [replace(whole, embedding=at_cosine(0.3).astype("float32"))])
    assert stale(filled) == {}
    assert list(stale(filled, embeddings=True)) == ["embedding of r"]
    assert not filled.check(embeddings=True).ok
    assert filled.rebuild(embeddings=True).renewed == ("r",)
    mended = record(filled, "r").embedding
    assert mended is not None
    assert mended.tobytes() == whole.embedding.tobytes()  # type: ignore[union-attr]  # it had one


def test_a_reason_that_no_longer_holds_is_found_and_made_again(filled: Memory) -> None:
    (link,) = (
        each for each in filled.neighbourhood("old").links if each.kind is LinkKind.SUPERSEDES
    )
    forged = Disagreement(DisagreementKind.NAME, "Tom", "Tim")
    tamper(filled, links=[replace(link, reason=forged)])
    assert list(stale(filled)) == ["links of new"]
    filled.rebuild()
    (mended,) = (
        each for each in filled.neighbourhood("old").links if each.kind is LinkKind.SUPERSEDES
    )
    assert mended.reason == link.reason
    assert filled.check().ok


def test_what_a_language_model_made_is_not_the_rules_to_judge(place: Place) -> None:
    model = Scripted('{"keywords": ["cats"], "tags": ["pets"], "context": "C.", "importance": 5}')
    with place.open(language_model=model) as memory:
        memory.add("We have 3 cats in our house [east]", id="n")
        note = memory.get("n")
        assert note.keywords == ("cats",)
        constructor = note.given.constructor
        assert constructor is not None
        assert constructor.startswith("scripted")
        assert memory.receipts("n")[0].producer == constructor
        assert stale(memory) == {}
        twin = memory.scoped(f"{memory.namespace}-twin")
        twin.load(memory.dump())
        assert twin.get("n").given == note.given
        twin.erase(everything=True)
    with place.open() as memory:
        memory.revise("n", content="We have 4 cats in our house [east]")
        assert memory.get("n").given.constructor is None


class Scripted:
    """A language model that always gives the same reply."""

    def __init__(self, reply: str) -> None:
        self.model_id = "scripted"
        self._reply = reply

    def complete(self, prompt: str, *, schema: object) -> str:
        return self._reply
