"""A scope as it will be once the plan in hand is applied.

Every write reads and changes a workspace; what it changed becomes one ``WritePlan``. So
the tenth note of a batch sees the nine before it, with the vectors they evolved to, just
as if they had been added one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from graphmem.algorithms.text import embedding_text, index_terms, sentences_to_embed
from graphmem.model import (
    EvolutionEvent,
    Link,
    LinkKind,
    ModelIdentity,
    Neighbour,
    Note,
    NoteWrite,
    SentenceVectors,
    Vector,
    WritePlan,
)
from graphmem.ports import ScopeReader

SPARE = 32
"""Neighbours fetched beyond the limit, so that a few changed notes need no second look."""


_LinkKey: TypeAlias = tuple[str, str, LinkKind]


def _key(link: Link) -> _LinkKey:
    return *link.pair, link.kind


def text_to_embed(note: Note) -> str:
    """Return the text a note's vector is made of."""
    return embedding_text(
        note.content,
        keywords=note.keywords,
        tags=note.tags,
        context=note.context,
    )


def sentences_of(note: Note) -> tuple[str, ...]:
    """Return the sentences of a note that get vectors of their own."""
    return sentences_to_embed(note.content, role=note.role)


def terms_of(note: Note) -> tuple[str, ...]:
    """Return the terms a note is indexed under."""
    return index_terms(note.content, note.keywords, note.tags, note.author)


class Workspace:
    """Reads a scope through a reader, overlaid with the changes made so far.

    Parameters
    ----------
    reader
        Reads inside the store's write.
    encode
        Returns the vector of one text, shape (dimension,).
    encode_sentences
        Returns the vectors of the sentences of one note.
    """

    def __init__(
        self,
        reader: ScopeReader,
        encode: Callable[[str], Vector],
        encode_sentences: Callable[[Sequence[str]], SentenceVectors],
    ) -> None:
        self._reader = reader
        self._encode = encode
        self._encode_sentences = encode_sentences
        self._sentences: dict[str, SentenceVectors] = {}
        self._stored: dict[str, Note | None] = {}
        self._notes: dict[str, Note] = {}
        self._vectors = _VectorOverlay()
        self._touched: dict[str, None] = {}
        self._links: dict[_LinkKey, Link | None] = {}
        self._link_keys: dict[str, list[_LinkKey]] = {}
        self._events: dict[str, EvolutionEvent] = {}
        self._dropped: dict[str, None] = {}
        self._erased: dict[str, None] = {}
        self._hidden: set[str] = set()
        self._near: dict[str, _Search] = {}

    # --- reading

    def fetch(self, ids: Iterable[str]) -> None:
        """Read these notes in one step, for later calls of :meth:`note`."""
        missing = [i for i in dict.fromkeys(ids) if i not in self._stored]
        if missing:
            found = self._reader.notes(missing)
            self._stored.update({i: found.get(i) for i in missing})

    def note(self, note_id: str) -> Note | None:
        """Return the note as it will be, or ``None``."""
        if note_id in self._erased:
            return None
        if note_id in self._notes:
            return self._notes[note_id]
        self.fetch([note_id])
        return self._stored[note_id]

    def hidden(self, ids: Sequence[str]) -> frozenset[str]:
        """Return the ids that are taken by notes the scope may not see."""
        self.fetch(ids)
        unseen = [i for i in ids if self._stored[i] is None]
        return self._reader.taken(unseen) if unseen else frozenset()

    def prefetch_similar(
        self, vectors: Mapping[str, Vector], limit: int, at_least: float
    ) -> dict[str, tuple[Neighbour, ...]]:
        """Search the store once for all vectors of a batch, keyed by note id; return the finds.

        They are used by :meth:`similar`, when it is asked with the same `at_least`.
        """
        if not vectors:
            return {}
        asked = limit + SPARE
        rows = self._reader.nearest(np.stack(list(vectors.values())), asked, at_least)
        for (note_id, vector), row in zip(vectors.items(), rows, strict=True):
            self._near[note_id] = _Search(vector, asked, at_least, row)
        return dict(zip(vectors, rows, strict=True))

    def similar(
        self, note_id: str, vector: Vector, limit: int, at_least: float
    ) -> tuple[Neighbour, ...]:
        """Return the `limit` notes of highest cosine, other than `note_id`, overlay included.

        Only those whose cosine is `at_least` so high.
        """
        search = self._near.get(note_id)
        if search is None or not search.answers(vector, at_least):
            search = self._search(vector, limit + SPARE, at_least)
        kept = self._unchanged(search.found, note_id)
        while len(kept) < limit and len(search.found) == search.asked:
            search = self._search(vector, search.asked * 4, at_least)
            kept = self._unchanged(search.found, note_id)
        merged = [*kept, *self._overlaid(vector, note_id, limit, at_least)]
        merged.sort(key=lambda n: (-n.cosine, n.note_id))
        return tuple(merged[:limit])

    def _search(self, vector: Vector, limit: int, at_least: float) -> _Search:
        found = self._reader.nearest(vector[None, :], limit, at_least)[0]
        return _Search(vector, limit, at_least, found)

    def _unchanged(self, near: tuple[Neighbour, ...], note_id: str) -> list[Neighbour]:
        vectors, hidden = self._vectors, self._hidden
        return [
            n
            for n in near
            if n.note_id != note_id and n.note_id not in vectors and n.note_id not in hidden
        ]

    def _overlaid(
        self, vector: Vector, note_id: str, limit: int, at_least: float
    ) -> list[Neighbour]:
        hidden = self._hidden
        found = self._vectors.similar(vector, limit + 1 + len(hidden), at_least)
        return [n for n in found if n.note_id != note_id and n.note_id not in hidden]

    def vector_of(self, note_id: str) -> Vector | None:
        """Return the note's vector as it will be, shape (dimension,)."""
        vector = self._vectors.get(note_id)
        return self._reader.vectors([note_id]).get(note_id) if vector is None else vector

    def links_of(self, *ids: str) -> tuple[Link, ...]:
        """Return the stored links of these notes as they will be, by (pair, kind)."""
        if not ids:
            return ()
        links: dict[_LinkKey, Link | None] = {_key(link): link for link in self._reader.links(ids)}
        for note_id in ids:
            for key in self._link_keys.get(note_id, ()):
                links[key] = self._links[key]
        return tuple(link for _, link in sorted(links.items()) if link is not None)

    def events_of(self, note_id: str) -> tuple[EvolutionEvent, ...]:
        """Return the note's events in order of revision, new ones included."""
        events = {event.id: event for event in self._reader.events([note_id])}
        events |= {e.id: e for e in self._events.values() if e.note_id == note_id}
        kept = [event for event in events.values() if event.id not in self._dropped]
        return tuple(sorted(kept, key=lambda event: event.revision))

    # --- changing

    def put(
        self,
        note: Note,
        vector: Vector | None = None,
        sentences: SentenceVectors | None = None,
    ) -> None:
        """Store a note's new state; vectors that are not given are made when its text changed."""
        before = self.note(note.id)
        if sentences is None and _sentences_before(before) != sentences_of(note):
            sentences = self._encode_sentences(sentences_of(note))
        if sentences is not None:
            self._sentences[note.id] = sentences
        if vector is None and (
            before is None or text_to_embed(before) != text_to_embed(note)
        ):  # fmt: skip
            vector = self._encode(text_to_embed(note))
        self._notes[note.id] = note
        self._touched[note.id] = None
        if note.archived:
            self._hidden.add(note.id)
        else:
            self._hidden.discard(note.id)
        if vector is not None:
            self._vectors.put(note.id, vector)
        elif before is not None and before.archived and not note.archived:
            self._restore_vector(note.id)

    def _restore_vector(self, note_id: str) -> None:
        stored = self._reader.vectors([note_id])
        if note_id in stored and note_id not in self._vectors:
            self._vectors.put(note_id, stored[note_id])

    def link(self, link: Link) -> None:
        """Create or replace a link."""
        self._set_link(link, link)

    def unlink(self, link: Link) -> None:
        """Remove a link."""
        self._set_link(link, None)

    def _set_link(self, link: Link, after: Link | None) -> None:
        key = _key(link)
        if key not in self._links:
            for end in link.pair:
                self._link_keys.setdefault(end, []).append(key)
        self._links[key] = after

    def record(self, event: EvolutionEvent) -> None:
        """Store or replace an event."""
        self._events[event.id] = event

    def drop_event(self, event_id: str) -> None:
        """Remove an event."""
        self._dropped[event_id] = None
        self._events.pop(event_id, None)

    def erase(self, note_id: str) -> None:
        """Remove a note with its links and events."""
        self._erased[note_id] = None
        self._hidden.add(note_id)

    # --- the result

    def plan(self, model: ModelIdentity | None) -> WritePlan:
        """Return everything that was changed."""
        notes = tuple(self._write(i) for i in self._touched if i not in self._erased)
        links = tuple(link for link in self._links.values() if link is not None)
        return WritePlan(
            notes=notes,
            links=links,
            unlinks=self._unlinked(LinkKind.RELATED),
            unsuperseded=self._unlinked(LinkKind.SUPERSEDES),
            events=tuple(self._events.values()),
            dropped_events=tuple(self._dropped),
            erased=tuple(self._erased),
            model=model if any(note.embedding is not None for note in notes) else None,
        )

    def _unlinked(self, kind: LinkKind) -> tuple[tuple[str, str], ...]:
        gone = (key for key, link in self._links.items() if link is None)
        return tuple((from_id, to_id) for from_id, to_id, of in gone if of is kind)

    def _write(self, note_id: str) -> NoteWrite:
        note, stored = self._notes[note_id], self._stored.get(note_id)
        return NoteWrite(
            note=note,
            terms=terms_of(note),
            embedding=self._vectors.get(note_id),
            expected_revision=stored.revision if stored is not None else 0,
            sentences=self._sentences.get(note_id),
        )


def _sentences_before(note: Note | None) -> tuple[str, ...]:
    return () if note is None else sentences_of(note)


_SLACK = 1e-5
"""More than float32 rounding can move a cosine."""


@dataclass(frozen=True, slots=True, eq=False)
class _Search:
    """One search of the store: what was asked for, and what was found."""

    vector: Vector
    asked: int
    at_least: float
    found: tuple[Neighbour, ...]

    def answers(self, vector: Vector, at_least: float) -> bool:
        """Whether it was a search for this."""
        return self.at_least == at_least and (
            vector is self.vector or np.array_equal(self.vector, vector)
        )


class _VectorOverlay:
    """Vectors of the notes that are new or were embedded anew in this workspace."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []
        self._block: Vector = np.zeros((0, 0), np.float32)

    def __contains__(self, note_id: object) -> bool:
        return note_id in self._rows

    def get(self, note_id: str) -> Vector | None:
        row = self._rows.get(note_id)
        return None if row is None else self._block[row].copy()

    def put(self, note_id: str, vector: Vector) -> None:
        row = self._rows.setdefault(note_id, len(self._ids))
        if row == len(self._ids):
            self._ids.append(note_id)
        if row >= len(self._block):
            grown = np.zeros((max(64, 2 * row), len(vector)), np.float32)
            if len(self._block):
                grown[: len(self._block)] = self._block
            self._block = grown
        self._block[row] = vector

    def similar(self, vector: Vector, limit: int, at_least: float) -> list[Neighbour]:
        """Return at least the `limit` nearest of those `at_least` so near, in no order."""
        count = len(self._rows)
        if not count:
            return []
        # Not by a BLAS product, whose threads would keep spinning on every core.
        rough = np.einsum("ij,j->i", self._block[:count], vector)
        rows = np.flatnonzero(rough >= at_least - _SLACK)
        if len(rows) > limit:
            near = rough[rows]
            rows = rows[near >= np.partition(near, len(rows) - limit)[len(rows) - limit] - _SLACK]
        if not len(rows):
            return []
        # Summed row by row in float64, as the stores do: equal vectors must stay a tie.
        exact = np.einsum(
            "ij,j->i", self._block[rows].astype(np.float64), vector.astype(np.float64)
        )
        cosines = np.clip(exact, -1.0, 1.0).tolist()
        return [
            Neighbour(self._ids[row], cosine)
            for row, cosine in zip(rows.tolist(), cosines, strict=True)
            if cosine >= at_least
        ]
