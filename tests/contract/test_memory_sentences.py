"""Sentences of longer notes are embedded with them, and found by a question about one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from contract.memories import MARKERS, Place, by_id, plain, state
from stub_embedder import StubEmbedder

from graphmem import Memory, NoteRecord
from graphmem.model import SentenceVectors

LONG = "The weather is fine [far]. My kayak is painted in red [edge]! And a third one [cousin]."
"""As a whole it points like its longest marker, ``[cousin]``."""


def sentences_of(memory: Memory) -> dict[str, SentenceVectors | None]:
    return {item.note.id: item.sentences for item in memory.dump() if isinstance(item, NoteRecord)}


def pointing(*markers: str) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.array([MARKERS[marker] for marker in markers])


def assert_points(found: SentenceVectors | None, *markers: str) -> None:
    assert found is not None
    wide = found.astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    np.testing.assert_allclose(wide, pointing(*markers), atol=0.01)


def test_sentences_of_a_long_note_have_vectors_of_their_own(memory: Memory) -> None:
    memory.add_many([
        plain("long", LONG),
        plain("short", "One sentence only, whatever its length may be [near]"),
        plain("reply", LONG, role="assistant"),
    ])  # fmt: skip
    found = sentences_of(memory)
    assert_points(found["long"], "[far]", "[edge]", "[cousin]")
    assert found["short"] is None
    assert found["reply"] is None


def assert_only_the_whole_counts(memory: Memory) -> None:
    """The first note is as close to a question as its own vector, which `weighted` ranks by."""
    closest = memory.recall("kayak §", track=False).notes[0].signals["closest"]
    whole = memory.recall("kayak §", track=False, policy="weighted").notes[0].signals["vector"]
    assert closest == pytest.approx(whole)


def test_a_question_about_one_sentence_finds_its_note(memory: Memory) -> None:
    memory.add_many([plain("long", f"Nothing to see here [far]. {LONG} A last word [west]."),
                     plain("reply", "We could go on [far].", role="assistant")])  # fmt: skip
    found = by_id(memory.recall("kayak §", track=False))
    assert found["long"].signals["closest"] == pytest.approx(0.75, abs=2e-3)
    assert found["reply"].signals["closest"] < 0.75


def test_sentences_follow_the_text_and_nothing_else(memory: Memory) -> None:
    memory.add_many([plain("n", LONG)])
    before = sentences_of(memory)["n"]
    assert before is not None
    memory.feedback("n", 1)
    memory.add(LONG, id="n", tags=["boat"])
    memory.archive("n")
    memory.restore("n")
    kept = sentences_of(memory)["n"]
    assert kept is not None
    assert kept.tobytes() == before.tobytes()
    memory.revise("n", content="A first sentence [west]. Then a second one [near].")
    assert_points(sentences_of(memory)["n"], "[west]", "[near]")
    memory.revise("n", content="One sentence at last [near]")
    assert sentences_of(memory)["n"] is None
    assert_only_the_whole_counts(memory)
    for event in reversed(memory.history("n")[-2:]):
        memory.undo(event.id)
    assert_points(sentences_of(memory)["n"], "[far]", "[edge]", "[cousin]")
    assert memory.check(embeddings=True).ok


def test_a_role_decides_whether_sentences_are_embedded(memory: Memory) -> None:
    memory.add_many([plain("n", LONG, role="assistant")])
    memory.add(LONG, id="n", role="user")
    assert_points(sentences_of(memory)["n"], "[far]", "[edge]", "[cousin]")
    memory.add(LONG, id="n", role="assistant")
    assert sentences_of(memory)["n"] is None


def test_each_distinct_text_of_a_batch_is_embedded_once(place: Place) -> None:
    embedder = StubEmbedder(MARKERS)
    with place.open(embedder=embedder) as memory:
        twice = "I told you so yesterday [far]."
        memory.add_many([
            plain("a", f"{twice} And then it rained [near]."),
            plain("b", f"{twice} But the sun came out [west]. {twice}"),
            plain("c", twice),
        ])  # fmt: skip
        assert len(embedder.encoded) == len(set(embedder.encoded))
        found = sentences_of(memory)
    assert_points(found["a"], "[far]", "[near]")
    assert_points(found["b"], "[far]", "[west]")


def test_a_sentence_without_a_vector_costs_no_note(place: Place) -> None:
    broken = MARKERS | {"[zero]": np.zeros(8), "[whole]": MARKERS["[near]"]}
    with place.open(embedder=StubEmbedder(broken)) as memory:
        report = memory.add_many([
            plain("n", "This one breaks, alas [zero]. But all is good [whole]."),
            plain("all", "This one breaks, too [zero]. So is this one [zero] [whole]"),
        ])  # fmt: skip
        assert report.rejected == ()
        found = sentences_of(memory)
        assert_points(found["n"], "[near]")


def test_sentences_move_with_their_notes(place: Place) -> None:
    with place.open() as memory:
        memory.add_many([plain("long", LONG), plain("short", "Only one sentence [near]")])
        copy = memory.scoped(f"{memory.namespace}-copy")
        copy.load(memory.dump())
        assert [line[1:] for line in map(tuple, _notes(copy))] == [
            line[1:] for line in map(tuple, _notes(memory))
        ]
        bare = memory.scoped(f"{memory.namespace}-bare")
        bare.load(memory.dump(vectors=False))
        assert_points(sentences_of(bare)["long"], "[far]", "[edge]", "[cousin]")


def _notes(memory: Memory) -> list[tuple[object, ...]]:
    return [item for item in state(memory) if isinstance(item, tuple)]


def test_notes_from_before_get_sentences_by_rebuild_or_reindex(fresh_place: Place) -> None:
    with fresh_place.open() as memory:
        memory.add_many([plain("long", LONG)])
        for mend in (memory.reindex, lambda: memory.rebuild(embeddings=True)):
            memory.load([
                replace(item, sentences=None) if isinstance(item, NoteRecord) else item
                for item in memory.dump()
            ])  # fmt: skip
            assert sentences_of(memory)["long"] is None
            assert_only_the_whole_counts(memory)
            assert not memory.check(embeddings=True).ok
            mend()
            assert_points(sentences_of(memory)["long"], "[far]", "[edge]", "[cousin]")
            assert memory.check(embeddings=True).ok
