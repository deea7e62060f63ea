from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.stores.embedded import postings
from graphmem.stores.embedded.postings import PostingIndex, Vocabulary

PAIRS = st.lists(st.tuples(st.integers(0, 70_000), st.integers(0, 30)), max_size=60)


@given(PAIRS, PAIRS)
def test_packed_and_added_rows_are_found(
    packed: list[tuple[int, int]], later: list[tuple[int, int]]
) -> None:
    packed.sort(key=lambda pair: pair[1])
    index = PostingIndex(
        np.array([number for number, _ in packed], dtype=np.int32),
        np.array([row for _, row in packed], dtype=np.int32),
    )
    added: dict[int, set[int]] = {}
    for number, row in later:
        added.setdefault(100 + row, set()).add(number)
    for row in sorted(added):
        index.add(row, sorted(added[row]) * 2)
    for number in {number for number, _ in (*packed, *later)} | {5}:
        rows = {row for each, row in packed if each == number}
        rows |= {row for row, numbers in added.items() if number in numbers}
        for _ in range(70 // (1 + len(later))):  # before and after it sorts
            assert index.rows(number).tolist() == sorted(rows)


def test_a_term_of_no_number_has_no_rows() -> None:
    index = PostingIndex(np.array([3], dtype=np.int32), np.array([0], dtype=np.int32))
    for _ in range(70):
        assert index.rows(-1).tolist() == []
        assert index.rows(99).tolist() == []
        assert index.rows(3).tolist() == [0]


def test_a_forgotten_word_gets_a_new_number() -> None:
    words = Vocabulary()
    words.learn(0, "a")
    words.learn(3, "b")
    words.forget(3)
    words.learn(4, "b")
    words.forget(3)
    assert words.numbers == {"a": 0, "b": 4}
    assert words.words == ["a", "", "", "", "b"]


@pytest.mark.parametrize("asked_before", [0, 1, 100])
def test_what_was_added_is_packed_when_it_has_grown(
    monkeypatch: pytest.MonkeyPatch, asked_before: int
) -> None:
    monkeypatch.setattr(postings, "_SCANNED", 40)
    index = PostingIndex(np.array([7, 3, 7], dtype=np.int32), np.array([0, 0, 1], dtype=np.int32))
    for _ in range(asked_before):
        assert index.rows(7).tolist() == [0, 1]
    for row in range(2, 60):
        index.add(row, [row % 5, 7, 7])
        if row % 9 == 0:
            assert index.rows(7).tolist() == list(range(row + 1))
    expected = [row for row in range(2, 60) if row % 5 == 3]
    assert index.rows(3).tolist() == [0, *expected]
