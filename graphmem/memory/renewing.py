"""Which derived parts of ordinary notes are not what they would be now, and making them so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from graphmem.algorithms.contradiction import superseding
from graphmem.algorithms.provenance import Action, Decision
from graphmem.memory.constructing import CONSTRUCTION_RULE
from graphmem.memory.contradicting import contradict
from graphmem.memory.note_vectors import embedded_notes
from graphmem.memory.parts import Holding, Part, constructed_anew, part_id
from graphmem.memory.setup import Setup
from graphmem.memory.workspace import Workspace, sentences_of, terms_of, text_to_embed
from graphmem.memory.writing import revision_event
from graphmem.model import (
    EvolutionEvent,
    Link,
    LinkKind,
    Note,
    NoteRecord,
    SentenceVectors,
    WritePlan,
)
from graphmem.ports import ScopeReader

BATCH = 256
"""How many notes are looked at, and embedded anew, at once."""

SAME_VECTOR = 1e-4
"""More than an embedding of one text differs between machines, in any coordinate."""

SAME_STEP = 1
"""Rounded, a coordinate of a sentence's vector differs by no more than this."""


@dataclass(frozen=True, slots=True)
class Stale:
    """One derived part that is not what it would be now, and why."""

    note_id: str
    part: Part
    reason: str

    @property
    def decision(self) -> Decision:
        """The same as the planner says it."""
        return Decision(part_id(self.part, self.note_id), Action.REBUILD, self.reason)


def holding_of(setup: Setup, note: Note) -> Holding:
    """Return a note with everything its receipts are read from."""
    found: Holding | None = None

    def read(reader: ScopeReader) -> WritePlan:
        nonlocal found
        links = reader.links([note.id])
        ends = sorted({link.other(note.id) for link in links})
        found = Holding(
            note,
            reader.events([note.id]),
            links,
            tuple(reader.notes(ends).values()),
            reader.vectors([note.id]).get(note.id),
            reader.model(),
            setup.policy.links,
        )
        return WritePlan()

    setup.store.write(setup.scope, read)
    assert found is not None  # noqa: S101  # `read` was called
    return found


def stale_parts(setup: Setup, *, embeddings: bool) -> Iterator[Stale]:
    """Yield what is stale; with `embeddings` every text is embedded anew and compared."""
    last: dict[str, EvolutionEvent] = {}
    for event in setup.store.all_events(setup.scope):
        last[event.note_id] = event
    for batch in _batches(setup.store.records(setup.scope)):
        for record in batch:
            yield from _record(record, last.get(record.note.id))
        if embeddings:
            yield from _embeddings(setup, batch)
    yield from _superseding(setup)


def _batches(records: Iterable[NoteRecord]) -> Iterator[list[NoteRecord]]:
    iterator = iter(records)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _record(record: NoteRecord, last: EvolutionEvent | None) -> Iterator[Stale]:
    note = record.note
    made = constructed_anew(note, last)
    if made is not None and (made.keywords, made.tags, made.context) != (
        note.keywords, note.tags, note.context,
    ):  # fmt: skip
        yield Stale(note.id, Part.METADATA, f"changed output: {CONSTRUCTION_RULE} makes others")
    if last is not None and last.revision == note.revision and last.after != note.state:
        yield Stale(note.id, Part.METADATA, f"changed output: event {last.id} left another state")
    if record.terms != terms_of(note):
        yield Stale(note.id, Part.TERMS, "changed output: the note is indexed under others")


def _embeddings(setup: Setup, batch: Sequence[NoteRecord]) -> Iterator[Stale]:
    held = [record for record in batch if record.embedding is not None]
    made = embedded_notes(setup.encoding.encode, [record.note for record in held])
    now = zip(held, made.vectors.notes, made.vectors.sentences, strict=True)
    for row, (record, vector, sentences) in enumerate(now):
        if row in made.faults or record.embedding is None:
            continue
        if np.abs(vector - record.embedding).max(initial=0.0) > SAME_VECTOR:
            reason = "changed output: its text gives another vector"
            yield Stale(record.note.id, Part.EMBEDDING, reason)
        elif not _same_sentences(sentences, record.sentences):
            reason = "changed output: its sentences give other vectors"
            yield Stale(record.note.id, Part.EMBEDDING, reason)


def _same_sentences(now: SentenceVectors | None, stored: SentenceVectors | None) -> bool:
    if now is None or stored is None:
        return now is stored
    if now.shape != stored.shape:
        return False
    return bool((np.abs(now.astype(np.int16) - stored) <= SAME_STEP).all())


def _superseding(setup: Setup) -> Iterator[Stale]:
    links = [
        link for link in setup.store.all_links(setup.scope) if link.kind is LinkKind.SUPERSEDES
    ]
    notes = setup.store.get(setup.scope, sorted({end for link in links for end in link.pair}))
    for link in links:
        if not _still_said(link, notes[link.from_id], notes[link.to_id]):
            reason = f"changed output: {link.from_id} does not say otherwise than {link.to_id} so"
            yield Stale(link.from_id, Part.LINKS, reason)


def _still_said(link: Link, newer: Note, older: Note) -> bool:
    now = superseding(newer, older, link.cosine, newer.created_at)
    return now is not None and (now.pair, now.reason) == (link.pair, link.reason)


def renew(setup: Setup, note_id: str, parts: frozenset[Part]) -> None:
    """Make the stale parts of one note again, in one write."""

    def decide(reader: ScopeReader) -> WritePlan:
        work = setup.workspace(reader)
        note = work.note(note_id)
        if note is None:  # it went in the meantime
            return WritePlan()
        if Part.METADATA in parts:
            note = _with_metadata(setup, work, note)
        vector = sentences = None
        if Part.EMBEDDING in parts:
            vector = setup.encoding.encode_one(text_to_embed(note))
            sentences = setup.encoding.encode_sentences(sentences_of(note))
        work.put(note, vector, sentences)
        if Part.LINKS in parts:
            _compare_anew(setup, work, note)
        return work.plan(setup.encoding.identity)

    setup.store.write(setup.scope, decide)


def _with_metadata(setup: Setup, work: Workspace, note: Note) -> Note:
    events = work.events_of(note.id)
    last = events[-1] if events else None
    made = constructed_anew(note, last)
    if made is not None:
        words = (made.keywords, made.tags, made.context)
    elif last is not None:
        words = (last.after.keywords, last.after.tags, last.after.context)
    else:
        return note
    after = replace(
        note, keywords=words[0], tags=words[1], context=words[2], revision=note.revision + 1
    )
    event = revision_event(note, after, setup.now())
    work.record(replace(event, proposer=CONSTRUCTION_RULE))
    return after


def _compare_anew(setup: Setup, work: Workspace, note: Note) -> None:
    links = work.links_of(note.id)
    for link in links:
        if link.kind is LinkKind.SUPERSEDES:
            work.unlink(link)
    related = [link for link in links if link.kind is LinkKind.RELATED]
    contradict(work, note, related, setup.now())
