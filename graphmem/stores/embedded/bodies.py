"""Decoded notes kept between reads, within a bound on their size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice

from graphmem.model import Note
from graphmem.stores.embedded.rows import from_micros

Body = tuple[Note, tuple[str, ...]]
"""A note with its terms."""

_BUDGET = 128 * 2**20
_OVERHEAD = 1_000


class Bodies:
    """Notes as the file has them, by key. Beyond the budget the older half goes.

    A note of which only the use was counted elsewhere stays, and has its counters read anew.
    A note counts as many units as its text has characters, and a thousand for the rest;
    128 Mi units hold about 100,000 short notes.
    """

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._size = 0
        self._kept: dict[int, Body] = {}
        self._outdated: set[int] = set()

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

    def outdate(self, keys: Iterable[int]) -> None:
        """Take the use counters of these notes for out of date."""
        self._outdated.update(key for key in keys if key in self._kept)

    def outdated(self, keys: Iterable[int]) -> list[int]:
        """Return those keys whose note's use counters have to be read anew."""
        outdated = self._outdated
        return [key for key in keys if key in outdated] if outdated else []

    def renew(self, uses: Iterable[tuple[int, int, int]]) -> None:
        """Take in key, recall count and moment of the last recall of outdated notes."""
        for key, recalls, moment in uses:
            note, terms = self._kept[key]
            used = replace(note, recall_count=recalls, last_accessed_at=from_micros(moment))
            self._kept[key] = used, terms
            self._outdated.discard(key)

    def drop(self, keys: Iterable[int]) -> None:
        """Forget these notes."""
        for key in keys:
            body = self._kept.pop(key, None)
            self._outdated.discard(key)
            if body is not None:
                self._size -= _size(body)

    def clear(self) -> None:
        """Forget everything."""
        self._kept = {}
        self._outdated = set()
        self._size = 0


def _size(body: Body) -> int:
    return len(body[0].content) + _OVERHEAD
