"""Bare limits: the least work any store would have to do for the same answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]  # ships no annotations

from graphmem.model import NoteInput, Vector

SEEDS = 200
"""Candidates of the bare recall."""
BLOCK = 256


def bare_scan(vectors: Vector, question: Vector, limit: int = SEEDS) -> Sequence[int]:
    """Return the rows of highest cosine by an exact scan, best first."""
    cosines = vectors @ question
    limit = min(limit, len(cosines))
    best = np.argpartition(-cosines, limit - 1)[:limit]
    ordered: list[int] = best[np.argsort(-cosines[best])].tolist()
    return ordered


def bare_recall(
    vectors: Vector, tokens: Sequence[Sequence[str]], question: Vector, terms: Sequence[str]
) -> None:
    """Scan exactly, then score the candidates with rank-bm25."""
    rows = bare_scan(vectors, question)
    BM25Okapi([tokens[row] for row in rows]).get_scores(list(terms))


def bare_links(vectors: Vector, threshold: float = 0.72) -> int:
    """Return how many earlier notes lie above the threshold, by one blocked matrix product."""
    found = 0
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        cosines = block @ vectors[: start + len(block)].T
        found += int((cosines >= threshold).sum())
    return found


def bare_insert(path: Path, notes: Sequence[NoteInput], vectors: Vector) -> None:
    """Insert the same rows into SQLite in one durable transaction."""
    rows = (
        (note.id, note.content, note.author, vector.tobytes())
        for note, vector in zip(notes, vectors, strict=True)
    )
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute(
        "CREATE TABLE note (id TEXT PRIMARY KEY, content TEXT, author TEXT, embedding BLOB)"
    )
    with connection:
        connection.executemany("INSERT INTO note VALUES (?, ?, ?, ?)", rows)
    connection.close()


def bare_commit(connection: sqlite3.Connection, number: int, vector: Vector) -> None:
    """Write one small row durably."""
    with connection:
        connection.execute("INSERT INTO note VALUES (?, 'x', 'x', ?)", (number, vector.tobytes()))
