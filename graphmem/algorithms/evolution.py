"""Which notes a new note is linked with and evolves, and how an evolution is applied.

Source: A-MEM (arXiv 2502.12110). Here links carry ids and similarities instead of list
positions, a plan is applied whole or not at all, and each change is an event that can be
undone.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from numbers import Real
from typing import NamedTuple, Protocol

from graphmem.errors import Conflict, InvalidInput, InvalidPolicy
from graphmem.model import EventKind, EvolutionEvent, Link, Note, event_id

COSINE_TOLERANCE = 1e-3
"""How far float32 rounding may carry a cosine beyond [-1, 1]; more is a fault."""


class ScoredNote(NamedTuple):
    """A note id and its similarity in [0, 1]."""

    note_id: str
    similarity: float


@dataclass(frozen=True, slots=True)
class EvolutionPlan:
    """What :func:`plan_note_evolution` decided.

    Attributes
    ----------
    note_id
        The note planned for.
    links
        Candidates at or above the link threshold, most similar first.
    evolutions
        Those of them at or above the evolution threshold.
    scored
        Every candidate given, most similar first, also beyond the limit.
    """

    note_id: str
    links: tuple[ScoredNote, ...]
    evolutions: tuple[ScoredNote, ...]
    scored: tuple[ScoredNote, ...]


def clip_similarity(cosine: float) -> float:
    """Return a raw cosine clipped to [0, 1], the scale of the thresholds.

    Raises
    ------
    InvalidInput
        Not finite, or further outside [-1, 1] than rounding explains.

    Examples
    --------
    >>> clip_similarity(1.0000001), clip_similarity(-0.2), clip_similarity(0.5)
    (1.0, 0.0, 0.5)
    """
    if not math.isfinite(cosine) or abs(cosine) > 1.0 + COSINE_TOLERANCE:
        raise InvalidInput(f"a cosine must be in [-1, 1], not {cosine!r}")
    return min(max(float(cosine), 0.0), 1.0)


def plan_note_evolution(
    note_id: str,
    similarity_by_note_id: Mapping[str, float],
    *,
    link_threshold: float = 0.72,
    evolution_threshold: float = 0.91,
    limit: int = 10,
) -> EvolutionPlan:
    """Decide which candidates a note is linked with, and which of them evolve.

    Candidates are sorted by (-similarity, id) and cut to `limit` before the thresholds;
    both thresholds are inclusive. The defaults are raw cosines of the default model.

    Parameters
    ----------
    note_id
        The new note.
    similarity_by_note_id
        Similarity in [0, 1] of each candidate; see :func:`clip_similarity`.
    link_threshold, evolution_threshold
        With 0 <= link <= evolution <= 1.
    limit
        At least 1.

    Raises
    ------
    InvalidPolicy
        Thresholds or limit out of range.
    InvalidInput
        An empty id, the note among its own candidates, or a similarity that is not a
        finite number in [0, 1].

    Examples
    --------
    >>> plan = plan_note_evolution("n", {"a": 0.95, "b": 0.8, "c": 0.3})
    >>> [link.note_id for link in plan.links], [note.note_id for note in plan.evolutions]
    (['a', 'b'], ['a'])
    >>> plan_note_evolution("n", {"a": 0.95, "b": 0.8}, limit=1).links
    (ScoredNote(note_id='a', similarity=0.95),)
    """
    _check_thresholds(link_threshold, evolution_threshold, limit)
    _check_candidates(note_id, similarity_by_note_id)
    pairs = (ScoredNote(other, float(score)) for other, score in similarity_by_note_id.items())
    scored = tuple(sorted(pairs, key=lambda pair: (-pair.similarity, pair.note_id)))
    links = tuple(pair for pair in scored[:limit] if pair.similarity >= link_threshold)
    evolutions = tuple(pair for pair in links if pair.similarity >= evolution_threshold)
    return EvolutionPlan(note_id, links, evolutions, scored)


def _check_thresholds(link: float, evolution: float, limit: int) -> None:
    if not all(_is_unit(threshold) for threshold in (link, evolution)) or link > evolution:
        raise InvalidPolicy(
            "thresholds must satisfy 0 <= link_threshold <= evolution_threshold <= 1, "
            f"not {link!r} and {evolution!r}"
        )
    if not _is_count(limit):
        raise InvalidPolicy(f"limit must be a whole number of at least 1, not {limit!r}")


def _check_candidates(note_id: str, similarity_by_note_id: Mapping[str, float]) -> None:
    for other in (note_id, *similarity_by_note_id):
        if not _is_id(other):
            raise InvalidInput(f"a note id must be a text that is not blank, not {other!r}")
    if note_id in similarity_by_note_id:
        raise InvalidInput(f"note {note_id!r} must not be among its own candidates")
    for other, score in similarity_by_note_id.items():
        if not _is_unit(score):
            raise InvalidInput(f"similarity of {other!r} must be in [0, 1], not {score!r}")


def _is_unit(value: object) -> bool:
    if not isinstance(value, float) and (isinstance(value, bool) or not isinstance(value, Real)):
        return False  # `numbers.Real` takes numpy's floats too
    return 0.0 <= float(value) <= 1.0  # never true of NaN


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


# --- proposals and their application ----------------------------------------------------


@dataclass(frozen=True, slots=True)
class Proposal:
    """New metadata for one note, as a proposer suggests it.

    Attributes
    ----------
    target_id, expected_revision
        The note to change and the revision the proposal was made for.
    keywords, tags, context
        The full new values.
    proposer
        ``rule:union-1``, or a model id with its prompt version.
    links
        RELATED links to add; one end is the target, the other in the neighbourhood.
    """

    target_id: str
    expected_revision: int
    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str
    proposer: str
    links: tuple[Link, ...] = ()


class MetadataProposer(Protocol):
    """Suggests new metadata for the notes an arriving note is near-identical with."""

    def propose(
        self,
        trigger: Note,
        targets: Sequence[Note],
        similarity_by_note_id: Mapping[str, float],
    ) -> Sequence[Proposal]:
        """Return at most one proposal for each target; none where nothing should change."""
        ...


@dataclass(frozen=True, slots=True)
class Evolution:
    """Result of applying proposals: changed notes, one event for each, and new links."""

    notes: tuple[Note, ...] = ()
    events: tuple[EvolutionEvent, ...] = ()
    links: tuple[Link, ...] = ()


def evolve_neighbourhood(
    trigger: Note,
    neighbours: Sequence[Note],
    proposals: Sequence[Proposal],
    similarity_by_note_id: Mapping[str, float],
    *,
    now: datetime,
    linked: Collection[tuple[str, str]] = frozenset(),
) -> Evolution:
    """Apply proposals to the neighbours of an arriving note, all of them or none.

    A changed note gains one revision and one event; its content and content revision stay.
    A proposal that changes nothing leaves no trace.

    Parameters
    ----------
    trigger
        The note whose arrival caused the evolution; it is no target itself.
    neighbours
        The notes that may change, as they were read.
    proposals
        At most one for each neighbour.
    similarity_by_note_id
        Similarity of the trigger with each target, kept in its event.
    now
        Time of the events.
    linked
        Pairs that have a RELATED link already; it is left as it is.

    Raises
    ------
    InvalidInput
        A target that is unknown, named twice or without similarity; a link that is a
        self-link or leaves the neighbourhood.
    Conflict
        A proposal was made for another revision of its target.
    """
    known = {note.id: note for note in neighbours if note.id != trigger.id}
    _check_proposals(proposals, known, trigger.id, similarity_by_note_id)
    notes: list[Note] = []
    events: list[EvolutionEvent] = []
    links: dict[tuple[str, str], Link] = {}
    for proposal in proposals:
        new = {
            link.pair: link
            for link in proposal.links
            if link.pair not in linked and link.pair not in links
        }
        before = known[proposal.target_id]
        after = _proposed(before, proposal)
        if after.state == before.state and not new:
            continue
        links.update(new)
        notes.append(after)
        events.append(
            EvolutionEvent(
                id=event_id(after.id, after.revision),
                note_id=after.id,
                kind=EventKind.EVOLVED,
                revision=after.revision,
                at=now,
                proposer=proposal.proposer,
                before=before.state,
                after=after.state,
                trigger_id=trigger.id,
                similarity=similarity_by_note_id[after.id],
                linked=tuple(new.values()),
            )
        )
    return Evolution(tuple(notes), tuple(events), tuple(links.values()))


def _proposed(note: Note, proposal: Proposal) -> Note:
    return replace(
        note,
        keywords=proposal.keywords,
        tags=proposal.tags,
        context=proposal.context,
        revision=note.revision + 1,
    )


def _check_proposals(
    proposals: Sequence[Proposal],
    known: Mapping[str, Note],
    trigger_id: str,
    similarity_by_note_id: Mapping[str, float],
) -> None:
    seen: set[str] = set()
    for proposal in proposals:
        target = proposal.target_id
        if target not in known:
            raise InvalidInput(f"{target!r} is not in the neighbourhood; nothing was changed")
        if target in seen:
            raise InvalidInput(f"two proposals for {target!r}; nothing was changed")
        if target not in similarity_by_note_id:
            raise InvalidInput(f"no similarity given for {target!r}; nothing was changed")
        seen.add(target)
        if proposal.expected_revision != known[target].revision:
            raise Conflict(
                f"the proposal for {target!r} is for revision {proposal.expected_revision}, "
                f"the note has revision {known[target].revision}; nothing was changed, "
                "read it again and propose anew"
            )
        for link in proposal.links:
            _check_link(link, target, known.keys() | {trigger_id})


def _check_link(link: Link, target: str, neighbourhood: Set[str]) -> None:
    if link.from_id == link.to_id:
        raise InvalidInput(f"a link from {target!r} to itself; nothing was changed")
    if target not in link.pair or not set(link.pair) <= neighbourhood:
        raise InvalidInput(
            f"the link {link.from_id!r} - {link.to_id!r} proposed for {target!r} leaves the "
            "neighbourhood; nothing was changed"
        )
