"""The fields of notes that reads filter and sort by, as growing numpy columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NONE = -1
"""Number of an absent source or author."""

NO_POSITION = np.iinfo(np.int64).min
"""Position of a note that has none."""

_GROWTH = 1.5


@dataclass(frozen=True, slots=True)
class NewRows:
    """Fields of rows to append, one sequence per column."""

    key: Sequence[int]
    created_at: Sequence[int]
    archived: Sequence[bool]
    position: Sequence[int | None]
    importance: Sequence[float]
    terms: Sequence[int]
    source: Sequence[int]
    author: Sequence[int]


class Columns:
    """One array per field, all of one length, with room to grow."""

    _TYPES: tuple[tuple[str, type[np.generic]], ...] = (
        ("_key", np.int64),
        ("_created_at", np.int64),
        ("_importance", np.float64),
        ("_position", np.int64),
        ("_source", np.int32),
        ("_author", np.int32),
        ("_terms", np.int32),
        ("_archived", np.bool_),
        ("_alive", np.bool_),
    )

    def __init__(self) -> None:
        self.count = 0
        self._capacity = 0
        self._key: NDArray[np.int64] = np.empty(0, np.int64)
        self._created_at: NDArray[np.int64] = np.empty(0, np.int64)
        self._importance: NDArray[np.float64] = np.empty(0, np.float64)
        self._position: NDArray[np.int64] = np.empty(0, np.int64)
        self._source: NDArray[np.int32] = np.empty(0, np.int32)
        self._author: NDArray[np.int32] = np.empty(0, np.int32)
        self._terms: NDArray[np.int32] = np.empty(0, np.int32)
        self._archived: NDArray[np.bool_] = np.empty(0, np.bool_)
        self._alive: NDArray[np.bool_] = np.empty(0, np.bool_)

    def reserve(self, capacity: int) -> None:
        """Make room for `capacity` rows."""
        if capacity <= self._capacity:
            return
        for name, kind in self._TYPES:
            grown = np.zeros(capacity, dtype=kind)
            grown[: self.count] = getattr(self, name)[: self.count]
            setattr(self, name, grown)
        self._capacity = capacity

    def extend(self, rows: NewRows) -> None:
        """Append living rows."""
        first, count = self.count, self.count + len(rows.key)
        if count > self._capacity:
            self.reserve(max(count, int(self._capacity * _GROWTH), 64))
        self.count = count
        new = slice(first, count)
        self._key[new] = rows.key
        self._created_at[new] = rows.created_at
        self._archived[new] = rows.archived
        self._position[new] = [NO_POSITION if each is None else each for each in rows.position]
        self._importance[new] = rows.importance
        self._terms[new] = rows.terms
        self._source[new] = rows.source
        self._author[new] = rows.author
        self._alive[new] = True

    def change(self, row: int, rows: NewRows) -> None:
        """Set the fields of a row whose key, source and terms stay, from `rows` of one."""
        self._created_at[row] = rows.created_at[0]
        self._archived[row] = rows.archived[0]
        position = rows.position[0]
        self._position[row] = NO_POSITION if position is None else position
        self._importance[row] = rows.importance[0]
        self._author[row] = rows.author[0]

    def kill(self, row: int) -> None:
        """Mark the row as dead."""
        self._alive[row] = False

    @property
    def key(self) -> NDArray[np.int64]:
        """Keys of the notes in the file."""
        return self._key[: self.count]

    @property
    def created_at(self) -> NDArray[np.int64]:
        """Microseconds since 1970."""
        return self._created_at[: self.count]

    @property
    def importance(self) -> NDArray[np.float64]:
        """Importance at write time."""
        return self._importance[: self.count]

    @property
    def position(self) -> NDArray[np.int64]:
        """Position within the source, or :data:`NO_POSITION`."""
        return self._position[: self.count]

    @property
    def source(self) -> NDArray[np.int32]:
        """Number of the source, or :data:`NONE`."""
        return self._source[: self.count]

    @property
    def author(self) -> NDArray[np.int32]:
        """Number of the author, or :data:`NONE`."""
        return self._author[: self.count]

    @property
    def terms(self) -> NDArray[np.int32]:
        """Number of terms, with repetition."""
        return self._terms[: self.count]

    @property
    def archived(self) -> NDArray[np.bool_]:
        """Whether the note is archived."""
        return self._archived[: self.count]

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Whether the row is a note's present one."""
        return self._alive[: self.count]
