"""What a note carries that was derived from it: receipts, and what each part should be.

Metadata (keywords, tags, context), terms, embedding and links are renewed in the write that
changes their note, so that no copy of a receipt is kept beside them: inputs, revisions and
producers stand in the note and its history, and a receipt is read from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from graphmem.algorithms.construction import Construction, construct_note
from graphmem.algorithms.provenance import InputRevision, Receipt, canonical_json
from graphmem.algorithms.text import (
    EMBEDDING_TEXT_VERSION,
    SENTENCES_VERSION,
    TERMS_VERSION,
)
from graphmem.memory.constructing import CONSTRUCTION_RULE
from graphmem.memory.summaries import SUMMARY_ROLE
from graphmem.memory.workspace import terms_of
from graphmem.model import (
    EventKind,
    EvolutionEvent,
    Json,
    Link,
    ModelIdentity,
    Note,
    NoteState,
    Vector,
)
from graphmem.policy import LinkPolicy

LINK_RULE = "link-1"
"""Producer of links in receipts: raw cosine, and what the newer note says otherwise."""


class Part(StrEnum):
    """A derived part of an ordinary note."""

    METADATA = "metadata"
    TERMS = "terms"
    EMBEDDING = "embedding"
    LINKS = "links"


def part_id(part: Part, note_id: str) -> str:
    """Return the name of a part in receipts and decisions.

    >>> part_id(Part.TERMS, "n1")
    'terms of n1'
    """
    return f"{part} of {note_id}"


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """A note as it is stored, with what is derived from it and what that was made with."""

    note: Note
    events: Sequence[EvolutionEvent]
    links: Sequence[Link]
    ends: Sequence[Note]
    vector: Vector | None
    model: ModelIdentity | None
    policy: LinkPolicy

    def receipts(self) -> tuple[Receipt, ...]:
        """Return the receipts of all parts the note has, in order of dependency."""
        metadata = self._metadata()
        made_of = (
            InputRevision(self.note.id, self.note.content_revision),
            InputRevision(metadata.output_id, metadata.output_digest),
        )
        terms: list[Json] = list(terms_of(self.note))
        found = [
            metadata,
            Receipt(
                part_id(Part.TERMS, self.note.id),
                made_of,
                TERMS_VERSION,
                output_digest=_digest(terms),
            ),
        ]
        if self.vector is not None and self.model is not None:
            found.append(self._embedding(made_of, self.vector, self.model))
        if self.links:
            found.append(self._links())
        return tuple(found)

    def _metadata(self) -> Receipt:
        note = self.note
        evolved = [event for event in self.events if event.kind is EventKind.EVOLVED]
        given = note.given
        names: list[Json] = [
            name for name in ("keywords", "tags", "context") if getattr(given, name) is not None
        ]
        by = given.constructor or CONSTRUCTION_RULE
        return Receipt(
            part_id(Part.METADATA, note.id),
            (
                InputRevision(note.id, note.content_revision),
                *(InputRevision(event.id, event.revision) for event in evolved),
            ),
            evolved[-1].proposer if evolved else by,
            {"given": names, "constructor": by},
            metadata_digest(note.state),
        )

    def _embedding(
        self, made_of: tuple[InputRevision, ...], vector: Vector, model: ModelIdentity
    ) -> Receipt:
        return Receipt(
            part_id(Part.EMBEDDING, self.note.id),
            made_of,
            model.model_id,
            {
                "text": EMBEDDING_TEXT_VERSION,
                "sentences": SENTENCES_VERSION,
                "dimension": model.dimension,
            },
            hashlib.sha256(vector.astype("<f4").tobytes()).hexdigest(),
        )

    def _links(self) -> Receipt:
        listed: list[Json] = [
            [link.kind.value, *link.pair, round(link.cosine, 6), str(link.reason or "")]
            for link in self.links
        ]
        ends = sorted((self.note, *self.ends), key=lambda note: note.id)
        policy = self.policy
        return Receipt(
            part_id(Part.LINKS, self.note.id),
            tuple(InputRevision(note.id, note.content_revision) for note in ends),
            LINK_RULE,
            {"link_threshold": policy.link_threshold, "limit": policy.limit},
            _digest(listed),
        )


def metadata_digest(state: NoteState) -> str:
    """Return the sha256 of keywords, tags and context."""
    return _digest([list(state.keywords), list(state.tags), state.context])


def _digest(value: Json) -> str:
    return hashlib.sha256(canonical_json(value)).hexdigest()


def constructed_anew(note: Note, last: EvolutionEvent | None) -> Construction | None:
    """Return the metadata the rule makes of a note; ``None`` where it is not the rule's.

    It is the rule's as long as no language model made it and nothing changed it since the
    note got its text.

    Parameters
    ----------
    note
        The note as it is stored.
    last
        Its last event.
    """
    if note.given.constructor is not None or note.role == SUMMARY_ROLE:
        return None
    if last is None:
        untouched = note.revision == 1
    else:
        rewritten = last.kind is EventKind.REVISED and last.before.content != note.content
        untouched = rewritten and last.revision == note.revision
    if not untouched:
        return None
    given = note.given
    return construct_note(
        note.content, keywords=given.keywords, tags=given.tags, context=given.context
    )
