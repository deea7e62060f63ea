"""Every statement on the rows of notes, vectors, terms, links and events."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from graphmem.model import EvolutionEvent
from graphmem.stores.embedded.rows import EVENT_COLUMNS, NOTE_COLUMNS, Row, event_of
from graphmem.stores.embedded.schema import NAMESPACE_BITS, key_range, listed_keys
from graphmem.stores.embedded.sentencefile import SentenceFile
from graphmem.stores.embedded.vectorfile import VectorFile

# Constant column lists, no value ever becomes SQL text.
_INSERT_NOTE = (
    f"INSERT OR REPLACE INTO note (namespace, {NOTE_COLUMNS}) "  # noqa: S608 - constants
    f"VALUES (?, {', '.join('?' * len(NOTE_COLUMNS.split(',')))})"
)
_UPDATED_COLUMNS = [
    column
    for column in NOTE_COLUMNS.split(", ")
    if column not in ("key", "id", "recall_count", "last_accessed_at")
]
_UPDATE_NOTE = (
    f"UPDATE note SET {', '.join(f'{column} = :{column}' for column in _UPDATED_COLUMNS)} "  # noqa: S608 - constants
    "WHERE key = :key"
)
_INSERT_EVENT = (
    f"INSERT OR REPLACE INTO event ({EVENT_COLUMNS}) "  # noqa: S608 - constants
    f"VALUES ({', '.join('?' * len(EVENT_COLUMNS.split(',')))})"
)
_KEYS = "(SELECT value FROM json_each(?))"
_HOT_COLUMNS = "key, id, created_at, archived, source_id, position, author, terms, importance_score"
_LINK_COLUMNS = "low, high, weight, cosine, created_at, retrievals, last_retrieved_at"
_SUPERSEDES_COLUMNS = "newer, older, cosine, created_at, kind, before, after"


class Tables:
    """Reads and writes rows over the journal's connection, within its transactions.

    `vectors` and `sentences` do the same for the blocks of vectors and those of sentences.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._execute = connection.execute
        self._executemany = connection.executemany
        self.vectors = VectorFile(connection)
        self.sentences = SentenceFile(connection)

    # --- namespaces and keys -----------------------------------------------------------

    def namespace_number(self, name: str) -> int | None:
        """Return the namespace's number, if it was ever written to."""
        row = self._execute("SELECT number FROM namespace WHERE name = ?", (name,)).fetchone()
        return None if row is None else int(row[0])

    def add_namespace(self, name: str) -> int:
        """Give a namespace its number."""
        cursor = self._execute("INSERT INTO namespace (name) VALUES (?)", (name,))
        return int(cursor.lastrowid or 0)

    def namespaces(self) -> list[tuple[int, str]]:
        """Return number and name of the namespaces that hold a note, by name."""
        found = self._execute(
            "SELECT number, name FROM namespace n WHERE EXISTS (SELECT 1 FROM note WHERE key "
            "BETWEEN n.number << :bits AND (n.number + 1 << :bits) - 1)",
            {"bits": NAMESPACE_BITS},
        )
        return sorted(found.fetchall(), key=lambda row: row[1])

    def new_note_keys(self, namespace: int, count: int) -> range:
        """Return keys never used before."""
        return self._reserve("next_note", namespace, count)

    def new_term_keys(self, namespace: int, count: int) -> range:
        """Return term keys never used before."""
        return self._reserve("next_term", namespace, count)

    def _reserve(self, column: str, namespace: int, count: int) -> range:
        (first,) = self._execute(
            f"SELECT {column} FROM namespace WHERE number = ?",  # noqa: S608 - one of two names
            (namespace,),
        ).fetchone()
        self._execute(
            f"UPDATE namespace SET {column} = ? WHERE number = ?",  # noqa: S608 - one of two names
            (first + count, namespace),
        )
        base = namespace << NAMESPACE_BITS
        return range(base + first, base + first + count)

    def drop_namespace(self, namespace: int) -> int:
        """Delete all rows of a namespace; return how many notes it had."""
        span = key_range(namespace)
        self._execute("DELETE FROM link WHERE low BETWEEN ? AND ?", span)
        self._execute("DELETE FROM supersedes WHERE newer BETWEEN ? AND ?", span)
        self._execute("DELETE FROM event WHERE namespace = ?", (namespace,))
        self.vectors.drop(namespace)
        self.sentences.drop(namespace)
        self._execute("DELETE FROM term WHERE key BETWEEN ? AND ?", span)
        count = self._execute("DELETE FROM note WHERE key BETWEEN ? AND ?", span).rowcount
        self._execute("DELETE FROM namespace WHERE number = ?", (namespace,))
        return count

    # --- notes -------------------------------------------------------------------------

    def hot_columns(self, namespace: int) -> sqlite3.Cursor:
        """Read, by key, what memory keeps of each note of a namespace.

        Columns: key, id, created_at, archived, source id, position, author, terms,
        importance.
        """
        return self._execute(
            f"SELECT {_HOT_COLUMNS} FROM note WHERE key BETWEEN ? AND ? ORDER BY key",  # noqa: S608 - constant
            key_range(namespace),
        )

    def hot_columns_of(self, keys: Sequence[int]) -> list[Row]:
        """Read the same of the notes with these keys, tags at the end."""
        return self._execute(
            f"SELECT {_HOT_COLUMNS}, tags FROM note WHERE key IN {_KEYS} ORDER BY key",  # noqa: S608 - constants
            (listed_keys(keys),),
        ).fetchall()

    def tags(self, namespace: int) -> list[tuple[str, str]]:
        """Read id and joined tags of every note of a namespace."""
        return self._execute(
            "SELECT id, tags FROM note WHERE key BETWEEN ? AND ?", key_range(namespace)
        ).fetchall()

    def notes(self, keys: Sequence[int]) -> list[Row]:
        """Read whole rows in the order of ``NOTE_COLUMNS``."""
        return self._execute(
            f"SELECT {NOTE_COLUMNS} FROM note WHERE key IN {_KEYS}",  # noqa: S608 - constants
            (listed_keys(keys),),
        ).fetchall()

    def uses(self, keys: Sequence[int]) -> list[Row]:
        """Read key, recall count and moment of the last recall."""
        return self._execute(
            f"SELECT key, recall_count, last_accessed_at FROM note WHERE key IN {_KEYS}",  # noqa: S608 - constant
            (listed_keys(keys),),
        ).fetchall()

    def revisions(self, keys: Sequence[int]) -> dict[int, tuple[int, bytes, str]]:
        """Read revision, terms and joined tags by key."""
        rows = self._execute(
            f"SELECT key, revision, terms, tags FROM note WHERE key IN {_KEYS}",  # noqa: S608 - constant
            (listed_keys(keys),),
        )
        return {key: (revision, terms, tags) for key, revision, terms, tags in rows}

    def insert_notes(self, namespace: int, rows: Iterable[Row]) -> None:
        """Write new notes, or replace notes of the same key, counters included."""
        self._executemany(_INSERT_NOTE, ((namespace, *row) for row in rows))

    def update_notes(self, rows: Iterable[Row]) -> None:
        """Change notes, except their use counters."""
        names = NOTE_COLUMNS.split(", ")
        self._executemany(_UPDATE_NOTE, [dict(zip(names, row, strict=True)) for row in rows])

    def count_uses(self, rows: Iterable[tuple[int, int, int]]) -> None:
        """Add to recall counts; rows of (times, moment, key)."""
        self._executemany(
            "UPDATE note SET recall_count = recall_count + ?, "
            "last_accessed_at = max(last_accessed_at, ?) WHERE key = ?",
            rows,
        )

    def recalls(self, keys: Sequence[int]) -> int:
        """Return the sum of the recall counts."""
        (total,) = self._execute(
            f"SELECT coalesce(sum(recall_count), 0) FROM note WHERE key IN {_KEYS}",  # noqa: S608 - constant
            (listed_keys(keys),),
        ).fetchone()
        return int(total)

    def erase_notes(self, keys: Sequence[int]) -> None:
        """Delete notes with their links, events and sentences."""
        listed = (listed_keys(keys),)
        self._execute(f"DELETE FROM link WHERE low IN {_KEYS}", listed)  # noqa: S608 - constant
        self._execute(f"DELETE FROM link WHERE high IN {_KEYS}", listed)  # noqa: S608 - constant
        self._execute(f"DELETE FROM supersedes WHERE newer IN {_KEYS}", listed)  # noqa: S608 - constant
        self._execute(f"DELETE FROM supersedes WHERE older IN {_KEYS}", listed)  # noqa: S608 - constant
        self._execute(f"DELETE FROM event WHERE note IN {_KEYS}", listed)  # noqa: S608 - constant
        self.sentences.clear(keys)
        self._execute(f"DELETE FROM note WHERE key IN {_KEYS}", listed)  # noqa: S608 - constant

    # --- terms -----------------------------------------------------------------------

    def terms(self, namespace: int, first: int = 0) -> list[tuple[int, str]]:
        """Read number and word of the namespace's terms, from number `first` on."""
        start, end = key_range(namespace)
        return self._execute(
            "SELECT key - ?, word FROM term WHERE key BETWEEN ? AND ? ORDER BY key",
            (start, start + first, end),
        ).fetchall()

    def term_count(self, namespace: int) -> int:
        """Return how many numbers were given to terms of a namespace so far."""
        row = self._execute(
            "SELECT next_term FROM namespace WHERE number = ?", (namespace,)
        ).fetchone()
        return 0 if row is None else int(row[0])

    def put_terms(self, rows: Iterable[tuple[int, str]]) -> None:
        """Write terms by key."""
        self._executemany("INSERT INTO term (key, word) VALUES (?, ?)", rows)

    def drop_terms(self, namespace: int, numbers: Iterable[int]) -> None:
        """Delete terms that no note holds any more."""
        base = namespace << NAMESPACE_BITS
        self._executemany("DELETE FROM term WHERE key = ?", ((base + n,) for n in numbers))

    # --- links -------------------------------------------------------------------------

    def links_of(self, keys: Sequence[int]) -> list[Row]:
        """Read the links with an end among these notes; those with two may come twice."""
        listed = listed_keys(keys)
        return self._execute(
            f"SELECT {_LINK_COLUMNS} FROM link WHERE low IN {_KEYS} UNION ALL "  # noqa: S608 - constants
            f"SELECT {_LINK_COLUMNS} FROM link WHERE high IN {_KEYS}",
            (listed, listed),
        ).fetchall()

    def links_from(self, keys: Sequence[int]) -> list[Row]:
        """Read the links whose lower end is among these notes."""
        return self._execute(
            f"SELECT {_LINK_COLUMNS} FROM link WHERE low IN {_KEYS}",  # noqa: S608 - constants
            (listed_keys(keys),),
        ).fetchall()

    def count_links_among(self, keys: Sequence[int]) -> int:
        """Count the links whose two ends are among these notes."""
        inside = set(keys)
        ends = self._execute(
            f"SELECT high FROM link WHERE low IN {_KEYS}",  # noqa: S608 - constant
            (listed_keys(keys),),
        )
        return sum(high in inside for (high,) in ends)

    def put_links(self, rows: Iterable[Row]) -> None:
        """Write links, replacing those of the same ends."""
        self._executemany(
            f"INSERT OR REPLACE INTO link ({_LINK_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - constant
            rows,
        )

    def drop_links(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Delete links by both ends."""
        self._executemany("DELETE FROM link WHERE low = ? AND high = ?", pairs)

    def set_weights(self, rows: Iterable[tuple[float, int, int]]) -> None:
        """Set the weights of links; rows of (weight, low, high)."""
        self._executemany("UPDATE link SET weight = ? WHERE low = ? AND high = ?", rows)

    def superseding(self, namespace: int) -> sqlite3.Cursor:
        """Read the SUPERSEDES links of a namespace."""
        return self._execute(
            f"SELECT {_SUPERSEDES_COLUMNS} FROM supersedes WHERE newer BETWEEN ? AND ?",  # noqa: S608 - constant
            key_range(namespace),
        )

    def drop_superseding(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Delete SUPERSEDES links by newer and older end."""
        self._executemany("DELETE FROM supersedes WHERE newer = ? AND older = ?", pairs)

    def put_superseding(self, rows: Iterable[Row]) -> None:
        """Write SUPERSEDES links, replacing those of the same ends."""
        self._executemany(
            f"INSERT OR REPLACE INTO supersedes ({_SUPERSEDES_COLUMNS}) "  # noqa: S608 - constant
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            rows,
        )

    def count_retrievals(self, rows: Iterable[tuple[int, int, int, int]]) -> None:
        """Add to retrieval counts; rows of (times, moment, low, high)."""
        self._executemany(
            "UPDATE link SET retrievals = retrievals + ?, "
            "last_retrieved_at = max(coalesce(last_retrieved_at, -9223372036854775808), ?) "
            "WHERE low = ? AND high = ?",
            rows,
        )

    # --- events ------------------------------------------------------------------------

    def events_of(self, keys: Sequence[int]) -> list[EvolutionEvent]:
        """Read the events of these notes, by (note id, revision)."""
        return self._events(
            f"SELECT {EVENT_COLUMNS} FROM event WHERE note IN {_KEYS}",  # noqa: S608 - constants
            (listed_keys(keys),),
        )

    def event(self, namespace: int, event_id: str) -> EvolutionEvent | None:
        """Read one event."""
        row = self._execute(
            f"SELECT {EVENT_COLUMNS} FROM event WHERE namespace = ? AND id = ?",  # noqa: S608 - constant
            (namespace, event_id),
        ).fetchone()
        return None if row is None else event_of(row)

    def triggered(self, namespace: int, trigger_ids: Iterable[str]) -> list[EvolutionEvent]:
        """Read the events these notes triggered, by (note id, revision)."""
        found: list[EvolutionEvent] = []
        for trigger_id in trigger_ids:
            found += self._events(
                f"SELECT {EVENT_COLUMNS} FROM event WHERE namespace = ? AND trigger_id = ?",  # noqa: S608 - constant
                (namespace, trigger_id),
            )
        return sorted(found, key=lambda event: (event.note_id, event.revision))

    def count_events(self, keys: Sequence[int]) -> int:
        """Count the events of these notes."""
        (total,) = self._execute(
            f"SELECT count(*) FROM event WHERE note IN {_KEYS}",  # noqa: S608 - constant
            (listed_keys(keys),),
        ).fetchone()
        return int(total)

    def put_events(self, rows: Iterable[Row]) -> None:
        """Write events, replacing those of the same id."""
        self._executemany(_INSERT_EVENT, rows)

    def drop_events(self, namespace: int, event_ids: Iterable[str]) -> None:
        """Delete events by id."""
        self._executemany(
            "DELETE FROM event WHERE namespace = ? AND id = ?",
            ((namespace, event_id) for event_id in event_ids),
        )

    def _events(self, statement: str, values: tuple[object, ...]) -> list[EvolutionEvent]:
        events = [event_of(row) for row in self._execute(statement, values)]
        return sorted(events, key=lambda event: (event.note_id, event.revision))
