"""Decoded notes kept between reads, within a bound on their size."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from graphmem.model import Note

Body = tuple[Note, tuple[str, ...]]
"""A note with its terms."""

_BUDGET = 128 * 2**20
_OVERHEAD = 1_000


class Bodies:
    """Notes as the file has them, by key. Beyond the budget the older half goes.

    A note counts as many units as its text has characters, and a thousand for the rest;
    128 Mi units hold about 100,000 short notes.
    """

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._size = 0
        self._kept: dict[int, Body] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def missing(self, keys: Iterable[int]) -> list[int]:
        """Return those keys whose note is not here."""
        kept = self._kept
        return [key for key in keys if key not in kept]

    def of(self, keys: Iterable[int]) -> list[Body]:
        """Return the notes of these keys, which are all here."""
        kept = self._kept
        return [kept[key] for key in keys]

    def keep(self, bodies: dict[int, Body]) -> None:
        """Take in notes; they stay at least until the next call."""
        self._size += sum(_size(body) for body in bodies.values())
        while self._size > self._budget and self._kept:
            older = list(islice(self._kept, (len(self._kept) + 1) // 2))
            self.drop(older)
        self._kept.update(bodies)

    def drop(self, keys: Iterable[int]) -> None:
        """Forget these notes."""
        for key in keys:
            body = self._kept.pop(key, None)
            if body is not None:
                self._size -= _size(body)

    def clear(self) -> None:
        """Forget everything."""
        self._kept = {}
        self._size = 0


def _size(body: Body) -> int:
    return len(body[0].content) + _OVERHEAD
