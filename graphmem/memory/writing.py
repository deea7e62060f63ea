"""Adding and revising notes: from a checked input to one plan a store applies whole."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from graphmem.algorithms.construction import Construction, construct_note
from graphmem.algorithms.contradiction import may_supersede
from graphmem.algorithms.evolution import (
    MetadataProposer,
    clip_similarity,
    evolve_neighbourhood,
    plan_note_evolution,
)
from graphmem.algorithms.importance import importance_score
from graphmem.errors import GraphmemError, InvalidNote, NotAuthorised
from graphmem.memory.constructing import BY_RULE, CONSTRUCTION_RULE, Made
from graphmem.memory.contradicting import contradict, outdated, to_compare
from graphmem.memory.entry import NaiveTimes, NoteEntry, checked_note
from graphmem.memory.note_vectors import EmbeddedTexts
from graphmem.memory.workspace import Workspace, text_to_embed
from graphmem.model import (
    AddReceipt,
    EventKind,
    EvolutionEvent,
    Given,
    Link,
    Neighbour,
    Note,
    Scope,
    Source,
    Vector,
    event_id,
    related,
)
from graphmem.policy import LinkPolicy

USER = "user"
"""Proposer of a change the caller asked for."""

_NO_SOURCE = Source("")
_NOTHING_MADE = Made(constructor="")


@dataclass(frozen=True, slots=True)
class Draft:
    """An accepted input: its place in the call, its id, and its checked fields.

    `made` is what a language model made of it; without one the rules make everything.
    """

    index: int
    note_id: str
    entry: NoteEntry
    made: Made = BY_RULE

    @property
    def constructor(self) -> str | None:
        """The language model that made what the caller left out; ``None`` for the rule."""
        return None if self.made.constructor == CONSTRUCTION_RULE else self.made.constructor


@dataclass(frozen=True, slots=True)
class Rejection:
    """An input that was not accepted, and why."""

    index: int
    error: GraphmemError

    @property
    def reason(self) -> str:
        """The error in words."""
        return str(self.error)


@dataclass(frozen=True)
class Change:
    """A note's new state and how it came about: ``added``, ``revised`` or ``unchanged``."""

    note: Note
    outcome: str
    relink: bool

    @cached_property
    def text(self) -> str:
        """The text the note's vector is made of."""
        return text_to_embed(self.note)


def derived_id(namespace: str, entry: NoteEntry) -> str:
    """Return the id of a note given without one: 20 hexadecimal digits.

    A digest of namespace, source id, position, start and content, so that adding the same
    thing twice is one note.
    """
    source = entry.place or _NO_SOURCE
    parts = (namespace, source.id, source.position, source.start, entry.content)
    canonical = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.blake2b(canonical.encode(), digest_size=10).hexdigest()


def drafts_of(
    inputs: Iterable[tuple[int, object]], scope: Scope, naive_times: NaiveTimes
) -> tuple[list[Draft], list[Rejection]]:
    """Check inputs one by one; a bad one is rejected with its reason, the others stand."""
    drafts, rejected = [], []
    for index, given in inputs:
        try:
            entry = checked_note(given, naive_times=naive_times)
            allowed(scope, entry.place.id if entry.place else None, entry.author)
        except (InvalidNote, NotAuthorised) as error:
            rejected.append(Rejection(index, error))
        else:
            note_id = entry.id if entry.id is not None else derived_id(scope.namespace, entry)
            drafts.append(Draft(index, note_id, entry))
    return drafts, rejected


def allowed(scope: Scope, source_id: str | None, author: str | None) -> None:
    """Refuse a note its own writer could not see afterwards.

    Raises
    ------
    NotAuthorised
        The scope's allow-list has not this source or author.
    """
    if scope.sources is not None and source_id not in scope.sources:
        raise NotAuthorised(f"source {source_id!r} is not in the allow-list; nothing was stored")
    if scope.authors is not None and author not in scope.authors:
        raise NotAuthorised(f"author {author!r} is not in the allow-list; nothing was stored")


def changed(existing: Note | None, draft: Draft, scope: Scope, now: datetime) -> Change:
    """Return what adding `draft` makes of the note stored under its id.

    The same content is ``unchanged``, or ``revised`` when explicit fields differ; other
    content is a new revision of the same note.
    """
    entry = draft.entry
    if existing is None:
        return Change(_new_note(draft, scope, now), "added", relink=True)
    if entry.content != existing.content:
        return Change(_rewritten(existing, draft), "revised", relink=True)
    updated = _updated(existing, entry)
    if updated == existing:
        return Change(existing, "unchanged", relink=False)
    return Change(replace(updated, revision=existing.revision + 1), "revised", relink=False)


def _new_note(draft: Draft, scope: Scope, now: datetime) -> Note:
    entry = draft.entry
    given = Given(
        keywords=entry.keywords,
        tags=entry.tags,
        context=entry.context,
        importance=entry.importance,
        created_at=entry.created_at,
        constructor=draft.constructor,
    )
    made = _constructed(draft, given)
    created_at = entry.created_at or now
    return Note(
        id=draft.note_id,
        namespace=scope.namespace,
        content=entry.content,
        role=entry.role,
        author=entry.author,
        source=entry.place,
        created_at=created_at,
        keywords=made.keywords,
        tags=made.tags,
        context=made.context,
        importance=_importance(draft, given),
        metadata=entry.metadata or {},
        last_accessed_at=created_at,
        given=given,
    )


def _constructed(draft: Draft, given: Given) -> Construction:
    """Return what the caller gave, else what a model made, else what the rules make."""
    made = draft.made
    return construct_note(
        draft.entry.content,
        keywords=made.keywords if given.keywords is None else given.keywords,
        tags=made.tags if given.tags is None else given.tags,
        context=made.context if given.context is None else given.context,
    )


def _importance(draft: Draft, given: Given) -> float:
    if given.importance is not None:
        return given.importance
    if draft.made.importance is not None:
        return draft.made.importance
    return importance_score(draft.entry.content, role=draft.entry.role)


def _said(existing: Note, entry: NoteEntry) -> Given:
    """Merge what the caller says now with what was said before."""
    before = existing.given
    return Given(
        keywords=before.keywords if entry.keywords is None else entry.keywords,
        tags=before.tags if entry.tags is None else entry.tags,
        context=before.context if entry.context is None else entry.context,
        importance=before.importance if entry.importance is None else entry.importance,
        created_at=before.created_at if entry.created_at is None else entry.created_at,
        constructor=before.constructor,
    )


def _updated(existing: Note, entry: NoteEntry) -> Note:
    """Return the note with the explicit fields of `entry`; evolved metadata stands."""
    given = _said(existing, entry)
    keep = existing.given
    return replace(
        existing,
        role=entry.role,
        author=existing.author if entry.author is None else entry.author,
        source=existing.source if entry.source is None else entry.place,
        created_at=entry.created_at or existing.created_at,
        keywords=existing.keywords if given.keywords == keep.keywords else given.keywords or (),
        tags=existing.tags if given.tags == keep.tags else given.tags or (),
        context=existing.context if given.context == keep.context else given.context or "",
        importance=existing.importance if entry.importance is None else entry.importance,
        metadata=existing.metadata if entry.metadata is None else entry.metadata,
        given=given,
    )


def _rewritten(existing: Note, draft: Draft) -> Note:
    """Return the note with new content: derived fields are derived anew."""
    entry = draft.entry
    updated = _updated(existing, entry)
    made = _constructed(draft, updated.given)
    return replace(
        updated,
        content=entry.content,
        keywords=made.keywords,
        tags=made.tags,
        context=made.context,
        importance=_importance(draft, updated.given),
        given=replace(updated.given, constructor=draft.constructor),
        revision=existing.revision + 1,
        content_revision=existing.content_revision + 1,
    )


class Forecast:
    """What each draft will make of its note, worked out once while the note stays the same."""

    def __init__(self, scope: Scope, now: datetime) -> None:
        self.now = now
        self._scope = scope
        self._seen: dict[int, tuple[Note | None, Change]] = {}

    def change(self, draft: Draft, existing: Note | None) -> Change:
        """Return :func:`changed` for the note as it is now."""
        seen = self._seen.get(draft.index)
        if seen is None or seen[0] != existing:
            seen = existing, changed(existing, draft, self._scope, self.now)
            self._seen[draft.index] = seen
        return seen[1]


class Writer:
    """Applies drafts to a workspace, one after the other, and keeps a receipt of each."""

    def __init__(
        self,
        workspace: Workspace,
        forecast: Forecast,
        policy: LinkPolicy,
        proposer: MetadataProposer,
    ) -> None:
        self._workspace = workspace
        self._forecast = forecast
        self._policy = policy
        self._proposer = proposer
        self._now = forecast.now

    def add(self, drafts: Sequence[Draft], embedded: EmbeddedTexts) -> list[AddReceipt]:
        """Put every draft into the workspace; `embedded` is what was embedded beforehand."""
        work = self._workspace
        work.fetch(draft.note_id for draft in drafts)
        first: dict[str, Vector] = {}
        for draft in drafts:
            change = self._forecast.change(draft, work.note(draft.note_id))
            vector = embedded.vector(change.text)
            if change.relink and vector is not None:
                first.setdefault(draft.note_id, vector)
        policy = self._policy
        near = work.prefetch_similar(first, policy.limit, _lowest(policy))
        work.fetch(self._texts_to_compare(drafts, near))
        return [self._apply(draft.note_id, draft, embedded) for draft in drafts]

    def _texts_to_compare(
        self, drafts: Sequence[Draft], near: Mapping[str, Sequence[Neighbour]]
    ) -> Iterator[str]:
        """Yield the near notes whose text is looked at: they may evolve, or be contradicted."""
        policy = self._policy
        for draft in drafts:
            found = near.get(draft.note_id, ())[: policy.limit + 1]
            claims = found and self._may_supersede(draft.entry.role, draft.entry.content)
            for each in found:
                if claims or (policy.evolve and each.cosine >= policy.evolution_threshold):
                    yield each.note_id

    def _apply(self, note_id: str, draft: Draft, embedded: EmbeddedTexts) -> AddReceipt:
        existing = self._workspace.note(note_id)
        change = self._forecast.change(draft, existing)
        if change.outcome == "unchanged":
            note = change.note
            return AddReceipt(note_id, note.revision, "unchanged", (), (), note.importance)
        made = draft.made if change.relink else _NOTHING_MADE
        return self._store(change, existing, embedded, made)

    def _store(
        self, change: Change, existing: Note | None, embedded: EmbeddedTexts, made: Made
    ) -> AddReceipt:
        """Put one change with its event, links and the evolution it causes."""
        work, note = self._workspace, change.note
        unlinked = tuple(outdated(work, existing, note, relink=change.relink))
        for link in unlinked:
            work.unlink(link)
        work.put(note, embedded.vector(change.text), embedded.sentences(note))
        links: tuple[Link, ...] = ()
        evolved: tuple[EvolutionEvent, ...] = ()
        placed = work.vector_of(note.id) if change.relink else None
        if placed is not None:
            links, evolved = self._connect(note, placed)
        compared = to_compare(work, existing, note, links, relink=change.relink)
        changes = self._contradict(note, compared)
        if existing is not None:
            work.record(revision_event(existing, note, self._now, (*links, *changes), unlinked))
        return AddReceipt(
            note_id=note.id,
            revision=note.revision,
            outcome=change.outcome,
            links=links,
            evolved=evolved,
            importance=note.importance,
            constructor=made.constructor,
            fallback=made.fallback,
            superseding=changes,
        )

    def _connect(
        self, note: Note, vector: Vector
    ) -> tuple[tuple[Link, ...], tuple[EvolutionEvent, ...]]:
        work, policy = self._workspace, self._policy
        near = work.similar(note.id, vector, policy.limit, _lowest(policy))
        plan = plan_note_evolution(
            note.id,
            {n.note_id: clip_similarity(n.cosine) for n in near},
            link_threshold=policy.link_threshold,
            evolution_threshold=policy.evolution_threshold,
            limit=policy.limit,
        )
        links = self._link(note, near, [linked.note_id for linked in plan.links])
        if not policy.evolve or not plan.evolutions:
            return links, ()
        return links, self._evolve(note, {e.note_id: e.similarity for e in plan.evolutions})

    def _link(
        self, note: Note, near: Sequence[Neighbour], chosen: Sequence[str]
    ) -> tuple[Link, ...]:
        cosine = {n.note_id: n.cosine for n in near}
        links = tuple(related(note.id, other, cosine[other], self._now) for other in chosen)
        for link in links:
            self._workspace.link(link)
        return links

    def _may_supersede(self, role: str, content: str) -> bool:
        return self._policy.supersede and may_supersede(role, content)

    def _contradict(self, note: Note, links: Sequence[Link]) -> tuple[Link, ...]:
        if not links or not self._may_supersede(note.role, note.content):
            return ()
        return tuple(contradict(self._workspace, note, links, self._now))

    def _evolve(
        self, trigger: Note, similarity_by_note_id: Mapping[str, float]
    ) -> tuple[EvolutionEvent, ...]:
        work = self._workspace
        work.fetch(similarity_by_note_id)
        targets = [note for i in similarity_by_note_id if (note := work.note(i)) is not None]
        proposals = self._proposer.propose(trigger, targets, similarity_by_note_id)
        ends = {end for proposal in proposals for link in proposal.links for end in link.pair}
        evolution = evolve_neighbourhood(
            trigger,
            targets,
            proposals,
            similarity_by_note_id,
            now=self._now,
            linked={link.pair for link in work.links_of(*ends)},
        )
        for note in evolution.notes:
            work.put(note)
        for link in evolution.links:
            work.link(link)
        for event in evolution.events:
            work.record(event)
        return evolution.events


def _lowest(policy: LinkPolicy) -> float:
    """Return the cosine below which a note cannot be linked; clipped, any reaches 0."""
    return policy.link_threshold if policy.link_threshold > 0.0 else -1.0


def revision_event(
    before: Note,
    after: Note,
    now: datetime,
    linked: tuple[Link, ...] = (),
    unlinked: tuple[Link, ...] = (),
    kind: EventKind = EventKind.REVISED,
) -> EvolutionEvent:
    """Return the event of a change the caller asked for."""
    return EvolutionEvent(
        id=event_id(after.id, after.revision),
        note_id=after.id,
        kind=kind,
        revision=after.revision,
        at=now,
        proposer=USER,
        before=before.state,
        after=after.state,
        linked=linked,
        unlinked=unlinked,
    )
