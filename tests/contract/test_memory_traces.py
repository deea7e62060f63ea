"""What was erased is not named by the history of what stays."""

from __future__ import annotations

from contract.memories import Place

from graphmem import Memory


def named_in_history(memory: Memory, note_id: str) -> set[str]:
    return {
        end
        for event in memory.history(note_id)
        for link in (*event.linked, *event.unlinked)
        for end in link.pair
    }


def test_an_erased_note_leaves_the_history_of_a_neighbour(fresh_place: Place) -> None:
    memory = fresh_place.open(embedder="hashing-64")
    memory.add("Ada prefers aisle seats on long flights to Zurich", id="a")
    memory.add("Ada prefers aisle seats on long flights to Zurich now", id="b")
    assert memory.links("b")
    memory.revise("b", content="The kettle on the shelf is blue and the lamp is grey")
    assert named_in_history(memory, "b") == {"a", "b"}
    receipt = memory.erase(id="a")
    assert receipt.verified
    assert named_in_history(memory, "b") == set()
