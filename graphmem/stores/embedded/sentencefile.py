"""Vectors of sentences on disk: one row for each note that has some.

A table of their own, so that reading the columns of all notes passes none of them by.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator

from graphmem.stores.embedded.schema import key_range, listed_keys

StoredSentences = tuple[int, bytes]
"""Key of a note and the bytes of its sentences' vectors."""


class SentenceFile:
    """The sentences of the open file, within its transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def of(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Return the bytes of those notes that have sentences, by key."""
        return dict(
            self._connection.execute(
                "SELECT note, value FROM sentence WHERE note IN (SELECT value FROM json_each(?))",
                (listed_keys(keys),),
            )
        )

    def all(self, namespace: int) -> Iterator[StoredSentences]:
        """Yield the sentences of a namespace, by key."""
        yield from self._connection.execute(
            "SELECT note, value FROM sentence WHERE note BETWEEN ? AND ? ORDER BY note",
            key_range(namespace),
        )

    def put(self, sentences: Iterable[StoredSentences]) -> None:
        """Write the sentences of notes; without bytes a note has none any more."""
        rows = list(sentences)
        self.clear(key for key, value in rows if not value)
        self._connection.executemany(
            "INSERT OR REPLACE INTO sentence (note, value) VALUES (?, ?)",
            (row for row in rows if row[1]),
        )

    def clear(self, keys: Iterable[int]) -> None:
        """Delete the sentences of these notes."""
        self._connection.executemany("DELETE FROM sentence WHERE note = ?", ((k,) for k in keys))

    def drop(self, namespace: int | None = None) -> None:
        """Delete all sentences of a namespace, or of the file."""
        if namespace is None:
            self._connection.execute("DELETE FROM sentence")
            return
        self._connection.execute(
            "DELETE FROM sentence WHERE note BETWEEN ? AND ?",
            key_range(namespace),
        )
