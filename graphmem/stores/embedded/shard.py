"""What memory keeps of one namespace: columns, vectors, indexes and the link graph.

Rows are only appended. A note whose terms, tags or source changed gets a new row and its
old one dies, so that no index ever has to take anything out; readers skip dead rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphmem.model import Link, LinkKind, NoteFilter, Scope, Vector
from graphmem.stores.embedded.columns import NONE, Columns, NewRows
from graphmem.stores.embedded.damage import decodes
from graphmem.stores.embedded.linkgraph import LinkGraph
from graphmem.stores.embedded.postings import PostingIndex, TermLists, Vocabulary
from graphmem.stores.embedded.rows import Row, link_of, split_texts, superseding_of, to_micros
from graphmem.stores.embedded.sources import Sources
from graphmem.stores.embedded.superseding import Superseding
from graphmem.stores.embedded.tables import Tables
from graphmem.stores.vectors import Mask, VectorBlock

EVERY_NOTE = NoteFilter(archived=True)
"""The filter that lets archived notes pass too."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What memory keeps of one note; its body stays in the file.

    `terms` are the numbers of its terms, with repetition.
    """

    key: int
    id: str
    created_at: int
    archived: bool
    source: str | None
    position: int | None
    author: str | None
    importance: float
    terms: Sequence[int]
    tags: tuple[str, ...]


class Shard:
    """The state of one namespace in memory, with its tables behind it.

    Parameters
    ----------
    tables
        Where bodies and links are read from.
    number
        The namespace's number in the file; ``None`` while nothing was written to it.
    dimension
        Length of a vector; 0 while the store has no model.
    """

    def __init__(self, tables: Tables, number: int | None, dimension: int) -> None:
        self.tables = tables
        self.number = number
        self.columns = Columns()
        self.ids: list[str] = []
        self.row_of: dict[str, int] = {}
        self.row_of_key: dict[int, int] = {}
        self.vectors = VectorBlock(dimension)
        self.vocabulary = Vocabulary()
        self.by_term = PostingIndex()
        self.term_lists = TermLists()
        self.sources = Sources(self.columns, self.ids)
        self.authors = Vocabulary()
        self.links = LinkGraph(self._fetch_links)
        self.superseding = Superseding(self._fetch_superseding)
        self._tags: Vocabulary | None = None
        self._by_tag = PostingIndex()

    def __len__(self) -> int:
        return len(self.row_of)

    @property
    def wasteful(self) -> bool:
        """Whether dead rows outnumber the living, so that loading anew pays."""
        return self.columns.count > 2 * len(self.row_of) + 1024

    # --- what may be seen --------------------------------------------------------------

    def mask(self, scope: Scope, where: NoteFilter = EVERY_NOTE) -> Mask:
        """Return which rows the scope may see and the filter admits."""
        columns = self.columns
        seen = columns.alive & ~columns.archived if not where.archived else columns.alive.copy()
        for sources in (scope.sources, where.sources):
            if sources is not None:
                seen &= _among(columns.source, self.sources.names, sources)
        for authors in (scope.authors, where.authors):
            if authors is not None:
                seen &= _among(columns.author, self.authors, authors)
        if where.tags is not None:
            seen &= self._tagged(where.tags)
        if where.since is not None:
            seen &= columns.created_at >= to_micros(where.since)
        if where.until is not None:
            seen &= columns.created_at < to_micros(where.until)
        if where.as_of is not None:
            seen &= columns.created_at <= to_micros(where.as_of)
        return seen

    def sees(self, scope: Scope, row: int) -> bool:
        """Whether the scope may see the living row, archived or not."""
        if scope.sources is not None:
            source = self.columns.source[row]
            if source == NONE or self.sources.names.words[source] not in scope.sources:
                return False
        if scope.authors is not None:
            author = self.columns.author[row]
            return author != NONE and self.authors.words[author] in scope.authors
        return True

    def visible(self, scope: Scope, ids: Iterable[str]) -> list[int]:
        """Return the rows of those ids the scope may see, in order of `ids`, each once."""
        rows = (self.row_of.get(each) for each in dict.fromkeys(ids))
        return [row for row in rows if row is not None and self.sees(scope, row)]

    def keys(self, rows: Iterable[int]) -> list[int]:
        """Return the keys of these rows."""
        wanted = np.fromiter(rows, dtype=np.intp)
        keys: list[int] = self.columns.key[wanted].tolist()
        return keys

    def sorted_by_id(self, rows: Iterable[int]) -> list[int]:
        """Return the rows in order of their notes' ids."""
        return sorted(rows, key=self.ids.__getitem__)

    # --- tags --------------------------------------------------------------------------

    def _tagged(self, tags: frozenset[str]) -> Mask:
        if self._tags is None:
            self._index_tags()
        tagged = np.zeros(self.columns.count, dtype=bool)
        numbers = self._tags.numbers if self._tags is not None else {}
        for tag in tags & numbers.keys():
            tagged[self._by_tag.rows(numbers[tag])] = True
        return tagged

    @decodes("the tags of a namespace")
    def _index_tags(self) -> None:
        """Build the tag index at the first filter by tag; most namespaces never need it."""
        self._tags = Vocabulary()
        self._by_tag = PostingIndex()
        rows = [] if self.number is None else self.tables.tags(self.number)
        for row, tags in sorted((self.row_of[note_id], tags) for note_id, tags in rows):
            self._by_tag.add(row, [self._tags.number(tag) for tag in split_texts(tags)])

    # --- changes -----------------------------------------------------------------------

    def append(self, entries: Sequence[Entry], vectors: Sequence[Vector | None]) -> None:
        """Give each note a new row; without a vector it keeps the one of its earlier row."""
        first = self.columns.count
        sources = [self._source(entry) for entry in entries]
        self.columns.extend(self._new_rows(entries, sources))
        self.vectors.extend(len(entries))
        self._put_vectors(first, vectors)
        for row, entry in enumerate(entries, first):
            old = self.row_of.get(entry.id)
            if old is not None:
                if vectors[row - first] is None:
                    self.vectors.move(old, row)
                self._bury(old)
            self.ids.append(entry.id)
            self.row_of[entry.id] = row
            self.row_of_key[entry.key] = row
            self._index(row, entry, sources[row - first])

    def change(self, entry: Entry, vector: Vector | None) -> None:
        """Change in place a note whose terms, tags and source are as before."""
        row = self.row_of[entry.id]
        source = self._source(entry)
        self.sources.leave(row)
        self.columns.change(row, self._new_rows([entry], [source]))
        self.sources.enter(row, source, known=True)
        if vector is not None:
            self.vectors.put(np.array([row]), vector[None])

    def empty(self, keys: Iterable[int]) -> None:
        """Take out the vectors of notes that are about to be given new rows."""
        for row in self._rows_of(keys):
            self.vectors.clear(row)

    def erase(self, keys: Iterable[int]) -> None:
        """Take out notes that are no more, with their vectors and edges."""
        for row in self._rows_of(keys):
            note_id = self.ids[row]
            self._bury(row)
            self.vectors.clear(row)
            del self.row_of[note_id]
            self.links.erase(note_id)
            self.superseding.reset()

    def renew_links(self, keys: Iterable[int]) -> None:
        """Read anew the RELATED links among these notes."""
        self.links.renew({self.ids[row] for row in self._rows_of(keys)})

    def _rows_of(self, keys: Iterable[int]) -> list[int]:
        """Return the rows of those keys that are here."""
        at = self.row_of_key
        return [at[key] for key in keys if key in at]

    def _bury(self, row: int) -> None:
        self.sources.leave(row)
        self.columns.kill(row)
        del self.row_of_key[int(self.columns.key[row])]

    def _index(self, row: int, entry: Entry, source: int) -> None:
        self.by_term.add(row, entry.terms)
        self.term_lists.append(entry.terms)
        self.sources.enter(row, source)
        if self._tags is not None:
            self._by_tag.add(row, [self._tags.number(tag) for tag in entry.tags])

    def _put_vectors(self, first: int, vectors: Sequence[Vector | None]) -> None:
        given = [index for index, vector in enumerate(vectors) if vector is not None]
        if given:
            block = np.stack([vector for vector in vectors if vector is not None])
            self.vectors.put(np.array(given) + first, block)

    def _source(self, entry: Entry) -> int:
        return NONE if entry.source is None else self.sources.names.number(entry.source)

    def _new_rows(self, entries: Sequence[Entry], sources: list[int]) -> NewRows:
        return NewRows(
            key=[entry.key for entry in entries],
            created_at=[entry.created_at for entry in entries],
            archived=[entry.archived for entry in entries],
            position=[entry.position for entry in entries],
            importance=[entry.importance for entry in entries],
            terms=[len(entry.terms) for entry in entries],
            source=sources,
            author=[
                NONE if entry.author is None else self.authors.number(entry.author)
                for entry in entries
            ],
        )

    def _fetch_links(self, ids: Sequence[str], others: Set[str] | None = None) -> Iterable[Link]:
        rows = self.tables.links_of(self._keys_of(ids))
        if others is not None:
            within = set(self._keys_of(others))
            rows = [row for row in rows if row[0] in within and row[1] in within]
        return self.as_links(rows)

    def _keys_of(self, ids: Iterable[str]) -> list[int]:
        return self.keys(self.row_of[each] for each in ids if each in self.row_of)

    @decodes("a SUPERSEDES link")
    def _fetch_superseding(self) -> Iterable[Link]:
        ids, at = self.ids, self.row_of_key
        rows = () if self.number is None else self.tables.superseding(self.number)
        # A row without its notes is left out: `check` reports it.
        held = (row for row in rows if row[0] in at and row[1] in at)
        return [superseding_of(ids[at[row[0]]], ids[at[row[1]]], row) for row in held]

    def put_link(self, link: Link) -> None:
        """Add or replace a link of whatever kind is stored."""
        if link.kind is LinkKind.SUPERSEDES:
            self.superseding.put(link)
        else:
            self.links.put(link)

    @decodes("a link")
    def as_links(self, rows: Iterable[Row]) -> list[Link]:
        """Return the links of rows of table ``link``."""
        ids, at = self.ids, self.row_of_key
        return [link_of(ids[at[row[0]]], ids[at[row[1]]], row) for row in rows]


def _among(numbers: NDArray[np.int32], names: Vocabulary, allowed: frozenset[str]) -> Mask:
    """Return which of `numbers` stand for an allowed name; an absent one is not allowed."""
    table = np.zeros(len(names) + 1, dtype=bool)  # the last one answers for NONE
    for name in allowed & names.numbers.keys():
        table[names.numbers[name]] = True
    return table[numbers]
