"""Bare limits: the least work any embedded store would have to do for the same answer."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rank_bm25 import BM25Okapi  # type: ignore[import-untyped]  # ships no annotations

from graphmem.model import Vector

SEEDS = 200
"""Candidates of the bare recall."""
BLOCK = 256


@dataclass(frozen=True, slots=True)
class Rows:
    """Everything in a SQLite file: statements that make its tables, and their rows."""

    schema: tuple[str, ...]
    tables: Mapping[str, Sequence[tuple[Any, ...]]]


def bare_scan(vectors: Vector, question: Vector, limit: int = SEEDS) -> Sequence[int]:
    """Return the rows of highest cosine by an exact scan, best first."""
    cosines = vectors @ question
    limit = min(limit, len(cosines))
    best = np.argpartition(-cosines, limit - 1)[:limit]
    ordered: list[int] = best[np.argsort(-cosines[best])].tolist()
    return ordered


def bare_recall(
    vectors: Vector,
    tokens: Sequence[Sequence[str]],
    question: Vector,
    terms: Sequence[str],
    candidates: int,
) -> None:
    """Scan exactly, then score so many candidates with rank-bm25."""
    rows = bare_scan(vectors, question, candidates)
    BM25Okapi([tokens[row] for row in rows]).get_scores(list(terms))


def bare_links(vectors: Vector, threshold: float = 0.72) -> int:
    """Return how many earlier notes lie above the threshold, by one blocked matrix product."""
    found = 0
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        cosines = block @ vectors[: start + len(block)].T
        found += int((cosines >= threshold).sum())
    return found


def rows_of(path: Path) -> Rows:
    """Read a SQLite file whole."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL "
            "AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
        ).fetchall()
        tables = {
            name: connection.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608 - own tables
            for kind, name, _ in made
            if kind == "table"
        }
    return Rows(tuple(sql for _, _, sql in made), tables)


def bare_insert(path: Path, rows: Rows) -> None:
    """Insert the rows into a new file with the same indexes, in one durable transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        _make_durable(connection)
        for statement in rows.schema:
            connection.execute(statement)
        connection.execute("BEGIN")
        for name, values in rows.tables.items():
            if values:
                places = ", ".join("?" * len(values[0]))
                connection.executemany(f"INSERT INTO {name} VALUES ({places})", values)  # noqa: S608 - own tables
        connection.execute("COMMIT")


def bare_open(path: Path) -> int:
    """Read the file's bytes and build arrays of vectors, terms sorted by term, and ids."""
    read = len(path.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        notes = connection.execute("SELECT id, terms FROM note ORDER BY key").fetchall()
        blocks = connection.execute("SELECT value FROM vector ORDER BY block").fetchall()
    row_of = {note_id: row for row, (note_id, _) in enumerate(notes)}
    numbers = np.frombuffer(b"".join([terms for _, terms in notes]), dtype=np.int32)
    holders = np.arange(len(notes)).repeat([len(terms) // 4 for _, terms in notes])
    holders = holders[np.argsort(numbers, kind="stable")]
    vectors = np.frombuffer(b"".join([value for (value,) in blocks]), dtype=np.float32)
    return read + len(row_of) + len(holders) + len(vectors)


def make_bare_table(connection: sqlite3.Connection) -> None:
    """Make the table of :func:`bare_commit`."""
    _make_durable(connection)
    connection.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, content TEXT, embedding BLOB)")


def bare_commit(connection: sqlite3.Connection, number: int, vector: Vector) -> None:
    """Write one small row durably."""
    with connection:
        connection.execute("INSERT INTO note VALUES (?, 'x', ?)", (number, vector.tobytes()))


def _make_durable(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
