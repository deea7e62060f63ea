"""Inverted indexes over small integers: which rows hold a term, a tag or a source."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from graphmem.model import TermCounts
from graphmem.stores.embedded.damage import decodes

Rows = NDArray[np.int32]
"""Row numbers of one shard, ascending."""

_NOTHING: NDArray[np.int32] = np.empty(0, dtype=np.int32)
_SCANS_BEFORE_SORTING = 64
_SCANNED = 65_536


class Vocabulary:
    """Words and their numbers, both ways. A number is given once and never again."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.words: list[str] = []

    def __len__(self) -> int:
        return len(self.words)

    @decodes("the words of a note")
    def texts(self, numbers: Sequence[int]) -> tuple[str, ...]:
        """Return the words of these numbers."""
        if len(numbers) > 1:
            words: tuple[str, ...] = itemgetter(*numbers)(self.words)
            return words
        return tuple(self.words[number] for number in numbers)

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

    def learn_all(self, rows: Sequence[tuple[int, str]]) -> None:
        """Give words the numbers they have in the file, rows of (number, word) by number."""
        if not rows:
            return
        numbers, words = zip(*rows, strict=True)
        first = len(self.words)
        if numbers == tuple(range(first, first + len(numbers))):
            self.words.extend(words)
            self.numbers.update(zip(words, numbers, strict=True))
            return
        for number, word in rows:
            self.learn(number, word)

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


class TermLists:
    """The terms of each row as numbers, one after the other in one array.

    Parameters
    ----------
    numbers
        Those of all rows, in order of rows.
    lengths
        How many each row has.
    """

    def __init__(
        self, numbers: NDArray[np.int32] = _NOTHING, lengths: NDArray[np.int32] = _NOTHING
    ) -> None:
        self._numbers = array("i", numbers.tobytes())
        self._starts = array("q", np.cumsum(np.concatenate(([0], lengths))).tobytes())

    def append(self, numbers: Sequence[int]) -> None:
        """Add the terms of the next row."""
        self._numbers.extend(numbers)
        self._starts.append(len(self._numbers))

    def counts(self, rows: NDArray[np.intp], wanted: Sequence[int]) -> TermCounts:
        """Return how often each of the `wanted` numbers occurs in each of the rows."""
        starts = np.frombuffer(self._starts, dtype=np.int64)
        lengths = starts[rows + 1] - starts[rows]
        ends = np.cumsum(lengths)
        places = np.arange(ends[-1] if len(ends) else 0)
        places += (starts[rows] - (ends - lengths)).repeat(lengths)
        numbers = _ints(self._numbers)[places]
        owner = np.arange(len(rows)).repeat(lengths)
        counts = np.zeros((len(rows), len(wanted)))
        for column, number in enumerate(wanted):
            if number < 0:
                continue
            counts[:, column] = np.bincount(owner[numbers == number], minlength=len(rows))
        return TermCounts(counts, lengths.astype(np.float64))


class PostingIndex:
    """The rows that hold each number: those packed and those added since.

    Rows are only added. A reader leaves out those that died. Adding costs a copy: what was
    added is scanned when a number is asked for, and packed when it has grown. What was
    packed is scanned too for the first few numbers and sorted after that, so that a
    process that asks once does not pay for sorting.

    Parameters
    ----------
    numbers, rows
        Pairs (number, row) in order of rows; a pair may repeat.
    """

    def __init__(self, numbers: NDArray[np.int32] = _NOTHING, rows: Rows = _NOTHING) -> None:
        self._numbers = numbers
        self._rows = rows
        self._starts: NDArray[np.int64] | None = None
        self._scans = 0
        self._added_numbers = array("i")
        self._added_rows = array("i")

    def add(self, row: int, numbers: Sequence[int]) -> None:
        """Note that `row`, no lower than any before, holds these numbers."""
        self._added_numbers.extend(numbers)
        self._added_rows.extend([row] * len(numbers))

    def rows(self, number: int) -> Rows:
        """Return the rows that hold `number`, ascending, dead ones included."""
        if number < 0:
            return _NOTHING
        if len(self._added_rows) > max(_SCANNED, len(self._rows) // 16):
            self._pack()
        packed = self._packed(number)
        if not self._added_rows:
            return packed
        added = _scan(_ints(self._added_numbers), _ints(self._added_rows), number)
        return np.concatenate((packed, added)) if len(packed) else added

    def _packed(self, number: int) -> Rows:
        if self._starts is None and self._scans < _SCANS_BEFORE_SORTING:
            self._scans += 1
            return _scan(self._numbers, self._rows, number)
        starts = self._sorted()
        if number >= len(starts) - 1:
            return _NOTHING
        return self._rows[starts[number] : starts[number + 1]]

    def _pack(self) -> None:
        """Move what was added to what is packed."""
        if self._starts is not None:
            counts = np.diff(self._starts)
            self._numbers = np.arange(len(counts), dtype=np.int32).repeat(counts)
        self._numbers = np.concatenate((self._numbers, _ints(self._added_numbers)))
        self._rows = np.concatenate((self._rows, _ints(self._added_rows)))
        self._added_numbers, self._added_rows = array("i"), array("i")
        if self._starts is not None:
            self._starts = None  # no longer in order of rows: it has to be sorted again
            self._sorted()

    def _sorted(self) -> NDArray[np.int64]:
        """Return where each number's rows start, having sorted them at the first call."""
        if self._starts is None:
            order = _stable_order(self._numbers)
            numbers, rows = self._numbers[order], self._rows[order]
            fresh = np.ones(len(numbers), dtype=bool)
            fresh[1:] = (numbers[1:] != numbers[:-1]) | (rows[1:] != rows[:-1])
            self._rows, self._numbers = rows[fresh], _NOTHING
            self._starts = np.concatenate(([0], np.cumsum(np.bincount(numbers[fresh]))))
        return self._starts


def _scan(numbers: NDArray[np.int32], rows: Rows, number: int) -> Rows:
    """Return the distinct rows of a number, from pairs in order of rows."""
    found = rows[np.flatnonzero(numbers == number)]
    distinct: Rows = found[np.flatnonzero(np.diff(found, prepend=-1))]
    return distinct


def _ints(values: array[int]) -> NDArray[np.int32]:
    """Return the array's memory as numpy's; it cannot grow while the result is alive."""
    return np.frombuffer(values, dtype=np.int32)


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
