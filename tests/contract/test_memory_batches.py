"""Batches: the graph of single adds, each bad input by itself, whole or not at all."""

from __future__ import annotations

import itertools
import random
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from contract.memories import (
    NOON,
    Clock,
    Place,
    add_all,
    assert_same_graph,
    notes_of,
    pairs_of,
    plain,
    state,
    stub,
)
from stub_embedder import StubEmbedder

from graphmem import (
    InvalidQuery,
    Memory,
    Note,
    NoteInput,
    Source,
    StoreUnavailable,
)


def corpus(count: int, seed: int) -> list[NoteInput]:
    """Notes of few directions, so that links and evolutions abound, some of them repeated."""
    rng = random.Random(seed)
    people, places = ("Ada", "Ben", "Cyd"), ("harbour", "garden", "library", "station")
    inputs = []
    for i in range(count):
        where = rng.choice(places)
        inputs.append(
            NoteInput(
                f"{rng.choice(people)} met friends at the {where} before lunch [{where}]",
                id=f"n{rng.randrange(count):03}" if rng.random() < 0.8 else None,
                source=Source(rng.choice("st"), position=rng.randrange(9)),
                tags=[rng.choice(("red", "green", "blue"))],
                author=rng.choice(people),
                created_at=NOON + timedelta(minutes=i),
            )
        )
    return inputs


def close_vectors() -> StubEmbedder:
    rng = np.random.default_rng(5)
    centre = rng.standard_normal(8)
    spread = {"harbour": 0.3, "garden": 0.3, "library": 0.8, "station": 1.5}
    return StubEmbedder(
        {f"[{name}]": centre + width * rng.standard_normal(8) for name, width in spread.items()}
    )


@pytest.mark.parametrize("batch_size", [1, 7, 256])
def test_a_batch_gives_the_graph_of_single_adds(place: Place, batch_size: int) -> None:
    inputs = corpus(40, seed=batch_size)
    memory = place.open(embedder=close_vectors(), clock=Clock())
    add_all(memory, inputs)
    single = list(memory.dump())
    memory.drop_namespace(memory.namespace)
    report = memory.add_many(inputs, batch_size=batch_size)
    assert report.rejected == ()
    assert report.added + report.revised + report.unchanged == len(inputs)
    assert report.evolved > 0
    assert report.links > 20
    assert_same_graph(single, list(memory.dump()))


def test_a_batch_reports_each_bad_input_and_stores_the_rest(memory: Memory) -> None:
    inputs = [
        NoteInput("good first note", id="first"),
        NoteInput("broken \udc8f tail"),
        NoteInput(""),
        NoteInput("a tag", tags=["\ud800"]),
        NoteInput("a value", metadata={"key": "\ud800"}),
        NoteInput("a number", metadata={"key": float("nan")}),
        NoteInput("a time", created_at=datetime(2025, 1, 1)),
        NoteInput("an importance", importance=2.0),
        NoteInput("good last note", id="last"),
    ]
    report = memory.add_many(inputs)
    assert (report.added, report.revised, report.unchanged) == (2, 0, 0)
    assert [index for index, _ in report.rejected] == [1, 2, 3, 4, 5, 6, 7]
    assert all(reason for _, reason in report.rejected)
    assert {note.id for note in memory.notes()} == {"first", "last"}
    assert memory.check().ok


def test_what_is_no_note_is_rejected_with_its_index(memory: Memory) -> None:
    report = memory.add_many(["just a text", None, NoteInput("fine", id="n")])  # type: ignore[list-item] # wrong on purpose
    assert [index for index, _ in report.rejected] == [0, 1]
    assert report.added == 1


def test_one_id_twice_in_a_batch_is_one_note(memory: Memory) -> None:
    report = memory.add_many(
        [NoteInput("one text", id="n"), NoteInput("another text", id="n"), NoteInput("x", id="m")]
    )
    assert (report.added, report.revised) == (2, 1)
    note = memory.get("n")
    assert (note.content, note.revision) == ("another text", 2)
    assert memory.history("n")[0].before.content == "one text"
    assert memory.stats().notes == 2


def test_rejections_keep_their_index_over_batches(memory: Memory) -> None:
    inputs = [NoteInput(f"note {i}" if i % 3 else " ", id=f"n{i}") for i in range(10)]
    seen: list[tuple[int, int | None]] = []
    report = memory.add_many(inputs, batch_size=4, progress=lambda d, t: seen.append((d, t)))
    assert [index for index, _ in report.rejected] == [0, 3, 6, 9]
    assert report.added == 6
    assert seen == [(4, 10), (8, 10), (10, 10)]


def test_an_iterator_has_no_known_total(memory: Memory) -> None:
    seen: list[tuple[int, int | None]] = []
    memory.add_many(
        iter([NoteInput("a note")]), progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(1, None)]


def test_an_interrupted_import_keeps_whole_batches(memory: Memory) -> None:
    def inputs() -> itertools.chain[NoteInput]:
        def failing() -> NoteInput:
            raise KeyboardInterrupt

        good = (NoteInput(f"note {i}", id=f"n{i}") for i in range(7))
        return itertools.chain(good, (failing() for _ in range(1)))

    with pytest.raises(KeyboardInterrupt) as stopped:
        memory.add_many(inputs(), batch_size=3)
    assert "6 inputs" in stopped.value.__notes__[0]
    assert [note.id for note in memory.notes()] == [f"n{i}" for i in range(6)]
    assert memory.check().ok


def test_a_load_whose_store_fails_says_how_much_is_kept(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = memory._parts.store
    write, calls = store.write, iter(range(10))

    def fail_at_the_third(*given: object) -> object:
        if next(calls) == 2:
            raise StoreUnavailable("gone")
        return write(*given)

    monkeypatch.setattr(store, "write", fail_at_the_third)
    with pytest.raises(StoreUnavailable) as stopped:
        memory.add_many([NoteInput(f"note {i}", id=f"n{i}") for i in range(7)], batch_size=3)
    assert "6 inputs" in stopped.value.__notes__[0]
    assert [note.id for note in memory.notes()] == [f"n{i}" for i in range(6)]


def test_a_batch_of_nothing_is_nothing(memory: Memory) -> None:
    report = memory.add_many([])
    assert (report.added, report.links, report.rejected) == (0, 0, ())


@pytest.mark.parametrize("size", [0, -1, True, 2.5, "3", None])
def test_a_batch_size_that_is_none_is_refused(memory: Memory, size: object) -> None:
    with pytest.raises(InvalidQuery):
        memory.add_many([NoteInput("x")], batch_size=size)  # type: ignore[arg-type] # wrong on purpose
    assert notes_of(memory) == []


def test_the_same_batch_again_changes_nothing(memory: Memory) -> None:
    inputs = [
        NoteInput(f"Ada keeps fact {name} in mind [{name}]", id=name, tags=[name])
        for name in ("east", "twin", "sister", "near", "cousin")
    ]
    memory.add_many(inputs)
    before = state(memory)
    report = memory.add_many(inputs)
    assert (report.unchanged, report.links, report.evolved) == (5, 0, 0)
    assert state(memory) == before


def test_links_do_not_depend_on_the_order_within_a_tie(memory: Memory) -> None:
    memory.add_many([plain(f"n{i:02}", f"note {i} [near]") for i in range(15)])
    receipt = memory.add("new [near]", id="z", keywords=(), tags=())
    assert [link.other("z") for link in receipt.links] == [f"n{i:02}" for i in range(10)]
    assert len(pairs_of(memory)) == len(set(pairs_of(memory)))


def test_a_note_is_never_linked_to_itself(memory: Memory) -> None:
    memory.add("first [east]", id="n")
    assert memory.add("second [east]", id="n").links == ()
    assert pairs_of(memory) == []


def test_namespaces_share_nothing(place: Place) -> None:
    left, right = place.open(), place.open(namespace=place.namespace + "2")
    left.add("a note [east]", id="n", tags=["t"])
    assert right.add("a note [twin]", id="m").links == ()
    assert right.recall("a note").notes[0].note.id == "m"
    assert len(right.recall("a note").notes) == 1
    assert [note.id for note in right.notes()] == ["m"]
    assert set(left.namespaces()) >= {left.namespace, right.namespace}


def test_notes_of_a_note_are_typed(memory: Memory) -> None:
    memory.add("a note", id="n")
    assert all(isinstance(note, Note) for note in memory.notes())
    assert stub().model_id == memory.stats().model.model_id  # type: ignore[union-attr] # just embedded
