"""Changing stored notes: revisions, feedback, archive, undo, erasure, upkeep."""

from __future__ import annotations

import pytest
from contract.memories import (
    NOON,
    Clock,
    Place,
    add_all,
    ids,
    notes_of,
    pairs_of,
    plain,
    state,
    traces,
)

from graphmem import (
    Conflict,
    EvolutionEvent,
    InvalidInput,
    Link,
    Memory,
    NoteInput,
    NotFound,
    Source,
)


def evolved(memory: Memory) -> None:
    """Three linked notes; ``b`` evolved ``a``, and ``c`` both of them."""
    add_all(
        memory,
        [
            NoteInput("Ada prefers aisle seats on flights [east]", id="a", tags=["travel"]),
            NoteInput("Ada prefers aisle seats on flights [twin]", id="b", tags=["bmark"]),
            NoteInput("Ada prefers aisle seats on flights [sister]", id="c", tags=["cmark"]),
        ],
    )
    assert [event.trigger_id for event in memory.history("a")] == ["b", "c"]


# --- revise ------------------------------------------------------------------------------


def test_a_revision_says_what_changed(memory: Memory, clock: Clock) -> None:
    memory.add("first words [east]", id="n", tags=["t"], author="Ada", metadata={"k": 1})
    at = clock.forward(hours=2)
    receipt = memory.revise("n", content="second words [far]", expected_revision=1)
    assert (receipt.note_id, receipt.revision, receipt.outcome) == ("n", 2, "revised")
    note = memory.get("n")
    assert (note.content, note.content_revision, note.tags) == ("second words [far]", 2, ("t",))
    assert (note.author, dict(note.metadata), note.created_at) == ("Ada", {"k": 1}, NOON)
    (event,) = memory.history("n")
    assert (event.proposer, event.at, event.trigger_id) == ("user", at, None)


def test_fields_can_be_revised_alone(memory: Memory) -> None:
    memory.add("the words", id="n", tags=["t"], keywords=["k"], context="c")
    memory.revise("n", tags="u", importance=1.0, metadata={"a": None})
    note = memory.get("n")
    assert (note.tags, note.keywords, note.context) == (("u",), ("k",), "c")
    assert (note.importance, dict(note.metadata)) == (1.0, {"a": None})
    assert (note.revision, note.content_revision) == (2, 1)
    assert [each.id for each in memory.notes(tags="u")] == ["n"]
    assert [each.id for each in memory.notes(tags="t")] == []


def test_a_stale_revision_is_a_conflict(memory: Memory) -> None:
    memory.add("first", id="n")
    memory.revise("n", content="second")
    before = state(memory)
    for stale in (1, 3):
        with pytest.raises(Conflict):
            memory.revise("n", content="third", expected_revision=stale)
    assert state(memory) == before


def test_a_revision_without_a_change_is_none(memory: Memory) -> None:
    memory.add("words", id="n", tags=["t"])
    before = state(memory)
    assert memory.revise("n").outcome == "unchanged"
    assert memory.revise("n", content="words", tags=["t"]).outcome == "unchanged"
    assert state(memory) == before


def test_revised_words_are_linked_anew(memory: Memory) -> None:
    memory.add_many([plain("near", "one [near]"), plain("west", "two [west]")])
    memory.add("three [east]", id="n", keywords=(), tags=())
    assert pairs_of(memory) == [("n", "near")]
    memory.revise("n", content="four [west]")
    assert pairs_of(memory) == [("n", "west")]
    assert memory.candidates("[west]", limit=1)[0].cosine == pytest.approx(1.0, abs=1e-6)


# --- feedback ----------------------------------------------------------------------------


def test_feedback_adds_up_and_is_no_revision(memory: Memory) -> None:
    memory.add("a note", id="n")
    assert memory.feedback("n", 1).feedback == 1
    assert memory.feedback("n", 1).feedback == 2
    note = memory.feedback("n", -1)
    assert (note.feedback, note.revision) == (1, 1)
    assert memory.get("n") == note
    assert memory.history("n") == ()


@pytest.mark.parametrize("signal", [0, 2, -2, True, 1.5, "1", None])
def test_feedback_is_plus_or_minus_one(memory: Memory, signal: object) -> None:
    memory.add("a note", id="n")
    with pytest.raises(InvalidInput):
        memory.feedback("n", signal)  # type: ignore[arg-type] # wrong on purpose
    assert memory.get("n").feedback == 0


# --- archive -----------------------------------------------------------------------------


def test_an_archived_note_is_hidden_and_comes_back(memory: Memory) -> None:
    memory.add("Ada met Ben at the harbour [east]", id="a", source=Source("s", position=1))
    memory.add("Ada met Cyd at the harbour [near]", id="b", source=Source("s", position=2))
    before = memory.get("a")
    note = memory.archive("a")
    assert (note.archived, note.revision) == (True, 2)
    assert memory.get("a") == note
    assert ids(memory.recall("harbour", track=False)) == ["b"]
    assert [each.id for each in memory.notes()] == ["b"]
    assert [each.id for each in memory.notes(archived=True)] == ["a", "b"]
    assert [each.note_id for each in memory.candidates("[east]")] == ["b"]
    assert memory.links("b") == ()
    assert memory.stats().archived == 1
    assert memory.archive("a").revision == 2
    back = memory.restore("a")
    assert (back.archived, back.revision) == (False, 3)
    assert back.state == before.state
    assert set(ids(memory.recall("harbour", track=False))) == {"a", "b"}
    assert [link.other("b") for link in memory.links("b")] == ["a"]
    assert [event.kind for event in memory.history("a")] == ["archived", "restored"]
    assert memory.check().ok


# --- undo --------------------------------------------------------------------------------


def test_undo_restores_the_earlier_state_byte_for_byte(memory: Memory, clock: Clock) -> None:
    content = "Ada  prefers\u00a0aisle seats — cafe\u0301 \U0001f600\r\n[east]"
    memory.add(content, id="a", tags=["travel"], metadata={"x": [1, 1.0, True]}, author="Ada")
    before = memory.get("a")
    vector = memory.candidates(content, limit=1)
    memory.add(content.replace("[east]", "[twin]"), id="b", tags=["bmark"])
    (event,) = memory.history("a")
    assert memory.get("a").state != before.state
    at = clock.forward(hours=1)
    undone = memory.undo(event.id)
    after = memory.get("a")
    assert after.state == before.state
    assert after.content.encode() == before.content.encode()
    assert repr(dict(after.metadata)) == repr(dict(before.metadata))
    assert (after.revision, after.content_revision) == (3, 1)
    assert (undone.kind, undone.at, undone.note_id) == ("undone", at, "a")
    assert (undone.before, undone.after) == (event.after, event.before)
    assert memory.history("a") == (event, undone)
    assert memory.candidates(content, limit=1) == vector
    assert [note.id for note in memory.notes(tags="bmark")] == ["b"]
    assert memory.check().ok


def test_undo_of_a_revision_brings_words_and_links_back(memory: Memory) -> None:
    memory.add_many([plain("near", "one [near]"), plain("west", "two [west]")])
    memory.add("three [east]", id="n", keywords=(), tags=())
    (link,) = memory.links("n")
    before = memory.get("n")
    memory.revise("n", content="four [west]", tags=["t"])
    memory.undo("n@2")
    note = memory.get("n")
    assert note.state == before.state
    assert (note.revision, note.content_revision) == (3, 3)
    assert memory.links("n") == (link,)
    assert memory.links("west") == ()
    assert memory.candidates("[east]", limit=1)[0].note_id == "n"
    assert ids(memory.recall("three", limit=1, track=False)) == ["n"]


def test_the_undoing_can_be_undone(memory: Memory) -> None:
    memory.add("first [east]", id="n")
    memory.revise("n", content="second [far]")
    second = memory.get("n")
    undone = memory.undo("n@2")
    memory.undo(undone.id)
    assert memory.get("n").state == second.state
    assert memory.candidates("[far]", limit=1)[0].note_id == "n"


def test_events_are_undone_from_the_last(memory: Memory) -> None:
    evolved(memory)
    first, second = memory.history("a")
    before = state(memory)
    with pytest.raises(Conflict, match=second.id):
        memory.undo(first.id)
    assert state(memory) == before
    memory.undo(second.id)
    memory.undo(first.id)
    assert memory.get("a").tags == ("travel",)
    with pytest.raises(Conflict):
        memory.undo(first.id)
    assert [event.kind for event in memory.history("a")] == [
        "evolved",
        "evolved",
        "undone",
        "undone",
    ]


def test_undo_of_archive_restores(memory: Memory) -> None:
    memory.add("a note", id="n")
    memory.archive("n")
    memory.undo("n@2")
    assert not memory.get("n").archived
    assert ids(memory.recall("a note")) == ["n"]


@pytest.mark.parametrize("event", ["n@9", "n@1", "nobody@2", "n", "@"])
def test_undo_of_no_event_is_not_found(memory: Memory, event: str) -> None:
    memory.add("a note", id="n")
    with pytest.raises(NotFound):
        memory.undo(event)


# --- erase -------------------------------------------------------------------------------


def test_an_erased_note_leaves_no_trace(place: Place, clock: Clock) -> None:
    memory = place.open(clock=clock)
    add_all(
        memory,
        [
            NoteInput("The pump log for May is late [east]", id="a", tags=["pump"]),
            NoteInput("The pump log for May is late [twin]", id="gone-b", tags=["secretword"]),
            NoteInput("The pump log for May is late [sister]", id="c", tags=["log"]),
        ],
    )
    assert "secretword" in memory.get("a").tags
    at = clock.forward(hours=1)
    receipt = memory.erase(id="gone-b")
    assert (receipt.note_ids, receipt.verified, receipt.at) == (("gone-b",), True, at)
    assert receipt.links == 2
    assert "a" in receipt.redacted
    for handle in (memory, place.open()):
        assert traces(handle, "gone-b") == []
        assert traces(handle, "secretword") == []
        result = handle.recall("The pump log for May is late [twin]", track=False)
        assert "gone-b" not in ids(result)
        assert all("gone-b" not in str(step) for r in result.notes for step in r.path)
        assert handle.recall("secretword", track=False).notes[0].signals["lexical"] == 0
        assert [note.id for note in handle.notes(tags="secretword")] == []
        assert "gone-b" not in {each.note_id for each in handle.candidates("[twin]", limit=99)}
        assert [link.pair for link in handle.links("a")] == [("a", "c")]
        assert [note.id for note in handle.neighbourhood("a", hops=3).notes] == ["a", "c"]
        assert handle.stats().notes == 2
        assert handle.check().ok
        for read in (handle.get, handle.links, handle.history, handle.neighbourhood):
            with pytest.raises(NotFound):
                read("gone-b")
    with pytest.raises(NotFound):
        memory.erase(id="gone-b")


def test_words_of_an_erased_note_that_others_have_too_stay(memory: Memory) -> None:
    evolved(memory)
    memory.erase(id="b")
    note = memory.get("a")
    assert set(note.tags) == {"travel", "cmark"}
    assert note.state == memory.history("a")[-1].after
    assert traces(memory, "'b'") == []
    assert memory.check().ok


def test_an_id_named_in_a_neighbours_history_goes_too(memory: Memory) -> None:
    """A revision keeps the links it removed for undo; an erased end must not stay there."""
    memory.add("one [near]", id="gone-b", keywords=(), tags=())
    memory.add("two [east]", id="a", keywords=(), tags=())
    memory.revise("a", content="three [west]")
    assert traces(memory, "gone-b")
    memory.erase(id="gone-b")
    assert traces(memory, "gone-b") == []
    memory.undo("a@2")
    assert memory.get("a").content == "two [east]"
    assert memory.links("a") == ()


def test_words_carried_over_two_notes_are_taken_back(memory: Memory) -> None:
    """b gave its tag to a; d, near a only, got it from a's evolution onwards."""
    evolved(memory)
    memory.add("Ada prefers aisle seats on flights [east]", id="d", tags=["d"])
    memory.add("Ada prefers aisle seats on flights [twin]", id="e", tags=["e"])
    assert "bmark" in memory.get("a").tags
    memory.erase(id="b")
    assert [note.id for note in memory.notes(tags="bmark")] == []
    assert {"travel", "cmark", "d", "e"} == set(memory.get("a").tags)
    assert memory.check().ok


def test_a_source_is_erased_whole(memory: Memory) -> None:
    for i in range(4):
        memory.add(f"turn {i}", id=f"s{i}", source=Source("s", position=i))
        memory.add(f"other turn {i}", id=f"t{i}", source=Source("t", position=i))
    memory.archive("s1")
    receipt = memory.erase(source="s")
    assert receipt.note_ids == ("s0", "s1", "s2", "s3")
    assert receipt.verified
    assert [note.id for note in notes_of(memory)] == ["t0", "t1", "t2", "t3"]
    assert (memory.stats().sources, memory.stats().follows) == (1, 3)
    with pytest.raises(NotFound):
        memory.erase(source="s")


def test_everything_is_erased_in_its_namespace_only(place: Place) -> None:
    memory, other = place.open(), place.open(namespace=place.namespace + "2")
    evolved(memory)
    evolved(other)
    before = state(other)
    receipt = memory.erase(everything=True)
    assert receipt.note_ids == ("a", "b", "c")
    assert receipt.verified
    assert notes_of(memory) == []
    assert memory.recall("seats").notes == ()
    assert memory.stats().events == 0
    assert state(other) == before
    memory.add("a later note", id="n")
    assert ids(memory.recall("later")) == ["n"]


@pytest.mark.parametrize("what", [{}, {"id": "a", "source": "s"}, {"id": "a", "everything": True}])
def test_what_to_erase_is_said_once(memory: Memory, what: dict[str, object]) -> None:
    memory.add("a note", id="a")
    with pytest.raises(InvalidInput):
        memory.erase(**what)  # type: ignore[arg-type] # wrong on purpose
    assert memory.stats().notes == 1


# --- upkeep ------------------------------------------------------------------------------


def test_maintenance_moves_weights_not_cosines(memory: Memory, clock: Clock) -> None:
    memory.add_many([plain("near", "one [near]"), plain("cousin", "two [cousin]")])
    memory.add("three [east]", id="n", keywords=(), tags=())
    made = {link.pair: link for link in memory.links("n")}
    report = memory.maintain(at=clock.forward(days=30))
    assert report.links_changed == 2
    for link in memory.links("n"):
        assert link.weight < made[link.pair].weight
        assert link.cosine == made[link.pair].cosine
        assert link.created_at == made[link.pair].created_at
    before = state(memory)
    assert memory.maintain(at=clock.now).links_changed == 0
    assert state(memory) == before


def test_maintenance_proposes_and_archives_nothing(memory: Memory, clock: Clock) -> None:
    memory.add("ok", id="idle", importance=0.0)
    memory.add("Remember: the alarm code", id="kept", importance=1.0)
    report = memory.maintain(at=clock.forward(days=400))
    assert report.archive_proposals == ("idle",)
    assert {note.id for note in memory.notes()} == {"idle", "kept"}


def test_events_and_links_are_values(memory: Memory) -> None:
    evolved(memory)
    assert all(isinstance(event, EvolutionEvent) for event in memory.history("a"))
    assert all(isinstance(link, Link) for link in memory.links("a"))
