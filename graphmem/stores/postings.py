"""Inverted indexes over small integers: which rows hold a term, a tag or a source."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
"""Row numbers of one shard, ascending."""

_NO_ROWS: Rows = np.empty(0, dtype=np.int32)


class Vocabulary:
    """Words and their numbers, both ways. A number is given once and never again."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.words: list[str] = []

    def __len__(self) -> int:
        return len(self.words)

    def number(self, word: str) -> int:
        """Return the word's number, a new one if it is new."""
        found = self.numbers.get(word)
        if found is None:
            found = self.numbers[word] = len(self.words)
            self.words.append(word)
        return found

    def learn(self, number: int, word: str) -> None:
        """Give `word` the number it has in the file."""
        self.cover(number)
        self.words[number] = word
        self.numbers[word] = number

    def cover(self, number: int) -> None:
        """Make sure that every number up to `number` has a word, if only an empty one."""
        self.words.extend([""] * (number + 1 - len(self.words)))

    def forget(self, number: int) -> None:
        """Drop a word that no note holds any more."""
        self.cover(number)
        word = self.words[number]
        self.words[number] = ""
        if self.numbers.get(word) == number:
            del self.numbers[word]


class PostingIndex:
    """The rows that hold each number: a packed part and what was added since.

    Rows are only added. A reader leaves out those that died.
    """

    def __init__(self) -> None:
        self._starts = np.zeros(1, dtype=np.int64)
        self._rows = _NO_ROWS
        self._added: dict[int, array[int]] = {}

    @classmethod
    def pack(cls, numbers: NDArray[np.int32], rows: Rows) -> PostingIndex:
        """Build the index of pairs (number, row); rows ascending, pairs may repeat."""
        index = cls()
        if not len(numbers):
            return index
        order = _stable_order(numbers)
        numbers, rows = numbers[order], rows[order]
        fresh = np.ones(len(numbers), dtype=bool)
        fresh[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
        numbers, index._rows = numbers[fresh], rows[fresh]
        counts = np.bincount(numbers)
        index._starts = np.concatenate(([0], np.cumsum(counts)))
        return index

    def add(self, row: int, numbers: Iterable[int]) -> None:
        """Note that `row`, higher than any before, holds these distinct numbers."""
        added = self._added
        for number in numbers:
            rows = added.get(number)
            if rows is None:
                added[number] = array("i", (row,))
            else:
                rows.append(row)

    def rows(self, number: int) -> Rows:
        """Return the rows that hold `number`, ascending, dead ones included."""
        packed = _NO_ROWS
        if number + 1 < len(self._starts):
            packed = self._rows[self._starts[number] : self._starts[number + 1]]
        added = self._added.get(number)
        if added is None:
            return packed
        recent = np.array(added, dtype=np.int32)
        return np.concatenate((packed, recent)) if len(packed) else recent


def _stable_order(numbers: NDArray[np.int32]) -> NDArray[np.intp]:
    """Return the stable sorting order of non-negative numbers.

    numpy's stable sort of 16-bit integers is a radix sort; two passes over the halves of
    the numbers are several times faster than its merge sort of the whole.
    """
    order = np.argsort((numbers & 0xFFFF).astype(np.uint16), kind="stable")
    high = (numbers >> 16).astype(np.uint16)
    if not high.any():
        return order
    return order[np.argsort(high[order], kind="stable")]
