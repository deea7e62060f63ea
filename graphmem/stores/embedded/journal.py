"""The embedded store's durable file: connection, transactions, and who changed what.

SQLite in write-ahead mode. An acknowledged write has been synced; a deleted row is
overwritten. Several processes may hold the file open: writes queue behind one lock, and a
log of changes tells each process which notes to read anew.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from filecmp import cmp
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import ReadOnlyStore, StoreCorrupt, StoreError, StoreUnavailable
from graphmem.model import ModelIdentity
from graphmem.stores.embedded.damage import DamagedRowError
from graphmem.stores.embedded.schema import (
    VERSION,
    migrate,
    refuse_newer,
    refuse_unknown,
    version_of,
)

MEMORY = ":memory:"
"""The place of a store with nothing on disk."""

_LOG = logging.getLogger("graphmem")
_CHANGES_KEPT = 1024
_CACHE_KIB = 32_768
_CHECKPOINT_PAGES = 4_000

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
# Of what the tables forbid nothing is ever written: a file that has it is damaged.
_DAMAGED = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT}
_UNDECODABLE = "Could not decode to UTF-8"
_REFUSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}


@dataclass(frozen=True, slots=True)
class Change:
    """What one transaction touched.

    `namespace` is a namespace's number, or ``None`` for the whole file. `notes` are the keys
    of notes written or erased, or ``None`` for the whole namespace; `used` the keys of
    those of which only links or use counters changed. `words` are numbers of terms that no
    note holds any more.
    """

    namespace: int | None
    notes: tuple[int, ...] | None
    used: tuple[int, ...] = ()
    words: tuple[int, ...] = ()


class Journal:
    """One connection to the file, and what concerns the file as a whole.

    Not safe for several threads at once; the store serialises.
    """

    def __init__(self, connection: sqlite3.Connection, place: str) -> None:
        self.connection = connection
        self.place = place

    @classmethod
    def open(cls, place: str, wait: float) -> Journal:
        """Open the file, create or migrate it if needed; a refused file is left as it is.

        Parameters
        ----------
        place
            A path or :data:`MEMORY`.
        wait
            Seconds to wait for other processes before giving up.
        """
        with translated(place):
            if place == MEMORY:
                return cls._prepared(_connect(place, wait), place)
            path = Path(place)
            existed = _openable(path)
            _refuse_newer_in_log(path)
            connection = _connect(place, wait)
            try:
                return cls._prepared(connection, place)
            except BaseException:
                connection.close()
                if not existed:
                    _remove_if_empty(path)
                raise

    @classmethod
    def _prepared(cls, connection: sqlite3.Connection, place: str) -> Journal:
        """Bring the open file to this version and set how it is written."""
        version = version_of(connection)
        refuse_newer(place, version)
        if version < VERSION:
            connection.execute("BEGIN IMMEDIATE")
            found = version_of(connection)  # another process may have been quicker,
            refuse_newer(place, found)  # and of a later version
            if 0 < found < VERSION:
                # A file that cannot be written is told before a copy of it is left behind.
                connection.execute(f"PRAGMA user_version = {found}")
                _keep_copy(Path(place), found)
            migrate(connection)
            connection.execute("COMMIT")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        return cls(connection, place)

    def close(self) -> None:
        """Close the connection; the last one to close folds the write-ahead log in."""
        self.connection.close()

    # --- transactions ------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Read one state of the file, or that of the write this connection is in."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):  # a failed statement may have ended it already
                self.connection.execute("ROLLBACK")

    def try_begin(self) -> bool:
        """Take the write lock, or return ``False`` at once when another process has it."""
        try:
            with self._at_once():
                self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if _primary(error) in _BUSY:
                return False
            raise
        return True

    @contextmanager
    def _at_once(self) -> Iterator[None]:
        """Have statements fail instead of waiting for other processes."""
        execute = self.connection.execute
        timeout = execute("PRAGMA busy_timeout").fetchone()[0]
        execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            execute(f"PRAGMA busy_timeout = {int(timeout)}")

    def commit(self) -> None:
        """Make the transaction durable."""
        self.connection.execute("COMMIT")

    def rollback(self) -> None:
        """Undo the transaction, if it is still open."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def rewrite(self) -> bool:
        """Write the file anew; ``False`` while others write, or when there is no room for it.

        Where rows moved between pages, unused bytes still hold copies of them: a deleted row
        is overwritten in its last place only.
        """
        if self.place == MEMORY:
            return True
        try:
            with self._at_once():
                self.connection.execute("VACUUM")
        except sqlite3.OperationalError as error:
            if _primary(error) not in _BUSY | {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
                raise
            _LOG.info("%s: what was erased is overwritten later: %s", self.place, error)
            return False
        return True

    def scrub(self) -> bool:
        """Fold the write-ahead log in and empty it; ``False`` while readers hold it."""
        busy, _, _ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def backup(self, target: sqlite3.Connection) -> None:
        """Copy the whole file into another connection's."""
        self.connection.backup(target)

    # --- changes -----------------------------------------------------------------------

    def data_version(self) -> int:
        """Return a number that changes when another connection has committed."""
        return int(self.connection.execute("PRAGMA data_version").fetchone()[0])

    def last_sequence(self) -> int:
        """Return the sequence number of the newest change; 0 when there is none."""
        (found,) = self.connection.execute("SELECT max(sequence) FROM change").fetchone()
        return found or 0

    def changes_after(self, sequence: int) -> list[Change] | None:
        """Return the changes after `sequence`; ``None`` when some are no longer listed."""
        (oldest,) = self.connection.execute("SELECT min(sequence) FROM change").fetchone()
        if oldest is not None and oldest > sequence + 1:
            return None
        rows = self.connection.execute(
            "SELECT namespace, notes, used, words FROM change WHERE sequence > ? ORDER BY sequence",
            (sequence,),
        )
        return [
            Change(
                namespace,
                None if notes is None else _unpacked(notes),
                _unpacked(used),
                _unpacked(words),
            )
            for namespace, notes, used, words in rows
        ]

    def log_change(self, change: Change) -> int:
        """List what this transaction touches, forget the oldest; return its number."""
        notes = None if change.notes is None else _packed(change.notes)
        cursor = self.connection.execute(
            "INSERT INTO change (namespace, notes, used, words) VALUES (?, ?, ?, ?)",
            (change.namespace, notes, _packed(change.used), _packed(change.words)),
        )
        sequence = int(cursor.lastrowid or 0)
        self.connection.execute(
            "DELETE FROM change WHERE sequence <= ?", (sequence - _CHANGES_KEPT,)
        )
        return sequence

    # --- the file as a whole -----------------------------------------------------------

    def model(self) -> ModelIdentity | None:
        """Return the embedding model the file was built with."""
        found = dict(self.connection.execute("SELECT name, value FROM meta").fetchall())
        if "model_id" not in found:
            return None
        return ModelIdentity(found["model_id"], int(found["dimension"]))

    def set_model(self, model: ModelIdentity) -> None:
        """Store the embedding model."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)",
            (("model_id", model.model_id), ("dimension", str(model.dimension))),
        )

    def version(self) -> int:
        """Return the schema version."""
        return version_of(self.connection)


@contextmanager
def translated(place: str) -> Iterator[None]:
    """Raise SQLite's errors as those of ``graphmem.errors``."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translation(place, error) from error
    except DamagedRowError as error:
        raise _damaged(place, error) from error
    except OSError as error:
        raise StoreUnavailable(
            f"{place} cannot be reached: {error.strerror}. Nothing was changed."
        ) from error


def _translation(place: str, error: sqlite3.Error) -> StoreError:
    code = _primary(error)
    if not code and str(error).startswith(_UNDECODABLE):  # its words repeat what notes say
        return _damaged(place, DamagedRowError("a text in it is no UTF-8"))
    if code in _BUSY:
        return StoreUnavailable(
            f"{place} is held by another process for too long; nothing was changed. Try again "
            "when its writes are done."
        )
    if code in _DAMAGED:
        return _damaged(place, error)
    if code in _REFUSED:
        return ReadOnlyStore(
            f"{place} cannot be written ({error}); nothing was changed. Choose a place you may "
            "write to."
        )
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnavailable(
            f"{place} cannot be read or written ({error}): the disk may be full or failing; "
            "nothing was changed."
        )
    if code == sqlite3.SQLITE_FULL:
        return StoreUnavailable(f"no room left on the disk of {place}; nothing was changed.")
    return StoreUnavailable(f"{place}: {error}; nothing was changed.")


def _damaged(place: str, error: Exception) -> StoreCorrupt:
    return StoreCorrupt(
        f"{place} is damaged ({error}); {_survey(place)}. It was left as it is; restore it from "
        "a backup, or save what is readable with `graphmem check --repair`."
    )


def _primary(error: sqlite3.Error) -> int:
    """Return SQLite's primary result code; 0 for errors of the Python module itself."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _survey(place: str) -> str:
    """Say how many notes of a damaged file can still be read."""
    readable = 0
    try:
        connection = sqlite3.connect(f"{Path(place).absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        return "nothing in it can be read"
    try:
        for _ in connection.execute("SELECT id, content FROM note"):
            readable += 1
    except sqlite3.Error:
        return f"{readable} notes in it can be read"
    finally:
        connection.close()
    return f"the texts of all its {readable} notes can be read"


def _connect(place: str, wait: float) -> sqlite3.Connection:
    return sqlite3.connect(
        place, timeout=wait, isolation_level=None, check_same_thread=False, cached_statements=256
    )


def _refuse_newer_in_log(path: Path) -> None:
    """Refuse a newer version that so far stands in the write-ahead log only.

    A connection that may write would fold the log in as it closes; this one may not.
    """
    log = path.with_name(f"{path.name}-wal")
    if not log.exists() or not log.stat().st_size:
        return
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as look:
            version = version_of(look)
    except sqlite3.Error:
        return  # the connection that follows finds the same and tells of it
    refuse_newer(str(path), version)


def _keep_copy(path: Path, version: int) -> None:
    """Copy a file of an older version before it is migrated, beside copies of other files.

    Read through a connection of its own, which sees the file as it was committed.
    """
    kept = path.with_name(f"{path.name}.version-{version}")
    part = kept.with_name(f"{kept.name}.part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(part)) as target:
        source.backup(target)
    for number in count(2):
        if not kept.exists():
            part.replace(kept)
            return
        if cmp(kept, part, shallow=False):  # made by a migration that did not come to its end
            part.unlink()
            return
        kept = path.with_name(f"{path.name}.version-{version}.{number}")


def _openable(path: Path) -> bool:
    """Return whether the file exists; raise when no store can be opened or made there."""
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder; give the path of a file in it.")
    existed = path.exists()
    if existed and not path.is_file():
        raise StoreUnavailable(f"{path} is a pipe or a device; give the path of a file.")
    refuse_unknown(path)
    if not existed and not path.parent.is_dir():
        raise StoreUnavailable(f"the folder {path.parent} does not exist; make it first.")
    return existed


def _remove_if_empty(path: Path) -> None:
    with suppress(OSError):  # the error that led here matters more
        if path.stat().st_size == 0:
            path.unlink()


def _packed(keys: Sequence[int]) -> bytes:
    return np.array(keys, dtype="<i8").tobytes()


def _unpacked(packed: bytes) -> tuple[int, ...]:
    keys: NDArray[np.int64] = np.frombuffer(packed, dtype="<i8")
    return tuple(keys.tolist())
