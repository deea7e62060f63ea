"""Embedders that fail, change or lie: a clear error, nothing lost, nothing half written."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from contract.memories import MARKERS, Place, add_all, ids, notes_of, pairs_of, plain, state
from numpy.typing import NDArray
from stub_embedder import StubEmbedder, scattered

from graphmem import (
    EmbeddingError,
    EmbeddingMismatch,
    Memory,
    ModelIdentity,
    NoteInput,
    NoteRecord,
)


class Faulty(StubEmbedder):
    """Gives the array that `answer` makes of the right one; raises what it raises."""

    def __init__(self, answer: Any) -> None:
        super().__init__(MARKERS)
        self._answer = answer

    def encode(self, texts: Sequence[str], *, role: Any = "note") -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = self._answer(super().encode(texts, role=role))
        return vectors


def three_notes(memory: Memory) -> None:
    add_all(
        memory,
        [
            plain("a", "pump log for May [east]"),
            plain("b", "pump log for June [near]"),
            plain("c", "lamp in the hall [west]"),
        ],
    )


# --- another model -----------------------------------------------------------------------


def test_another_length_is_refused_and_loses_nothing(fresh_place: Place) -> None:
    first = fresh_place.open(embedder=StubEmbedder(dimension=24))
    three_notes(first)
    before = state(first)
    first.close()
    second = fresh_place.open(embedder=StubEmbedder(dimension=48))
    for call in (
        lambda: second.recall("pump"),
        lambda: second.candidates("pump"),
        lambda: second.add("a fourth note"),
        lambda: second.add_many([NoteInput("a fourth note")]),
        lambda: second.revise("a", content="other words"),
    ):
        with pytest.raises(EmbeddingMismatch) as refused:
            call()
        for word in ("24", "48", "stub-24", "stub-48", "reindex"):
            assert word in str(refused.value)
    assert state(second) == before
    assert second.get("a").content == "pump log for May [east]"
    assert [note.id for note in second.notes()] == ["a", "b", "c"]
    assert second.check().ok
    third = fresh_place.open(embedder=StubEmbedder(dimension=24))
    assert "a" in ids(third.recall("pump"))
    assert third.add("a fourth note", id="d").outcome == "added"


def test_another_model_of_the_same_length_is_refused(fresh_place: Place) -> None:
    three_notes(fresh_place.open())
    other = fresh_place.open(embedder=StubEmbedder(model_id="stub-8 of another make"))
    with pytest.raises(EmbeddingMismatch, match="reindex"):
        other.recall("pump")


def test_reindexing_changes_the_model_and_nothing_else(fresh_place: Place) -> None:
    first = fresh_place.open()
    other = fresh_place.open(namespace="another namespace")
    three_notes(first)
    three_notes(other)
    first.archive("c")
    first.recall("pump")
    before = [
        dataclasses.replace(item, embedding=None) if isinstance(item, NoteRecord) else item
        for item in first.dump()
    ]
    first.close()
    wider = StubEmbedder(dimension=20)
    second = fresh_place.open(embedder=wider)
    done: list[int] = []
    assert second.reindex(progress=lambda n, total: done.append(n)) == 6
    assert done[-1] == 6
    assert second.stats().model == ModelIdentity("stub-20", 20)
    after = list(second.dump())
    assert after[0] == ModelIdentity("stub-20", 20)
    for item, old in zip(after[1:], before[1:], strict=True):
        if isinstance(item, NoteRecord) and isinstance(old, NoteRecord):
            assert (item.note, item.terms) == (old.note, old.terms)
            assert item.embedding is not None
            assert item.embedding.shape == (20,)
        else:
            assert item == old
    assert second.candidates(second.get("b").content, limit=1)[0].note_id == "b"
    assert second.check().ok
    with pytest.raises(EmbeddingMismatch):
        other.recall("pump")
    other.reindex(wider)
    assert "a" in ids(other.recall("pump"))


def test_a_reindexing_that_fails_keeps_the_old_model(fresh_place: Place) -> None:
    memory = fresh_place.open()
    three_notes(memory)
    before = state(memory)

    class Sometimes(StubEmbedder):
        def encode(self, texts: Sequence[str], *, role: Any = "note") -> NDArray[np.float32]:
            vectors = super().encode(texts, role=role)
            vectors[[i for i, text in enumerate(texts) if "hall" in text]] = np.nan
            return vectors

    with pytest.raises(EmbeddingError, match="'c'"):
        memory.reindex(Sometimes(dimension=20))
    assert state(memory) == before
    assert "a" in ids(memory.recall("pump", track=False))


# --- vectors that cannot be used ---------------------------------------------------------


def mixed(memory: Memory) -> None:
    """The suite's stub gives zeros, NaN and inf for these markers."""
    memory.add("pump log for May", id="pump")


@pytest.fixture
def risky(place: Place) -> Memory:
    faults = {"[zero]": np.zeros(8), "[nan]": np.full(8, np.nan), "[inf]": np.full(8, np.inf)}
    return place.open(embedder=StubEmbedder(MARKERS | faults))


@pytest.mark.parametrize("fault", ["[zero]", "[nan]", "[inf]"])
def test_a_note_without_usable_vector_is_refused(risky: Memory, fault: str) -> None:
    mixed(risky)
    before = state(risky)
    with pytest.raises(EmbeddingError):
        risky.add(f"a text {fault}", id="n")
    with pytest.raises(EmbeddingError):
        risky.revise("pump", content=f"a text {fault}")
    with pytest.raises(EmbeddingError):
        risky.recall(f"a question {fault}")
    assert state(risky) == before
    result = risky.recall("pump", track=False)
    assert ids(result) == ["pump"]
    assert all(np.isfinite(value) for value in result.notes[0].signals.values())


def test_one_bad_vector_does_not_sink_a_batch(risky: Memory) -> None:
    report = risky.add_many(
        [
            NoteInput("first good note [east]", id="a"),
            NoteInput("bad [nan]", id="b"),
            NoteInput("second good note [near]", id="c"),
            NoteInput("bad [zero]", id="d"),
        ]
    )
    assert (report.added, [index for index, _ in report.rejected]) == (2, [1, 3])
    assert {note.id for note in risky.notes()} == {"a", "c"}
    assert pairs_of(risky) == [("a", "c")]
    assert risky.check().ok


FAULTS: dict[str, Any] = {
    "too few vectors": lambda vectors: vectors[:-1],
    "too many vectors": lambda vectors: np.concatenate([vectors, vectors]),
    "too short vectors": lambda vectors: vectors[:, :-1],
    "vectors of several lengths": lambda vectors: [
        list(row)[: 8 - i % 2] for i, row in enumerate([*vectors, vectors[0]])
    ],
    "one flat row": lambda vectors: vectors.ravel(),
    "nothing": lambda vectors: None,
    "texts": lambda vectors: [["a"] * 8 for _ in vectors],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_wrong_shape_writes_nothing(place: Place, fault: str) -> None:
    good = place.open()
    three_notes(good)
    before = state(good)
    bad = place.open(embedder=Faulty(FAULTS[fault]))
    with pytest.raises(EmbeddingError):
        bad.add_many([NoteInput("first"), NoteInput("second"), NoteInput("third")])
    with pytest.raises(EmbeddingError):
        bad.add("one more")
    with pytest.raises(EmbeddingError):
        bad.recall("pump")
    assert state(good) == before


def test_an_embedder_that_raises_writes_nothing(place: Place) -> None:
    class Unplugged(Exception):  # noqa: N818 - a name for this test only
        pass

    def unplugged(vectors: object) -> None:
        raise Unplugged("no current")

    memory = place.open(embedder=Faulty(unplugged))
    for call in (
        lambda: memory.add("a note"),
        lambda: memory.add_many([NoteInput("a note")]),
        lambda: memory.recall("a note"),
    ):
        with pytest.raises(EmbeddingError, match="Unplugged: no current") as caught:
            call()
        assert isinstance(caught.value.__cause__, Unplugged)
    assert notes_of(memory) == []


def test_vectors_of_any_length_are_normalised(place: Place) -> None:
    memory = place.open(embedder=Faulty(lambda vectors: vectors * 7.5))
    memory.add("one [east]", id="a", keywords=(), tags=())
    receipt = memory.add("two [near]", id="b", keywords=(), tags=())
    assert receipt.links[0].cosine == pytest.approx(0.8, abs=1e-6)


def test_wide_numbers_and_lists_are_accepted(place: Place) -> None:
    memory = place.open(embedder=Faulty(lambda vectors: vectors.astype(np.float64).tolist()))
    memory.add("one [east]", id="a", keywords=(), tags=())
    assert memory.add("two [near]", id="b", keywords=(), tags=()).links


def test_the_embedder_is_asked_in_the_right_role(place: Place) -> None:
    roles: list[str] = []

    class Listening(StubEmbedder):
        def encode(self, texts: Sequence[str], *, role: Any = "note") -> NDArray[np.float32]:
            roles.append(role)
            return super().encode(texts, role=role)

    memory = place.open(embedder=Listening(MARKERS))
    assert roles == []
    memory.add("a note")
    assert set(roles) == {"note"}
    roles.clear()
    memory.recall("a question")
    assert set(roles) == {"query"}


def test_a_batch_is_embedded_in_one_call(place: Place) -> None:
    calls: list[int] = []

    class Counting(StubEmbedder):
        def encode(self, texts: Sequence[str], *, role: Any = "note") -> NDArray[np.float32]:
            calls.append(len(texts))
            return super().encode(texts, role=role)

    memory = place.open(embedder=Counting(dimension=8))
    memory.add_many([NoteInput(f"note number {i}") for i in range(30)], batch_size=10)
    assert calls == [10, 10, 10]
    calls.clear()
    memory.add_many([NoteInput(f"note number {i}") for i in range(30)])
    assert sum(calls) == 0


def test_opening_and_reading_need_no_embedder(place: Place) -> None:
    with_notes = place.open()
    with_notes.add("a note", id="n")

    class Unwanted:
        model_id, dimension = "stub-8", 8

        def encode(self, texts: Sequence[str], *, role: Any = "note") -> NDArray[np.float32]:
            raise AssertionError("nothing here has to be embedded")

    memory = place.open(embedder=Unwanted())
    assert memory.get("n").content == "a note"
    assert [note.id for note in memory.notes()] == ["n"]
    assert memory.links("n") == ()
    assert memory.history("n") == ()
    assert memory.stats().notes == 1
    assert memory.check().ok
    assert memory.add("a note", id="n").outcome == "unchanged"
    memory.feedback("n", 1)
    memory.archive("n")
    memory.restore("n")
    assert len(list(memory.dump())) == 4
    assert memory.erase(id="n").verified


def test_scattered_texts_are_apart() -> None:
    """The stub's own promise, on which these tests stand."""
    assert scattered("a", 8) @ scattered("b", 8) < 0.99
    assert np.array_equal(scattered("a", 8), scattered("a", 8))
