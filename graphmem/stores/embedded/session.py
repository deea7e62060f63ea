"""One process's hold on an embedded file: locks, what is in memory, and keeping it current."""

from __future__ import annotations

import copy
import os
import random
import sqlite3
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from graphmem.errors import ClosedMemory, StoreError, StoreUnavailable, TransferError
from graphmem.model import Link, LinkKind, ModelIdentity, SentenceVectors
from graphmem.stores.embedded.applying import Aftermath
from graphmem.stores.embedded.bodies import Bodies, Body
from graphmem.stores.embedded.damage import decodes
from graphmem.stores.embedded.journal import MEMORY, Change, Journal, translated
from graphmem.stores.embedded.keptsentences import KeptSentences
from graphmem.stores.embedded.loading import load_shard, refresh
from graphmem.stores.embedded.rows import note_of, term_numbers
from graphmem.stores.embedded.salvage import Saved, salvage
from graphmem.stores.embedded.schema import refuse_newer
from graphmem.stores.embedded.shard import Shard
from graphmem.stores.embedded.tables import Tables
from graphmem.stores.embedded.usage import KeyPair, PendingUse
from graphmem.stores.sentences import from_bytes

_USE_LAG = 1.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.001, 0.01
_inherited: list[Journal] = []
"""Connections that came over a fork: SQLite forbids to use them, even to close them."""


class Session:
    """The open file, and the namespaces loaded from it.

    One lock guards memory and connection and is held for one read, or while one plan is
    applied. Another makes the writers of this process queue, and is held while a plan is
    decided.

    Parameters
    ----------
    place
        A path or ``:memory:``.
    wait
        Seconds a write waits for others before ``StoreUnavailable``.
    """

    def __init__(self, place: str, wait: float) -> None:
        self.place = place
        self.pending = PendingUse()
        self.model: ModelIdentity | None = None
        self._wait = wait
        self._pid = os.getpid()
        self._state = threading.RLock()
        self._turn = threading.Lock()
        self._closed = False
        self._rewrite_due = self._scrub_due = False
        self._timer: threading.Timer | None = None
        self._journal: Journal | None = None
        self._tables: Tables | None = None
        self._shards: dict[str, Shard] = {}
        self._bodies = Bodies()
        self._sentences = KeptSentences()
        self._data_version: int | None = None
        self._sequence = 0

    # --- opening and closing -----------------------------------------------------------

    @property
    def journal(self) -> Journal:
        """The open file; opened at first use."""
        if self._closed:
            raise ClosedMemory(f"{self.place} was closed; open it again.")
        if self._journal is None:
            self._journal = Journal.open(self.place, self._wait)
            self._tables = Tables(self._journal.connection)
        return self._journal

    @property
    def tables(self) -> Tables:
        """The rows of the open file."""
        if self._tables is None:
            raise ClosedMemory(f"{self.place} is not open.")
        return self._tables

    def close(self) -> None:
        """Write pending use and let go of the file; a second call does nothing."""
        if self._closed:
            return
        try:
            if self._journal is not None:
                self._finish()
        finally:
            with self._guard():
                if self._journal is not None:
                    self._journal.close()
                if self._timer is not None:
                    self._timer.cancel()
                self._closed = True
                self._journal = self._tables = None
                self._reset()

    def _finish(self) -> None:
        if self.pending.since is None and not self._scrub_due:
            return
        with self.writing(), self.applying():
            self._commit(())
        self._scrub()

    def _guard(self) -> threading.RLock:
        """Return the lock of memory and connection; after a fork, a new one of the child's."""
        if self._pid != os.getpid():
            self._leave_parent()
        return self._state

    def _leave_parent(self) -> None:
        self._pid = os.getpid()
        self._state, self._turn = threading.RLock(), threading.Lock()
        if self._journal is not None and self.place != MEMORY:
            _inherited.append(self._journal)
            self._journal = self._tables = None
        self.pending = PendingUse()
        self._timer = None
        self._reset()

    # --- reading -----------------------------------------------------------------------

    @contextmanager
    def view(self) -> Iterator[None]:
        """Hold one state of the file; memory agrees with it."""
        with self._guard(), translated(self.place):
            with self.journal.snapshot():
                self._catch_up()
                yield
            self._flush_when_due()

    @contextmanager
    def shard(self, namespace: str) -> Iterator[Shard]:
        """Hold one state of a namespace."""
        with self.view():
            yield self.loaded(namespace)

    def loaded(self, namespace: str) -> Shard:
        """Return the namespace's shard, within a view or a write."""
        found = self._shards.get(namespace)
        if found is None or found.wasteful:
            dimension = 0 if self.model is None else self.model.dimension
            found = self._shards[namespace] = load_shard(self.tables, namespace, dimension)
        return found

    def bodies(self, shard: Shard, namespace: str, rows: Sequence[int]) -> list[Body]:
        """Return notes and terms of these rows, pending use included, as copies."""
        keys = shard.keys(rows)
        found = self._kept(shard, namespace, keys)
        if self.pending.notes:
            use = self.pending.on_note
            found = [(use(k, note), terms) for k, (note, terms) in zip(keys, found, strict=True)]
        return [_copied(body) if body[0].metadata else body for body in found]

    def _kept(self, shard: Shard, namespace: str, keys: Sequence[int]) -> list[Body]:
        if outdated := self._bodies.outdated(keys):
            self._bodies.renew(self.tables.uses(outdated))
        missing = self._bodies.missing(keys)
        if not missing:
            return self._bodies.of(keys)
        texts = shard.vocabulary.texts
        read: dict[int, Body] = {}
        for row in self.tables.notes(missing):
            read[row[0]] = note_of(namespace, row), texts(term_numbers(row[8]))
        held = [key for key in keys if key not in read]
        found = read | dict(zip(held, self._bodies.of(held), strict=True))
        self._bodies.keep(read)
        return [found[key] for key in keys]

    @decodes("the sentences of a note")
    def sentences(self, shard: Shard, rows: Sequence[int]) -> Sequence[SentenceVectors | None]:
        """Return the sentences' vectors of these rows; nobody may change them."""
        keys = shard.keys(rows)
        missing = self._sentences.missing(keys)
        if not missing:
            return self._sentences.of(keys)
        stored, dimension = self.tables.sentences.of(missing), shard.vectors.dimension
        read = {key: from_bytes(stored.get(key, b""), dimension) for key in missing}
        held = [key for key in keys if key not in read]
        found = read | dict(zip(held, self._sentences.of(held), strict=True))
        self._sentences.keep(read)
        return [found[key] for key in keys]

    def with_use(self, shard: Shard, links: Iterable[Link]) -> tuple[Link, ...]:
        """Return the links with pending use added."""
        if not self.pending.links:
            return tuple(links)
        key, row_of, use = shard.columns.key, shard.row_of, self.pending.on_link
        return tuple(
            use((int(key[row_of[link.from_id]]), int(key[row_of[link.to_id]])), link)
            if link.kind is LinkKind.RELATED
            else link
            for link in links
        )

    def count_use(self, notes: Iterable[int], links: Iterable[KeyPair], moment: int) -> None:
        """Count one use of these notes and links, within a view."""
        self.pending.count(notes, links, moment, time.monotonic())
        self._set_timer()

    def backup(self, path: Path) -> None:
        """Copy the whole file to a new one, which is there whole or not at all."""
        part: Path | None = None
        try:
            if path.exists():
                raise TransferError(
                    f"{path} exists already and was left as it is; choose a new path."
                )
            new = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
            new.touch(exist_ok=False)
            part = new
            with closing(sqlite3.connect(part)) as target, self.view():
                self.journal.backup(target)
            part.replace(path)
        except (OSError, ValueError, sqlite3.Error) as error:
            raise TransferError(f"{path} cannot be written: {error}.") from error
        finally:
            if part is not None:
                part.unlink(missing_ok=True)

    def salvage(self) -> Saved:
        """Put a new file with all that can be read in place of a damaged one.

        Other processes must not have the file open: they would go on with the damaged one.
        """
        with self._guard():
            if self._journal is not None:
                self._journal.close()
            self._journal = self._tables = None
            self.pending.clear()
            self._reset()
            with translated(self.place):
                return salvage(Path(self.place))

    # --- writing -----------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the write lock of the file, memory in agreement; undone unless committed."""
        deadline = time.monotonic() + self._wait
        self._guard()
        if not self._turn.acquire(timeout=self._wait):
            raise self._held_too_long()
        try:
            with translated(self.place):
                try:
                    self._begin(deadline)
                    with self._state:
                        self._catch_up()
                    yield
                finally:
                    with self._state:
                        self.journal.rollback()
        finally:
            self._turn.release()

    @contextmanager
    def applying(self) -> Iterator[None]:
        """Keep this process's readers out while rows change; undone when it raises.

        Pending use is written first, so that what follows builds on it.
        """
        with self._state:
            try:
                self.pending.write(self.tables)
                yield
            except BaseException:
                self.journal.rollback()
                raise

    def commit(self, namespace: str, aftermath: Aftermath, model: ModelIdentity | None) -> None:
        """Make the rows durable, then bring memory to the same state."""
        if model is not None and model != self.model:
            self.journal.set_model(model)
            self.commit_whole(Change(None, None), removed=False)
            return
        change = aftermath.change()
        try:
            self._commit((change,))
            self._evict(change)
            aftermath.take_in(self._shards[namespace])
        except BaseException:
            self._reset()  # memory may be behind the file now: it is read anew
            raise
        if aftermath.erased:
            self._rewrite_due = True
            self._scrub()

    def commit_whole(self, change: Change, *, removed: bool = True) -> None:
        """Make durable what changed whole namespaces; they are read anew when needed.

        With `removed`, something is gone of which no byte may stay.
        """
        try:
            self._commit((change,))
        finally:
            self._reset()
        self._rewrite_due |= removed
        self._scrub()

    def _begin(self, deadline: float) -> None:
        while True:
            with self._state:
                if self.journal.try_begin():
                    return
            if time.monotonic() > deadline:
                raise self._held_too_long()
            time.sleep(random.uniform(_SHORTEST_PAUSE, _LONGEST_PAUSE))  # noqa: S311 - no secret

    def _held_too_long(self) -> StoreUnavailable:
        return StoreUnavailable(
            f"{self.place} was held by another writer for {self._wait:g} seconds; nothing was "
            "changed. Try again."
        )

    def _commit(self, changes: Sequence[Change]) -> None:
        used = self.pending.changes()
        sequence = self._sequence
        for change in (*changes, *used):
            sequence = self.journal.log_change(change)
        self.journal.commit()
        self._sequence = sequence
        self.pending.clear()
        for change in used:
            self._evict(change)
            for shard in self._shards.values():
                if shard.number == change.namespace:
                    shard.renew_links(change.used)

    def _scrub(self) -> None:
        """Overwrite what was erased in the file and its log; later when others hold them."""
        if self._rewrite_due:
            self._rewrite_due = not self.journal.rewrite()
        emptied = self.journal.scrub()
        self._scrub_due = self._rewrite_due or not emptied

    def _flush_when_due(self) -> None:
        """Write pending use that waited long enough, unless someone is writing.

        A read has its answer by then and does not fail when the disk is full: the counters
        are kept, and the next write, or `close`, tells what is wrong.
        """
        if not self.pending.due(time.monotonic(), _USE_LAG):
            return
        journal = self.journal
        with suppress(sqlite3.OperationalError):
            if journal.connection.in_transaction or not journal.try_begin():
                return
            with self.applying():
                self._catch_up()
                self._commit(())

    def _set_timer(self) -> None:
        if self._timer is None and self.pending.since is not None:
            self._timer = threading.Timer(_USE_LAG, self._flush_when_idle)
            self._timer.daemon = True
            self._timer.start()

    def _flush_when_idle(self) -> None:
        """Write pending use although nobody calls; on a timer's thread."""
        with self._state:
            self._timer = None
            if self._closed or self.pending.since is None:
                return
            # What is wrong with the file is for the next call, or for `close`, to say.
            with suppress(StoreError), self.view():
                pass  # a view writes what is due when it ends
            self._set_timer()

    # --- staying current ---------------------------------------------------------------

    def _catch_up(self) -> None:
        """Take in what other processes have committed."""
        version = self.journal.data_version()
        if version == self._data_version:
            return
        refuse_newer(self.place, self.journal.version())  # migrated while it was open here
        known = self._data_version is not None
        changes = self.journal.changes_after(self._sequence) if known else None
        if changes is None or any(change.namespace is None for change in changes):
            self._reset()
            self.model = self.journal.model()
        else:
            self._take_in(changes)
        self._sequence = self.journal.last_sequence()
        self._data_version = version

    def _take_in(self, changes: Sequence[Change]) -> None:
        names = {shard.number: name for name, shard in self._shards.items()}
        notes: dict[str, set[int]] = {}
        used: dict[str, set[int]] = {}
        words: dict[str, set[int]] = {}
        for change in changes:
            self._evict(change)
            name = names.get(change.namespace)
            if name is None:
                continue
            if change.notes is None:
                self._shards.pop(name, None)
            elif name in self._shards:
                self._shards[name].superseding.reset()
                notes.setdefault(name, set()).update(change.notes)
                used.setdefault(name, set()).update(change.used)
                words.setdefault(name, set()).update(change.words)
        for name, shard in self._shards.items():
            if written := notes.get(name):
                refresh(shard, self.tables, sorted(written))
            shard.renew_links(used.get(name, ()))
            for number in words.get(name, ()):
                shard.vocabulary.forget(number)  # once all words up to it were learned
        for name in [name for name, shard in self._shards.items() if shard.number is None]:
            del self._shards[name]  # it may have come to exist

    def _evict(self, change: Change) -> None:
        if change.notes is None:
            self._bodies.clear()
            self._sentences.clear()
            return
        self._bodies.drop(change.notes)
        self._sentences.drop(change.notes)
        self._bodies.outdate(change.used)

    def _reset(self) -> None:
        self._shards.clear()
        self._bodies.clear()
        self._sentences.clear()
        self._data_version = None


def _copied(body: Body) -> Body:
    note, terms = body
    return replace(note, metadata=copy.deepcopy(note.metadata)), terms
