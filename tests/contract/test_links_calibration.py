"""Thresholds proposed from what a memory holds, the same on every store."""

from __future__ import annotations

from pathlib import Path

import pytest
from contract.memories import add_all, plain

from graphmem import InvalidInput, Memory, NotFound, TransferError
from graphmem.evaluation.links.calibration import (
    LabelledPair,
    propose_from_notes,
    propose_from_pairs,
    read_labelled_pairs,
)


@pytest.fixture
def known(memory: Memory) -> Memory:
    """Notes at known cosines with the first."""
    markers = {"a": "[east]", "t": "[twin]", "n": "[near]", "e": "[edge]", "f": "[far]"}
    add_all(memory, [plain(name, marker) for name, marker in markers.items()])
    return memory


def test_labelled_notes_set_the_thresholds(known: Memory) -> None:
    labels = {"t": True, "n": True, "e": False, "f": False}
    made = propose_from_pairs(
        known, [LabelledPair(a="a", b=b, related=y) for b, y in labels.items()]
    )
    policy = made.calibration.policy
    assert policy.link_threshold == pytest.approx(0.80, abs=1e-5)
    assert (made.calibration.f1, made.calibration.related) == (1.0, 2)
    stats = known.stats()
    assert stats.model is not None
    assert made.model == stats.model.model_id


def test_random_pairs_of_the_notes_set_the_thresholds(memory: Memory) -> None:
    add_all(memory, [plain(f"n{number}", f"text {number}") for number in range(20)])
    made = propose_from_notes(memory, unrelated_share=0.9)
    assert made.calibration.pairs == 190
    assert made.calibration.linked == pytest.approx(0.1, abs=0.01)
    assert propose_from_notes(memory, unrelated_share=0.9) == made
    fewer = propose_from_notes(memory, unrelated_share=0.9, sample=15)
    assert fewer.calibration.pairs == 105


def test_an_archived_note_is_not_drawn(memory: Memory) -> None:
    add_all(memory, [plain(f"n{number}", f"text {number}") for number in range(16)])
    memory.archive("n3")
    assert propose_from_notes(memory).calibration.pairs == 105


def test_nothing_is_changed_and_too_little_is_said_so(known: Memory) -> None:
    before = known.stats()
    with pytest.raises(InvalidInput, match="too few"):
        propose_from_notes(known)
    with pytest.raises(NotFound, match="'ghost'"):
        propose_from_pairs(known, [LabelledPair(a="a", b="ghost", related=True)])
    assert known.stats() == before


def test_a_file_of_pairs_names_the_line_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "x", "b": "y", "related": true}\n\n{"a": "x"}\n')
    with pytest.raises(TransferError, match=r"pairs\.jsonl, line 3"):
        read_labelled_pairs(path)
    path.write_text('{"a": "x", "b": "y", "related": true}\n')
    assert read_labelled_pairs(path) == (LabelledPair(a="x", b="y", related=True),)
    with pytest.raises(TransferError, match="cannot be read"):
        read_labelled_pairs(tmp_path / "missing.jsonl")
