"""Vectors of sentences kept between reads, within a bound on their size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from graphmem.model import SentenceVectors

_BUDGET = 64 * 2**20
_OVERHEAD = 250


class KeptSentences:
    """Sentences of notes by key, also that a note has none. Beyond the budget the older half goes.

    A recall scores the sentences of its few hundred candidates only, so that a namespace's
    need not all be in memory. Sizes are bytes; 64 MiB hold the sentences of some 50,000 notes.
    """

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._size = 0
        self._kept: dict[int, SentenceVectors | None] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def missing(self, keys: Iterable[int]) -> list[int]:
        """Return those keys whose sentences are not here."""
        kept = self._kept
        return [key for key in keys if key not in kept]

    def of(self, keys: Iterable[int]) -> Sequence[SentenceVectors | None]:
        """Return the sentences of these keys, which are all here."""
        kept = self._kept
        return [kept[key] for key in keys]

    def keep(self, sentences: Mapping[int, SentenceVectors | None]) -> None:
        """Take in sentences; they stay at least until the next call."""
        while self._size > self._budget and self._kept:
            self.drop(list(islice(self._kept, (len(self._kept) + 1) // 2)))
        self._kept.update(sentences)
        self._size += sum(map(_size, sentences.values()))

    def drop(self, keys: Iterable[int]) -> None:
        """Forget the sentences of these notes."""
        for key in keys:
            if key in self._kept:
                self._size -= _size(self._kept.pop(key))

    def clear(self) -> None:
        """Forget everything."""
        self._kept = {}
        self._size = 0


def _size(sentences: SentenceVectors | None) -> int:
    return _OVERHEAD + (0 if sentences is None else sentences.nbytes)
