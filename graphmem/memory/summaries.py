"""Summaries as notes: which note is the summary of what, and what its receipt says.

A summary is a note of the role ``summary``. Its receipt stands in its metadata, so that
whatever carries a note carries the receipt: both stores, dumps, exports, copies, backups.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from graphmem.algorithms.construction import construct_note
from graphmem.algorithms.importance import importance_score
from graphmem.algorithms.provenance import (
    Declaration,
    InputRevision,
    Receipt,
    Revision,
    canonical_json,
    digest,
    read_receipt,
)
from graphmem.algorithms.summarising import EXTRACTOR, extract_summary, in_order_of_telling
from graphmem.errors import InvalidInput
from graphmem.model import Json, Link, LinkKind, Note, Source

SUMMARY_ROLE = "summary"
RECEIPT_KEY = "graphmem:receipt"


class SummaryOf(StrEnum):
    """What a summary may be of."""

    SOURCE = "source"
    TAG = "tag"


@dataclass(frozen=True, slots=True)
class SummarySpec:
    """What to summarise, in how many sentences."""

    kind: SummaryOf
    name: str
    sentences: int

    def note_id(self, namespace: str) -> str:
        """Return the id of the summary: the same for the same thing in a namespace."""
        named = f"{namespace}\x1f{self.kind}\x1f{self.name}"
        return f"summary-{hashlib.blake2b(named.encode(), digest_size=10).hexdigest()}"

    @property
    def configuration(self) -> dict[str, Json]:
        """The settings a receipt records."""
        return {"of": str(self.kind), "name": self.name, "sentences": self.sentences}


@dataclass(frozen=True, slots=True)
class Material:
    """What a summary is made of: notes in the order of telling, and the links among them."""

    notes: tuple[Note, ...]
    links: tuple[Link, ...]

    @classmethod
    def of(cls, notes: Iterable[Note], links: Iterable[Link]) -> Material:
        """Order notes, and keep the links whose two ends are among them."""
        told = in_order_of_telling(note for note in notes if not note.archived)
        ids = {note.id for note in told}
        inside = (
            link for link in links if link.kind is LinkKind.RELATED and ids.issuperset(link.pair)
        )
        return cls(told, tuple(sorted(inside, key=lambda link: link.pair)))

    @property
    def links_digest(self) -> str:
        """Digest of who is linked with whom and how near; use and age do not change it."""
        listed: list[Json] = [[*link.pair, round(link.cosine, 6)] for link in self.links]
        return digest(canonical_json(listed).decode())

    def inputs(self, output_id: str) -> tuple[InputRevision, ...]:
        """Return the inputs at their revisions."""
        return (
            *(InputRevision(note.id, note.content_revision) for note in self.notes),
            InputRevision(links_input(output_id), self.links_digest),
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that exists: the note, its receipt, and what it is of."""

    note: Note
    receipt: Receipt
    spec: SummarySpec

    @property
    def note_inputs(self) -> tuple[str, ...]:
        """Ids of the notes it was made of."""
        links = links_input(self.note.id)
        return tuple(item.id for item in self.receipt.inputs if item.id != links)

    @property
    def altered(self) -> bool:
        """Whether its text is not the one its receipt was written for."""
        return digest(self.note.content) != self.receipt.output_digest


def links_input(output_id: str) -> str:
    """Return the name under which a receipt lists the links among the notes."""
    return f"links of {output_id}"


def summary_of(note: Note) -> Summary | None:
    """Return a note as a summary; ``None`` for an ordinary note.

    Raises
    ------
    InvalidInput
        It is a summary whose receipt cannot be read or was altered.
    """
    if note.role != SUMMARY_ROLE or RECEIPT_KEY not in note.metadata:
        return None
    receipt = read_receipt(note.id, note.metadata[RECEIPT_KEY])
    try:
        settings = receipt.configuration
        spec = SummarySpec(
            SummaryOf(str(settings["of"])),
            str(settings["name"]),
            int(settings["sentences"]),  # type: ignore[arg-type]  # any other value raises
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{note.id!r} carries no receipt of a summary: {error!r}") from error
    return Summary(note, receipt, spec)


def summary_note(
    spec: SummarySpec,
    content: str,
    receipt: Receipt,
    existing: Note | None,
    *,
    namespace: str,
    now: datetime,
) -> Note:
    """Return the note of a summary: a new one, or the next revision of `existing`.

    It is as old as its text, so that ``as_of`` never shows what was summarised later. The
    same text keeps its content revision: what depends on it need not be made again.
    """
    metadata: dict[str, Json] = {RECEIPT_KEY: receipt.to_json()}
    if existing is not None and existing.content == content:
        return replace(existing, metadata=metadata, archived=False, revision=existing.revision + 1)
    made = construct_note(content)
    revision, content_revision = 1, 1
    if existing is not None:
        revision, content_revision = existing.revision + 1, existing.content_revision + 1
    return Note(
        id=spec.note_id(namespace),
        namespace=namespace,
        content=content,
        role=SUMMARY_ROLE,
        author=None,
        source=Source(spec.name) if spec.kind is SummaryOf.SOURCE else None,
        created_at=now,
        keywords=made.keywords,
        tags=made.tags,
        context=made.context,
        importance=importance_score(content, role=SUMMARY_ROLE),
        metadata=metadata,
        last_accessed_at=now,
        revision=revision,
        content_revision=content_revision,
    )


def without(
    summary: Summary, erased: Collection[str], left: Material, now: datetime
) -> Note | None:
    """Return a summary as it is once some of its notes are erased, ``None`` when all are.

    Nothing of the erased notes may survive in it, whoever wrote it: it is extracted anew
    from what is left.
    """
    if not any(note_id not in erased for note_id in summary.note_inputs) or not left.notes:
        return None
    note = summary.note
    content = extract_summary(left.notes, left.links, summary.spec.sentences)
    receipt = Receipt(
        note.id, left.inputs(note.id), EXTRACTOR, summary.spec.configuration, digest(content)
    )
    return summary_note(summary.spec, content, receipt, note, namespace=note.namespace, now=now)


def possible_summaries(
    notes: Iterable[Note], tags: Iterable[str], namespace: str
) -> tuple[str, ...]:
    """Return the ids a summary of any source or tag of these notes, or of `tags`, would have."""
    held = tuple(notes)
    sources = {note.source.id for note in held if note.source is not None}
    every_tag = {*tags, *(tag for note in held for tag in note.tags)}
    specs = [
        *(SummarySpec(SummaryOf.SOURCE, name, 1) for name in sorted(sources)),
        *(SummarySpec(SummaryOf.TAG, name, 1) for name in sorted(every_tag)),
    ]
    return tuple(spec.note_id(namespace) for spec in specs)


@dataclass(slots=True)
class Holdings:
    """Everything a plan needs, gathered in one pass over a scope."""

    summaries: list[Summary] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    by_source: dict[str, list[Note]] = field(default_factory=lambda: defaultdict(list))
    by_tag: dict[str, list[Note]] = field(default_factory=lambda: defaultdict(list))
    links_of: dict[str, list[Link]] = field(default_factory=lambda: defaultdict(list))

    def take_note(self, note: Note) -> None:
        """Take one note in."""
        try:
            summary = summary_of(note)
        except InvalidInput as error:
            self.unreadable.append(str(error))
            return
        if summary is not None:
            self.summaries.append(summary)
            return
        if note.source is not None:
            self.by_source[note.source.id].append(note)
        for tag in note.tags:
            self.by_tag[tag].append(note)

    def take_link(self, link: Link) -> None:
        """Take one link in; what supersedes what is no part of a summary."""
        for end in link.pair if link.kind is LinkKind.RELATED else ():
            self.links_of[end].append(link)

    def material(self, spec: SummarySpec) -> Material:
        """Return what a summary would be made of now."""
        groups = self.by_source if spec.kind is SummaryOf.SOURCE else self.by_tag
        notes = groups.get(spec.name, [])
        links = {link.pair: link for note in notes for link in self.links_of.get(note.id, ())}
        return Material.of(notes, links.values())


def declarations(
    summaries: Sequence[Summary], holdings: Holdings, producer: str
) -> tuple[tuple[Declaration, ...], Mapping[str, Revision]]:
    """Return how each summary is to be made now, and the revision of everything it needs.

    A summary none of whose notes is left keeps asking for them: it is blocked.
    """
    declared, revisions = [], dict[str, Revision]()
    for summary in summaries:
        material = holdings.material(summary.spec)
        inputs = material.inputs(summary.note.id)
        revisions |= {item.id: item.revision for item in inputs}
        wanted = [item.id for item in inputs] if material.notes else list(summary.note_inputs)
        declared.append(
            Declaration(summary.note.id, tuple(wanted), producer, summary.spec.configuration)
        )
    return tuple(declared), revisions
