"""A write plan or loaded records as rows of the file, and afterwards in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from graphmem.errors import Conflict, InvalidInput
from graphmem.model import (
    EvolutionEvent,
    Link,
    LinkKind,
    Note,
    NoteRecord,
    NoteWrite,
    Vector,
    WritePlan,
)
from graphmem.stores.agreement import check_kept
from graphmem.stores.embedded.journal import Change
from graphmem.stores.embedded.rows import (
    event_row,
    join_texts,
    link_row,
    note_row,
    numbers_blob,
    numbers_of,
    superseding_row,
    to_blob,
    to_micros,
)
from graphmem.stores.embedded.shard import Entry, Shard
from graphmem.stores.embedded.tables import Tables
from graphmem.stores.sentences import to_bytes


@dataclass(slots=True)
class Aftermath:
    """What memory takes in once the rows are durable."""

    number: int
    words: list[tuple[int, str]] = field(default_factory=list)
    forgotten_words: list[int] = field(default_factory=list)
    emptied: list[int] = field(default_factory=list)
    appended: list[tuple[Entry, Vector | None]] = field(default_factory=list)
    changed: list[tuple[Entry, Vector | None]] = field(default_factory=list)
    unlinks: list[tuple[str, str]] = field(default_factory=list)
    unsuperseded: list[tuple[str, str]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    reweighted: list[int] = field(default_factory=list)
    erased: list[int] = field(default_factory=list)
    used: list[int] = field(default_factory=list)

    def take_in(self, shard: Shard) -> None:
        """Bring the shard to the state of the file."""
        shard.number = self.number
        shard.vocabulary.learn_all(self.words)
        shard.empty(self.emptied)
        shard.append([e for e, _ in self.appended], [vector for _, vector in self.appended])
        for entry, vector in self.changed:
            shard.change(entry, vector)
        for low, high in self.unlinks:
            shard.links.drop(low, high)
        for newer, older in self.unsuperseded:
            shard.superseding.drop(newer, older)
        for link in self.links:
            shard.put_link(link)
        shard.renew_links(self.reweighted)
        shard.erase(self.erased)
        for number in self.forgotten_words:
            shard.vocabulary.forget(number)

    def change(self) -> Change:
        """Return what other processes have to read anew."""
        written = [entry.key for entry, _ in (*self.appended, *self.changed)]
        return Change(
            self.number,
            tuple(dict.fromkeys((*written, *self.erased))),
            tuple(dict.fromkeys(self.used)),
            tuple(self.forgotten_words),
        )


class Application:
    """Writes rows within the open transaction; memory stays as it is until `aftermath`.

    Parameters
    ----------
    shard
        The namespace as it is before.
    tables
        Where the rows go.
    namespace, number
        Its name, and its number in the file.
    """

    def __init__(self, shard: Shard, tables: Tables, namespace: str, number: int) -> None:
        self._shard = shard
        self._tables = tables
        self._namespace = namespace
        self._number = number
        self._new_keys: dict[str, int] = {}
        self._words: dict[str, int] = {}
        self._left: dict[int, bytes] = {}
        self.aftermath = Aftermath(number)

    @classmethod
    def begin(cls, shard: Shard, tables: Tables, namespace: str) -> Application:
        """Start on a namespace; a new one is given its number."""
        number = tables.add_namespace(namespace) if shard.number is None else shard.number
        return cls(shard, tables, namespace, number)

    def apply(self, plan: WritePlan) -> None:
        """Write everything of the plan.

        Raises
        ------
        Conflict
            An expected revision does not match, or an end or note is missing.
        """
        self._write_notes(plan.notes)
        self._unlink(plan.unlinks)
        self._unsupersede(plan.unsuperseded)
        self._write_links(plan.links)
        self._write_events(plan.events)
        self._reweigh(plan.reweighted)
        self._tables.drop_events(self._number, plan.dropped_events)
        self._erase(plan.erased)
        self._forget_words()

    def load(
        self, records: Sequence[NoteRecord], links: Sequence[Link], events: Sequence[EvolutionEvent]
    ) -> None:
        """Write records as they are, counters included, replacing those of the same id."""
        self._load_notes(records)
        self._write_links(links)
        self._write_events(events)
        self._forget_words()

    # --- notes -------------------------------------------------------------------------

    def _write_notes(self, writes: Sequence[NoteWrite]) -> None:
        old = self._stored(write.note for write in writes)
        self._check_revisions(writes, old)
        self._number_words(write.terms for write in writes)
        fresh = [write for write in writes if write.note.id not in self._shard.row_of]
        self._give_keys([write.note for write in fresh])
        inserted, updated, vectors = [], [], []
        for write in writes:
            key = self._key(write.note.id)
            entry = self._entry(key, write.note, write.terms)
            blob = numbers_blob(entry.terms)
            row = note_row(key, write.note, blob)
            if write.embedding is not None:
                vectors.append((key, to_blob(write.embedding)))
            if key not in old:
                inserted.append(row)
                self.aftermath.appended.append((entry, write.embedding))
                continue
            updated.append(row)
            self._note_change(entry, write.embedding, old[key], blob)
        self._tables.insert_notes(self._number, inserted)
        self._tables.update_notes(updated)
        self._tables.vectors.put(vectors)
        self._put_sentences(writes)

    def _note_change(
        self, entry: Entry, vector: Vector | None, old: tuple[int, bytes, str], blob: bytes
    ) -> None:
        _, terms, tags = old
        if terms != blob:
            self._left[entry.key] = terms
        as_before = terms == blob and tags == join_texts(entry.tags) and self._same_source(entry)
        after = self.aftermath
        (after.changed if as_before else after.appended).append((entry, vector))

    def _same_source(self, entry: Entry) -> bool:
        shard = self._shard
        number = shard.columns.source[shard.row_of[entry.id]]
        return entry.source == (None if number < 0 else shard.sources.names.words[number])

    def _load_notes(self, records: Sequence[NoteRecord]) -> None:
        self._stored(record.note for record in records)
        self._number_words(record.terms for record in records)
        known = [record for record in records if record.note.id in self._shard.row_of]
        self._give_keys([r.note for r in records if r.note.id not in self._shard.row_of])
        replaced = [self._key(record.note.id) for record in known]
        for key, (_, terms, _) in self._tables.revisions(replaced).items():
            self._left[key] = terms
        self._clear_vectors(replaced)
        self.aftermath.emptied = replaced
        rows, vectors = [], []
        for record in records:
            key = self._key(record.note.id)
            entry = self._entry(key, record.note, record.terms)
            rows.append(note_row(key, record.note, numbers_blob(entry.terms)))
            if record.embedding is not None:
                vectors.append((key, to_blob(record.embedding)))
            self.aftermath.appended.append((entry, record.embedding))
        self._tables.insert_notes(self._number, rows)
        self._tables.vectors.put(vectors)
        self._tables.sentences.clear(replaced)
        self._put_sentences(records)

    def _put_sentences(self, derived: Sequence[NoteWrite] | Sequence[NoteRecord]) -> None:
        self._tables.sentences.put(
            (self._key(each.note.id), to_bytes(each.sentences))
            for each in derived
            if each.sentences is not None
        )

    def _stored(self, notes: Iterable[Note]) -> dict[int, tuple[int, bytes, str]]:
        """Return revision, terms and tags of those notes that exist; refuse foreign ones."""
        ids = []
        for note in notes:
            if note.namespace != self._namespace:
                raise InvalidInput(
                    f"note {note.id!r} is of namespace {note.namespace!r}, not "
                    f"{self._namespace!r}; nothing was changed."
                )
            ids.append(note.id)
        if len(set(ids)) != len(ids):
            raise InvalidInput("a note comes twice in one write; nothing was changed.")
        row_of = self._shard.row_of
        rows = [row_of[each] for each in ids if each in row_of]
        return self._tables.revisions(self._shard.keys(rows)) if rows else {}

    def _check_revisions(
        self, writes: Sequence[NoteWrite], old: dict[int, tuple[int, bytes, str]]
    ) -> None:
        for write in writes:
            row = self._shard.row_of.get(write.note.id)
            stored = 0 if row is None else old[int(self._shard.columns.key[row])][0]
            if stored != write.expected_revision:
                state = f"is at revision {stored}" if stored else "does not exist"
                expected = write.expected_revision
                wanted = f"revision {expected}" if expected else "a new id"
                raise Conflict(
                    f"note {write.note.id!r} {state}, the write expected {wanted}; nothing was "
                    "changed. Read it again and repeat."
                )

    def _entry(self, key: int, note: Note, terms: Sequence[str]) -> Entry:
        known = self._shard.vocabulary.numbers.get
        numbers = [known(term, -1) for term in terms]
        if -1 in numbers:
            fresh = self._words.get
            numbers = [n if n >= 0 else fresh(t, n) for t, n in zip(terms, numbers, strict=True)]
        return Entry(
            key=key,
            id=note.id,
            created_at=to_micros(note.created_at),
            archived=note.archived,
            source=None if note.source is None else note.source.id,
            position=None if note.source is None else note.source.position,
            author=note.author,
            importance=float(note.importance),
            terms=numbers,
            tags=note.tags,
        )

    def _give_keys(self, notes: Sequence[Note]) -> None:
        keys = self._tables.new_note_keys(self._number, len(notes))
        self._new_keys.update(zip((note.id for note in notes), keys, strict=True))

    def _key(self, note_id: str) -> int:
        key = self._new_keys.get(note_id)
        if key is None:
            key = int(self._shard.columns.key[self._shard.row_of[note_id]])
        return key

    def _exists(self, note_id: str) -> bool:
        return note_id in self._new_keys or note_id in self._shard.row_of

    def _clear_vectors(self, keys: Sequence[int]) -> None:
        self._tables.vectors.clear(keys, 4 * self._shard.vectors.dimension)

    # --- words -------------------------------------------------------------------------

    def _number_words(self, texts: Iterable[Sequence[str]]) -> None:
        """Give numbers to the words the namespace has not seen."""
        known = self._shard.vocabulary.numbers
        distinct = dict.fromkeys(chain.from_iterable(texts))
        words = [word for word in distinct if word not in known]
        if words:
            keys = self._tables.new_term_keys(self._number, len(words))
            self._tables.put_terms(zip(keys, words, strict=True))
            first = keys[0] & 0xFFFFFFFF
            self._words = {word: first + index for index, word in enumerate(words)}
            self.aftermath.words = [(number, word) for word, number in self._words.items()]

    def _forget_words(self) -> None:
        """Delete words that only notes held which lost them or are gone: no trace stays."""
        lost = {number for blob in self._left.values() for number in numbers_of(blob).tolist()}
        if not lost:
            return
        for entry, _ in (*self.aftermath.appended, *self.aftermath.changed):
            lost.difference_update(entry.terms)
        columns = self._shard.columns
        staying = columns.alive.copy()
        staying[[self._shard.row_of_key[key] for key in self._left]] = False
        gone = [n for n in sorted(lost) if not staying[self._shard.by_term.rows(n)].any()]
        self._tables.drop_terms(self._number, gone)
        self.aftermath.forgotten_words = gone

    # --- links, events, erasure --------------------------------------------------------

    def _unlink(self, pairs: Sequence[tuple[str, str]]) -> None:
        known, keys = self._known(pairs)
        self._tables.drop_links(keys)
        self.aftermath.unlinks = known
        self.aftermath.used += [key for pair in keys for key in pair]

    def _unsupersede(self, pairs: Sequence[tuple[str, str]]) -> None:
        known, keys = self._known(pairs)
        self._tables.drop_superseding(keys)
        self.aftermath.unsuperseded = known
        self.aftermath.used += [key for pair in keys for key in pair]

    def _known(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[list[tuple[str, str]], list[tuple[int, int]]]:
        """Return the pairs whose two notes exist, by id and by key."""
        known = [(a, b) for a, b in pairs if self._exists(a) and self._exists(b)]
        return known, [(self._key(a), self._key(b)) for a, b in known]

    def _write_links(self, links: Sequence[Link]) -> None:
        related, superseding = [], []
        for link in links:
            check_kept(link)
            for end in link.pair:
                if not self._exists(end):
                    raise Conflict(
                        f"link {link.pair}: there is no note {end!r}; nothing was changed."
                    )
            ends = self._key(link.from_id), self._key(link.to_id)
            if link.kind is LinkKind.SUPERSEDES:
                superseding.append(superseding_row(*ends, link))
            else:
                related.append(link_row(*ends, link))
        self._tables.put_links(related)
        if superseding:
            self._tables.put_superseding(superseding)
        self.aftermath.links = list(links)
        self.aftermath.used += [key for row in (*related, *superseding) for key in row[:2]]

    def _reweigh(self, links: Sequence[Link]) -> None:
        known = [link for link in links if self._exists(link.from_id) and self._exists(link.to_id)]
        rows = [(link.weight, self._key(link.from_id), self._key(link.to_id)) for link in known]
        self._tables.set_weights(rows)
        self.aftermath.reweighted = [key for row in rows for key in row[1:]]
        self.aftermath.used += self.aftermath.reweighted

    def _write_events(self, events: Sequence[EvolutionEvent]) -> None:
        for event in events:
            if not self._exists(event.note_id):
                raise Conflict(
                    f"event {event.id!r}: there is no note {event.note_id!r}; nothing was changed."
                )
        self._tables.put_events(
            event_row(self._number, self._key(event.note_id), event) for event in events
        )

    def _erase(self, ids: Sequence[str]) -> None:
        keys = [self._key(each) for each in dict.fromkeys(ids) if self._exists(each)]
        if not keys:
            return
        before = set(self._new_keys.values())
        stored = self._tables.revisions([key for key in keys if key not in before])
        self._left.update({key: terms for key, (_, terms, _) in stored.items()})
        self._tables.erase_notes(keys)
        self._clear_vectors(keys)
        self.aftermath.erased = keys
