"""Notes that say otherwise than older ones: linked, shown first, undone and erased."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from contract.memories import NOON, Clock, add_all, ids, traces

from graphmem import Disagreement, DisagreementKind, Link, LinkKind, Memory, NoteInput

OLD = "My flight is at 9:15. [east]"
NEW = "My flight is at 11:30 now. [near]"
REASON = Disagreement(DisagreementKind.DATE, "9:15", "11:30")


def said(content: str, note_id: str, day: int, author: str = "Ada", **fields: object) -> NoteInput:
    at = NOON + timedelta(days=day)
    return NoteInput(content, id=note_id, author=author, created_at=at, **fields)  # type: ignore[arg-type]  # fields of NoteInput


CHANGED = (said(OLD, "old", 0), said(NEW, "new", 3))


def changes(memory: Memory) -> list[tuple[str, str]]:
    """Who supersedes whom, as everything that is dumped tells."""
    links = (item for item in memory.dump(vectors=False) if isinstance(item, Link))
    return [link.pair for link in links if link.kind is LinkKind.SUPERSEDES]


def test_a_newer_note_supersedes_the_one_it_contradicts(memory: Memory, clock: Clock) -> None:
    memory.add(OLD, id="old", author="Ada", created_at=NOON)
    receipt = memory.add(NEW, id="new", author="Ada", created_at=NOON + timedelta(days=3))
    (link,) = receipt.superseding
    assert (link.pair, link.kind, link.reason) == (("new", "old"), LinkKind.SUPERSEDES, REASON)
    assert link.cosine == pytest.approx(0.8, abs=1e-6)
    assert link.created_at == clock.now
    assert [each.pair for each in receipt.links] == [("new", "old")]
    around = memory.neighbourhood("old").links
    assert [each.kind for each in around] == [LinkKind.RELATED, LinkKind.SUPERSEDES]
    assert around[1] == link
    assert memory.get("old").content == OLD
    assert memory.stats().superseding == 1
    assert memory.check().ok


@pytest.mark.parametrize("batch", [1, 2, 256])
@pytest.mark.parametrize("order", [CHANGED, CHANGED[::-1]])
def test_the_order_of_adding_does_not_matter(
    memory: Memory, order: Sequence[NoteInput], batch: int
) -> None:
    memory.add_many(order, batch_size=batch)
    assert changes(memory) == [("new", "old")]


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        (NEW, {"author": "Ben"}),
        (NEW, {"role": "assistant"}),
        (NEW, {"day": 0}),
        ("My flight is at 9:15, they say. [near]", {}),
        ("My train is at 11:30 now. [near]", {}),
        ("My flight is at 11:30 now. [edge]", {}),
    ],
)
def test_what_is_no_change_makes_none(
    memory: Memory, content: str, fields: dict[str, object]
) -> None:
    day = fields.get("day", 3)
    assert isinstance(day, int)
    given = {"author": "Ada"} | {k: v for k, v in fields.items() if k != "day"}
    add_all(memory, [CHANGED[0], said(content, "new", day, **given)])  # type: ignore[arg-type]  # fields of NoteInput
    assert changes(memory) == []


def test_the_newer_note_is_shown_first_and_says_so(memory: Memory) -> None:
    question = "when is my flight? [east]"
    older_text = OLD.replace("[east]", "[twin]")
    add_all(memory, [said(older_text, "old", 0), said("Nothing of note. [near]", "new", 3)])
    assert ids(memory.recall(question, track=False)) == ["old", "new"]
    memory.revise("new", content=NEW)
    result = memory.recall(question, track=False)
    assert ids(result) == ["new", "old"]
    newer, older = result.notes
    assert newer.score > older.score
    assert newer.contributions["superseding"] > 0.0
    for ranked in result.notes:
        assert sum(ranked.contributions.values()) == pytest.approx(ranked.score, abs=1e-9)
    assert [link.reason for link in newer.supersedes] == [REASON]
    assert newer.superseded_by == older.supersedes == ()
    assert older.superseded_by == newer.supersedes


def test_what_was_known_then_is_recalled_as_it_was(memory: Memory) -> None:
    add_all(memory, CHANGED)
    result = memory.recall("my flight [east]", as_of=NOON + timedelta(days=1), track=False)
    assert ids(result) == ["old"]
    assert result.notes[0].superseded_by == ()
    assert "superseding" not in result.notes[0].contributions


def test_a_revision_is_compared_anew_and_undone(memory: Memory) -> None:
    add_all(memory, CHANGED)
    memory.revise("new", content="My flight is at 9:15. [near]")
    assert changes(memory) == []
    (event,) = memory.history("new")
    assert [link.kind for link in event.unlinked] == [LinkKind.RELATED, LinkKind.SUPERSEDES]
    memory.undo(event.id)
    assert changes(memory) == [("new", "old")]
    assert memory.neighbourhood("old").links[-1].reason == REASON
    undone = memory.history("new")[-1]
    memory.undo(undone.id)
    assert changes(memory) == []


def test_another_time_or_person_turns_it_round(memory: Memory) -> None:
    add_all(memory, CHANGED)
    memory.add(NEW, id="new", author="Ada", created_at=NOON - timedelta(days=3))
    assert changes(memory) == [("old", "new")]
    assert [link.pair for link in memory.links("old")] == [("new", "old")]
    memory.undo(memory.history("new")[-1].id)
    assert changes(memory) == [("new", "old")]
    memory.add(NEW, id="new", author="Ben", created_at=NOON)
    assert changes(memory) == []


@pytest.mark.parametrize("gone", ["old", "new"])
def test_it_is_erased_with_either_note(memory: Memory, gone: str) -> None:
    add_all(memory, CHANGED)
    memory.revise("new", content="My flight is at 12:45 now. [near]")
    receipt = memory.erase(id=gone)
    assert receipt.verified
    assert receipt.links == 2
    assert changes(memory) == []
    assert traces(memory, "9:15" if gone == "old" else "11:30") == []


def test_archiving_hides_it_and_maintenance_leaves_it(memory: Memory, clock: Clock) -> None:
    add_all(memory, CHANGED)
    memory.archive("new")
    assert all(link.kind is not LinkKind.SUPERSEDES for link in memory.neighbourhood("old").links)
    memory.restore("new")
    clock.forward(days=300)
    memory.maintain()
    link = memory.neighbourhood("old").links[-1]
    assert (link.kind, link.weight) == (LinkKind.SUPERSEDES, pytest.approx(0.8, abs=1e-6))


def test_a_copy_carries_it(memory: Memory) -> None:
    add_all(memory, CHANGED)
    twin = memory.scoped(f"{memory.namespace}-twin")
    twin.load(memory.dump())
    assert changes(twin) == [("new", "old")]
    assert twin.neighbourhood("old").links == memory.neighbourhood("old").links
    twin.erase(everything=True)
