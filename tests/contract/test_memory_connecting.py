"""Linking notes by hand, and asking what an addition would do."""

from __future__ import annotations

import pytest
from contract.memories import Clock, add_all, plain, state

from graphmem import Link, Memory, NoteInput, NotFound
from graphmem.transfer.copying import copy_namespace


@pytest.fixture
def apart(memory: Memory) -> Memory:
    """Three notes that no similarity links."""
    add_all(memory, [plain("a", "[east]"), plain("b", "[edge]"), plain("c", "[west]")])
    return memory


def ends(memory: Memory, note_id: str) -> list[tuple[str, str, float]]:
    return [(*link.pair, link.weight) for link in memory.links(note_id)]


def test_pairs_are_linked_once_with_the_measured_cosine(apart: Memory, clock: Clock) -> None:
    made = apart.connect([("b", "a"), ("a", "b"), ("a", "a"), ("a", "c")])
    assert made == (
        Link("a", "b", 1.0, pytest.approx(0.6, abs=1e-6), created_at=clock()),  # type: ignore[arg-type] # compares as a float
        Link("a", "c", 1.0, pytest.approx(-1.0, abs=1e-6), created_at=clock()),  # type: ignore[arg-type] # compares as a float
    )
    assert [link.pair for link in apart.links("a")] == [("a", "b"), ("a", "c")]
    assert apart.connect([("a", "b"), ("c", "a")]) == ()
    assert apart.check().ok


def test_a_link_by_similarity_stays_as_it_is(memory: Memory) -> None:
    add_all(memory, [plain("a", "[east]"), plain("n", "[near]")])
    before = memory.links("a")
    assert memory.connect([("a", "n")]) == ()
    assert memory.links("a") == before


def test_one_unknown_note_and_nothing_is_linked(apart: Memory) -> None:
    with pytest.raises(NotFound, match="'ghost'"):
        apart.connect([("a", "b"), ("a", "ghost")])
    assert apart.links("a") == ()


def test_an_archived_end_takes_no_link(apart: Memory) -> None:
    apart.archive("b")
    assert [link.pair for link in apart.connect([("a", "b"), ("a", "c")])] == [("a", "c")]


def test_upkeep_treats_it_like_any_other(apart: Memory, clock: Clock) -> None:
    apart.connect([("a", "b")])
    apart.maintain(at=clock())
    assert [(low, high) for low, high, _ in ends(apart, "a")] == [("a", "b")]
    assert ends(apart, "a")[0][2] == pytest.approx(0.6, abs=1e-6)


def test_it_survives_undo_and_a_copy(apart: Memory, clock: Clock) -> None:
    apart.connect([("a", "b")])
    apart.revise("a", content="[far]")
    assert apart.links("a") == ()
    apart.undo("a@2")
    assert ends(apart, "a") == [("a", "b", 1.0)]
    twin = apart.scoped(apart.namespace + "-twin")
    copy_namespace(apart, twin)
    assert twin.links("a") == apart.links("a")


def test_a_preview_counts_and_changes_nothing(apart: Memory) -> None:
    before = state(apart)
    report = apart.preview(
        [
            plain("a", "[east]"),
            plain("b", "[edge] more"),
            plain("d", "new"),
            plain("d", "new"),
            NoteInput("  "),
        ]
    )
    assert (report.added, report.revised, report.unchanged) == (1, 1, 2)
    assert [index for index, _ in report.rejected] == [4]
    assert state(apart) == before
