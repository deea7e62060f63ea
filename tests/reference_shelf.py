"""The namespace of the reference store and the steps of a recall over it.

Every step is a full scan that a reader can check against ``graphmem/ports.py``.
"""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from graphmem.errors import Conflict
from graphmem.model import (
    TERM_CAP,
    Candidate,
    CandidateQuery,
    CandidateSet,
    EvolutionEvent,
    Link,
    LinkKind,
    Neighbour,
    Note,
    NoteFilter,
    NoteRecord,
    Scope,
    Vector,
)

CURRENT = NoteFilter()
EVERY_NOTE = NoteFilter(archived=True)


def cosine(a: Vector, b: Vector) -> float:
    """Cosine of two L2-normalised vectors, the same for the same bytes wherever they lie."""
    return math.fsum((a.astype(np.float64) * b.astype(np.float64)).tolist())


def best_sentence(record: NoteRecord, vector: Vector) -> float | None:
    """The highest cosine of one of the note's sentences, in exact sums."""
    if record.sentences is None:
        return None
    found = []
    for sentence in record.sentences.astype(np.float64):
        product = math.fsum((sentence * vector.astype(np.float64)).tolist())
        found.append(product / math.sqrt(math.fsum((sentence**2).tolist())))
    return max(found)


def inverse_frequency(note_count: int, found: int) -> int:
    """Never-negative idf in millionths."""
    return round(1e6 * math.log(1 + (note_count - found + 0.5) / (found + 0.5)))


@dataclass(slots=True)
class Shelf:
    """One namespace: records, RELATED and SUPERSEDES links by pair, events by id."""

    records: dict[str, NoteRecord] = field(default_factory=dict)
    related: dict[tuple[str, str], Link] = field(default_factory=dict)
    events: dict[str, EvolutionEvent] = field(default_factory=dict)
    superseding: dict[tuple[str, str], Link] = field(default_factory=dict)

    def duplicate(self) -> Shelf:
        return Shelf(
            dict(self.records), dict(self.related), dict(self.events), dict(self.superseding)
        )

    @property
    def stored_links(self) -> list[Link]:
        """The links that are not derived, by pair and kind."""
        links = (*self.related.values(), *self.superseding.values())
        return sorted(links, key=lambda link: (link.pair, link.kind))

    def put_links(self, links: Iterable[Link]) -> None:
        for link in links:
            changes = link.kind is LinkKind.SUPERSEDES
            if changes and (link.from_id == link.to_id or link.reason is None):
                raise Conflict(f"link {link.pair}: no reason; nothing was changed")
            kept = self.superseding if link.kind is LinkKind.SUPERSEDES else self.related
            kept[link.pair] = copy.deepcopy(link)

    def seen(self, scope: Scope, where: NoteFilter = EVERY_NOTE) -> dict[str, NoteRecord]:
        """Records of the scope that pass the filter, by id."""
        return {
            id_: record
            for id_, record in sorted(self.records.items())
            if scope.allows(record.note) and where.admits(record.note)
        }

    def follows(self, seen: Collection[str]) -> list[Link]:
        """The chain of every source's seen notes, computed afresh."""
        chains: dict[str, list[Note]] = {}
        for record in (self.records[id_] for id_ in seen):
            source = record.note.source
            if source is not None and source.position is not None:
                chains.setdefault(source.id, []).append(record.note)
        return [
            Link(later.id, earlier.id, weight=1.0, cosine=1.0, kind=LinkKind.FOLLOWS)
            for chain in chains.values()
            for earlier, later in _adjacent(sorted(chain, key=_position))
        ]

    def check_whole(self) -> None:
        for link in self.stored_links:
            if not self.records.keys() >= set(link.pair):
                raise Conflict(f"link {link.pair}: an end is missing; nothing was changed")
        for event in self.events.values():
            if event.note_id not in self.records:
                raise Conflict(f"event {event.id}: its note is missing; nothing was changed")


def _position(note: Note) -> tuple[int, str]:
    assert note.source is not None
    assert note.source.position is not None
    return note.source.position, note.id


def _adjacent(chain: list[Note]) -> Iterator[tuple[Note, Note]]:
    return itertools.pairwise(chain)


def _by_kind(link: Link) -> tuple[str, str, str]:
    return link.kind, link.from_id, link.to_id


def nearest_in(seen: dict[str, NoteRecord], vector: Vector) -> list[Neighbour]:
    found = [
        Neighbour(id_, cosine(record.embedding, vector))
        for id_, record in seen.items()
        if record.embedding is not None
    ]
    return sorted(found, key=lambda neighbour: (-neighbour.cosine, neighbour.note_id))


def strongest(
    shelf: Shelf, seen: Mapping[str, NoteRecord], note_id: str, min_weight: float
) -> list[Link]:
    """The note's RELATED links to seen notes, strongest first."""
    found = [
        link
        for link in shelf.related.values()
        if note_id in link.pair and link.other(note_id) in seen and link.weight >= min_weight
    ]
    return sorted(found, key=lambda link: (-link.weight, link.other(note_id)))


def links_among(
    shelf: Shelf, ids: set[str], min_weight: float, seen: Collection[str]
) -> tuple[Link, ...]:
    related = [link for link in shelf.related.values() if link.weight >= min_weight]
    links = (*related, *shelf.follows(seen), *shelf.superseding.values())
    inside = [link for link in links if ids >= set(link.pair)]
    return tuple(sorted(inside, key=_by_kind))


class Recall:
    """The steps of `NoteStore.candidates` over the records that may be seen."""

    def __init__(self, shelf: Shelf, seen: dict[str, NoteRecord], query: CandidateQuery) -> None:
        self.shelf, self.seen, self.query = shelf, seen, query
        self.found = {
            term: sum(term in record.terms for record in seen.values())
            for term in dict.fromkeys(query.terms)
        }

    def result(self) -> CandidateSet:
        vector = self.vector_seeds()
        lexical = self.lexical_seeds()
        reached = set(vector) | set(lexical)
        for start in {*vector[: self.query.expand], *lexical[: self.query.expand]}:
            reached |= self.along_follows(start) | self.of_same_source(start)
        starts = {*vector[: self.query.expand], *lexical[: self.query.expand]}
        reached |= self.along_related(starts, self.query.hops)
        walked = self.along_related(starts, self.query.hops - 1)
        links = links_among(self.shelf, reached, self.query.min_weight, self.seen)
        lengths = [len(record.terms) for record in self.seen.values()]
        return CandidateSet(
            candidates=tuple(self.candidate(id_, vector, lexical) for id_ in sorted(reached)),
            links=tuple(
                link for link in links if link.kind != LinkKind.RELATED or walked & set(link.pair)
            ),
            note_count=len(lengths),
            average_terms=sum(lengths) / len(lengths) if lengths else 0.0,
            document_frequency={t: min(found, TERM_CAP) for t, found in self.found.items()},
        )

    def candidate(self, id_: str, vector: list[str], lexical: list[str]) -> Candidate:
        record = copy.deepcopy(self.seen[id_])
        return Candidate(
            note=record.note,
            terms=record.terms,
            cosine=None
            if record.embedding is None
            else cosine(record.embedding, self.query.vector),
            vector_rank=vector.index(id_) if id_ in vector else None,
            lexical_rank=lexical.index(id_) if id_ in lexical else None,
            sentence_cosine=best_sentence(record, self.query.vector),
        )

    def vector_seeds(self) -> list[str]:
        nearest = nearest_in(self.seen, self.query.vector)
        return [neighbour.note_id for neighbour in nearest][: self.query.vector_seeds]

    def lexical_seeds(self) -> list[str]:
        present = [term for term, found in self.found.items() if found]
        seeding = [term for term in present if self.found[term] <= TERM_CAP]
        if present and not seeding:
            seeding = [min(present, key=lambda term: self.found[term])]
        weights = {term: inverse_frequency(len(self.seen), self.found[term]) for term in seeding}
        scored = [
            (-sum(weights[term] for term in seeding if term in record.terms), record)
            for record in self.seen.values()
        ]
        hits = sorted((score, len(r.terms), r.note.id) for score, r in scored if score)
        return [id_ for _, _, id_ in hits][: self.query.lexical_seeds]

    def along_related(self, starts: set[str], hops: int) -> set[str]:
        reached, edge = set(starts), set(starts)
        for _ in range(hops):
            further: set[str] = set()
            for id_ in edge:
                links = strongest(self.shelf, self.seen, id_, self.query.min_weight)
                further |= {link.other(id_) for link in links[: self.query.fanout]}
            edge = further - reached
            reached |= edge
        return reached

    def along_follows(self, start: str) -> set[str]:
        earlier = {link.from_id: link.to_id for link in self.shelf.follows(self.seen)}
        later = {link.to_id: link.from_id for link in self.shelf.follows(self.seen)}
        reached = set()
        for chain in (earlier, later):
            at = start
            for _ in range(self.query.window):
                at = chain.get(at, "")
                if at not in self.seen:
                    break
                reached.add(at)
        return reached

    def of_same_source(self, start: str) -> set[str]:
        source = self.seen[start].note.source
        if source is None:
            return set()
        same = [
            record.note
            for record in self.seen.values()
            if record.note.source is not None and record.note.source.id == source.id
        ]
        same.sort(key=lambda note: (-note.importance, note.id))
        return {note.id for note in same[: self.query.source_notes]}
