"""Saving what can still be read of a damaged file into a new one in its place.

Tables are read row by row from both ends, so that a page in the middle costs its own rows
only. Rows that graphmem would not have written are left behind. The damaged file stays
beside the new one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from graphmem.errors import StoreCorrupt
from graphmem.stores.embedded.damage import DamagedRowError
from graphmem.stores.embedded.journal import Journal
from graphmem.stores.embedded.rows import EVENT_COLUMNS, NOTE_COLUMNS, Row, event_of, note_of
from graphmem.stores.embedded.schema import NAMESPACE_BITS

_KINDS: Mapping[str, tuple[type, ...]] = {
    "INTEGER": (int,),
    "REAL": (float, int),
    "TEXT": (str,),
    "BLOB": (bytes,),
}
_LEFT_OUT = {"change", "sqlite_sequence", "sqlite_stat1"}
_PROBED = 10_000_000
"""Between damaged pages so many keys are tried one by one."""
_LOCAL = (1 << NAMESPACE_BITS) - 1
_ADDED = ("metadata", "given")
"""JSON of a note: what its caller added, and which of its fields the caller gave."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved of a damaged file, and where the damaged file is now."""

    rows: Mapping[str, int]
    damaged: Path

    def __str__(self) -> str:
        counted = ", ".join(
            f"{self.rows.get(table, 0)} {name}"
            for table, name in (("note", "notes"), ("link", "links"), ("event", "events"))
        )
        return f"{counted} were saved into a new file; the damaged one is kept as {self.damaged}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, the types it may hold, and whether it may be empty."""

    name: str
    kinds: tuple[type, ...]
    optional: bool

    def admits(self, value: object) -> bool:
        """Whether graphmem could have written the value."""
        return self.optional if value is None else type(value) in self.kinds


def salvage(place: Path) -> Saved:
    """Put a new file with all that can be read in place of the damaged one.

    Raises
    ------
    StoreCorrupt
        Nothing can be read; the file was left as it is.
    """
    part, damaged = place.with_name(f"{place.name}.part"), _free(place)
    for each in _files(part):
        each.unlink(missing_ok=True)
    try:
        rows = _copy(place, part)
    except sqlite3.Error as error:
        for each in _files(part):
            each.unlink(missing_ok=True)
        raise StoreCorrupt(
            f"nothing of {place} can be saved ({error}); it was left as it is. Restore it from "
            "a backup."
        ) from error
    for ours, theirs in zip(_files(place), _files(damaged), strict=True):
        with suppress(FileNotFoundError):  # the log beside it is there only while it is open
            ours.rename(theirs)
    part.rename(place)
    return Saved(rows, damaged)


def _files(place: Path) -> list[Path]:
    return [place.with_name(f"{place.name}{end}") for end in ("", "-wal", "-shm")]


def _free(place: Path) -> Path:
    """Return a name beside the file that nothing has yet."""
    names = (place.with_name(f"{place.name}.damaged{n or ''}") for n in range(1_000_000))
    return next(name for name in names if not name.exists())


def _copy(place: Path, part: Path) -> dict[str, int]:
    journal = Journal.open(str(part), 0.0)
    with (
        closing(journal.connection) as target,
        closing(sqlite3.connect(place)) as source,
    ):
        source.text_factory = _text
        target.execute("BEGIN")
        counts = {table: _copy_table(source, target, table) for table in _tables(target)}
        if not counts.get("note"):
            raise sqlite3.DatabaseError("not one note can be read")
        _complete(target)
        target.execute("COMMIT")
    return counts


def _text(raw: bytes) -> str | bytes:
    """Return a text; bytes that are none show by their type that the row is damaged."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _tables(target: sqlite3.Connection) -> list[str]:
    found = target.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid")
    return [name for (name,) in found if name not in _LEFT_OUT]


def _copy_table(source: sqlite3.Connection, target: sqlite3.Connection, table: str) -> int:
    present = _columns(source, table)
    columns = [column for column in _columns(target, table) if column.name in _names(present)]
    if not columns:
        return 0
    names = ", ".join(_names(columns))
    statement = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - names of the schema
    saved = 0
    for row in _rows(source, table, columns):
        sound = all(column.admits(value) for column, value in zip(columns, row, strict=True))
        kept = _readable(table, dict(zip(_names(columns), row, strict=True))) if sound else None
        if kept is not None:
            saved += target.execute(statement, tuple(kept.values())).rowcount
    return saved


def _readable(table: str, row: Mapping[str, object]) -> Mapping[str, object] | None:
    """Return a row that makes sense; of a note, its text matters more than what was added."""
    if _decodes(table, row):
        return row
    plain = {name: "" if name in _ADDED and row[name] else value for name, value in row.items()}
    return plain if table == "note" and _decodes(table, plain) else None


def _columns(connection: sqlite3.Connection, table: str) -> list[Column]:
    return [
        Column(name, _KINDS[kind], not required and not key)
        for _, name, kind, required, _, key in connection.execute(f"PRAGMA table_info({table})")
    ]


def _names(columns: Sequence[Column]) -> list[str]:
    return [column.name for column in columns]


def _rows(connection: sqlite3.Connection, table: str, columns: Sequence[Column]) -> Iterator[Row]:
    """Yield what can be read, some rows twice: from both ends up to damage, then between."""
    names, keys = ", ".join(_names(columns)), _key(connection, table)
    reading = f"SELECT {keys[0]}, {names} FROM {table} NOT INDEXED"  # noqa: S608 - names of the schema
    ends: list[int | None] = []
    for order in ("ASC", "DESC"):
        ends.append(None)
        try:
            ordered = ", ".join(f"{key} {order}" for key in keys)
            for key, *row in connection.execute(f"{reading} ORDER BY {ordered}"):
                ends[-1] = key
                yield tuple(row)
            return
        except sqlite3.Error:
            continue  # damage: what lies beyond it is read from the other end
    low, high = ends
    if len(keys) == 1 and low is not None and high is not None and high - low < _PROBED:
        for key in range(low + 1, high):
            with suppress(sqlite3.Error):
                for _, *row in connection.execute(f"{reading} WHERE {keys[0]} = ?", (key,)):
                    yield tuple(row)


def _key(connection: sqlite3.Connection, table: str) -> list[str]:
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return [row[1] for row in sorted(columns, key=lambda row: row[5]) if row[5]] or ["rowid"]


def _decodes(table: str, row: Mapping[str, object]) -> bool:
    """Whether a note or event makes sense as a whole."""
    try:
        if table == "note":
            defaults = {"importance_score": 0.5, "recall_count": 0}
            note_of("", tuple((defaults | dict(row))[name] for name in NOTE_COLUMNS.split(", ")))
        elif table == "event":
            event_of(tuple(row[name] for name in EVENT_COLUMNS.split(", ")))
    except DamagedRowError:
        return False
    return True


def _complete(target: sqlite3.Connection) -> None:
    """Name the namespaces whose name is lost, and count on from the highest keys."""
    target.execute(
        "INSERT OR IGNORE INTO namespace (number, name) "
        "SELECT DISTINCT namespace, 'salvaged-' || namespace FROM note"
    )
    for table, column in (("note", "next_note"), ("term", "next_term")):
        target.execute(
            f"UPDATE namespace SET {column} = max({column}, coalesce((SELECT max(key) & ?1 "  # noqa: S608 - two names
            f"FROM {table} WHERE key >> ?2 = number), -1) + 1)",
            (_LOCAL, NAMESPACE_BITS),
        )
