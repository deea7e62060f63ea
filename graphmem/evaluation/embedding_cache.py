"""A disk cache of embeddings, so that a second evaluation takes minutes."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

from graphmem.errors import EmbeddingError
from graphmem.model import Vector
from graphmem.ports import Embedder, EmbeddingRole


class CachedEmbedder:
    """An embedder that keeps every vector it ever made in one SQLite file.

    Keyed by model, role and text: a cached vector is the one the model gave, byte for byte.
    The file is a cache: it may be deleted at any time, and a damaged one should be.

    Parameters
    ----------
    embedder
        Makes the vectors that are not there yet.
    path
        The file; made when missing, with its folders.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path
        self._connection: sqlite3.Connection | None = None

    @property
    def model_id(self) -> str:
        """Name of the model behind the cache."""
        return self._embedder.model_id

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._embedder.dimension

    def encode(self, texts: Sequence[str], *, role: EmbeddingRole = "note") -> Vector:
        """Return the vectors of `texts`, shape (n, dimension), made only where missing.

        Raises
        ------
        EmbeddingError
            The cache file cannot be used.
        """
        keys = [self._key(text, role) for text in texts]
        try:
            known = self._read(keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            if missing:
                made = self._embedder.encode(list(missing.values()), role=role)
                fresh = dict(zip(missing, made, strict=True))
                self._write(fresh)
                known |= fresh
        except (OSError, sqlite3.Error) as error:
            raise EmbeddingError(
                f"The embedding cache {self._path} cannot be used: {error}. "
                "Delete the file or name another one."
            ) from error
        if not keys:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([known[key] for key in keys])

    def close(self) -> None:
        """Close the file; a later `encode` opens it again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> CachedEmbedder:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    def _key(self, text: str, role: EmbeddingRole) -> bytes:
        named = f"{self.model_id}\x1f{role}\x1f{text}"
        return hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(self._path, timeout=60, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL)"
                " WITHOUT ROWID"
            )
            self._connection = connection
        return self._connection

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        connection = self._open()
        found: dict[bytes, Vector] = {}
        for key in keys:
            row = connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = np.frombuffer(row[0], dtype="<f4")
        return found

    def _write(self, vectors: dict[bytes, Vector]) -> None:
        with self._open() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                [
                    (key, np.ascontiguousarray(vector, dtype="<f4").tobytes())
                    for key, vector in vectors.items()
                ],
            )
