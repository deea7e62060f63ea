"""Vectors on disk: blocks of neighbouring notes, read as fast as memory is copied.

A note's key says where its vector lies. A place of zeros is a note without vector; taking
a vector out overwrites it with zeros.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from graphmem.stores.embedded.schema import NAMESPACE_BITS

BLOCK_BITS = 5
"""A block holds the vectors of 2 ** BLOCK_BITS consecutive keys."""

BLOCK = 1 << BLOCK_BITS

StoredVector = tuple[int, bytes]
"""Key of a note and the bytes of its vector."""


class VectorFile:
    """The vectors of the open file, within its transactions."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def blocks(self, namespace: int) -> Iterator[tuple[int, bytes]]:
        """Yield the first key and the bytes of every block of a namespace, by key."""
        shift = NAMESPACE_BITS - BLOCK_BITS
        cursor = self._connection.execute(
            "SELECT block, value FROM vector WHERE block BETWEEN ? AND ? ORDER BY block",
            (namespace << shift, (namespace + 1 << shift) - 1),
        )
        for block, value in cursor:
            yield block << BLOCK_BITS, value

    def of(self, keys: Iterable[int], length: int) -> dict[int, bytes]:
        """Return the vectors of `length` bytes of those notes that have one, by key."""
        found: dict[int, bytes] = {}
        nothing = bytes(length)
        for block, members in groupby(sorted(keys), key=lambda key: key >> BLOCK_BITS):
            if self._size(block) != BLOCK * length:
                continue
            with self._connection.blobopen("vector", "value", block, readonly=True) as blob:
                for key in members:
                    blob.seek(key % BLOCK * length)
                    value = blob.read(length)
                    if value != nothing:
                        found[key] = value
        return found

    def put(self, vectors: Iterable[StoredVector]) -> None:
        """Write vectors of one length."""
        ordered = sorted(vectors, key=lambda vector: vector[0])
        for block, members in groupby(ordered, key=lambda vector: vector[0] >> BLOCK_BITS):
            self._put(block, list(members))

    def clear(self, keys: Iterable[int], length: int) -> None:
        """Overwrite the vectors of these notes with zeros."""
        nothing = bytes(length)
        for block, members in groupby(sorted(keys), key=lambda key: key >> BLOCK_BITS):
            if self._size(block) == BLOCK * length:
                self._put(block, [(key, nothing) for key in members])

    def drop(self, namespace: int | None = None) -> None:
        """Delete all vectors of a namespace, or of the file."""
        if namespace is None:
            self._connection.execute("DELETE FROM vector")
            return
        shift = NAMESPACE_BITS - BLOCK_BITS
        self._connection.execute(
            "DELETE FROM vector WHERE block BETWEEN ? AND ?",
            (namespace << shift, (namespace + 1 << shift) - 1),
        )

    def _put(self, block: int, vectors: Sequence[StoredVector]) -> None:
        length = len(vectors[0][1])
        if len(vectors) == BLOCK:
            self._connection.execute(
                "INSERT OR REPLACE INTO vector (block, value) VALUES (?, ?)",
                (block, b"".join(value for _, value in vectors)),
            )
            return
        self._connection.execute(
            "INSERT OR IGNORE INTO vector (block, value) VALUES (?, zeroblob(?))",
            (block, BLOCK * length),
        )
        with self._connection.blobopen("vector", "value", block) as blob:
            for key, value in vectors:
                blob.seek(key % BLOCK * length)
                blob.write(value)

    def _size(self, block: int) -> int | None:
        row = self._connection.execute(
            "SELECT length(value) FROM vector WHERE block = ?", (block,)
        ).fetchone()
        return None if row is None else int(row[0])
