"""What a filter or an allow-list hides changes nothing and is reached by no call."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from contract.memories import (
    NOON,
    POLICIES,
    Clock,
    Place,
    add_all,
    ids,
    notes_of,
    plain,
    state,
)

from graphmem import (
    InvalidQuery,
    Memory,
    NotAuthorised,
    NoteInput,
    NotFound,
    Source,
)


def diary(memory: Memory) -> None:
    for i, (author, source, tag) in enumerate(
        [
            ("Ada", "s", "red"),
            ("Ben", "s", "blue"),
            ("Ada", "t", "blue"),
            (None, None, "red"),
        ]
    ):
        memory.add(
            f"the ferry diary, entry number {i} [east]",
            id=f"n{i}",
            author=author,
            source=Source(source, position=i) if source else None,
            tags=[tag],
            keywords=(),
            created_at=NOON + timedelta(days=i),
        )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"sources": ["s"]}, {"n0", "n1"}),
        ({"sources": "t"}, {"n2"}),
        ({"sources": []}, set()),
        ({"sources": ["nowhere"]}, set()),
        ({"authors": ["Ada", "Ben"]}, {"n0", "n1", "n2"}),
        ({"authors": "Ada", "tags": "blue"}, {"n2"}),
        ({"tags": ["red", "blue"]}, {"n0", "n1", "n2", "n3"}),
        ({"since": NOON + timedelta(days=1)}, {"n1", "n2", "n3"}),
        ({"until": NOON + timedelta(days=1)}, {"n0"}),
        ({"as_of": NOON + timedelta(days=1)}, {"n0", "n1"}),
    ],
)
def test_filters_of_a_recall(memory: Memory, options: dict[str, Any], expected: set[str]) -> None:
    diary(memory)
    result = memory.recall("ferry diary [east]", track=False, **options)
    assert set(ids(result)) == expected
    assert result.considered.candidates == len(expected)
    if "as_of" not in options:
        assert {note.id for note in memory.notes(**options)} == expected


@pytest.mark.parametrize(
    "options",
    [
        {"since": datetime(2025, 1, 1)},
        {"until": "2025-01-01"},
        {"at": datetime(2025, 1, 1)},
        {"tags": 7},
        {"sources": [7]},
        {"authors": ["\ud800"]},
        {"as_of": 0},
    ],
)
def test_a_filter_that_cannot_be_used_is_refused(memory: Memory, options: dict[str, Any]) -> None:
    diary(memory)
    with pytest.raises(InvalidQuery):
        memory.recall("ferry", **options)
    assert memory.stats().recalls == 0


def forbid(memory: Memory) -> None:
    """Notes of Eve's with every advantage, linked with the allowed ones."""
    for i in range(12):
        memory.add(
            f"ferry diary ferry diary secret number {i} [east]",
            id=f"E{i:02}",
            author="Eve",
            source=Source("s", position=i),
            tags=["red"],
            importance=1.0,
            created_at=NOON + timedelta(days=300),
        )
        memory.feedback(f"E{i:02}", 1)


def allowed(memory: Memory) -> None:
    add_all(
        memory,
        [
            plain(
                "a",
                "the ferry diary of spring [near]",
                author="Ada",
                source=Source("s", position=3),
            ),
            plain(
                "b",
                "the ferry menu of spring [cousin]",
                author="Ada",
                source=Source("s", position=8),
            ),
            plain("c", "a lamp [far]", author="Ada", source=Source("t", position=1)),
        ],
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_forbidden_notes_change_no_score(place: Place, clock: Clock, policy: str) -> None:
    owner = place.open(clock=clock)
    alone = place.open(clock=clock, namespace=place.namespace + " alone")
    for memory in (owner, alone):
        allowed(memory)
    forbid(owner)
    guest = place.open(clock=clock, authorise={"authors": ["Ada"]})
    at = NOON + timedelta(days=301)
    seen = guest.recall("secret ferry diary [east]", at=at, track=False, policy=policy)
    expected = alone.recall("secret ferry diary [east]", at=at, track=False, policy=policy)
    filtered = owner.recall(
        "secret ferry diary [east]", at=at, track=False, policy=policy, authors="Ada"
    )
    for result in (seen, filtered):
        assert [(r.note.id, r.score, r.contributions, r.signals) for r in result.notes] == [
            (r.note.id, r.score, r.contributions, r.signals) for r in expected.notes
        ]
        assert [r.path for r in result.notes] == [r.path for r in expected.notes]
        assert result.decision == expected.decision
        assert result.considered == expected.considered


def test_an_allow_list_binds_every_call(place: Place, clock: Clock) -> None:
    owner = place.open(clock=clock)
    allowed(owner)
    forbid(owner)
    before = state(owner)
    guest = place.open(clock=clock, authorise={"authors": ["Ada"]})
    assert {note.id for note in guest.notes()} == {"a", "b", "c"}
    assert {each.note_id for each in guest.candidates("[east]", limit=99)} == {"a", "b", "c"}
    assert all(link.other("a") in ("b", "c") for link in guest.links("a"))
    assert {note.id for note in guest.neighbourhood("a", hops=5).notes} <= {"a", "b", "c"}
    assert guest.stats().notes == 3
    reads = (guest.get, guest.links, guest.history, guest.neighbourhood)
    writes = (
        lambda id_: guest.revise(id_, content="mine"),
        lambda id_: guest.feedback(id_, 1),
        guest.archive,
        guest.restore,
        lambda id_: guest.erase(id=id_),
    )
    for call in (*reads, *writes):
        with pytest.raises(NotFound):
            call("E00")
    for history in owner.history("E00"):
        with pytest.raises(NotFound):
            guest.undo(history.id)
    assert state(owner) == before
    assert "Eve" not in repr(list(guest.dump(vectors=False)))


def test_a_guest_writes_within_the_allow_list_only(place: Place, clock: Clock) -> None:
    owner = place.open(clock=clock)
    forbid(owner)
    before = {note.id: note for note in owner.notes()}
    guest = place.open(clock=clock, authorise={"authors": ["Ada"], "sources": ["s"]})
    for author, source in (("Eve", "s"), ("Ada", "t"), (None, "s"), ("Ada", None)):
        with pytest.raises(NotAuthorised):
            guest.add("a note", author=author, source=Source(source) if source else None)
    receipt = guest.add(
        "ferry diary ferry diary secret number 0 [east]",
        id="mine",
        author="Ada",
        source=Source("s", position=2),
        tags=["own"],
    )
    assert (receipt.links, receipt.evolved) == ((), ())
    assert {note.id: note for note in owner.notes() if note.id != "mine"} == before
    assert owner.links("mine") == ()
    report = guest.add_many(
        [
            NoteInput("x", author="Eve", source=Source("s")),
            NoteInput("y", author="Ada", source=Source("s")),
            NoteInput("z", id="E00", author="Ada", source=Source("s")),
        ]
    )
    assert [index for index, _ in report.rejected] == [0, 2]
    assert report.added == 1
    assert owner.get("E00") == before["E00"]
    with pytest.raises(NotAuthorised):
        guest.drop_namespace(guest.namespace)


def test_a_guest_counts_only_its_own_use(place: Place, clock: Clock) -> None:
    owner = place.open(clock=clock)
    allowed(owner)
    forbid(owner)
    guest = place.open(clock=clock, authorise={"authors": ["Ada"]})
    guest.recall("ferry diary [east]", limit=99)
    assert {note.id for note in guest.notes() if note.recall_count == 1} == {"a", "b", "c"}
    guest.close()
    assert {note.id for note in owner.notes() if note.recall_count} == {"a", "b", "c"}


def test_a_guest_erases_only_its_own(place: Place) -> None:
    owner = place.open()
    allowed(owner)
    forbid(owner)
    place.open(authorise={"authors": ["Ada"]}).erase(everything=True)
    assert {note.author for note in notes_of(owner)} == {"Eve"}
    assert len(notes_of(owner)) == 12
    assert owner.check().ok
