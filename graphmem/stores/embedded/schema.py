"""The embedded file's tables, its version, and what it takes to recognise it.

The version is SQLite's ``user_version``; ``application_id`` tells the file from other
SQLite files. Migrations are numbered, only ever appended, and additive.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from graphmem.errors import StoreCorrupt, UnsupportedSchema

APPLICATION_ID = 0x674D656D
"""``gMem`` in the file's header."""

NAMESPACE_BITS = 32
"""A key is ``namespace number << NAMESPACE_BITS | running number``: a namespace's rows of
a table are one range of its primary key."""


def key_range(namespace: int) -> tuple[int, int]:
    """Return the first and last key of a namespace."""
    first = namespace << NAMESPACE_BITS
    return first, first + (1 << NAMESPACE_BITS) - 1


def listed_keys(keys: Iterable[int]) -> str:
    """Return keys as the JSON that SQL's ``json_each`` reads."""
    return f"[{','.join(map(str, keys))}]"


_VERSION_1 = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE namespace (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        name TEXT NOT NULL UNIQUE,
        next_note INTEGER NOT NULL DEFAULT 0,
        next_term INTEGER NOT NULL DEFAULT 0
    )""",
    """CREATE TABLE note (
        key INTEGER PRIMARY KEY,
        namespace INTEGER NOT NULL,
        id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        archived INTEGER NOT NULL,
        source_id TEXT,
        position INTEGER,
        author TEXT,
        revision INTEGER NOT NULL,
        terms BLOB NOT NULL,
        tags TEXT NOT NULL,
        content_revision INTEGER NOT NULL,
        feedback INTEGER NOT NULL,
        last_accessed_at INTEGER NOT NULL,
        role TEXT NOT NULL,
        content TEXT NOT NULL,
        keywords TEXT NOT NULL,
        context TEXT NOT NULL,
        source_revision TEXT,
        source_start INTEGER,
        source_end INTEGER,
        metadata TEXT,
        given TEXT,
        UNIQUE (namespace, id)
    )""",
    "CREATE TABLE vector (block INTEGER PRIMARY KEY, value BLOB NOT NULL)",
    "CREATE TABLE term (key INTEGER PRIMARY KEY, word TEXT NOT NULL)",
    """CREATE TABLE link (
        low INTEGER NOT NULL,
        high INTEGER NOT NULL,
        weight REAL NOT NULL,
        cosine REAL NOT NULL,
        created_at INTEGER,
        retrievals INTEGER NOT NULL,
        last_retrieved_at INTEGER,
        PRIMARY KEY (low, high)
    ) WITHOUT ROWID""",
    "CREATE INDEX link_by_high ON link (high)",
    """CREATE TABLE event (
        note INTEGER NOT NULL,
        revision INTEGER NOT NULL,
        namespace INTEGER NOT NULL,
        id TEXT NOT NULL,
        note_id TEXT NOT NULL,
        kind TEXT NOT NULL,
        at INTEGER NOT NULL,
        proposer TEXT NOT NULL,
        trigger_id TEXT,
        similarity REAL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        linked TEXT NOT NULL,
        unlinked TEXT NOT NULL,
        UNIQUE (namespace, id)
    )""",
    "CREATE INDEX event_by_note ON event (note, revision)",
    "CREATE INDEX event_by_trigger ON event (namespace, trigger_id) WHERE trigger_id IS NOT NULL",
    """CREATE TABLE change (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace INTEGER,
        notes BLOB,
        used BLOB NOT NULL,
        words BLOB NOT NULL
    )""",
)

_VERSION_2 = (
    "ALTER TABLE note ADD COLUMN importance_score REAL NOT NULL DEFAULT 0.5",
    "ALTER TABLE note ADD COLUMN recall_count INTEGER NOT NULL DEFAULT 0",
)

_VERSION_3 = (
    """CREATE TABLE supersedes (
        newer INTEGER NOT NULL,
        older INTEGER NOT NULL,
        cosine REAL NOT NULL,
        created_at INTEGER,
        kind TEXT NOT NULL,
        before TEXT NOT NULL,
        after TEXT NOT NULL,
        PRIMARY KEY (newer, older)
    ) WITHOUT ROWID""",
    "CREATE INDEX supersedes_by_older ON supersedes (older)",
)

_VERSION_4 = ("CREATE TABLE sentence (note INTEGER PRIMARY KEY, value BLOB NOT NULL)",)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_VERSION_1, _VERSION_2, _VERSION_3, _VERSION_4)
"""Statements that lead from version i to i + 1."""

VERSION = len(MIGRATIONS)
"""The version this graphmem reads and writes."""

_MAGIC = b"SQLite format 3\x00"
_HEADER_LENGTH = 100


def refuse_unknown(path: Path) -> None:
    """Refuse a file that is no store of this version or an earlier one; an empty one may be.

    Reads the header only, so that a refused file stays as it was, with nothing beside it.

    Raises
    ------
    UnsupportedSchema
        The file is not graphmem's, or a newer graphmem wrote it.
    StoreCorrupt
        The file ends within its header.
    """
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_LENGTH)
    except FileNotFoundError:
        return
    if header:
        _refuse_foreign(path, header)
        refuse_newer(str(path), int.from_bytes(header[60:64], "big"))


def _refuse_foreign(path: Path, header: bytes) -> None:
    if header[: len(_MAGIC)] != _MAGIC[: len(header)]:
        raise UnsupportedSchema(
            f"{path} is not a graphmem store: it is not a SQLite file. It was left as it is; "
            "choose another path."
        )
    if len(header) < _HEADER_LENGTH:
        raise StoreCorrupt(
            f"{path} ends after {len(header)} bytes: nothing in it can be read. It was left "
            "as it is; restore it from a backup."
        )
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise UnsupportedSchema(
            f"{path} is a SQLite file of another program. It was left as it is; choose "
            "another path."
        )


def refuse_newer(place: str, version: int) -> None:
    """Raise ``UnsupportedSchema`` when `version` is beyond :data:`VERSION`."""
    if version > VERSION:
        raise UnsupportedSchema(
            f"{place} has schema version {version}; this graphmem reads up to {VERSION}. "
            "Nothing was changed; upgrade graphmem to open it."
        )


def version_of(connection: sqlite3.Connection) -> int:
    """Return the schema version of the open file; 0 before the first migration."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def migrate(connection: sqlite3.Connection) -> None:
    """Run, within the open transaction, the migrations the file has not seen."""
    version = version_of(connection)
    for statements in MIGRATIONS[version:]:
        for statement in statements:
            connection.execute(statement)
    if version < VERSION:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
