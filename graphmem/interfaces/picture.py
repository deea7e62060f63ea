"""A part of the note graph as a picture: which notes and edges, and what each tells.

A picture is values only; :mod:`graphmem.interfaces.view` draws it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise

from graphmem.errors import NotFound
from graphmem.interfaces.render import day, excerpt, minute
from graphmem.memory import Memory
from graphmem.model import (
    Link,
    LinkKind,
    Note,
    NoteRecord,
    RankedNote,
    RecallResult,
    Step,
    StepKind,
)

LARGEST = 500
"""Most notes of one picture; more are no longer legible."""

CAPTION = 32
"""Characters of a note's text that stand beside its point."""

_QUESTION_KEY = "\0question"  # no note has this id: a NUL is refused


class Role(StrEnum):
    """Why a point is in the picture."""

    NOTE = "note"
    START = "start"
    RESULT = "result"
    EVIDENCE = "evidence"
    QUESTION = "question"


class EdgeKind(StrEnum):
    """What an edge means; a seed leads from the question to where a recall entered."""

    RELATED = "RELATED"
    FOLLOWS = "FOLLOWS"
    SUPERSEDES = "SUPERSEDES"
    SOURCE = "same source"
    SEED = "seed"


@dataclass(frozen=True, slots=True)
class Fact:
    """One line a reader sees of a point or edge."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A point.

    Attributes
    ----------
    caption
        A few words beside the point.
    text
        The whole text.
    group
        What is coloured alike: the author; empty when there is none.
    weight
        In [0, 1]; a heavier point is larger. Importance, or the score of a recall.
    """

    id: str
    role: Role
    caption: str
    text: str
    group: str
    weight: float
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """An edge; `weight` in [0, 1], `walked` when it lies on the path of a recalled note."""

    from_id: str
    to_id: str
    kind: EdgeKind
    weight: float
    walked: bool
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """What is drawn; `left_out` counts the notes there was no room for."""

    title: str
    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    left_out: int = 0


# --- what can be pictured --------------------------------------------------------------


def picture_note(memory: Memory, note_id: str, hops: int = 1) -> Picture:
    """Return a note with what lies within `hops`; the nearest 500 when there is more.

    Raises
    ------
    NotFound
        No note of that id in this scope.
    """
    around = memory.neighbourhood(note_id, hops)
    nodes = tuple(
        _note_node(note, Role.START if note.id == note_id else Role.NOTE) for note in around.notes
    )
    start = next(note for note in around.notes if note.id == note_id)
    return Picture(f"Around: {excerpt(start.content, 80)}", nodes, _link_edges(around.links))


def picture_source(memory: Memory, source: str, limit: int = LARGEST) -> Picture:
    """Return the first notes of a source, in order, with the links among them.

    Raises
    ------
    NotFound
        No note of that source in this scope.
    """
    notes = sorted(memory.notes(sources=source), key=_place)
    if not notes:
        raise NotFound(
            f"no note of the source {source!r} in namespace {memory.namespace!r}; "
            "nothing was written"
        )
    shown = notes[:limit]
    return Picture(
        f"Source: {excerpt(source, 80)}",
        tuple(_note_node(note, Role.NOTE) for note in shown),
        _link_edges(_links_among(memory, (note.id for note in shown))),
        left_out=len(notes) - len(shown),
    )


def picture_memory(memory: Memory, limit: int = LARGEST) -> Picture:
    """Return the newest notes of the namespace with the links among them.

    Raises
    ------
    NotFound
        The namespace holds no note.
    """
    newest: list[tuple[datetime, str, Note]] = []
    links: list[Link] = []
    total = 0
    for record in memory.dump(vectors=False):  # in a few reads, however many notes there are
        if isinstance(record, NoteRecord) and not record.note.archived:
            total += 1
            note = record.note
            heapq.heappush(newest, (note.created_at, note.id, note))
            if len(newest) > limit:
                heapq.heappop(newest)
        elif isinstance(record, Link):
            links.append(record)
    if not newest:
        raise NotFound(f"namespace {memory.namespace!r} holds no note; nothing was written")
    notes = [note for _, _, note in sorted(newest, reverse=True)]
    shown = {note.id for note in notes}
    among = [link for link in links if shown.issuperset(link.pair)]
    return Picture(
        f"Namespace: {excerpt(memory.namespace, 80)}",
        tuple(_note_node(note, Role.NOTE) for note in notes),
        _link_edges([*among, *_chains(notes)]),
        left_out=total - len(notes),
    )


def _chains(notes: Iterable[Note]) -> Iterator[Link]:
    """Yield FOLLOWS among these notes, as if those between them were hidden."""
    placed = sorted(
        (note.source.id, note.source.position, note.id)
        for note in notes
        if note.source is not None and note.source.position is not None
    )
    for (source, _, earlier), (other, _, later) in pairwise(placed):
        if source == other:
            yield Link(later, earlier, 1.0, 1.0, LinkKind.FOLLOWS)


def picture_recall(memory: Memory, result: RecallResult) -> Picture:
    """Return a question, what was recalled for it, and the paths that led there."""
    ranked = result.notes
    recalled = {each.note.id: each.note for each in ranked}
    between = sorted({
        step.from_id for each in ranked for step in each.path if step.from_id is not None
    } - recalled.keys())  # fmt: skip
    notes = recalled | {note_id: memory.get(note_id) for note_id in between}
    walked = _walked(ranked)
    lying = [edge for edge in _link_edges(_links_among(memory, notes)) if _key(edge) not in walked]
    evidence = {each.note_id for each in result.decision.evidence}
    nodes = [_question_node(result)]
    nodes += [_ranked_node(rank, each, evidence, ranked) for rank, each in enumerate(ranked, 1)]
    nodes += [_note_node(notes[note_id], Role.NOTE) for note_id in between]
    return Picture(
        f"Recall: {excerpt(result.query, 100)}", tuple(nodes), (*walked.values(), *lying)
    )


def _place(note: Note) -> tuple[bool, int, str]:
    position = None if note.source is None else note.source.position
    return position is None, position or 0, note.id


def _links_among(memory: Memory, ids: Iterable[str]) -> list[Link]:
    shown = set(ids)
    found = {
        (link.kind, link.pair): link
        for note_id in sorted(shown)
        for link in memory.neighbourhood(note_id).links
        if shown.issuperset(link.pair)
    }
    return [found[key] for key in sorted(found)]


# --- points ----------------------------------------------------------------------------


def _note_node(note: Note, role: Role) -> PictureNode:
    return PictureNode(
        id=note.id,
        role=role,
        caption=excerpt(note.content, CAPTION),
        text=note.content,
        group=note.author or "",
        weight=note.importance,
        facts=_note_facts(note),
    )


def _note_facts(note: Note) -> tuple[Fact, ...]:
    facts = [Fact("id", note.id), Fact("author", note.author or ""), Fact("role", note.role)]
    if note.source is not None:
        place = "" if note.source.position is None else f", position {note.source.position}"
        facts.append(Fact("source", note.source.id + place))
    facts += [
        Fact("date", minute(note.created_at)),
        Fact("importance", f"{note.importance:.2f}"),
        Fact("recalled", _times(note.recall_count)),
        Fact("keywords", ", ".join(note.keywords)),
        Fact("tags", ", ".join(note.tags)),
    ]
    return tuple(fact for fact in facts if fact.value)


def _ranked_node(
    rank: int, ranked: RankedNote, evidence: set[str], all_ranked: Sequence[RankedNote]
) -> PictureNode:
    best = max(each.score for each in all_ranked)
    parts = sorted(ranked.contributions.items(), key=lambda part: (-abs(part[1]), part[0]))
    facts = (
        Fact("rank", str(rank)),
        Fact("score", f"{ranked.score:.3f}"),
        Fact("made of", ", ".join(f"{name} {value:.3f}" for name, value in parts)),
        Fact("path", ", ".join(map(str, ranked.path))),
        *(Fact("newer than", f"{each.to_id} ({each.reason})") for each in ranked.supersedes),
        *(Fact("outdated by", f"{each.from_id} ({each.reason})") for each in ranked.superseded_by),
    )
    return PictureNode(
        id=ranked.note.id,
        role=Role.EVIDENCE if ranked.note.id in evidence else Role.RESULT,
        caption=f"{rank}. {excerpt(ranked.note.content, CAPTION)}",
        text=ranked.note.content,
        group=ranked.note.author or "",
        weight=min(max(ranked.score / best, 0.0), 1.0) if best > 0 else 0.0,
        facts=facts + _note_facts(ranked.note),
    )


def _question_node(result: RecallResult) -> PictureNode:
    decision = result.decision
    return PictureNode(
        id=_QUESTION_KEY,
        role=Role.QUESTION,
        caption=excerpt(result.query, CAPTION),
        text=result.query,
        group="",
        weight=1.0,
        facts=(
            Fact("decision", decision.outcome.value),
            Fact("answerable", f"{decision.answerable:.2f}"),
            Fact("reason", decision.reason),
            Fact("asked", minute(result.at)),
        ),
    )


# --- edges -----------------------------------------------------------------------------


_STEP_EDGES = {
    StepKind.RELATED: EdgeKind.RELATED,
    StepKind.FOLLOWS: EdgeKind.FOLLOWS,
    StepKind.SOURCE: EdgeKind.SOURCE,
}


def _key(edge: PictureEdge) -> tuple[EdgeKind, frozenset[str]]:
    return edge.kind, frozenset((edge.from_id, edge.to_id))


def _link_edges(links: Iterable[Link]) -> tuple[PictureEdge, ...]:
    return tuple(
        PictureEdge(
            from_id=link.from_id,
            to_id=link.to_id,
            kind=EdgeKind(link.kind.value),
            weight=link.weight,
            walked=False,
            facts=_link_facts(link),
        )
        for link in links
    )


def _link_facts(link: Link) -> tuple[Fact, ...]:
    if link.kind is LinkKind.FOLLOWS:
        return (Fact("kind", "FOLLOWS: the next in its source"),)
    made = () if link.created_at is None else (Fact("linked", day(link.created_at)),)
    if link.reason is not None:
        kind = Fact("kind", "SUPERSEDES: says otherwise than the older note")
        return (kind, Fact("reason", str(link.reason)), Fact("cosine", f"{link.cosine:.2f}"), *made)
    return (
        Fact("kind", link.kind.value),
        Fact("weight", f"{link.weight:.2f}"),
        Fact("cosine", f"{link.cosine:.2f}"),
        *made,
        Fact("walked", _times(link.retrievals)),
    )


def _walked(ranked: Sequence[RankedNote]) -> dict[tuple[EdgeKind, frozenset[str]], PictureEdge]:
    """Return the edges on the paths of recalled notes, each once."""
    found: dict[tuple[EdgeKind, frozenset[str]], PictureEdge] = {}
    for each in ranked:
        seeds = [step.kind.value for step in each.path if step.from_id is None]
        stations = [step.from_id for step in each.path if step.from_id is not None]
        stations.append(each.note.id)
        edges = [_seed_edge(stations[0], seeds)]
        steps = each.path[len(seeds) :]
        edges += [
            _step_edge(step, *ends) for step, ends in zip(steps, pairwise(stations), strict=True)
        ]
        for edge in edges:
            found.setdefault(_key(edge), edge)
    return found


def _seed_edge(target: str, seeds: Sequence[str]) -> PictureEdge:
    return PictureEdge(
        from_id=_QUESTION_KEY,
        to_id=target,
        kind=EdgeKind.SEED,
        weight=1.0,
        walked=True,
        facts=(Fact("path", "seed " + " and ".join(seeds)),),
    )


def _step_edge(step: Step, start: str, target: str) -> PictureEdge:
    weight = () if step.weight is None else (Fact("weight", f"{step.weight:.2f}"),)
    return PictureEdge(
        from_id=start,
        to_id=target,
        kind=_STEP_EDGES[step.kind],
        weight=1.0 if step.weight is None else step.weight,
        walked=True,
        facts=(Fact("path", str(step)), *weight),
    )


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
