"""Comparing the parts of an embedded file with each other and with memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from graphmem.model import DisagreementKind, Link, Scope, Vector, event_id
from graphmem.stores.embedded.loading import load_shard
from graphmem.stores.embedded.rows import (
    EVENT_COLUMNS,
    NOTE_COLUMNS,
    Row,
    event_of,
    note_of,
    numbers_blob,
    numbers_of,
    to_blob,
)
from graphmem.stores.embedded.schema import key_range
from graphmem.stores.embedded.sentencefile import SentenceFile
from graphmem.stores.embedded.shard import Shard
from graphmem.stores.embedded.tables import Tables
from graphmem.stores.embedded.vectorfile import BLOCK, BLOCK_BITS, VectorFile
from graphmem.stores.sentences import from_bytes

_NORM_TOLERANCE = 1e-2


@dataclass(frozen=True, slots=True)
class Statement:
    """One change of the file that mends something."""

    sql: str
    values: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    `note_id` is the note it is about, if any; `repair` what mends it, if anything does. What is
    `unreadable` can only be left behind, in a new file of the rest.
    """

    problem: str
    note_id: str | None = None
    repair: tuple[Statement, ...] = ()
    mended: str = ""
    unreadable: bool = False


def inspect(connection: sqlite3.Connection, shard: Shard, scope: Scope) -> Iterator[Finding]:
    """Yield what is wrong in a namespace, without notes the scope may not see."""
    if shard.number is None:
        return
    dimension = shard.vectors.dimension
    inspection = Inspection(connection, scope.namespace, shard.number, dimension)
    for finding in (*inspection.findings(), *differences(shard, scope.namespace)):
        if finding.note_id is None or shard.visible(scope, (finding.note_id,)):
            yield finding


@dataclass(slots=True)
class Inspection:
    """Reads a namespace from end to end and says what does not fit.

    Parameters
    ----------
    connection
        The open file.
    namespace, number
        Name of the namespace and its number in the file.
    dimension
        Length of a vector.
    """

    connection: sqlite3.Connection
    namespace: str
    number: int
    dimension: int
    _ids: dict[int, str] = field(default_factory=dict)

    def findings(self) -> Iterator[Finding]:
        """Yield everything that is wrong, in the file as such first."""
        yield from self._pages()
        yield from self._notes()
        yield from self._vectors()
        yield from self._sentences()
        yield from self._links()
        yield from self._superseding()
        yield from self._events()

    def _pages(self) -> Iterator[Finding]:
        for (line,) in self.connection.execute("PRAGMA integrity_check"):
            if line != "ok":
                yield Finding(f"file: {line}", repair=(Statement("REINDEX"),), mended="indexes")

    def _notes(self) -> Iterator[Finding]:
        words = dict(Tables(self.connection).terms(self.number))
        used: set[int] = set()
        cursor = self.connection.execute(
            f"SELECT {NOTE_COLUMNS} FROM note WHERE key BETWEEN ? AND ?",  # noqa: S608 - constant
            key_range(self.number),
        )
        for row in cursor:
            key, note_id, terms = row[0], row[1], row[8]
            self._ids[key] = note_id
            yield from self._body(row)
            numbers = numbers_of(terms).tolist()
            known = [number for number in numbers if number in words]
            used.update(known)
            if len(known) * 4 != len(terms):
                blob = numbers_blob(known)
                yield Finding(
                    f"note {note_id!r}: terms without a word",
                    note_id,
                    (Statement("UPDATE note SET terms = ? WHERE key = ?", (blob, key)),),
                    f"note {note_id!r}: its wordless terms are gone; revise it to index it whole",
                )
        yield from self._unused(words.keys() - used)

    def _body(self, row: Row) -> Iterator[Finding]:
        try:
            note = note_of(self.namespace, row)
        except (ValueError, TypeError, OverflowError) as error:
            problem = f"note {row[1]!r}: unreadable ({error})"
            yield Finding(problem, str(row[1]), unreadable=True)
            return
        if note.revision < 1 or not 1 <= note.content_revision <= note.revision:
            yield Finding(f"note {note.id!r}: revisions do not fit each other", note.id)
        if not 0.0 <= note.importance <= 1.0:
            yield Finding(
                f"note {note.id!r}: importance {note.importance} is out of range", note.id
            )

    def _unused(self, numbers: set[int]) -> Iterator[Finding]:
        if numbers:
            first = key_range(self.number)[0]
            repair = tuple(
                Statement("DELETE FROM term WHERE key = ?", (first + number,))
                for number in sorted(numbers)
            )
            yield Finding(
                f"{len(numbers)} terms are held by no note", repair=repair, mended="unheld terms"
            )

    def _vectors(self) -> Iterator[Finding]:
        for first, value in VectorFile(self.connection).blocks(self.number):
            block = first >> BLOCK_BITS
            if len(value) != BLOCK * 4 * self.dimension:
                yield Finding(
                    f"vectors of keys {first} to {first + BLOCK - 1}: {len(value)} bytes do not "
                    f"make {BLOCK} vectors of {self.dimension} numbers",
                    repair=(Statement("DELETE FROM vector WHERE block = ?", (block,)),),
                    mended=f"vectors from key {first} are gone; reindex to make them anew",
                )
                continue
            vectors = np.frombuffer(value, dtype="<f4").reshape(BLOCK, self.dimension).copy()
            faults = self._faults(first, vectors)
            for place in faults:
                vectors[place] = 0.0
            repair = Statement(
                "UPDATE vector SET value = ? WHERE block = ?", (to_blob(vectors), block)
            )
            for place, fault in faults.items():
                note_id = self._ids.get(first + place)
                whose = f"key {first + place}" if note_id is None else f"note {note_id!r}"
                yield Finding(
                    f"vector of {whose}: {fault}",
                    note_id,
                    (repair,),
                    f"vector of {whose} is gone; reindex to make it anew",
                )

    def _faults(self, first: int, vectors: Vector) -> dict[int, str]:
        """Return what is wrong with which vector of a block."""
        faults: dict[int, str] = {}
        for place in np.flatnonzero((vectors != 0.0).any(axis=1)).tolist():
            with np.errstate(over="ignore", invalid="ignore"):  # what a damaged block may hold
                norm = float(np.linalg.norm(vectors[place]))
            if first + place not in self._ids:
                faults[place] = "there is no such note"
            elif not np.isfinite(norm):
                faults[place] = "not finite"
            elif abs(norm - 1.0) > _NORM_TOLERANCE:
                faults[place] = f"length {norm:.3f} instead of 1"
        return faults

    def _sentences(self) -> Iterator[Finding]:
        for key, value in SentenceFile(self.connection).all(self.number):
            note_id, fault = self._ids.get(key), ""
            if note_id is None:
                fault = "there is no such note"
            elif type(value) is not bytes or from_bytes(value, self.dimension) is None:
                fault = f"{len(value)} bytes do not make vectors of {self.dimension} numbers"
            if fault:
                whose = f"key {key}" if note_id is None else f"note {note_id!r}"
                yield Finding(
                    f"sentences of {whose}: {fault}",
                    note_id,
                    (Statement("DELETE FROM sentence WHERE note = ?", (key,)),),
                    f"sentences of {whose} are gone; reindex to embed them anew",
                )

    def _links(self) -> Iterator[Finding]:
        cursor = self.connection.execute(
            "SELECT low, high, weight, cosine FROM link WHERE low BETWEEN ? AND ? "
            "UNION SELECT low, high, weight, cosine FROM link WHERE high BETWEEN ? AND ?",
            key_range(self.number) * 2,
        )
        for low, high, weight, cosine in cursor:
            ends = self._ids.get(low), self._ids.get(high)
            gone = (Statement("DELETE FROM link WHERE low = ? AND high = ?", (low, high)),)
            if ends[0] is None or ends[1] is None:
                there = ends[0] or ends[1]
                yield Finding(
                    f"link of {there!r}: its other end does not exist", there, gone,
                    f"link of {there!r} to nothing is gone",
                )  # fmt: skip
            elif ends[0] >= ends[1]:
                yield Finding(f"link {ends}: not in order", ends[0], gone, f"link {ends} is gone")
            elif not (0.0 <= weight <= 1.0 and -1.0 <= cosine <= 1.0):
                yield Finding(f"link {ends}: weight {weight} or cosine {cosine} is out of range",
                              ends[0])  # fmt: skip

    def _superseding(self) -> Iterator[Finding]:
        cursor = self.connection.execute(
            "SELECT newer, older, cosine, kind FROM supersedes WHERE newer BETWEEN ? AND ? "
            "UNION SELECT newer, older, cosine, kind FROM supersedes WHERE older BETWEEN ? AND ?",
            key_range(self.number) * 2,
        )
        for newer, older, cosine, kind in cursor:
            ends = self._ids.get(newer), self._ids.get(older)
            there = ends[0] or ends[1]
            gone = Statement("DELETE FROM supersedes WHERE newer = ? AND older = ?", (newer, older))
            if ends[0] is None or ends[1] is None or newer == older:
                yield Finding(
                    f"SUPERSEDES of {there!r}: it has no other end", there, (gone,),
                    f"SUPERSEDES of {there!r} and nothing is gone",
                )  # fmt: skip
            elif kind not in set(DisagreementKind) or not -1.0 <= cosine <= 1.0:
                yield Finding(
                    f"SUPERSEDES {ends}: kind {kind!r} or cosine {cosine} is none", there, (gone,),
                    f"SUPERSEDES {ends} is gone",
                )  # fmt: skip

    def _events(self) -> Iterator[Finding]:
        cursor = self.connection.execute(
            f"SELECT {EVENT_COLUMNS} FROM event WHERE namespace = ?",  # noqa: S608 - constant
            (self.number,),
        )
        for row in cursor:
            key, revision, _, found_id = row[:4]
            note_id = self._ids.get(key)
            if note_id is None:
                yield Finding(
                    f"event {found_id!r}: its note does not exist",
                    None,
                    (
                        Statement(
                            "DELETE FROM event WHERE namespace = ? AND id = ?",
                            (self.number, found_id),
                        ),
                    ),
                    f"event {found_id!r} of no note is gone",
                )
            elif found_id != event_id(note_id, revision):
                yield Finding(
                    f"event {found_id!r}: does not fit revision {revision} of {note_id!r}", note_id
                )
            else:
                yield from _readable(row, note_id)


def _readable(row: Row, note_id: str) -> Iterator[Finding]:
    try:
        event_of(row)
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        yield Finding(f"event {row[3]!r}: unreadable ({error})", note_id, unreadable=True)


def differences(shard: Shard, namespace: str) -> Iterator[Finding]:
    """Yield where memory disagrees with the file it was loaded from."""
    fresh = load_shard(shard.tables, namespace, shard.vectors.dimension)
    if shard.row_of.keys() != fresh.row_of.keys():
        odd = sorted(shard.row_of.keys() ^ fresh.row_of.keys())
        yield Finding(f"memory and file hold different notes: {odd[:5]}")
        return
    for note_id, row in shard.row_of.items():
        if _kept(shard, row) != _kept(fresh, fresh.row_of[note_id]):
            yield Finding(f"note {note_id!r}: memory and file differ", note_id)
    edges: list[tuple[str, str, Link]] = list(shard.links.graph.edges(data="link"))
    fresh.links.ensure(shard.links.graph)
    for low, high, link in edges:
        if fresh.links.graph.get_edge_data(low, high, {}).get("link") != link:
            yield Finding(f"link {(low, high)}: memory and file differ", low)
    for link in set(shard.superseding) ^ set(fresh.superseding):
        yield Finding(f"SUPERSEDES {link.pair}: memory and file differ", link.from_id)


def _kept(shard: Shard, row: int) -> tuple[object, ...]:
    columns = shard.columns
    source, author = int(columns.source[row]), int(columns.author[row])
    present = bool(shard.vectors.present[row])
    return (
        int(columns.key[row]),
        int(columns.created_at[row]),
        float(columns.importance[row]),
        int(columns.position[row]),
        None if source < 0 else shard.sources.names.words[source],
        None if author < 0 else shard.authors.words[author],
        int(columns.terms[row]),
        bool(columns.archived[row]),
        shard.vectors.values[row].tobytes() if present else None,
    )


def mend(connection: sqlite3.Connection, findings: Iterable[Finding]) -> None:
    """Run, within the open transaction, what mends the findings."""
    for finding in findings:
        for statement in finding.repair:
            connection.execute(statement.sql, statement.values)
