"""Adding: outcomes, ids, links, evolution, chains, and batches equal to single adds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from contract.memories import (
    MARKERS,
    NOON,
    Clock,
    Place,
    add_all,
    notes_of,
    plain,
    state,
)
from stub_embedder import StubEmbedder

from graphmem import (
    InvalidNote,
    LinkPolicy,
    Memory,
    NoteInput,
    NoteRecord,
    Source,
)
from graphmem.policy import DEFAULT_POLICY


def test_a_note_comes_back_as_it_was_added(memory: Memory) -> None:
    source = Source("chat-7", revision="r1", position=3, start=5, end=29)
    when = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
    receipt = memory.add(
        "Ada prefers aisle seats",
        id="n1",
        source=source,
        role="assistant",
        author="Ada",
        created_at=when,
        keywords=["aisle", "seat"],
        tags=("travel", "travel"),
        context="On flights.",
        importance=0.25,
        metadata={"turn": 3, "tags": ["a", None]},
    )
    assert (receipt.note_id, receipt.revision, receipt.outcome) == ("n1", 1, "added")
    assert (receipt.links, receipt.evolved, receipt.importance) == ((), (), 0.25)
    note = memory.get("n1")
    assert (note.content, note.source, note.role, note.author) == (
        "Ada prefers aisle seats",
        source,
        "assistant",
        "Ada",
    )
    assert (note.created_at, note.last_accessed_at) == (when, when)
    assert (note.keywords, note.tags, note.context) == (
        ("aisle", "seat"),
        ("travel",),
        "On flights.",
    )
    assert (note.importance, dict(note.metadata)) == (0.25, {"turn": 3, "tags": ["a", None]})
    assert (note.revision, note.content_revision, note.recall_count, note.feedback) == (1, 1, 0, 0)
    assert memory.history("n1") == ()


def test_what_is_not_said_is_derived(memory: Memory) -> None:
    receipt = memory.add("Remember: Ada prefers aisle seats on long flights")
    note = memory.get(receipt.note_id)
    assert note.keywords
    assert note.tags
    assert note.context
    assert note.created_at == NOON
    assert note.role == "user"
    assert (
        note.importance
        == receipt.importance
        > memory.get(memory.add("Ada prefers aisle seats on short flights").note_id).importance
    )


def test_the_same_again_is_unchanged(memory: Memory, clock: Clock) -> None:
    given: dict[str, Any] = {
        "source": Source("chat", position=1),
        "author": "Ada",
        "tags": ["travel"],
        "metadata": {"turn": 1},
    }
    first = memory.add("Ada prefers aisle seats [east]", **given)
    before = state(memory)
    clock.forward(days=3)
    again = memory.add("Ada prefers aisle seats [east]", **given)
    assert (again.note_id, again.revision, again.outcome) == (first.note_id, 1, "unchanged")
    assert (again.links, again.evolved) == ((), ())
    assert state(memory) == before


def test_the_same_again_is_unchanged_after_evolution(memory: Memory) -> None:
    inputs = [
        NoteInput("Ada prefers aisle seats on flights [east]", id="a", tags=["travel"]),
        NoteInput("Ada prefers aisle seats on flights [twin]", id="b", tags=["seats"]),
    ]
    add_all(memory, inputs)
    assert memory.history("a")
    before = state(memory)
    add_all(memory, inputs)
    assert memory.add_many(inputs).unchanged == 2
    assert state(memory) == before


def test_other_content_under_an_id_is_a_revision(memory: Memory) -> None:
    memory.add("first words [east]", id="n")
    memory.add("neighbour of the second [cousin]", id="c", tags=())
    receipt = memory.add("second words [far]", id="n")
    assert (receipt.outcome, receipt.revision) == ("revised", 2)
    note = memory.get("n")
    assert (note.content, note.revision, note.content_revision) == ("second words [far]", 2, 2)
    (event,) = memory.history("n")
    assert (event.kind, event.revision) == ("revised", 2)
    assert (event.before.content, event.after.content) == (
        "first words [east]",
        "second words [far]",
    )
    assert memory.links("n") == ()
    assert memory.candidates("[far]", limit=1)[0].note_id == "n"


def test_other_fields_of_the_same_content_are_a_revision(memory: Memory) -> None:
    memory.add("the same words", id="n", tags=["a"])
    receipt = memory.add("the same words", id="n", tags=["b"], importance=1.0)
    assert (receipt.outcome, receipt.revision) == ("revised", 2)
    note = memory.get("n")
    assert (note.tags, note.importance, note.content_revision) == (("b",), 1.0, 1)
    assert memory.add("the same words", id="n").outcome == "unchanged"
    assert memory.get("n").tags == ("b",)


def test_without_an_id_the_place_decides(memory: Memory) -> None:
    content = "the very same words"
    first = memory.add(content)
    assert memory.add(content).note_id == first.note_id
    others = [
        memory.add(content, source=Source("s")),
        memory.add(content, source=Source("t")),
        memory.add(content, source=Source("s", position=1)),
        memory.add(content, source=Source("s", position=1, start=9)),
        memory.add(content + " "),
    ]
    assert len({first.note_id, *(receipt.note_id for receipt in others)}) == 6
    assert memory.scoped(memory.namespace + "x").add(content).note_id != first.note_id


def test_ids_that_look_alike_are_apart(memory: Memory) -> None:
    ids = ["n1", "N1", "ｎ1", "a/b\nc", "7", "é", "e\u0301"]
    for id_ in ids:
        assert memory.add(f"text of {id_!r}", id=id_).outcome == "added"
    assert {note.id for note in memory.notes()} == set(ids)
    for id_ in ids:
        assert memory.get(id_).content == f"text of {id_!r}"


@pytest.mark.parametrize("id_", ["", " ", " n1 ", "n1 ", 7, "x" * 10_000, b"n1", "a\0b", "\ud800"])
def test_an_id_that_cannot_be_one_is_refused(memory: Memory, id_: object) -> None:
    with pytest.raises(InvalidNote) as refused:
        memory.add("a text", id=id_)  # type: ignore[arg-type] # wrong on purpose
    assert refused.value.field == "id"
    assert notes_of(memory) == []


# --- links and evolution -----------------------------------------------------------------


def test_links_follow_the_thresholds_on_raw_cosine(memory: Memory) -> None:
    memory.add_many(
        [
            plain(name, f"{name} wrote a letter [{name}]")
            for name in ("near", "cousin", "edge", "far", "west")
        ]
    )
    receipt = memory.add("east wrote a letter [east]", id="east", keywords=(), tags=())
    assert [link.other("east") for link in receipt.links] == ["near", "cousin"]
    for link, cosine in zip(receipt.links, (0.80, 0.75), strict=True):
        assert link.weight == pytest.approx(cosine, abs=1e-6)
        assert link.cosine == pytest.approx(cosine, abs=1e-6)
        assert (link.created_at, link.retrievals, link.last_retrieved_at) == (NOON, 0, None)
        assert link.from_id < link.to_id
    assert receipt.evolved == ()
    assert memory.links("east") == receipt.links
    assert memory.links("near") == receipt.links[:1]
    assert memory.links("east", min_weight=0.78) == receipt.links[:1]
    scores = memory.candidates("[east]", limit=9)
    assert [each.note_id for each in scores] == ["east", "near", "cousin", "edge", "far", "west"]
    assert scores[-1].cosine == pytest.approx(-1.0, abs=1e-6)


def test_the_limit_cuts_before_the_thresholds(place: Place) -> None:
    policy = DEFAULT_POLICY.model_copy(update={"links": LinkPolicy(limit=1)})
    memory = place.open(policy=policy)
    memory.add_many([plain("near", "[near]"), plain("cousin", "[cousin]")])
    receipt = memory.add("[east]", id="east", keywords=(), tags=())
    assert [link.other("east") for link in receipt.links] == ["near"]


def test_a_near_identical_note_evolves_its_neighbour(memory: Memory, clock: Clock) -> None:
    memory.add("Ada prefers aisle seats on flights [east]", id="a", tags=["travel"], keywords=["k"])
    later = clock.forward(hours=1)
    receipt = memory.add(
        "Ada prefers aisle seats on flights [twin]", id="b", tags=["seats"], keywords=["aisle"]
    )
    (event,) = receipt.evolved
    assert (event.note_id, event.kind, event.revision, event.trigger_id) == ("a", "evolved", 2, "b")
    assert event.similarity == pytest.approx(0.97, abs=1e-6)
    assert (event.at, event.id) == (later, "a@2")
    assert event.proposer.startswith("rule:")
    note = memory.get("a")
    assert set(note.tags) == {"travel", "seats"}
    assert set(note.keywords) == {"k", "aisle"}
    assert (note.revision, note.content_revision) == (2, 1)
    assert note.content == "Ada prefers aisle seats on flights [east]"
    assert (event.before.tags, event.after.tags) == (("travel",), note.tags)
    assert memory.history("a") == (event,)
    assert memory.history("b") == ()
    assert [link.other("a") for link in memory.links("a")] == ["b"]


def test_an_evolved_note_is_found_by_its_new_words_everywhere(place: Place) -> None:
    memory = place.open()
    memory.add("Ada prefers aisle seats on flights [east]", id="a", tags=["oldmarker"])
    memory.add("Ada prefers aisle seats on flights [twin]", id="b", tags=["newmarker"])
    memory.revise("b", tags=["other"])
    for handle in (memory, place.open()):
        assert "newmarker" in handle.get("a").tags
        assert [note.id for note in handle.notes(tags=["newmarker"])] == ["a"]
        result = handle.recall("newmarker", track=False)
        assert {r.note.id: r.signals["lexical"] > 0 for r in result.notes} == {
            "a": True,
            "b": False,
        }
        assert [r.note.id for r in handle.recall("seats", tags="newmarker", track=False).notes] == [
            "a"
        ]
    texts = [r.note.tags for r in memory.dump() if isinstance(r, NoteRecord)]
    assert texts[0] == memory.get("a").tags


def test_only_the_right_neighbours_evolve(memory: Memory) -> None:
    """Ranks in a list of hits are no places in the store."""
    flats = [
        plain(f"flat{i}", f"The flat in street number {i} was too small [west]", tags=["flat"])
        for i in range(5)
    ]
    clinics = [
        plain("clinic1", "The clinic on the hill opens on weekdays [cousin]"),
        plain("clinic2", "The clinic takes new patients every spring [near]"),
        plain("clinic3", "The clinic by the river has friendly nurses [east]"),
    ]
    add_all(memory, [*flats, *clinics])
    before = {note.id: note for note in memory.notes()}
    receipt = memory.add(
        "The clinic by the river has friendly nurses [twin]", id="new", tags=["health"], keywords=()
    )
    assert [event.note_id for event in receipt.evolved] == ["clinic3"]
    assert {link.other("new") for link in receipt.links} == {"clinic3", "clinic2", "clinic1"}
    after = {note.id: note for note in memory.notes()}
    assert after["clinic3"].tags == ("health",)
    for id_ in set(before) - {"clinic3"}:
        assert after[id_] == before[id_]
    assert all(after[id_].content == before[id_].content for id_ in before)


def test_an_evolution_that_changes_nothing_leaves_no_trace(memory: Memory) -> None:
    memory.add("Ada prefers aisle seats on flights [east]", id="a", tags=["t"], keywords=["k"])
    receipt = memory.add(
        "Ada prefers aisle seats on flights [twin]", id="b", tags=["t"], keywords=["k"]
    )
    assert receipt.links
    assert receipt.evolved == ()
    assert memory.history("a") == ()
    assert memory.get("a").revision == 1


def test_small_talk_starts_no_storm(place: Place) -> None:
    embedder = StubEmbedder(MARKERS)
    memory = place.open(embedder=embedder)
    copies = [plain(f"n{i:03}", "ok, thanks [east]", tags=[f"t{i}"]) for i in range(60)]
    report = memory.add_many(copies)
    assert (report.added, report.evolved) == (60, 0)
    assert len(embedder.encoded) <= 60
    assert all(len(memory.links(f"n{i:03}")) <= 70 for i in (0, 30, 59))
    assert {note.revision for note in memory.notes()} == {1}


def test_different_orders_do_not_share_metadata(memory: Memory) -> None:
    memory.add("Order 4711 for Ada has arrived today [east]", id="a", tags=["first"])
    receipt = memory.add("Order 4712 for Ada has arrived today [twin]", id="b", tags=["second"])
    assert receipt.links
    assert receipt.evolved == ()
    assert memory.get("a").tags == ("first",)


def test_archived_notes_are_not_linked(memory: Memory) -> None:
    memory.add("old news [near]", id="a")
    memory.archive("a")
    assert memory.add("fresh news [east]", id="b").links == ()
    memory.restore("a")
    assert [link.other("c") for link in memory.add("more news [east]", id="c").links] == ["b", "a"]


# --- sources -----------------------------------------------------------------------------


def test_turns_of_a_source_are_chained_by_position(memory: Memory) -> None:
    order = [("a", 1), ("b", 4), ("c", 2), ("d", None), ("e", 3)]
    for id_, position in order:
        memory.add(f"turn {id_}", id=id_, source=Source("chat", position=position))
    memory.add("elsewhere", id="x", source=Source("other", position=2))

    def chain() -> dict[str, str]:
        links = memory.neighbourhood("a", hops=9).links
        return {link.from_id: link.to_id for link in links if link.kind == "FOLLOWS"}

    assert chain() == {"c": "a", "e": "c", "b": "e"}
    memory.erase(id="c")
    assert chain() == {"e": "a", "b": "e"}
    assert memory.stats().sources == 2
